// What the model does beside its data over time: signals and a forecast.
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

function addSignals(data, picker) {
  const { signals, step } = data;
  const { dim, truth, generated } = signals;
  const time = timeAxis(step);
  let from = 0;
  const longest = Math.max(truth.length, generated.length) / dim;
  const range = () => padded(rangeBeside(columnOf(truth, dim, picker.chosen), columnOf(generated, dim, picker.chosen)));
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
  const named = (who, caption = null) => [() => `${who}: ${picker.label()}`, caption];
  const charts = [
    truth.length ? [course("a channel of the data over time", truth, "data"), ...named("Data")] : null,
    generated.length
      ? [course("a channel of the model's free orbit over time", generated, "model"), ...named("Model, running freely", freelyWords(signals))]
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
    charts.map(([c, title, caption]) => titled(picker, title, framed(c.canvas, title(), { caption }))),
    make(
      "div",
      { class: "pair" },
      spectrum ? framed(spectrum.canvas, "Smoothed power spectra", { legend: sides(truth), caption: spectrumWords(signals) }) : null,
      framed(histogram.canvas, "How often each value occurs", { legend: sides(truth) }),
    ),
    dim >= MANY ? heatMaps(data, time) : null,
  );
  picker.listeners.push(() =>
    [...charts.map(([c]) => c), spectrum, histogram].filter(Boolean).forEach((c) => c.redraw()),
  );
}

/** A figure whose title follows the channel. */
function titled(picker, title, element) {
  picker.listeners.push(() => {
    element.querySelector("h3").textContent = title();
  });
  return element;
}

function freelyWords({ transient }) {
  const after = transient ? `After a transient of ${grouped(transient)} rows. ` : "";
  return `${after}Chaotic orbits part: compare how they move, not where they are.`;
}

/** Why the model has no spectrum. */
function spectrumWords({ spectra, generated, diverged_at: diverged }) {
  if (!generated.length || spectra.generated) return null;
  const why = diverged !== null ? "leaves all bounds" : "has shrunk to a point, or is too short";
  return `The model's orbit ${why}: it has no spectrum.`;
}

function sides(truth) {
  return legendOf([...(truth.length ? [["data", "data"]] : []), ["model", "model"]]);
}

function spectrumChart(spectra, picker, step) {
  const line = (side, name) =>
    spectra[side] ? [{ x: spectra.frequency, y: spectra[side][picker.chosen], colour: name }] : [];
  const [least, most] = rangeOf(spectra.truth ? [spectra.truth[picker.chosen]] : []);
  const unit = step.known ? (step.unit ? `frequency [1/${step.unit}]` : "frequency [1/time]") : "frequency [1/row]";
  return {
    lines: [...line("truth", "data"), ...line("generated", "model")],
    logX: true,
    logY: true,
    // Rounding errors are no part of a spectrum.
    yRange: spectra.truth && least > 0 ? padded([Math.log10(Math.max(least / 100, most * 1e-14)), Math.log10(most) + 0.5]) : null,
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
  const lines = [...line(histogram.truth, "data"), ...line(histogram.generated, "model")];
  const [, high] = rangeOf(lines.map((l) => l.y));
  return { lines, xLabel: picker.label(), yLabel: "density", yRange: [0, high * 1.06 || 1] };
}

function heatMaps({ signals, channels }, time) {
  const { dim, truth, generated } = signals;
  const names = channels.map(channelName);
  const moments = momentsOf(truth.length ? truth : generated, dim);
  const map = (rows, label, title) => (rows.length ? framed(heatMap(label, rows.slice(0, WINDOW * dim), names, moments, time).canvas, title) : null);
  return make(
    "div",
    { class: "pair" },
    map(truth, "heat map of the data, channels over time", "Data, all channels"),
    map(generated, "heat map of the model's orbit, channels over time", "Model, all channels, about the means of the data"),
  );
}

function addForecast(data, picker) {
  const { forecast, truth, dim } = data.signals;
  if (!forecast) return;
  const time = timeAxis(data.step);
  const { from } = forecast;
  const count = Math.min(forecast.rows.length, truth.length - from * dim) / dim;
  // Three times as long as it is valid shows how it parts.
  const shown = Math.min(count, Math.max(60, 3 * forecast.valid));
  const line = (rows, name, width, first) => {
    const y = columnOf(rows, dim, picker.chosen, first, shown);
    return { x: indices(y.length, time, from), y, colour: name, width };
  };
  const curve = chart(
    "a forecast of a channel beside the data",
    () => {
      const lines = [line(truth, "data", 2.4, from), line(forecast.rows, "model", 1.5, 0)];
      return {
        lines,
        marks: [{ x: time(from + forecast.valid), text: `valid for ${counted(forecast.valid, "row")}` }],
        xLabel: time.label,
        yLabel: picker.label(),
        yRange: padded(rangeBeside(...lines.map(({ y }) => y), columnOf(truth, dim, picker.chosen, 0, truth.length / dim))),
      };
    },
    250,
  );
  const { dt, unit, known } = data.step;
  const lasted = known ? ` (a time of ${figure(forecast.valid * dt)}${unit ? ` ${unit}` : ""})` : "";
  const words = [
    `${from ? `The model takes in the first ${grouped(from + 1)} rows of the data. From the last of them` : "From the first row of the data"} on, it is off by less than ${figure(forecast.threshold)}`,
    `standard deviations, over all channels, for ${counted(forecast.valid, "row")}${lasted}.`,
  ].join(" ");
  addSection(
    "forecast",
    "A forecast",
    make("p", { class: "lead" }, words),
    titled(picker, () => picker.label(), framed(curve.canvas, picker.label(), { legend: legendOf([["data", "data"], ["forecast", "model"]]) })),
  );
  picker.listeners.push(() => curve.redraw());
}
