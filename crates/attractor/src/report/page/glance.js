// What a reader sees first: four figures beside their floors and chance levels, and the model running beside its data.
"use strict";

/** The four figures: attractor, spectrum, forecasts, exponent. */
function addTiles(data) {
  const measures = data.scores.measures || [];
  const score = (id) => measures.find((measure) => measure.id === id);
  const tiles = [
    scoreTile("Attractor, D_stsp", score("d_stsp") || score("d_stsp_paper"), data.scores),
    scoreTile("Spectrum, D_H", score("d_h"), data.scores),
    horizonTile(score("vpt"), data),
    exponentTile(data),
  ];
  document.querySelector("main").insertBefore(make("section", { class: "tiles stage", "aria-label": "key figures" }, tiles), document.getElementById("contents"));
}

function tile(title, value, unit, scale, levels) {
  return make(
    "div",
    { class: "tile" },
    make("h2", {}, title),
    make("p", { class: "value" }, value, unit ? make("small", {}, unit) : null),
    scale,
    make("ul", { class: "levels" }, levels),
  );
}

/** A figure with the mark that it has on the bar. */
function level(name, value, colour, mark = "tick") {
  const sample = make("span", { class: `mark ${mark}`, "aria-hidden": "true" });
  sample.style.color = `var(--${colour})`;
  return make("li", {}, sample, `${name} ${value}`);
}

function scoreTile(title, score, scores) {
  if (!score) return tile(title, "–", null, null, make("li", {}, scores.why ? "not judged" : "not scored"));
  // The rest of the reason stands beside the score below.
  if (score.value === null) return tile(title, "–", null, scaleOf(score), [make("li", { class: "why" }, (score.why || "not scored").split(":")[0]), ...levelsOf(score)]);
  return tile(title, figure(score.value, 3), `${score.better} is better`, scaleOf(score), levelsOf(score));
}

function levelsOf({ floor, chance }) {
  if (floor === null && chance === null) return [make("li", {}, "without floor and chance")];
  return [level("floor", figure(floor, 3), "floor"), level("chance", figure(chance, 3), "chance")];
}

/** For how long forecasts are valid, in steps and Lyapunov times. */
function horizonTile(score, data) {
  const title = "Forecast horizon";
  if (!score || score.value === null) return scoreTile(title, score, data.scores);
  const times = score.lyapunov_times;
  const { dt, unit, known } = data.step;
  const time = known ? `steps, ${figure(score.value * dt, 3)} ${unit || "units of time"}` : "steps";
  const words = times ? `steps, ${figure(times, 3)} Lyapunov times` : time;
  return tile(title, `${least(score)}${figure(score.value, 3)}`, words, scaleOf(score), levelsOf(score));
}

/** What stands before a value that is only a lower bound. */
function least(score) {
  return score.at_least ? "≥ " : "";
}

/**
 * The largest exponent of the model beside that of the system. Where that is not known, what is estimated from one channel of the data is
 * beside the same estimate from the model's orbit: such estimates are biased alike. Without chaos there is none above zero.
 */
function exponentTile({ dynamics, exponent }) {
  const title = "Largest Lyapunov exponent";
  const { lyapunov } = dynamics;
  if (!lyapunov) {
    const why = dynamics.diverged_at ? "the orbit diverges" : dynamics.why || "none";
    return tile(title, "–", null, null, make("li", {}, why));
  }
  const [value, error] = [lyapunov.exponents[0], lyapunov.standard_errors[0]];
  const shown = value === null ? "−∞" : withError(value, error);
  const unit = `per ${lyapunov.per}`;
  if (exponent.value === null || exponent.value === undefined) return tile(title, shown, unit, null, [make("li", {}, "data: no estimate"), level("no chaos", "0", "muted")]);
  const own = exponent.from === "system" ? value : exponent.model;
  const isLike = own !== null && own !== undefined;
  const marks = exponent.from === "system" ? [level("system", figure(exponent.value, 3), "data")] : estimates(exponent, isLike);
  return tile(title, shown, unit, isLike ? exponentScale(own, exponent.value) : null, [...marks, level("no chaos", "0", "muted")]);
}

/** What is estimated from one channel of data and model in the same way. */
function estimates({ value, error, model, model_error: off }, isLike) {
  const data = level("one channel: data", withError(value, error), "data");
  return isLike ? [data, level("model", withError(model, off), "model", "value")] : [data];
}

/** A bar from no chaos to beyond the larger exponent. */
function exponentScale(model, truth) {
  const [low, high] = [Math.min(0, model, truth), 1.15 * Math.max(model, truth, 1e-12)];
  const place = (v) => (v - low) / (high - low);
  return barOf([["i", place(0), "zero"], ["i", place(truth), "data"], ["b", place(model), "model"]], `exponent of the model ${figure(model, 3)}, beside it ${figure(truth, 3)}`);
}

/** A track with marks at shares of its length. */
function barOf(marks, text) {
  const mark = ([tag, share, kind]) => {
    const element = make(tag, { class: kind });
    element.style.left = `${100 * share}%`;
    return element;
  };
  return make("span", { class: "scale", role: "img", "aria-label": text }, make("span", { class: "track" }), marks.map(mark));
}

/** The data and the running model, side by side. */
function addStage(data, coordinates, view) {
  const { signals } = data;
  const clouds = remembered(coordinates, () => cloudsOf(data, coordinates));
  const points = clouds().data.points.length ? clouds().data.points : clouds().model.points;
  if (points.length) view.face(points, clouds().frame);
  const stage = new Stage(data, coordinates, view, clouds);
  const kinds = [...new Set(clouds().cycles.drawn.map((cycle) => cycle.kind))];
  const named = (kind, k) => `${KINDS[kind].word || kind}${k + 1 < kinds.length ? "" : " point or cycle"}`;
  const marks = kinds.map((kind, k) => [named(kind, k), KINDS[kind].colour, KINDS[kind].mark]);
  const legend = legendOf([["the model now", "model", "circle"], ...(data.live ? [["perturbed", "perturbed", "circle"]] : []), ...marks]);
  const figures = [
    stage.left ? framed(stage.left.canvas, dataTitle(data), { caption: `${rowWords(signals)} ${attractorWords(signals)}` }) : null,
    framed(stage.right.canvas, data.live || !signals.generated.length ? "The model, running in this page" : "The model's free orbit, replayed", { caption: modelWords(data, clouds().cycles) }),
  ];
  figures[1].append(legend);
  const section = make("section", { id: "attractor", class: "stage", "aria-label": "the data and the model" }, make("div", { class: "pair" }, figures), stage.controls(view));
  document.querySelector("main").insertBefore(section, document.getElementById("contents"));
  stage.begin();
  return stage;
}

function dataTitle({ data }) {
  return data ? `Data: ${data.path.split("/").at(-1)}` : "Data";
}

function rowWords({ cloud, rows }) {
  return cloud ? `All ${grouped(cloud.of)} rows, thinned where dense.` : `${counted(rows.truth, "row")}.`;
}

/** What is drawn, with the frame that both pictures share. */
function cloudsOf(data, coordinates) {
  const { signals } = data;
  const cloud = dataCloud(signals, coordinates);
  const model = { points: coordinates.points(signals.generated), rows: signals.generated };
  const reference = cloud.points.length ? cloud.points : model.points;
  const frame = widened(frameOf(Array.from(reference)), model.points);
  return { frame, data: cloud, model, cycles: cyclesIn(data, coordinates, frame) };
}

/** A frame that shows points as well, as long as it grows by no more than half. */
function widened({ middle, half }, points) {
  if (!points.length) return { middle, half };
  const other = frameOf(Array.from(points));
  const within = (v, k) => Math.min(Math.max(v, middle[k] - 1.5 * half[k]), middle[k] + 1.5 * half[k]);
  const low = middle.map((m, k) => Math.min(m - half[k], within(other.middle[k] - other.half[k], k)));
  const high = middle.map((m, k) => Math.max(m + half[k], within(other.middle[k] + other.half[k], k)));
  return { middle: low.map((v, k) => (v + high[k]) / 2), half: low.map((v, k) => (high[k] - v) / 2) };
}

/** A value that is computed again when the coordinates change. */
function remembered(coordinates, compute) {
  let kept = null;
  coordinates.listeners.unshift(() => {
    kept = null;
  });
  return () => (kept ??= compute());
}

function attractorWords(signals) {
  if (signals.dim === 2) return "The phase plane.";
  const turn = "Drag or use the arrow keys to turn.";
  if (signals.dim === 1) return `One channel against itself ${signals.lag} and ${2 * signals.lag} rows before. ${turn}`;
  if (!signals.projection) return turn;
  const share = signals.projection.shares.reduce((sum, v) => sum + v, 0);
  return `Components 1 to 3 hold ${figure(100 * share, 3)} % of the variance; any channel can be an axis. ${turn}`;
}

function modelWords({ signals, live }, { away }) {
  if (!signals.generated.length) return live ? "Without data there is no orbit to show it beside." : "There is no free orbit.";
  const rows = grouped(signals.generated.length / signals.dim);
  const after = signals.transient ? ` after a transient of ${grouped(signals.transient)}` : "";
  const ended = signals.diverged_at === null ? "" : `; it leaves all bounds at step ${grouped(signals.diverged_at)}`;
  const outside = away ? ` Outside: ${away} more fixed ${away === 1 ? "point or cycle" : "points or cycles"}.` : "";
  return `Pale: ${rows} rows of its free orbit${after}${ended}.${outside}`;
}

/** Fixed points and cycles near the attractor, and how many are not. */
function cyclesIn(data, coordinates, frame) {
  const all = (data.dynamics.periodic || []).flatMap((found) => found.cycles);
  const placed = all.map((cycle) => ({ kind: cycle.kind, points: coordinates.cycle(cycle.points) }));
  const isNear = ({ points }) => points.every((v, e) => Math.abs(v - frame.middle[e % 3]) < 1.6 * frame.half[e % 3]);
  const drawn = placed.filter(isNear);
  return { drawn, away: placed.length - drawn.length };
}
