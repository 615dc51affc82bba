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
    this.second = new Orbit(this.model, this.first.z.map((v, i) => v + (distance * direction[i]) / length));
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

/** The section with the running model. */
function addLive(data, coordinates, view, cloud) {
  const laboratory = new Laboratory(new LiveModel(data.live));
  const signals = data.signals;
  const rows = signals.truth.length ? signals.truth : signals.generated;
  const start = (t) => rows.slice(t * signals.dim, (t + 1) * signals.dim);
  const origin = rows.length ? start(0) : data.live.start || data.live.mean;
  const state = { running: false, speed: 2, distance: 1e-4, from: origin };
  laboratory.restart(origin);

  const space = spaceCanvas("the orbit of the running model in three dimensions", view, () => liveContent(laboratory, coordinates, cloud()), (picked, i) => {
    if (picked.rows) restart(rowOf(picked.rows, i + coordinates.lag(), signals.dim));
  });
  const slope = slopeOf(data);
  const curve = chart("distance between the two orbits over steps", () => distanceChart(laboratory, slope), "clamp(220px, 46vw, 440px)");
  const readout = make("p", { class: "readout", id: "readout", role: "status" });
  const play = make("button", { type: "button", class: "main", id: "play", click: () => run(!state.running) }, "Play");

  function show() {
    space.redraw();
    curve.redraw();
    readout.textContent = readoutOf(laboratory, data.step);
  }
  function run(running) {
    state.running = running && laboratory.isBounded();
    play.textContent = state.running ? "Pause" : "Play";
    if (state.running) requestAnimationFrame(frame);
  }
  function frame() {
    if (!state.running) return;
    for (let k = 0; k < state.speed && laboratory.isBounded(); k += 1) laboratory.advance();
    show();
    if (laboratory.isBounded()) requestAnimationFrame(frame);
    else run(false);
  }
  function restart(x) {
    state.from = x;
    laboratory.restart(x);
    show();
  }
  function perturb() {
    laboratory.perturb(state.distance);
    show();
    run(true);
  }

  const last = Math.max(0, Math.floor(rows.length / signals.dim) - 1);
  const distanceLabel = make("span", {}, "10⁻⁴");
  const distance = sliderOf(make("span", {}, "Distance of the second orbit ", distanceLabel), { low: -8, high: -1, step: 1, value: -4 }, (power) => {
    state.distance = 10 ** power;
    distanceLabel.textContent = powerText(power);
  }, "distance");
  const controls = make("div", { class: "controls" },
    play,
    make("button", { type: "button", id: "perturb", click: perturb }, "Perturb"),
    make("button", { type: "button", id: "again", click: () => restart(state.from) }, "Start again"),
    rows.length ? sliderOf("Start at row", { low: 0, high: last, step: 1, value: 0 }, (t) => restart(start(t)), "start") : null,
    sliderOf("Speed", { low: 1, high: 40, step: 1, value: 2 }, (v) => { state.speed = v; }, "speed"),
    distance);
  const held = data.live.inputs ? ` Its ${data.live.inputs} external inputs are held at zero.` : "";
  addSection("live", "The model, live",
    make("p", { class: "lead" }, `This page computes the trained map itself, ${data.live.model} with ${grouped(data.live.parameters)} parameters.${held} Press Play; perturb it and watch two orbits part. A click on the grey orbit starts there.`),
    controls, readout,
    make("div", { class: "pair" },
      framed(space.canvas, "The running orbit, before the grey one that the program computed.", legendOf([["orbit", "generated"], ["perturbed orbit", "true"]])),
      framed(curve.canvas, slope ? "Distance in the model's state space; dashed: growth at the largest Lyapunov exponent." : "Distance in the model's state space.")));
  coordinates.listeners.push(show);
  show();
}

/** A row of flat rows. */
function rowOf(rows, t, dim) {
  return rows.slice(t * dim, (t + 1) * dim);
}

function liveContent(laboratory, coordinates, ghost) {
  const orbits = [[laboratory.first, "generated"], [laboratory.second, "true"]].filter(([orbit]) => orbit && orbit.isBounded());
  const trails = orbits.map(([orbit, name]) => ({ points: coordinates.points(orbit.rows), colour: name, width: 1.6 }));
  const heads = trails.filter((trail) => trail.points.length).map((trail) => ({ point: trail.points.slice(-3), colour: trail.colour }));
  return { frame: ghost.frame, names: coordinates.names(), clouds: [{ ...ghost, colour: "muted", alpha: 0.4 }, ...trails], heads };
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
  const empty = x.length < 2 ? { xRange: [0, 100], yRange: [-8, 1] } : {};
  return { lines, logY: true, xLabel: "steps since the perturbation", yLabel: "distance", ...empty };
}

function readoutOf(laboratory, step) {
  const time = step.known ? `, time ${figure(laboratory.steps * step.dt)}${step.unit ? ` ${step.unit}` : ""}` : "";
  const distance = laboratory.second ? `; distance ${figure(laboratory.distance(), 3)}` : "";
  const end = laboratory.isBounded() ? "" : "; the orbit has left all bounds";
  return `step ${grouped(laboratory.steps)}${time}${distance}${end}`;
}
