// The page from top to bottom: each section from its part of the document.
"use strict";

/** Rows of a window of the time series. */
const WINDOW = 1000;

/** Channels from which heat maps are drawn. */
const MANY = 8;

/** Time or rows, as the data have it. */
function timeAxis(step) {
  const of = (rows) => (step.known ? rows * step.dt : rows);
  of.label = step.known ? `time${step.unit ? ` [${step.unit}]` : ""}` : "rows";
  return of;
}

function columnOf(rows, dim, i, from = 0, count = Infinity) {
  const column = [];
  for (let t = from; t < Math.min(rows.length / dim, from + count); t += 1) column.push(rows[t * dim + i]);
  return column;
}

function indices(count, scale = (t) => t, from = 0) {
  return Array.from({ length: count }, (_, t) => scale(from + t));
}

/** The orbit that is drawn behind others, with the frame that all orbits share. */
function sharedCloud(signals, coordinates) {
  const reference = signals.truth.length ? signals.truth : signals.generated;
  const rows = signals.generated.length ? signals.generated : reference;
  const points = coordinates.points(rows);
  const frame = widened(frameOf(Array.from(coordinates.points(reference))), points);
  return { frame, rows, points, width: 1 };
}

/** A frame that shows points as well, as long as it grows by no more than half. */
function widened({ middle, half }, points) {
  const other = frameOf(Array.from(points));
  const within = (v, k) => Math.min(Math.max(v, middle[k] - 1.5 * half[k]), middle[k] + 1.5 * half[k]);
  const low = middle.map((m, k) => Math.min(m - half[k], within(other.middle[k] - other.half[k], k)));
  const high = middle.map((m, k) => Math.max(m + half[k], within(other.middle[k] + other.half[k], k)));
  return { middle: low.map((v, k) => (v + high[k]) / 2), half: low.map((v, k) => (high[k] - v) / 2) };
}

/** A value that is computed again when the coordinates change. */
function remembered(coordinates, compute) {
  let kept = null;
  coordinates.listeners.unshift(() => { kept = null; });
  return () => (kept ??= compute());
}

function addAttractor(data, coordinates, view) {
  const { signals } = data;
  const cloud = remembered(coordinates, () => sharedCloud(signals, coordinates));
  const truth = remembered(coordinates, () => coordinates.points(signals.truth));
  const cycles = remembered(coordinates, () => cyclesIn(data, coordinates, cloud().frame));
  const side = (label, points, name, marks) => spaceCanvas(label, view, () => ({
    frame: cloud().frame, names: coordinates.names(), clouds: points().length ? [{ points: points(), colour: name }] : [], cycles: marks(),
  }));
  const left = signals.truth.length ? side("the data in three dimensions", truth, "true", () => []) : null;
  const generated = remembered(coordinates, () => coordinates.points(signals.generated));
  const right = side("the free orbit of the model in three dimensions, with its fixed points and cycles", generated, "generated", () => cycles().drawn);
  const controls = make("div", { class: "controls" }, coordinates.controls(), make("button", { type: "button", click: () => view.reset() }, "Turn back"));
  view.face(cloud().points, cloud().frame);
  const kinds = [...new Set(cycles().drawn.map((cycle) => cycle.kind))];
  const marks = kinds.length ? legendOf(kinds.map((kind) => [`${kind} point or cycle`, KINDS[kind].colour])) : null;
  const away = cycles().away ? ` ${cycles().away} fixed points or cycles lie outside the picture.` : "";
  const shown = (rows) => `${grouped(rows.length / signals.dim)} of ${grouped(signals.rows[rows === signals.truth ? "truth" : "generated"])} rows`;
  addSection("attractor", "The attractor",
    make("p", { class: "lead" }, attractorWords(signals)),
    controls,
    make("div", { class: "pair" },
      left ? framed(left.canvas, `The data: ${shown(signals.truth)}.`) : null,
      framed(right.canvas, signals.generated.length ? `The model, running freely: ${shown(signals.generated)}.${away}` : "There is no free orbit.", marks)));
  coordinates.listeners.push(() => { if (left) left.redraw(); right.redraw(); });
  return cloud;
}

function attractorWords(signals) {
  const turn = "Drag, or use the arrow keys, to turn.";
  if (signals.dim === 1) return `One channel, drawn against itself ${signals.lag} and ${2 * signals.lag} rows before. ${turn}`;
  if (!signals.projection) return turn;
  const share = signals.projection.shares.reduce((sum, v) => sum + v, 0);
  return `The three leading principal components of the data hold ${figure(100 * share, 3)} % of their variance; any channel can be an axis. ${turn}`;
}

/** Fixed points and cycles near the attractor, and how many are not. */
function cyclesIn(data, coordinates, frame) {
  const all = (data.dynamics.periodic || []).flatMap((found) => found.cycles);
  const placed = all.map((cycle) => ({ kind: cycle.kind, points: coordinates.cycle(cycle.points) }));
  const isNear = ({ points }) => points.every((v, e) => Math.abs(v - frame.middle[e % 3]) < 1.6 * frame.half[e % 3]);
  const drawn = placed.filter(isNear);
  return { drawn, away: placed.length - drawn.length };
}

function addSignals(data, picker) {
  const { signals, step } = data;
  const { dim, truth, generated } = signals;
  const time = timeAxis(step);
  let from = 0;
  const longest = Math.max(truth.length, generated.length) / dim;
  const range = () => padded(rangeOf([columnOf(truth, dim, picker.chosen), columnOf(generated, dim, picker.chosen)]));
  const course = (label, rows, name) => chart(label, () => {
    const y = columnOf(rows, dim, picker.chosen, from, WINDOW);
    const ends = [time(from), time(from + Math.min(WINDOW, longest))];
    return { lines: [{ x: indices(y.length, time, from), y, colour: name, width: 1.3 }], xLabel: time.label, yLabel: picker.label(), yRange: range(), xRange: ends };
  }, 190);
  const charts = [
    truth.length ? [course("a channel of the data over time", truth, "true"), "The data."] : null,
    generated.length ? [course("a channel of the model's free orbit over time", generated, "generated"), "The model, running freely. Chaotic orbits part: compare how they move, not where they are."] : null,
  ].filter(Boolean);
  const spectrum = signals.spectra ? chart("power spectra of a channel", () => spectrumChart(signals.spectra, picker, step), 240) : null;
  const histogram = chart("histograms of a channel", () => histogramChart(signals.histograms[picker.chosen], picker), 240);
  const slider = longest > WINDOW ? sliderOf("From row", { low: 0, high: longest - WINDOW, step: 1, value: 0 }, (v) => { from = v; charts.forEach(([c]) => c.redraw()); }) : null;
  const controls = picker.controls();
  if (slider) controls.append(slider);
  addSection("signals", "Signals", controls,
    charts.map(([c, caption]) => framed(c.canvas, caption)),
    make("div", { class: "pair" },
      spectrum ? framed(spectrum.canvas, "Smoothed power spectra.") : null,
      framed(histogram.canvas, "How often which value occurs.")),
    legendOf([...(truth.length ? [["data", "true"]] : []), ["model", "generated"]]),
    dim >= MANY ? heatMaps(signals, time) : null);
  picker.listeners.push(() => [...charts.map(([c]) => c), spectrum, histogram].filter(Boolean).forEach((c) => c.redraw()));
}

function spectrumChart(spectra, picker, step) {
  const line = (side, name) => (spectra[side] ? [{ x: spectra.frequency, y: spectra[side][picker.chosen], colour: name }] : []);
  const unit = step.known ? (step.unit ? `frequency [1/${step.unit}]` : "frequency [1/time]") : "frequency [1/row]";
  return { lines: [...line("truth", "true"), ...line("generated", "generated")], logX: true, logY: true, xLabel: unit, yLabel: "power" };
}

function histogramChart(histogram, picker) {
  const bins = Math.max(histogram.truth.length, histogram.generated.length);
  const width = (histogram.high - histogram.low) / Math.max(1, bins);
  const edges = indices(bins + 1, (k) => histogram.low + k * width);
  const line = (shares, name) => (shares.length ? [{ x: edges, y: [...shares, shares[shares.length - 1]].map((v) => v / width), colour: name, steps: true }] : []);
  const lines = [...line(histogram.truth, "true"), ...line(histogram.generated, "generated")];
  const [, high] = rangeOf(lines.map((l) => l.y));
  return { lines, xLabel: picker.label(), yLabel: "density", yRange: [0, high * 1.06 || 1] };
}

function heatMaps(signals, time) {
  const { dim, truth, generated } = signals;
  const moments = momentsOf(truth.length ? truth : generated, dim);
  const map = (rows, label, caption) => (rows.length ? framed(heatMap(label, rows.slice(0, WINDOW * dim), dim, moments, time).canvas, caption) : null);
  return make("div", {}, make("h3", {}, "All channels"),
    make("div", { class: "pair" },
      map(truth, "heat map of the data, channels over time", "The data; colours from −3 to 3 standard deviations."),
      map(generated, "heat map of the model's orbit, channels over time", "The model, on the same scale.")));
}

function addForecast(data, picker) {
  const { forecast, truth, dim } = data.signals;
  if (!forecast) return;
  const time = timeAxis(data.step);
  const count = Math.min(forecast.rows.length, truth.length) / dim;
  // Three times as long as it is valid shows how it parts.
  const shown = Math.min(count, Math.max(60, 3 * forecast.valid));
  const line = (rows, name, width) => {
    const y = columnOf(rows, dim, picker.chosen, 0, shown);
    return { x: indices(y.length, time), y, colour: name, width };
  };
  const curve = chart("a forecast of a channel beside the data", () => ({
    lines: [line(truth, "true", 2.4), line(forecast.rows, "generated", 1.5)],
    marks: [{ x: time(forecast.valid), text: `valid for ${grouped(forecast.valid)} rows` }],
    xLabel: time.label, yLabel: picker.label(),
  }), 250);
  const words = `From the first row of the data on, the model is off by less than ${figure(forecast.threshold)} standard deviations, over all channels, for ${grouped(forecast.valid)} rows${data.step.known ? ` (a time of ${figure(time(forecast.valid))}${data.step.unit ? ` ${data.step.unit}` : ""})` : ""}.`;
  addSection("forecast", "A forecast", make("p", { class: "lead" }, words),
    framed(curve.canvas, null, legendOf([["data", "true"], ["forecast", "generated"]])));
  picker.listeners.push(() => curve.redraw());
}

function addScores(scores) {
  if (!scores.measures) {
    addSection("scores", "Scores", make("p", {}, `There are no scores: ${scores.why}.`));
    return;
  }
  const head = make("li", { class: "score head", "aria-hidden": "true" }, ["measure", "", "value", "floor", "chance"].map((text) => make("span", {}, text)));
  const levels = scores.floor_from === "halves" ? "the halves of the data against each other" : scores.floor_from;
  const words = scores.floor_from
    ? `Floor: ${levels}. Chance: the best surrogate without the dynamics. On each bar the dot is the model; the green mark is the floor, the pink one chance.`
    : "These scores were stored without floors and chance levels; a page with --data has them.";
  const starts = scores.starts ? ` Orbits from ${scores.starts.count} rows of the data were run${scores.starts.diverged ? `, ${scores.starts.diverged} of them diverged` : ""}.` : "";
  addSection("scores", "Scores",
    make("p", { class: "lead" }, `By ${grouped(scores.rows)} rows of ${scores.from}. ${words}${starts}`),
    make("ul", { class: "scores" }, head, scores.measures.map(scoreRow)),
    make("ul", { class: "notes" }, (scores.notes || []).map((note) => make("li", {}, note))));
}

function scoreRow(score) {
  const cell = (key, text) => make("span", { class: "cell", "data-title": key }, text);
  const error = score.standard_error === null ? "" : ` ± ${figure(score.standard_error, 2)}`;
  const about = score.why ? `${score.about}; ${score.why}` : `${score.about} (${score.better} is better)`;
  return make("li", { class: "score" },
    make("span", { class: "name" }, score.name), scaleOf(score),
    cell("value", `${figure(score.value, 3)}${error}`), cell("floor", figure(score.floor, 3)), cell("chance", figure(score.chance, 3)),
    make("span", { class: "about" }, about));
}

/** A logarithmic bar with the floor, chance and the value on it. */
function scaleOf({ value, floor, chance, name }) {
  const known = [value, floor, chance].filter((v) => v > 0).map(Math.log10);
  if (!(value > 0) || known.length < 2) return make("span", { class: "scale" });
  const [low, high] = [Math.min(...known) - 0.15, Math.max(...known) + 0.15];
  const place = (v) => `${(100 * (Math.log10(v) - low)) / (high - low)}%`;
  const mark = (tag, v, kind) => (v > 0 ? make(tag, { class: kind, style: `left: ${place(v)}` }) : null);
  const text = `${name}: ${figure(value, 3)}, floor ${figure(floor, 3)}, chance ${figure(chance, 3)}`;
  return make("span", { class: "scale", role: "img", "aria-label": text },
    make("span", { class: "track" }), mark("i", floor, "floor"), mark("i", chance, "chance"), mark("b", value, "value"));
}

/** What is drawn of a history: its columns, labels, and whether the scale is logarithmic. */
const CURVES = [
  { columns: ["loss", "penalty"], label: "loss", logY: true },
  { columns: ["alpha", "alpha_estimate"], label: "α", logY: false },
  { columns: ["gradient_norm", "jacobian_norm"], label: "norm", logY: true },
  { columns: ["lr"], label: "learning rate", logY: true },
];

function addTraining(history) {
  if (!history) return;
  const names = { loss: "loss", penalty: "penalty", alpha: "α", alpha_estimate: "estimate of α", gradient_norm: "norm of the gradient", jacobian_norm: "norm of the Jacobians", lr: "learning rate" };
  const colours = ["true", "generated"];
  const figures = CURVES.map(({ columns, label, logY }) => {
    const shown = columns.filter((name) => history[name] && history[name].some((v) => v !== null && (!logY || v > 0)));
    if (!shown.length) return null;
    const lines = shown.map((name, k) => ({ x: history.epoch, y: history[name], colour: colours[k] }));
    const curve = chart(`${label} over the epochs of training`, () => ({ lines, logY, xLabel: "epoch", yLabel: label }), 210);
    return framed(curve.canvas, null, legendOf(shown.map((name, k) => [names[name], colours[k]])));
  });
  addSection("training", "Training", make("div", { class: "pair" }, figures));
}

function addDynamics(data) {
  const { dynamics } = data;
  if (dynamics.why) {
    addSection("dynamics", "Dynamics", make("p", {}, `The model was not taken apart: ${dynamics.why}.`));
    return;
  }
  const { lyapunov, regions } = dynamics;
  const facts = [
    lyapunov ? [`largest exponent per ${perWord(lyapunov.per)}`, `${figure(lyapunov.exponents[0])} ± ${figure(lyapunov.standard_errors[0], 2)}`] : ["exponents", `none: diverges at step ${grouped(dynamics.diverged_at)}`],
    lyapunov ? ["Kaplan–Yorke dimension", figure(dynamics.kaplan_yorke)] : null,
    ["fixed points", String(dynamics.periodic[0].count)],
    regions ? ["linear regions visited", `${grouped(regions.visited)} of ≤ ${figure(regions.at_most, 3)}`] : ["linear regions", "none: the map is smooth"],
    regions ? ["regions that matter (2^entropy)", figure(2 ** regions.entropy_bits, 3)] : null,
  ].filter(Boolean);
  addSection("dynamics", "Dynamics",
    make("dl", { class: "facts" }, facts.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value)))),
    make("div", { class: "pair" }, lyapunov ? exponentFigures(lyapunov) : null, regions ? regionFigure(regions) : null),
    periodicTables(data));
}

function perWord(per) {
  return per === "time" ? "unit of time" : per;
}

function exponentFigures(lyapunov) {
  const colours = ["true", "generated", "third", "fourth", "fifth", "muted"];
  const count = Math.min(colours.length, lyapunov.exponents.length);
  const parts = indices(lyapunov.trace.length, (t) => t + 1);
  const lines = indices(count).map((j) => ({ x: parts, y: lyapunov.trace.map((row) => row[j]), colour: colours[j] }));
  const trace = chart("estimates of the Lyapunov exponents from longer and longer parts of the orbit", () => ({ lines, xLabel: "parts of the orbit, of 20", yLabel: `exponent per ${perWord(lyapunov.per)}` }));
  const caption = count < lyapunov.exponents.length ? `Convergence of the ${count} largest exponents.` : "Convergence of the exponents.";
  const legend = legendOf(lines.map((line, j) => [`λ${j + 1} = ${figure(lyapunov.exponents[j], 3)}`, line.colour]));
  const all = lyapunov.exponents;
  const spectrum = chart("the Lyapunov spectrum", () => ({
    lines: [{ x: [0.5, all.length + 0.5], y: [0, 0], colour: "muted", width: 1 }, { x: [...indices(all.length, (j) => j + 0.5), all.length + 0.5], y: [...all, all[all.length - 1]], colour: "true", steps: true, width: 2 }],
    xLabel: "number of the exponent", yLabel: `exponent per ${perWord(lyapunov.per)}`, xRange: [0.5, all.length + 0.5],
  }));
  return [framed(trace.canvas, caption, legend), framed(spectrum.canvas, `The spectrum; the exponents add up to ${figure(lyapunov.sum)}.`)];
}

function regionFigure(regions) {
  const edges = indices(regions.shares.length + 1, (k) => k + 0.5);
  const shares = regions.shares.map((v) => 100 * v);
  const curve = chart("how often the most visited linear regions are visited", () => ({
    lines: [{ x: edges, y: [...shares, shares[shares.length - 1]], colour: "third", steps: true, width: 2 }],
    xLabel: "region, the most visited first", yLabel: "% of steps", yRange: [0, Math.max(...shares) * 1.08],
  }));
  return framed(curve.canvas, `The ${regions.shares.length} most visited of ${grouped(regions.visited)} regions.`);
}

/** How complete a list is, in words. */
const PROOFS = { complete: "proven complete", degenerate: "complete but for degenerate regions", interrupted: "time was up: there may be more", searched: "found by a search: there may be more" };

function periodicTables(data) {
  const named = data.channels.slice(0, 4).map((channel) => channel.name);
  const place = (points) => `(${points[0].slice(0, 4).map((v) => figure(v, 3)).join(", ")}${points[0].length > 4 ? ", …" : ""})`;
  const on = (is) => (is === null ? "–" : is ? "on" : "off");
  return data.dynamics.periodic.filter((found) => found.count || found.period === 1).map((found) => {
    const what = found.period === 1 ? "fixed points" : `cycles of period ${found.period}`;
    const caption = `${found.count} ${what}, ${PROOFS[found.proof]}`;
    if (!found.count) return make("p", { class: "lead" }, caption);
    const rows = found.cycles.map((cycle) => [place(cycle.points), `${cycle.kind} (${cycle.leading})`, figure(cycle.largest_multiplier), on(cycle.on_attractor)]);
    const first = found.period === 1 ? `(${named.join(", ")}${data.channels.length > 4 ? ", …" : ""})` : "first point";
    return tableOf(found.count > rows.length ? `${caption}; the first ${rows.length}` : caption, [first, "kind", "largest |μ|", "attractor"], rows);
  });
}

function addData(found) {
  if (!found) return;
  const rows = found.channels.map((c) => [c.name + (c.unit ? ` [${c.unit}]` : ""), figure(c.mean), figure(c.spread), figure(c.min), figure(c.max), String(c.missing), c.autocorrelation ? figure(c.autocorrelation.rows, 3) : "–", c.period ? figure(c.period.rows, 4) : "–"]);
  const table = tableOf(null, ["channel", "mean", "spread", "min", "max", "missing", "memory [rows]", "period [rows]"], rows);
  const findings = found.findings.map((f) => make("li", {}, make("strong", {}, f.severity), `: ${f.what}; ${f.remedy}`));
  addSection("data", "Data",
    make("p", { class: "lead" }, `${found.path}: ${grouped(found.rows)} rows of ${found.channels.length} channels${found.inputs.length ? ` and ${found.inputs.length} inputs` : ""}, ${found.role}.`),
    findings.length ? make("ul", { class: "notes" }, findings) : make("p", {}, "Nothing stands out in them."),
    rows.length > MANY ? make("details", {}, make("summary", {}, "All channels"), table) : table);
}

function addRepeat(data) {
  const { repeat, settings } = data;
  const block = (text) => make("pre", {}, make("code", {}, text));
  const rows = (settings || []).map((s) => [s.name, make("td", { class: s.usual ? "" : "unusual" }, s.value), make("td", { class: "text" }, s.about)]);
  const by = repeat.trained_by ? ` It was trained by version ${repeat.trained_by}` : "";
  addSection("repeat", "Settings, and how to repeat it",
    make("p", { class: "lead" }, `This page was written by attractor ${data.version}.${by}${by && repeat.seed !== null ? `, with seed ${repeat.seed}.` : by ? "." : ""}`),
    repeat.train ? make("p", {}, "The same training again gives the same bits on the same kind of processor:") : null,
    repeat.train ? block(`${repeat.train}\n${repeat.report}`) : block(repeat.report),
    repeat.experiment ? make("details", {}, make("summary", {}, "The file experiment.toml"), block(repeat.experiment)) : null,
    rows.length ? make("details", {}, make("summary", {}, "All settings"), tableOf("bold: not the default", ["setting", "value", "meaning"], rows)) : null,
    make("details", {}, make("summary", {}, "The equation"), block(data.live.equation)),
    make("details", {}, make("summary", {}, "What to cite (BibTeX)"), block(data.bibtex)));
}

function build() {
  const data = JSON.parse(document.getElementById("document").textContent);
  document.getElementById("title").textContent = data.title;
  const picker = new ChannelPicker(data.channels);
  const coordinates = new Coordinates(data.signals, data.channels);
  const view = new View();
  const cloud = addAttractor(data, coordinates, view);
  addLive(data, coordinates, view, cloud);
  addSignals(data, picker);
  addForecast(data, picker);
  addScores(data.scores);
  addTraining(data.history);
  addDynamics(data);
  addData(data.data);
  addRepeat(data);
}

build();
