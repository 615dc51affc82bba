// The views of the page: all runs, one of them, a few side by side.
"use strict";

const runs = new Runs();

/** Runs that are chosen, to be compared. */
const chosen = {
  ids: new Set(),
  listeners: new Set(),
  box(run) {
    return make("input", { type: "checkbox", checked: this.ids.has(run.id), "aria-label": `choose ${run.name}`, change: (event) => this.set(run.id, event.target.checked) });
  },
  set(id, isChosen) {
    if (isChosen) this.ids.add(id);
    else this.ids.delete(id);
    for (const listener of this.listeners) listener();
  },
  list() {
    return [...this.ids].map((id) => runs.byId.get(id)).filter(Boolean);
  },
};

/** What was typed and sorted, kept while another view is open. */
const asked = { text: "", state: null, isGrouped: false, sort: { by: "name", down: false } };

function section(title, ...children) {
  return make("section", {}, make("h2", {}, title), ...children);
}

/** All runs. */
class Overview {
  constructor() {
    this.states = make("div", { class: "states", role: "group", "aria-label": "states" });
    this.grid = new Grid("runs", asked.sort);
    this.curves = new Curves(runs);
    this.scan = new Scan(runs);
    this.gallery = new Gallery(runs);
    this.best = section("Best and worst", make("p", { class: "lead" }, "By the first score of the table, among the runs shown."), this.gallery.element);
    this.scanned = section("Scores over settings", this.scan.element);
    [this.best.hidden, this.scanned.hidden] = [true, true];
    this.compare = make("button", { type: "button", id: "compare", class: "main", click: () => this.open() }, "Compare");
    this.count = make("span", { class: "lead", id: "count" });
    this.elements = [this.states, this.controls(), this.grid.element, this.count, section("Training", this.hint(), this.curves.element), this.best, this.scanned];
    chosen.listeners.clear();
    chosen.listeners.add(() => this.follow());
  }

  hint() {
    this.of = make("p", { class: "lead" });
    return this.of;
  }

  controls() {
    const type = (event) => {
      asked.text = event.target.value;
      this.show();
    };
    const search = make("input", { type: "search", id: "filter", value: asked.text, placeholder: "words, hidden=50, d_stsp<1", input: type });
    const group = (i) => {
      asked.isGrouped = i === 1;
      this.grid.names = null;
      this.show();
    };
    return make(
      "div",
      { class: "controls" },
      make("label", {}, "Filter", search),
      selectOf("Rows", ["runs", "medians over seeds"], asked.isGrouped ? 1 : 0, group, "rows"),
      this.compare,
    );
  }

  open() {
    location.hash = `#/compare/${[...chosen.ids].slice(0, 6).join()}`;
  }

  drawStates(all) {
    const counts = Object.fromEntries(STATES.map((state) => [state, 0]));
    for (const run of all) counts[run.state] += 1;
    const choose = (state) => () => {
      asked.state = asked.state === state ? null : state;
      this.show();
    };
    const shown = STATES.filter((state) => counts[state]);
    const button = (state) => make("button", { type: "button", "aria-pressed": asked.state === state ? "true" : "false", click: choose(state) }, make("b", {}, grouped(counts[state])), state);
    this.states.replaceChildren(...shown.map(button));
  }

  show() {
    const all = runs.all();
    this.drawStates(all);
    const test = filterOf(asked.text, runs.settings);
    this.list = all.filter((run) => (!asked.state || run.state === asked.state) && test(run));
    const measures = runs.measures();
    if (asked.isGrouped) this.grid.show(groupColumns(runs), groupsOf(this.list, measures));
    else this.grid.show(runColumns(runs, chosen), this.list);
    asked.sort = this.grid.sort;
    this.count.textContent = `${grouped(this.list.length)} of ${grouped(all.length)} runs`;
    afterDrawing(this, () => this.showFigures());
  }

  /** What stands below the table, which is there first. */
  showFigures() {
    this.scan.show(this.list);
    this.scanned.hidden = this.scan.element.hidden;
    this.follow();
  }

  /** Shows curves of what is chosen, and the best and the worst. */
  follow() {
    const count = chosen.list().length;
    this.compare.disabled = count < 2 || count > 6;
    this.compare.textContent = count ? `Compare ${count}` : "Compare (choose 2 to 6)";
    const shown = asked.isGrouped ? this.list : this.grid.rows;
    const drawn = count ? chosen.list() : shown;
    this.of.textContent = count ? `The ${Math.min(count, OVERLAID)} chosen runs.` : `The first ${Math.min(OVERLAID, drawn.length)} runs of the table; choose others by their boxes.`;
    this.curves.show(drawn);
    const ends = this.ends();
    this.best.hidden = !ends.length;
    if (ends.length) this.gallery.show(ends);
  }

  ends() {
    const [first] = runs.measures();
    if (!first) return [];
    const scored = this.list.filter((run) => scoreOf(run, first[0]) !== null);
    scored.sort((a, b) => (isLower(first[0]) ? 1 : -1) * (scoreOf(a, first[0]) - scoreOf(b, first[0])));
    return scored.length > 1 ? [scored[0], scored.at(-1)] : scored;
  }

  title() {
    return "Runs";
  }
}

/** One run. */
class Single {
  constructor([id]) {
    this.id = id;
    this.facts = make("dl", { class: "facts" });
    this.why = make("p", { class: "notes" });
    this.gallery = new Gallery(runs);
    this.curves = new Curves(runs);
    const report = make("a", { href: `report/${id}`, target: "_blank", rel: "noopener", id: "report" }, "Make its report (takes some seconds)");
    this.elements = [this.facts, this.why, make("p", {}, report), section("The model", this.gallery.element), section("Training", this.curves.element)];
  }

  show() {
    const run = runs.byId.get(this.id);
    if (!run) {
      this.facts.replaceChildren();
      this.why.textContent = runs.isLoaded ? "This run is not there (any more)." : "";
      return;
    }
    const fact = ([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value));
    const scores = runs.measures().map(([id, title]) => [title, scoreCell(run.scores && run.scores[id])]);
    const settings = runs.settings.map((name, i) => [name, run.values[i]]).filter(([, value]) => value !== null);
    const progress = run.updates ? `${grouped(run.update)} of ${grouped(run.updates)}` : "–";
    const left = run.state === "running" && run.left !== null ? [["time left", duration(run.left)]] : [];
    const facts = [["state", stateCell({ ...run, left: null, updates: 0 })], ["updates", progress], ...left, ["loss", figure(run.loss, 4)], ["forcing α", figure(run.alpha, 4)]];
    const judged = run.verdict ? [["verdict", verdictChip(run.verdict)], ...scores] : [];
    this.facts.replaceChildren(...[...facts, ...judged, ...settings].map(fact));
    this.why.textContent = run.why || "";
    this.gallery.show([run]);
    this.gallery.refresh();
    this.curves.show([run]);
  }

  title() {
    const run = runs.byId.get(this.id);
    return run ? run.name : "A run";
  }
}

/** Two to six runs side by side. */
class Comparison {
  constructor(ids) {
    this.ids = ids.slice(0, 6);
    this.table = make("div");
    this.gallery = new Gallery(runs);
    this.curves = new Curves(runs);
    this.elements = [this.table, section("The models", this.gallery.element), section("Training", this.curves.element)];
  }

  show() {
    const list = this.ids.map((id) => runs.byId.get(id)).filter(Boolean);
    const row = (name, cell) => [make("th", { scope: "row" }, name), ...list.map((run) => make("td", {}, cell(run)))];
    const differing = runs.settings.map((name, i) => [name, i]).filter(([, i]) => new Set(list.map((run) => run.values[i])).size > 1);
    const rows = [
      row("state", stateCell),
      row("verdict", (run) => verdictChip(run.verdict)),
      ...runs.measures().map(([id, title]) => row(title, (run) => scoreCell(run.scores && run.scores[id]))),
      row("loss", (run) => figure(run.loss, 4)),
      ...differing.map(([name, i]) => row(name, (run) => run.values[i] ?? "–")),
      row("seed", (run) => String(run.seed ?? "–")),
      row("trained", (run) => duration(run.seconds)),
    ];
    this.table.replaceChildren(tableOf("below a score: floor … chance", ["", ...list.map((run) => run.name)], rows));
    this.gallery.show(list);
    this.gallery.refresh();
    this.curves.show(list);
  }

  title() {
    return `${this.ids.length} runs side by side`;
  }
}

let view = null;

/** Does something for a view once what has changed is on the screen: once, however often it is asked for meanwhile. */
function afterDrawing(owner, act) {
  if (owner.isAwaited) return;
  owner.isAwaited = true;
  const go = () => {
    owner.isAwaited = false;
    if (view === owner) act();
  };
  requestAnimationFrame(() => setTimeout(go));
}

/** Opens the view that the address names. */
function open() {
  const [, kind, rest] = location.hash.match(/^#\/(run|compare)\/([\d,]+)$/) || [null, "", ""];
  const ids = rest.split(",").map(Number);
  drawings.clear();
  view = kind === "run" ? new Single(ids) : kind === "compare" ? new Comparison(ids) : new Overview();
  document.getElementById("main").replaceChildren(...view.elements);
  update();
  window.scrollTo(0, 0);
}

function update() {
  view.show();
  document.getElementById("title").textContent = view.title();
  document.title = `${view.title()} · attractor watch`;
}

/** One drawing per frame, however many changes there are. */
let isDue = false;
runs.listeners.add(() => {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    document.getElementById("status").textContent = "";
    update();
  });
});
window.addEventListener("hashchange", open);
open();
runs.follow((text) => {
  document.getElementById("status").textContent = text;
});
