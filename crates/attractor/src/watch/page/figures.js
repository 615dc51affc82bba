// Figures over many runs: curves of trainings on top of one another, and scores over a setting.
"use strict";

/** Curves at a time. */
const OVERLAID = 8;

/** What is drawn of a training. */
const TRAINING = [
  { columns: ["loss"], label: "loss", logY: true },
  { columns: ["alpha"], label: "forcing α", logY: false },
  { columns: ["gradient_norm"], label: "norm of the gradient", logY: true },
  { columns: ["lr"], label: "learning rate", logY: true },
];

/** Four charts of the trainings of a few runs. */
class Curves {
  constructor(runs) {
    [this.runs, this.shown, this.histories, this.asked] = [runs, [], new Map(), ""];
    this.charts = TRAINING.map((what) => chart(`${what.label} over the epochs of training`, () => this.describe(what), 200));
    this.legend = make("div");
    const figures = this.charts.map(({ canvas }, k) => framed(canvas, TRAINING[k].label));
    this.element = make("div", {}, this.legend, make("div", { class: "pair" }, figures));
  }

  /** Shows other runs, or the same ones as they are now. */
  show(list) {
    this.shown = list.slice(0, OVERLAID);
    const asked = this.shown.map((run) => `${run.id}:${run.state === "running" ? Math.floor(run.update / Math.max(1, run.updates / 200)) : run.state}`).join();
    this.legend.replaceChildren(legendOf(this.shown.map((run, k) => [run.name, `run${k}`])));
    if (asked !== this.asked) this.load();
    this.asked = asked;
    this.draw();
  }

  async load() {
    const ids = this.shown.map((run) => run.id);
    if (!ids.length) return;
    const answer = await fetch(`curves/${ids.join()}`);
    if (!answer.ok) return;
    const found = await answer.json();
    ids.forEach((id, k) => this.histories.set(id, found[k]));
    this.draw();
  }

  draw() {
    for (const { redraw } of this.charts) redraw();
  }

  describe({ columns, label, logY }) {
    const lines = this.shown.flatMap((run, k) => columns.map((name) => ({ ...this.line(run, name), colour: `run${k}`, width: 1.4 })));
    const drawn = lines.filter((line) => line.x.length);
    const empty = drawn.length ? {} : { xRange: [0, 1], yRange: [0, 1], empty: "no epoch yet" };
    return { lines: drawn, logY: logY && drawn.length > 0, xLabel: "epoch", yLabel: label, wholeX: true, ...empty };
  }

  /** A column of a history, and what was reported since. */
  line(run, name) {
    const history = this.histories.get(run.id) || { epoch: [] };
    const last = history.epoch.at(-1) || 0;
    const trail = this.runs.trails.get(run.id);
    const later = trail && trail[name] ? trail.epoch.map((epoch, i) => [epoch, trail[name][i]]).filter(([epoch]) => epoch > last) : [];
    return {
      x: [...history.epoch, ...later.map(([epoch]) => epoch)],
      y: [...(history[name] || history.epoch.map(() => null)), ...later.map(([, v]) => v)],
    };
  }
}

/** A score over a setting, or its medians over two. */
class Scan {
  constructor(runs) {
    this.runs = runs;
    [this.first, this.second, this.measure] = [0, -1, 0];
    this.list = [];
    this.controls = make("div", { class: "controls" });
    this.plot = chart("a score over a setting", () => this.describe(), 260);
    this.map = drawn(280, "medians of a score over two settings", (context, width, tall) => this.drawMap(context, width, tall));
    this.caption = make("figcaption");
    this.legend = legendOf([["runs and medians", "model"], ["floor", "floor", "dashed"], ["chance", "chance", "dashed"]]);
    // Shown once there are scores.
    this.element = make("div", { hidden: true }, this.controls, make("figure", {}, this.legend, this.plot.canvas, this.map.canvas, this.caption));
  }

  show(list) {
    const { settings } = this.runs;
    const measures = this.runs.measures();
    this.list = list.filter((run) => run.scores);
    this.element.hidden = !settings.length || !measures.length || !this.list.length;
    if (this.element.hidden) return;
    const key = JSON.stringify([settings, measures]);
    if (key !== this.key) this.choose(settings, measures);
    this.key = key;
    this.draw();
  }

  choose(settings, measures) {
    const set = (name) => (i) => {
      this[name] = i;
      this.draw();
    };
    const seconds = (i) => set("second")(i - 1);
    this.controls.replaceChildren(
      selectOf("Score", measures.map(([, title]) => title), 0, set("measure"), "scan-score"),
      selectOf("over", settings, 0, set("first"), "scan-first"),
      selectOf("and", ["–", ...settings], 0, seconds, "scan-second"),
    );
    [this.first, this.second, this.measure] = [0, -1, 0];
  }

  draw() {
    const isMap = this.second >= 0 && this.second !== this.first;
    this.plot.canvas.hidden = isMap;
    this.map.canvas.hidden = !isMap;
    this.legend.hidden = isMap;
    this.caption.textContent = isMap
      ? "Medians over all runs of a field; the stronger the colour, the better."
      : "Dots are runs, the line their medians.";
    (isMap ? this.map : this.plot).redraw();
  }

  /** Where the values of a setting stand: at their numbers, or in a row where some are words. */
  axis(k) {
    const texts = [...new Set(this.list.map((run) => run.values[k]).filter((v) => v !== null))];
    const isNumber = texts.every((text) => typeof valueOf(text) === "number");
    texts.sort((a, b) => between(valueOf(a), valueOf(b), 1));
    const isEven = !isNumber || texts.length < 2;
    const numbers = texts.map(Number);
    const isLog = !isEven && numbers[0] > 0 && numbers.at(-1) / numbers[0] > 30;
    return { texts, isLog, isEven, at: (text) => (isEven ? texts.indexOf(text) + 1 : Number(text)) };
  }

  describe() {
    const [id, title] = this.runs.measures()[this.measure];
    const axis = this.axis(this.first);
    const dots = this.list.map((run) => [axis.at(run.values[this.first]), scoreOf(run, id)]);
    const kept = dots.filter(([, v]) => v !== null);
    const medians = axis.texts.map((text) => medianOf(kept.filter(([x]) => x === axis.at(text)).map(([, v]) => v)));
    const levels = this.list.map((run) => run.scores[id]).find((score) => score && score[1] !== null);
    const ends = [Math.min(...axis.texts.map(axis.at)), Math.max(...axis.texts.map(axis.at))];
    const level = (v, name) => (levels && v !== null ? [{ x: ends, y: [v, v], colour: name, dash: [5, 4] }] : []);
    const names = axis.isEven ? `: ${axis.texts.slice(0, 6).join(", ")}` : "";
    return {
      lines: [
        ...(levels ? [...level(levels[1], "floor"), ...level(levels[2], "chance")] : []),
        { x: axis.texts.map(axis.at), y: medians, colour: "model", width: 2 },
        { x: kept.map(([x]) => x), y: kept.map(([, v]) => v), colour: "model", dots: true },
      ],
      logX: axis.isLog,
      logY: kept.every(([, v]) => v > 0),
      xLabel: `${this.runs.settings[this.first]}${names}`,
      yLabel: title,
      xRange: axis.isLog ? padded(ends.map(Math.log10)) : padded(ends),
    };
  }

  drawMap(context, width, tall) {
    if (this.second < 0) return;
    const [id, title] = this.runs.measures()[this.measure];
    const [x, y] = [this.axis(this.first), this.axis(this.second)];
    const cell = (a, b) => medianOf(this.list.filter((run) => run.values[this.first] === a && run.values[this.second] === b).map((run) => scoreOf(run, id)));
    const medians = y.texts.map((b) => x.texts.map((a) => cell(a, b)));
    const scale = (v) => (v > 0 ? Math.log10(v) : v);
    const [low, high] = rangeOf(medians.map((row) => row.map((v) => (v === null ? null : scale(v)))));
    const box = { left: 96, top: 8, right: width - 84, bottom: tall - 44 };
    const [wide, high1] = [(box.right - box.left) / x.texts.length, (box.bottom - box.top) / y.texts.length];
    // Medians that are all but equal have one colour.
    const range = Math.max(high - low, 0.02);
    const share = (v) => (isLower(id) ? high - scale(v) : scale(v) - low) / range;
    const [from, to] = ["middle", "model"].map(channelsOf);
    const paint = (part) => `rgb(${from.map((m, k) => Math.round(m + (to[k] - m) * part)).join()})`;
    medians.forEach((row, j) =>
      row.forEach((v, i) => {
        const [left, top] = [box.left + i * wide, box.bottom - (j + 1) * high1];
        context.fillStyle = v === null ? colour("paper") : paint(share(v));
        context.fillRect(left, top, wide - 1, high1 - 1);
      }),
    );
    this.drawNames(context, box, x.texts, y.texts, [wide, high1]);
    drawBar(context, [box.right + 14, box.top, 12, box.bottom - box.top], paint, isLower(id) ? [high, high - range] : [low, low + range], title);
  }

  drawNames(context, box, across, up, [wide, high]) {
    context.font = FONT;
    context.fillStyle = colour("muted");
    context.textAlign = "center";
    context.textBaseline = "top";
    const every = Math.ceil((across.length * 48) / (box.right - box.left));
    across.forEach((text, i) => {
      if (i % every === 0) context.fillText(shortened(text), box.left + (i + 0.5) * wide, box.bottom + 5);
    });
    context.fillText(this.runs.settings[this.first], (box.left + box.right) / 2, box.bottom + 24);
    context.textAlign = "right";
    context.textBaseline = "middle";
    const each = Math.ceil((up.length * 15) / (box.bottom - box.top));
    up.forEach((text, j) => {
      if (j % each === 0) context.fillText(shortened(text), box.left - 6, box.bottom - (j + 0.5) * high);
    });
    context.save();
    context.translate(12, (box.top + box.bottom) / 2);
    context.rotate(-Math.PI / 2);
    context.textAlign = "center";
    context.fillText(this.runs.settings[this.second], 0, 0);
    context.restore();
  }
}

function shortened(text) {
  return text.length > 10 ? `${text.slice(0, 9)}…` : text;
}

/** A bar of colours with the values at its ends, of which logarithms are given. */
function drawBar(context, [x, y, width, tall], paint, [bottom, top], title) {
  for (let k = 0; k < tall; k += 1) {
    context.fillStyle = paint(1 - k / tall);
    context.fillRect(x, y + k, width, 1.5);
  }
  context.fillStyle = colour("muted");
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillText(figure(10 ** top, 3), x + width + 5, y + 6);
  context.fillText(figure(10 ** bottom, 3), x + width + 5, y + tall - 6);
  context.textBaseline = "top";
  context.textAlign = "right";
  context.fillText(title, x + width + 44, y + tall + 6);
}
