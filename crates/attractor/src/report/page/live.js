// The model running in the page beside its data: an orbit that moves, and a second one that starts beside it and departs.
"use strict";

/** Rows of an orbit that stay visible, and points of the curve of distances. */
const TRAIL = 900;
const DISTANCES = 1500;

/** A state as far as this from zero, in the model's units, has left all bounds. */
const BOUND = 1e6;

/** A moving orbit: its state and the last rows that it was seen at, some of which may be another's. */
class Orbit {
  constructor(model, z, rows = []) {
    [this.model, this.z] = [model, z];
    this.rows = [...rows, ...model.observe(z)];
  }

  advance() {
    this.z = this.model.step(this.z);
    const row = this.model.observe(this.z);
    this.rows.push(...row);
    if (this.rows.length > 2 * TRAIL * row.length) this.rows = this.rows.slice(-TRAIL * row.length);
  }

  isBounded() {
    return this.z.every((v) => Math.abs(v) < BOUND);
  }
}

/** Rows that were computed before, shown one after the other as if they were a model's orbit. */
class Replay {
  constructor(rows, dim) {
    [this.rows, this.dim, this.from] = [rows, dim, 0];
  }

  infer() {
    return [this.from];
  }

  step([t]) {
    return [(t + 1) % (this.rows.length / this.dim)];
  }

  observe([t]) {
    return rowOf(this.rows, t, this.dim);
  }
}

/** One orbit or two, step by step; before the first are as many rows as delay coordinates need. */
class Laboratory {
  constructor(model, before = 0) {
    [this.model, this.before] = [model, before];
  }

  restart(x) {
    this.first = new Orbit(this.model, this.model.infer(x));
    for (let t = 0; t < this.before && this.first.isBounded(); t += 1) this.first.advance();
    this.second = null;
    [this.steps, this.distances, this.every] = [0, { x: [], y: [] }, 1];
  }

  /** Starts a second orbit at a distance from the first, in a random direction. */
  perturb(distance) {
    const direction = this.first.z.map(() => Math.random() - 0.5);
    const length = Math.hypot(...direction) || 1;
    const beside = this.first.z.map((v, i) => v + (distance * direction[i]) / length);
    this.second = new Orbit(this.model, beside, this.first.rows.slice(0, -this.model.mean.length));
    this.parted = this.steps;
    [this.distances, this.every] = [{ x: [0], y: [this.distance()] }, 1];
  }

  distance() {
    return Math.hypot(...this.first.z.map((v, i) => v - this.second.z[i]));
  }

  advance() {
    this.first.advance();
    this.steps += 1;
    if (!this.second) return;
    this.second.advance();
    const since = this.steps - this.parted;
    if (since % this.every === 0) this.note(since, this.distance());
  }

  /** Keeps a distance; when there are too many, every other one. */
  note(since, distance) {
    const { x, y } = this.distances;
    x.push(since);
    y.push(distance);
    if (x.length <= DISTANCES) return;
    const even = (_, i) => i % 2 === 0;
    [this.distances, this.every] = [{ x: x.filter(even), y: y.filter(even) }, this.every * 2];
  }

  isBounded() {
    return this.first.isBounded() && (!this.second || this.second.isBounded());
  }
}

/** The rows of a cloud that is drawn: all of them, or those that are left where they are dense. */
function dataCloud({ truth, cloud }, coordinates) {
  if (!cloud) return { points: coordinates.points(truth), rows: truth };
  return { points: coordinates.thinned(cloud.rows), rows: coordinates.dim > 1 ? cloud.rows : null, block: cloud.block };
}

/** The data and the model side by side, both moving. */
class Stage {
  constructor(data, coordinates, view, clouds) {
    [this.data, this.coordinates, this.view, this.clouds, this.dim] = [data, coordinates, view, clouds, data.signals.dim];
    const { truth, generated } = data.signals;
    this.rows = truth.length ? truth : generated;
    const replay = generated.length ? new Replay(generated, this.dim) : null;
    const model = data.live ? liveModelOf(data.live) : replay;
    this.laboratory = model && new Laboratory(model, coordinates.lag());
    [this.isRunning, this.isSeen, this.speed, this.distance] = [false, true, 2, 1e-4];
    this.truth = truth.length ? new Laboratory(new Replay(truth, this.dim), coordinates.lag()) : null;
    if (this.laboratory) this.restart(this.start());
    const picked = (cloud, i) => this.pick(cloud, i);
    if (truth.length) this.left = spaceCanvas("the data in the state space", view, () => this.dataContent(), data.live ? picked : null);
    this.right = spaceCanvas("the running model in the state space, with its fixed points and cycles", view, () => this.modelContent(), data.live ? picked : null);
    this.curve = chart("distance between the two orbits over steps", () => distanceChart(this.laboratory, data), 240);
    this.readout = make("p", { class: "readout", id: "readout", role: "status" });
    coordinates.listeners.push(() => this.redraw());
  }

  start() {
    const { live } = this.data;
    return this.rows.length ? rowOf(this.rows, 0, this.dim) : live.start || live.mean;
  }

  dataContent() {
    const { frame, data } = this.clouds();
    return { frame, names: this.coordinates.names(), still: [{ ...data, colour: "data", shadow: true }], trails: this.trails([[this.truth && this.truth.first, "data"]]) };
  }

  modelContent() {
    const { frame, model, cycles } = this.clouds();
    const { first, second } = this.laboratory || {};
    const orbits = [[first, "model"], [second, "perturbed"]];
    const still = model.points.length ? [{ ...model, colour: "model", alpha: 0.45, shadow: true }] : [];
    return { frame, names: this.coordinates.names(), still, cycles: cycles.drawn, trails: this.trails(orbits) };
  }

  trails(orbits) {
    const running = orbits.filter(([orbit]) => orbit && orbit.isBounded());
    return running.map(([{ rows }, name]) => ({ points: this.coordinates.points(rows.slice(-TRAIL * this.dim)), colour: name }));
  }

  redraw() {
    for (const space of [this.left, this.right]) if (space) space.redraw();
    this.tell();
  }

  tell() {
    if (!this.laboratory) return;
    this.curve.redraw();
    this.readout.textContent = readoutOf(this.laboratory, this.data.step);
  }

  show() {
    for (const space of [this.left, this.right]) if (space) space.move();
    this.tell();
  }

  run(isRunning) {
    if (!this.laboratory) return;
    const wasRunning = this.isRunning;
    this.isRunning = isRunning && this.laboratory.isBounded();
    this.play.textContent = this.isRunning ? "Pause" : "Play";
    if (this.isRunning && !wasRunning) requestAnimationFrame(() => this.frame());
  }

  /** Some steps, then what they changed; nothing while nobody can see it. */
  frame() {
    if (!this.isRunning) return;
    if (this.isSeen) {
      for (let k = 0; k < this.speed && this.laboratory.isBounded(); k += 1) {
        this.laboratory.advance();
        if (this.truth) this.truth.advance();
      }
      this.show();
    }
    if (this.laboratory.isBounded()) requestAnimationFrame(() => this.frame());
    else this.run(false);
  }

  /** Starts at a row of the data, or at a place of its own. */
  restart(x, row = 0) {
    this.from = [x, row];
    this.laboratory.restart(x);
    if (!this.truth) return;
    this.truth.model.from = row;
    this.truth.restart(x);
  }

  /** Starts the model at a point that was clicked. */
  pick({ rows, block }, i) {
    if (!rows) return;
    const row = i + (block ? 0 : this.coordinates.lag());
    this.restart(rowOf(rows, row, this.dim), rows === this.data.signals.truth ? row : 0);
    this.show();
  }

  perturb() {
    this.laboratory.perturb(this.distance);
    this.show();
    this.run(true);
  }

  again() {
    this.restart(...this.from);
    this.show();
  }

  /** What is beside the pictures at once. */
  controls() {
    const button = (id, text, click) => make("button", { type: "button", id, click }, text);
    this.play = button("play", "Play", () => this.run(!this.isRunning));
    this.play.className = "main";
    const perturb = this.data.live ? button("perturb", "Perturb", () => this.perturb()) : null;
    const speed = sliderOf("Speed", { low: 1, high: 40, step: 1, value: this.speed }, (v) => (this.speed = v), "speed");
    const running = this.laboratory ? [this.play, perturb, button("again", "Start again", () => this.again()), speed] : [];
    return make("div", { class: "controls" }, running, this.coordinates.controls(), this.reset());
  }

  reset() {
    return this.coordinates.names().length > 2 ? make("button", { type: "button", click: () => this.view.reset() }, "Reset view") : null;
  }

  /** What is needed for a closer look. */
  more() {
    const last = this.rows.length / this.dim - 1;
    const choose = (t) => {
      this.restart(rowOf(this.rows, t, this.dim), t);
      this.show();
    };
    const start = last > 0 ? sliderOf("Start at row", { low: 0, high: last, step: 1, value: 0 }, choose, "start") : null;
    return make("div", { class: "controls" }, start, this.distanceSlider());
  }

  distanceSlider() {
    const shown = make("span", {}, powerText(Math.log10(this.distance)));
    const choose = (power) => {
      this.distance = 10 ** power;
      shown.textContent = powerText(power);
    };
    const label = make("span", {}, "Distance of the second orbit ", shown);
    return sliderOf(label, { low: -8, high: -1, step: 1, value: -4 }, choose, "distance");
  }

  /** Begins, unless the reader prefers less motion, and rests while it is out of sight. */
  begin() {
    this.redraw();
    new IntersectionObserver((entries) => {
      this.isSeen = entries.some((entry) => entry.isIntersecting);
    }).observe(this.right.canvas);
    this.run(!matchMedia("(prefers-reduced-motion: reduce)").matches);
  }
}

/** What is known of an orbit that is perturbed, below the pictures. */
function addPerturbation(data, stage) {
  if (!data.live) return;
  const { model, parameters, inputs } = data.live;
  const held = inputs ? ` Its ${inputs} external inputs are held at zero.` : "";
  const words = [
    `This page computes the model itself, ${model} with ${grouped(parameters)} parameters.${held}`,
    "Perturb starts a second orbit beside the first; a click on a point of the pictures above starts there.",
  ];
  const growth = slopeOf(data) ? [["growth at the largest Lyapunov exponent", "muted", "dashed"]] : [];
  const legend = legendOf([["distance of the perturbed orbit", "perturbed"], ...growth]);
  addSection(
    "live",
    "How two orbits part",
    make("p", { class: "lead" }, words.join(" ")),
    stage.more(),
    stage.readout,
    framed(stage.curve.canvas, "Distance in the model's state space", { legend }),
  );
}

/** A row of flat rows. */
function rowOf(rows, t, dim) {
  return rows.slice(t * dim, (t + 1) * dim);
}

/** The largest exponent per step, if it is positive. */
function slopeOf(data) {
  const { lyapunov } = data.dynamics;
  return lyapunov && lyapunov.per_step[0] > 0 ? lyapunov.per_step[0] : null;
}

function distanceChart(laboratory, data) {
  const slope = slopeOf(data);
  const { x, y } = laboratory.distances;
  const lines = [{ x, y, colour: "perturbed" }];
  if (slope && x.length > 1) {
    // As far as it can grow: then the attractor's size stops it.
    const end = Math.min(x[x.length - 1], Math.log(Math.max(...y) / y[0]) / slope);
    lines.push({ x: [0, end], y: [y[0], y[0] * Math.exp(slope * end)], colour: "muted", dash: [5, 4] });
  }
  const empty = x.length < 2 ? { xRange: [0, 100], yRange: [-8, 1], empty: "Perturb starts a second orbit" } : {};
  return { lines, logY: true, xLabel: "steps since the perturbation", yLabel: "distance", ...empty };
}

function readoutOf(laboratory, step) {
  const time = step.known ? `, time ${figure(laboratory.steps * step.dt)}${step.unit ? ` ${step.unit}` : ""}` : "";
  const distance = laboratory.second ? `; distance ${figure(laboratory.distance(), 3)}` : "";
  const end = laboratory.isBounded() ? "" : "; the orbit has left all bounds";
  return `step ${grouped(laboratory.steps)}${time}${distance}${end}`;
}
