// The model running in the page: an orbit that moves, and a second one that starts beside it and departs.
"use strict";

/** Rows of an orbit that stay visible, and points of the curve of distances. */
const TRAIL = 900;
const DISTANCES = 1500;

/** A state as far as this from zero, in the model's units, has left all bounds. */
const BOUND = 1e6;

/** A moving orbit: its state and the last rows that it was seen at. */
class Orbit {
  constructor(model, z) {
    [this.model, this.z] = [model, z];
    this.rows = model.observe(z);
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

/** One orbit or two, step by step. */
class Laboratory {
  constructor(model) {
    this.model = model;
  }

  restart(x) {
    this.first = new Orbit(this.model, this.model.infer(x));
    this.second = null;
    [this.steps, this.distances, this.every] = [0, { x: [], y: [] }, 1];
  }

  /** Starts a second orbit at a distance from the first, in a random direction. */
  perturb(distance) {
    const direction = this.first.z.map(() => Math.random() - 0.5);
    const length = Math.hypot(...direction) || 1;
    this.second = new Orbit(
      this.model,
      this.first.z.map((v, i) => v + (distance * direction[i]) / length),
    );
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

/** The running model with its controls. */
class LivePanel {
  constructor(data, coordinates, view, cloud) {
    [this.data, this.coordinates, this.dim] = [data, coordinates, data.signals.dim];
    this.rows = data.signals.truth.length ? data.signals.truth : data.signals.generated;
    this.laboratory = new Laboratory(liveModelOf(data.live));
    [this.isRunning, this.speed, this.distance] = [false, 2, 1e-4];
    this.from = this.rows.length ? rowOf(this.rows, 0, this.dim) : data.live.start || data.live.mean;
    this.laboratory.restart(this.from);
    this.slope = slopeOf(data);
    this.space = spaceCanvas(
      "the orbit of the running model in three dimensions",
      view,
      () => liveContent(this.laboratory, coordinates, cloud()),
      (picked, i) => this.pick(picked, i),
    );
    const describe = () => distanceChart(this.laboratory, this.slope);
    this.curve = chart("distance between the two orbits over steps", describe, "clamp(220px, 46vw, 440px)");
    this.readout = make("p", { class: "readout", id: "readout", role: "status" });
    coordinates.listeners.push(() => this.show());
  }

  show() {
    this.space.redraw();
    this.curve.redraw();
    this.readout.textContent = readoutOf(this.laboratory, this.data.step);
  }

  run(isRunning) {
    const wasRunning = this.isRunning;
    this.isRunning = isRunning && this.laboratory.isBounded();
    this.play.textContent = this.isRunning ? "Pause" : "Play";
    if (this.isRunning && !wasRunning) requestAnimationFrame(() => this.frame());
  }

  /** Some steps, then what they changed. */
  frame() {
    if (!this.isRunning) return;
    for (let k = 0; k < this.speed && this.laboratory.isBounded(); k += 1) this.laboratory.advance();
    this.show();
    if (this.laboratory.isBounded()) requestAnimationFrame(() => this.frame());
    else this.run(false);
  }

  restart(x) {
    this.from = x;
    this.laboratory.restart(x);
    this.show();
  }

  /** Starts at a point of the grey orbit. */
  pick(cloud, i) {
    if (cloud.rows) this.restart(rowOf(cloud.rows, i + this.coordinates.lag(), this.dim));
  }

  perturb() {
    this.laboratory.perturb(this.distance);
    this.show();
    this.run(true);
  }

  controls() {
    const button = (id, text, click) => make("button", { type: "button", id, click }, text);
    this.play = button("play", "Play", () => this.run(!this.isRunning));
    this.play.className = "main";
    const last = this.rows.length / this.dim - 1;
    const choose = (t) => this.restart(rowOf(this.rows, t, this.dim));
    const start =
      last > 0 ? sliderOf("Start at row", { low: 0, high: last, step: 1, value: 0 }, choose, "start") : null;
    const speed = sliderOf("Speed", { low: 1, high: 40, step: 1, value: this.speed }, (v) => (this.speed = v), "speed");
    return make(
      "div",
      { class: "controls" },
      this.play,
      button("perturb", "Perturb", () => this.perturb()),
      button("again", "Start again", () => this.restart(this.from)),
      start,
      speed,
      this.distanceSlider(),
    );
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
}

/** The section with the running model. */
function addLive(data, coordinates, view, cloud) {
  const panel = new LivePanel(data, coordinates, view, cloud);
  const { model, parameters, inputs } = data.live;
  const held = inputs ? ` Its ${inputs} external inputs are held at zero.` : "";
  const words = [
    `This page computes the model itself, ${model} with ${grouped(parameters)} parameters.${held}`,
    "Press Play; perturb it and watch two orbits part. A click on the grey orbit starts there.",
  ];
  const legend = legendOf([
    ["orbit", "generated"],
    ["perturbed orbit", "true"],
  ]);
  const growth = panel.slope ? "; dashed: growth at the largest Lyapunov exponent" : "";
  const figures = [
    framed(panel.space.canvas, "The running orbit, before the grey one that the program computed.", legend),
    framed(panel.curve.canvas, `Distance in the model's state space${growth}.`),
  ];
  addSection(
    "live",
    "The model, live",
    make("p", { class: "lead" }, words.join(" ")),
    panel.controls(),
    panel.readout,
    make("div", { class: "pair" }, figures),
  );
  panel.show();
}

/** A row of flat rows. */
function rowOf(rows, t, dim) {
  return rows.slice(t * dim, (t + 1) * dim);
}

function liveContent(laboratory, coordinates, ghost) {
  const orbits = [
    [laboratory.first, "generated"],
    [laboratory.second, "true"],
  ].filter(([orbit]) => orbit && orbit.isBounded());
  const trails = orbits.map(([orbit, name]) => ({ points: coordinates.points(orbit.rows), colour: name, width: 1.6 }));
  const heads = trails
    .filter((trail) => trail.points.length)
    .map((trail) => ({ point: trail.points.slice(-3), colour: trail.colour }));
  return {
    frame: ghost.frame,
    names: coordinates.names(),
    clouds: [{ ...ghost, colour: "muted", alpha: 0.4 }, ...trails],
    heads,
  };
}

/** The largest exponent per step, if it is positive. */
function slopeOf(data) {
  const lyapunov = data.dynamics.lyapunov;
  return lyapunov && lyapunov.per_step[0] > 0 ? lyapunov.per_step[0] : null;
}

function distanceChart(laboratory, slope) {
  const { x, y } = laboratory.distances;
  const lines = [{ x, y, colour: "true" }];
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
