// A table of any number of rows, of which only those in sight are elements.
"use strict";

/** Rows that are drawn beyond either end of what is in sight. */
const BEYOND = 8;

/**
 * A table of `columns` = [{ id, title, width, value(row), cell(row) }], sorted by one of them; null values are last either way.
 */
class Grid {
  constructor(label, sort) {
    [this.columns, this.rows, this.sort, this.drawn] = [[], [], sort, new Map()];
    this.head = make("div", { class: "row head", role: "row" });
    this.body = make("div", { class: "body", role: "rowgroup" });
    this.element = make("div", { class: "grid", role: "table", "aria-label": label, tabindex: 0 }, this.head, this.body);
    this.element.addEventListener("scroll", () => this.draw(), { passive: true });
    new ResizeObserver(() => this.columns.length && this.order()).observe(this.element);
  }

  show(columns, rows) {
    const names = columns.map((column) => column.id).join();
    [this.columns, this.rows] = [columns, rows];
    if (names !== this.names) this.drawHead();
    this.names = names;
    this.order();
  }

  /** Sorts the rows, and draws. */
  order() {
    const column = this.columns.find(({ id }) => id === this.sort.by) || this.columns[1];
    const sign = this.sort.down ? -1 : 1;
    const keyed = this.rows.map((row) => [column.value(row), row]);
    keyed.sort(([a], [b]) => between(a, b, sign));
    this.rows = keyed.map(([, row]) => row);
    this.element.setAttribute("aria-rowcount", this.rows.length);
    this.drawn.clear();
    this.body.replaceChildren();
    this.draw();
  }

  drawHead() {
    const widths = this.columns.map((column) => column.width || "minmax(5rem, 1fr)").join(" ");
    this.element.style.setProperty("--columns", widths);
    this.head.style.gridTemplateColumns = widths;
    this.head.replaceChildren(...this.columns.map((column) => this.title(column)));
  }

  title(column) {
    const isBy = this.sort.by === column.id;
    const arrow = isBy ? (this.sort.down ? " ↓" : " ↑") : "";
    if (!column.value) return make("span", { role: "columnheader" }, column.title);
    const sort = isBy ? (this.sort.down ? "descending" : "ascending") : null;
    return make("button", { type: "button", role: "columnheader", "aria-sort": sort, title: column.about, click: () => this.by(column.id) }, `${column.title}${arrow}`);
  }

  by(id) {
    this.sort = { by: id, down: this.sort.by === id && !this.sort.down };
    this.drawHead();
    this.order();
  }

  /** Draws the rows in sight. */
  draw() {
    const tall = this.head.getBoundingClientRect().height || 44;
    const { scrollTop, clientHeight } = this.element;
    const first = Math.max(0, Math.floor(scrollTop / tall) - BEYOND);
    const last = Math.min(this.rows.length, Math.ceil((scrollTop + clientHeight) / tall) + BEYOND);
    if (!this.drawn.size) this.measure(tall);
    for (const [k, element] of this.drawn) {
      if (k >= first && k < last) continue;
      element.remove();
      this.drawn.delete(k);
    }
    const fresh = [];
    for (let k = first; k < last; k += 1) {
      if (this.drawn.has(k)) continue;
      fresh.push(this.row(this.rows[k], k * tall));
      this.drawn.set(k, fresh.at(-1));
    }
    this.body.append(...fresh);
  }

  /** Gives the body the extent of all rows. */
  measure(tall) {
    this.body.style.height = `${this.rows.length * tall}px`;
    this.body.style.minWidth = `${this.head.scrollWidth}px`;
    if (!this.rows.length) this.body.replaceChildren(make("p", { class: "empty" }, "No run is like this."));
  }

  row(row, top) {
    const element = make("div", { class: "row", role: "row", "data-id": row.id }, this.columns.map((column) => make("div", { role: "cell" }, column.cell(row))));
    element.style.gridTemplateColumns = this.head.style.gridTemplateColumns;
    element.style.top = `${top}px`;
    return element;
  }
}

/** The order of two values: numbers before texts, nothing last. */
function between(a, b, sign) {
  const isNone = (v) => v === null || v === undefined || Number.isNaN(v);
  if (isNone(a) || isNone(b)) return isNone(a) - isNone(b);
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  if (typeof a === "number") return sign * (a - b);
  return sign * (a < b ? -1 : a > b ? 1 : 0);
}

/** Value, then floor and chance below it. */
function scoreCell(score) {
  if (!score || score[0] === null) return "–";
  const [value, floor, chance] = score;
  const levels = floor === null ? null : make("small", {}, `${figure(floor, 2)} … ${figure(chance, 2)}`);
  return make("span", { title: `floor ${figure(floor, 3)}, chance ${figure(chance, 3)}` }, figure(value, 3), levels);
}

function verdictChip(verdict) {
  if (!verdict) return "–";
  const kind = { good: "good", partly: "partly", "not a reconstruction": "bad" }[verdict] || "";
  return make("span", { class: `chip ${kind}`, title: verdict }, verdict === "not a reconstruction" ? "not one" : verdict);
}

function stateCell(run) {
  const chip = make("span", { class: `chip ${run.state}`, title: run.why || run.state }, run.state);
  if (run.why) return make("span", { title: run.why }, chip, make("small", {}, run.why));
  if (run.state !== "running" || !run.updates) return chip;
  const share = make("i");
  share.style.width = `${(100 * run.update) / run.updates}%`;
  const left = run.left === null ? "" : ` ${duration(run.left)} left`;
  return make("span", {}, chip, left, make("span", { class: "bar" }, share));
}

function settingColumns(settings) {
  return settings.map((name, i) => ({
    id: `set-${name}`,
    title: name,
    value: (row) => valueOf(row.values[i]),
    cell: (row) => row.values[i] ?? "–",
  }));
}

function scoreColumns(measures) {
  return measures.map(([id, title]) => ({
    id,
    title,
    about: "below it: floor … chance",
    value: (row) => scoreOf(row, id),
    cell: (row) => scoreCell(row.scores && row.scores[id]),
  }));
}

/** The columns of runs. */
function runColumns(runs, chosen) {
  const link = (run) => make("a", { href: `#/run/${run.id}`, title: run.name }, run.name);
  // On a phone the state is beside the name in sight.
  const [name, state] = matchMedia("(max-width: 46rem)").matches ? ["8.5rem", "8.5rem"] : ["minmax(10rem, 2fr)", "minmax(9.5rem, 1fr)"];
  return [
    { id: "choose", title: "", width: "1.3rem", cell: (run) => chosen.box(run) },
    { id: "name", title: "run", width: name, value: (run) => run.name, cell: link },
    { id: "state", title: "state", width: state, value: (run) => STATES.indexOf(run.state), cell: stateCell },
    { id: "verdict", title: "verdict", width: "6.5rem", value: (run) => (run.verdict ? VERDICTS.indexOf(run.verdict) : null), cell: (run) => verdictChip(run.verdict) },
    ...scoreColumns(runs.measures()),
    { id: "loss", title: "loss", value: (run) => run.loss, cell: (run) => figure(run.loss, 3) },
    ...settingColumns(runs.settings),
    { id: "seed", title: "seed", width: "3.5rem", value: (run) => run.seed, cell: (run) => String(run.seed ?? "–") },
    { id: "seconds", title: "trained", value: (run) => run.seconds, cell: (run) => duration(run.seconds) },
  ];
}

/** The columns of groups of runs. */
function groupColumns(runs) {
  const whole = (id, title, value) => ({ id, title, width: "5rem", value, cell: (group) => String(value(group)) });
  return [
    { id: "study", title: "study", value: (group) => group.study, cell: (group) => group.study || "–" },
    ...settingColumns(runs.settings),
    whole("members", "runs", (group) => group.members.length),
    whole("done", "judged", (group) => group.done),
    whole("diverged", "diverged", (group) => group.diverged),
    whole("good", "good", (group) => group.good),
    ...scoreColumns(runs.measures()).map((column) => ({ ...column, title: `median ${column.title}` })),
  ];
}
