// What the model does in the long run: exponents, other attractors, fixed points, cycles and regions.
"use strict";

function addDynamics(data) {
  const { dynamics } = data;
  if (dynamics.why) {
    addSection("dynamics", "Dynamics", make("p", {}, `The model was not taken apart: ${dynamics.why}.`));
    return;
  }
  const { lyapunov, regions, attractors } = dynamics;
  const facts = [
    lyapunov
      ? [
          `largest exponent per ${perWord(lyapunov.per)}`,
          lyapunov.exponents[0] === null
            ? "−∞"
            : withError(lyapunov.exponents[0], lyapunov.standard_errors[0]),
        ]
      : ["exponents", "none: the orbit diverges"],
    lyapunov ? ["Kaplan–Yorke dimension", figure(dynamics.kaplan_yorke)] : null,
    ["fixed points", String(dynamics.periodic[0].count)],
    regions
      ? ["linear regions visited", `${grouped(regions.visited)} of ≤ ${figure(regions.at_most, 3)}`]
      : ["linear regions", "none: the map is smooth"],
    regions ? ["regions that matter (2^entropy)", figure(2 ** regions.entropy_bits, 3)] : null,
  ].filter(Boolean);
  addSection(
    "dynamics",
    "Dynamics",
    make(
      "dl",
      { class: "facts" },
      facts.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))),
    ),
    lyapunov ? exponentTable(lyapunov, dynamics.steps) : null,
    make("div", { class: "pair" }, lyapunov ? exponentFigures(lyapunov, data.exponent) : null, regions && regions.visited > 1 ? regionFigure(regions) : null),
    attractors ? endsTable(attractors, data.channels) : null,
    periodicTables(data),
    systemTable(dynamics, data.channels),
  );
}

function perWord(per) {
  return per === "time" ? "unit of time" : per;
}

/** Exponents and ends in a table, at most, before the rest is folded. */
const LISTED = 12;

/** Exponents whose estimates are drawn, at most, and how far from zero: in sizes of the largest. */
const TRACED = 6;
const NEAR = 12;

/** The exponents as a table: close ones can be told apart however far away others are. */
function exponentTable(lyapunov, steps) {
  const { exponents, standard_errors: errors, per_step: perStep } = lyapunov;
  const shown = (v, error) => (v === null ? ["−∞", "–"] : rounded(v, error).map((text) => text ?? "–"));
  const row = (v, j) => [`λ${subscript(j + 1)}`, ...shown(v, errors[j]), signOf(v, errors[j], steps * perStep[j], steps)];
  const rows = exponents.map(row);
  const head = ["", `exponent per ${perWord(lyapunov.per)}`, "±", ""];
  const caption = `The exponents add up to ${figure(lyapunov.sum, 5)}.`;
  const first = tableOf(caption, head, rows.slice(0, LISTED));
  return make("div", {}, first, rows.length > LISTED ? folded(`The other ${rows.length - LISTED} exponents`, tableOf(null, head, rows.slice(LISTED))) : null);
}

/** What an exponent means: one by which distances grow or shrink less than without chaos over the orbit is none. */
function signOf(v, error, growth, steps) {
  if (v === null) return "a direction is lost at once";
  if (Math.abs(growth) < Math.log(steps)) return `zero, as far as ${grouped(steps)} steps tell`;
  if (v > 3 * error) return "expands";
  return v < -3 * error ? "contracts" : "zero within three errors";
}

function subscript(n) {
  return String(n).replace(/\d/g, (d) => "₀₁₂₃₄₅₆₇₈₉"[Number(d)]);
}

function exponentFigures(lyapunov, exponent) {
  const { exponents, trace } = lyapunov;
  const size = Math.max(Math.abs(exponents[0] || 0), Math.abs(exponents[1] || 0), 1e-12);
  const drawn = indices(exponents.length).filter((j) => exponents[j] !== null && Math.abs(exponents[j]) <= NEAR * size).slice(0, TRACED);
  const parts = indices(trace.length, (t) => t + 1);
  const dashes = [[], [7, 3], [2, 3], [9, 3, 2, 3], [4, 4], [1, 5]];
  const names = ["line", "dashed", "dotted", "chain", "short", "sparse"];
  const truth = exponent.from === "system" ? [{ x: [1, parts.length], y: [exponent.value, exponent.value], colour: "data", width: 1.6 }] : [];
  const lines = drawn.map((j, k) => ({ x: parts, y: trace.map((row) => row[j]), colour: "model", dash: dashes[k], width: k ? 1.5 : 2.2 }));
  const label = `exponent per ${perWord(lyapunov.per)}`;
  const curves = chart("estimates of the Lyapunov exponents from longer and longer parts of the orbit", () => ({
    lines: [...truth, ...lines],
    xLabel: "parts of the orbit, of 20",
    wholeX: true,
    yLabel: label,
  }));
  const legend = legendOf([...drawn.map((j, k) => [`λ${subscript(j + 1)}`, "model", names[k]]), ...(truth.length ? [[`λ₁ of the ${exponent.from}`, "data"]] : [])]);
  const left = exponents.length - drawn.length;
  const caption = left ? `${left} ${left === 1 ? "exponent" : "exponents"} farther from zero ${left === 1 ? "is" : "are"} in the table.` : null;
  const all = exponents.map((v) => v ?? NaN);
  const spectrum = chart("the Lyapunov spectrum", () => ({
    lines: [
      { x: [0.5, all.length + 0.5], y: [0, 0], colour: "muted", width: 1 },
      { x: indices(all.length, (j) => j + 1), y: all, colour: "model", dots: true, alpha: 1 },
      ...(truth.length ? [{ x: [1], y: [exponent.value], colour: "data", dots: true, alpha: 1 }] : []),
    ],
    xLabel: "number of the exponent",
    yLabel: label,
    xRange: [0.5, all.length + 0.5],
    wholeX: true,
  }));
  const marks = legendOf([["model", "model", "dot"], ...(truth.length ? [[exponent.from, "data", "dot"]] : [])]);
  return [
    framed(curves.canvas, "Estimates from ever longer parts of the orbit", { caption, legend }),
    framed(spectrum.canvas, "Lyapunov spectrum", { legend: marks }),
  ];
}

function regionFigure(regions) {
  const edges = indices(regions.shares.length + 1, (k) => k + 0.5);
  const shares = regions.shares.map((v) => 100 * v);
  const curve = chart("how often the most visited linear regions are visited", () => ({
    lines: [{ x: edges, y: [...shares, shares[shares.length - 1]], colour: "model", steps: true, width: 2 }],
    xLabel: "region, the most visited first",
    yLabel: "% of steps",
    wholeX: true,
    yRange: [0, Math.max(...shares) * 1.08],
  }));
  return framed(curve.canvas, `The ${regions.shares.length} most visited of ${grouped(regions.visited)} linear regions`);
}

/** Where orbits end that begin elsewhere: whether there are attractors that the free orbit does not show. */
function endsTable({ sentence, starts, ends }, channels) {
  if (!ends.length) return make("p", { class: "lead" }, "Other attractors: time was up before an orbit had been followed to its end.");
  const counts = ({ data, box, near }) => [data, box, near].map((n) => grouped(n));
  const place = (observed) => (observed.length ? placeOf(observed) : "–");
  const what = ({ kind, period }) => (period > 1 ? `${kind} of period ${period}` : kind);
  const rows = ends.map((end) => [what(end), place(end.observed), ...counts(end.starts)]);
  const head = ["ends at", namesOf(channels), "from rows of the data", "from the box around them", "from near fixed points"];
  const caption = `Other attractors: where ${grouped(starts.data + starts.box + starts.near)} orbits end that begin elsewhere`;
  const first = tableOf(caption, head, [...rows.slice(0, LISTED), ["all", "", ...counts(starts)]]);
  const rest = rows.length > LISTED ? folded(`The other ${rows.length - LISTED} ends`, tableOf(null, head, rows.slice(LISTED))) : null;
  return make("div", {}, first, rest, make("p", { class: "lead" }, sentence ? `${capital(sentence)}.` : "All of them come to the attractor above."));
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The first channels of a point. */
function placeOf(point) {
  return `(${point.slice(0, 4).map((v) => figure(v, 3)).join(", ")}${point.length > 4 ? ", …" : ""})`;
}

function namesOf(channels) {
  const names = channels.slice(0, 4).map((channel) => channel.name);
  return `(${names.join(", ")}${channels.length > 4 ? ", …" : ""})`;
}

/** How complete a list is, in words. */
const PROOFS = {
  complete: "proven complete",
  degenerate: "complete but for degenerate regions",
  interrupted: "time was up: there may be more",
  searched: "found by a search: there may be more",
};

function periodicTables(data) {
  const on = (is) => (is === null ? "–" : is ? "on" : "off");
  return data.dynamics.periodic
    .filter((found) => found.count || found.period === 1)
    .map((found) => {
      const s = found.count === 1 ? "" : "s";
      const what = found.period === 1 ? `fixed point${s}` : `cycle${s} of period ${found.period}`;
      const caption = `${found.count} ${what}, ${PROOFS[found.proof]}`;
      if (!found.count) return make("p", { class: "lead" }, caption);
      const rows = found.cycles.map((cycle) => [
        placeOf(cycle.points[0]),
        `${cycle.kind} (${cycle.leading})`,
        figure(cycle.largest_multiplier, Math.abs(cycle.largest_multiplier - 1) < 5e-3 ? 6 : 4),
        on(cycle.on_attractor),
      ]);
      const first =
        found.period === 1 ? namesOf(data.channels) : "first point";
      return tableOf(
        found.count > rows.length ? `${caption}; the first ${rows.length}` : caption,
        [first, "kind", "largest |μ|", "attractor"],
        rows,
      );
    });
}

/** The fixed points of the system that the data are from, each with the nearest of the model. */
function systemTable({ system }, channels) {
  if (!system || !system.fixed_points) return null;
  const points = system.fixed_points;
  const caption = `${points.length} fixed point${points.length === 1 ? "" : "s"} of ${system.name} itself, found by a search`;
  if (!points.length) return make("p", { class: "lead" }, caption);
  const near = ({ nearest, differs }) => (nearest ? `${figure(nearest.distance)} spreads away, ${nearest.kind}${differs ? ", unlike this" : ""}` : "none");
  const largest = ({ multipliers }) => Math.max(...multipliers.map(([re, im]) => Math.hypot(re, im)));
  const row = (point) => [placeOf(point.observed), `${point.kind} (${point.leading})`, figure(largest(point)), near(point)];
  return tableOf(caption, [namesOf(channels), "kind", "largest |μ|", "the model's nearest"], points.slice(0, LISTED).map(row));
}
