// What the model does beside its data: the attractor, signals and a forecast.
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
  coordinates.listeners.unshift(() => {
    kept = null;
  });
  return () => (kept ??= compute());
}

function addAttractor(data, coordinates, view) {
  const { signals } = data;
  const cloud = remembered(coordinates, () => sharedCloud(signals, coordinates));
  const truth = remembered(coordinates, () => coordinates.points(signals.truth));
  const cycles = remembered(coordinates, () => cyclesIn(data, coordinates, cloud().frame));
  const side = (label, points, name, marks) =>
    spaceCanvas(label, view, () => ({
      frame: cloud().frame,
      names: coordinates.names(),
      clouds: points().length ? [{ points: points(), colour: name }] : [],
      cycles: marks(),
    }));
  const left = signals.truth.length ? side("the data in three dimensions", truth, "true", () => []) : null;
  const generated = remembered(coordinates, () => coordinates.points(signals.generated));
  const right = side(
    "the free orbit of the model in three dimensions, with its fixed points and cycles",
    generated,
    "generated",
    () => cycles().drawn,
  );
  const controls = make(
    "div",
    { class: "controls" },
    coordinates.controls(),
    make("button", { type: "button", click: () => view.reset() }, "Reset view"),
  );
  view.face(cloud().points, cloud().frame);
  const kinds = [...new Set(cycles().drawn.map((cycle) => cycle.kind))];
  const marks = kinds.length ? legendOf(kinds.map((kind) => [`${kind} point or cycle`, KINDS[kind].colour])) : null;
  const away = cycles().away ? ` ${cycles().away} fixed points or cycles lie outside the picture.` : "";
  const shown = (rows) =>
    `${grouped(rows.length / signals.dim)} of ${grouped(signals.rows[rows === signals.truth ? "truth" : "generated"])} rows`;
  addSection(
    "attractor",
    "The attractor",
    make("p", { class: "lead" }, attractorWords(signals)),
    controls,
    make(
      "div",
      { class: "pair" },
      left ? framed(left.canvas, `The data: ${shown(signals.truth)}.`) : null,
      framed(
        right.canvas,
        signals.generated.length
          ? `The model, running freely: ${shown(signals.generated)}.${away}`
          : "There is no free orbit.",
        marks,
      ),
    ),
  );
  coordinates.listeners.push(() => {
    if (left) left.redraw();
    right.redraw();
  });
  return cloud;
}

function attractorWords(signals) {
  const turn = "Drag, or use the arrow keys, to turn.";
  if (signals.dim === 1)
    return `One channel, drawn against itself ${signals.lag} and ${2 * signals.lag} rows before. ${turn}`;
  if (!signals.projection) return turn;
  const share = signals.projection.shares.reduce((sum, v) => sum + v, 0);
  const held = `The three leading principal components of the data hold ${figure(100 * share, 3)} % of their variance`;
  return `${held}; any channel can be an axis. ${turn}`;
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
  const course = (label, rows, name) =>
    chart(
      label,
      () => {
        const y = columnOf(rows, dim, picker.chosen, from, WINDOW);
        const ends = [time(from), time(from + Math.min(WINDOW, longest))];
        return {
          lines: [{ x: indices(y.length, time, from), y, colour: name, width: 1.3 }],
          xLabel: time.label,
          yLabel: picker.label(),
          yRange: range(),
          xRange: ends,
        };
      },
      190,
    );
  const charts = [
    truth.length ? [course("a channel of the data over time", truth, "true"), "The data."] : null,
    generated.length
      ? [
          course("a channel of the model's free orbit over time", generated, "generated"),
          "The model, running freely. Chaotic orbits part: compare how they move, not where they are.",
        ]
      : null,
  ].filter(Boolean);
  const spectrum = signals.spectra
    ? chart("power spectra of a channel", () => spectrumChart(signals.spectra, picker, step), 240)
    : null;
  const histogram = chart(
    "histograms of a channel",
    () => histogramChart(signals.histograms[picker.chosen], picker),
    240,
  );
  const slider =
    longest > WINDOW
      ? sliderOf("From row", { low: 0, high: longest - WINDOW, step: 1, value: 0 }, (v) => {
          from = v;
          charts.forEach(([c]) => c.redraw());
        })
      : null;
  const controls = picker.controls();
  if (slider) controls.append(slider);
  addSection(
    "signals",
    "Signals",
    controls,
    charts.map(([c, caption]) => framed(c.canvas, caption)),
    make(
      "div",
      { class: "pair" },
      spectrum ? framed(spectrum.canvas, "Smoothed power spectra.") : null,
      framed(histogram.canvas, "How often which value occurs."),
    ),
    legendOf([...(truth.length ? [["data", "true"]] : []), ["model", "generated"]]),
    dim >= MANY ? heatMaps(signals, time) : null,
  );
  picker.listeners.push(() =>
    [...charts.map(([c]) => c), spectrum, histogram].filter(Boolean).forEach((c) => c.redraw()),
  );
}

function spectrumChart(spectra, picker, step) {
  const line = (side, name) =>
    spectra[side] ? [{ x: spectra.frequency, y: spectra[side][picker.chosen], colour: name }] : [];
  const unit = step.known ? (step.unit ? `frequency [1/${step.unit}]` : "frequency [1/time]") : "frequency [1/row]";
  return {
    lines: [...line("truth", "true"), ...line("generated", "generated")],
    logX: true,
    logY: true,
    xLabel: unit,
    yLabel: "power",
  };
}

function histogramChart(histogram, picker) {
  const bins = Math.max(histogram.truth.length, histogram.generated.length);
  const width = (histogram.high - histogram.low) / Math.max(1, bins);
  const edges = indices(bins + 1, (k) => histogram.low + k * width);
  const line = (shares, name) =>
    shares.length
      ? [{ x: edges, y: [...shares, shares[shares.length - 1]].map((v) => v / width), colour: name, steps: true }]
      : [];
  const lines = [...line(histogram.truth, "true"), ...line(histogram.generated, "generated")];
  const [, high] = rangeOf(lines.map((l) => l.y));
  return { lines, xLabel: picker.label(), yLabel: "density", yRange: [0, high * 1.06 || 1] };
}

function heatMaps(signals, time) {
  const { dim, truth, generated } = signals;
  const moments = momentsOf(truth.length ? truth : generated, dim);
  const map = (rows, label, caption) =>
    rows.length ? framed(heatMap(label, rows.slice(0, WINDOW * dim), dim, moments, time).canvas, caption) : null;
  return make(
    "div",
    {},
    make("h3", {}, "All channels"),
    make(
      "div",
      { class: "pair" },
      map(truth, "heat map of the data, channels over time", "The data; colours from −3 to 3 standard deviations."),
      map(generated, "heat map of the model's orbit, channels over time", "The model, on the same scale."),
    ),
  );
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
  const curve = chart(
    "a forecast of a channel beside the data",
    () => ({
      lines: [line(truth, "true", 2.4), line(forecast.rows, "generated", 1.5)],
      marks: [{ x: time(forecast.valid), text: `valid for ${grouped(forecast.valid)} rows` }],
      xLabel: time.label,
      yLabel: picker.label(),
    }),
    250,
  );
  const { dt, unit, known } = data.step;
  const lasted = known ? ` (a time of ${figure(forecast.valid * dt)}${unit ? ` ${unit}` : ""})` : "";
  const words = [
    `From the first row of the data on, the model is off by less than ${figure(forecast.threshold)}`,
    `standard deviations, over all channels, for ${grouped(forecast.valid)} rows${lasted}.`,
  ].join(" ");
  addSection(
    "forecast",
    "A forecast",
    make("p", { class: "lead" }, words),
    framed(
      curve.canvas,
      null,
      legendOf([
        ["data", "true"],
        ["forecast", "generated"],
      ]),
    ),
  );
  picker.listeners.push(() => curve.redraw());
}
