// What came of it: scores, training and dynamics.
"use strict";

function addScores(scores) {
  if (!scores.measures) {
    addSection("scores", "Scores", make("p", {}, `There are no scores: ${scores.why}.`));
    return;
  }
  const titles = ["measure", "", "value", "floor", "chance"].map((text) => make("span", {}, text));
  const head = make("li", { class: "score head", "aria-hidden": "true" }, titles);
  const notes = (scores.notes || []).map((note) => make("li", {}, note));
  addSection(
    "scores",
    "Scores",
    make("p", { class: "lead" }, scoreWords(scores)),
    make("ul", { class: "scores" }, head, scores.measures.map(scoreRow)),
    make("ul", { class: "notes" }, notes),
  );
}

/** By what the model was judged, and how to read the bars. */
function scoreWords({ rows, from, floor_from: floor, starts }) {
  const words = [`By ${grouped(rows)} rows of ${from}.`];
  if (floor) {
    words.push(`Floor: ${floor === "halves" ? "the halves of the data against each other" : floor}.`);
    words.push("Chance: the best surrogate without the dynamics.");
    words.push("On each bar the dot is the model; the green mark is the floor, the pink one chance.");
  } else words.push("These scores were stored without floors and chance levels; a page with --data has them.");
  if (starts) {
    const diverged = starts.diverged ? `, ${starts.diverged} of them diverged` : "";
    words.push(`Orbits from ${starts.count} rows of the data were run${diverged}.`);
  }
  return words.join(" ");
}

function scoreRow(score) {
  const cell = (key, text) => make("span", { class: "cell", "data-title": key }, text);
  const error = score.standard_error === null ? "" : ` ± ${figure(score.standard_error, 2)}`;
  const about = score.why ? `${score.about}; ${score.why}` : `${score.about} (${score.better} is better)`;
  return make(
    "li",
    { class: "score" },
    make("span", { class: "name" }, score.name),
    scaleOf(score),
    cell("value", `${figure(score.value, 3)}${error}`),
    cell("floor", figure(score.floor, 3)),
    cell("chance", figure(score.chance, 3)),
    make("span", { class: "about" }, about),
  );
}

/** A logarithmic bar with the floor, chance and the value on it. */
function scaleOf({ value, floor, chance, name }) {
  const known = [value, floor, chance].filter((v) => v > 0).map(Math.log10);
  if (!(value > 0) || known.length < 2) return make("span", { class: "scale" });
  const [low, high] = [Math.min(...known) - 0.15, Math.max(...known) + 0.15];
  const place = (v) => `${(100 * (Math.log10(v) - low)) / (high - low)}%`;
  const mark = (tag, v, kind) => (v > 0 ? make(tag, { class: kind, style: `left: ${place(v)}` }) : null);
  const text = `${name}: ${figure(value, 3)}, floor ${figure(floor, 3)}, chance ${figure(chance, 3)}`;
  return make(
    "span",
    { class: "scale", role: "img", "aria-label": text },
    make("span", { class: "track" }),
    mark("i", floor, "floor"),
    mark("i", chance, "chance"),
    mark("b", value, "value"),
  );
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
  const names = {
    loss: "loss",
    penalty: "penalty",
    alpha: "α",
    alpha_estimate: "estimate of α",
    gradient_norm: "norm of the gradient",
    jacobian_norm: "norm of the Jacobians",
    lr: "learning rate",
  };
  const colours = ["true", "generated"];
  const figures = CURVES.map(({ columns, label, logY }) => {
    const shown = columns.filter((name) => history[name] && history[name].some((v) => v !== null && (!logY || v > 0)));
    if (!shown.length) return null;
    const lines = shown.map((name, k) => ({ x: history.epoch, y: history[name], colour: colours[k] }));
    const curve = chart(
      `${label} over the epochs of training`,
      () => ({ lines, logY, xLabel: "epoch", yLabel: label, wholeX: true }),
      210,
    );
    return framed(curve.canvas, null, legendOf(shown.map((name, k) => [names[name], colours[k]])));
  });
  addSection("training", "Training", make("div", { class: "pair" }, figures));
}

/** The model's equations, beside those of the system that the data are from. */
function addEquations(found) {
  if (!found) return;
  const block = (lines) => make("pre", {}, make("code", {}, lines.join("\n")));
  const { truth } = found;
  const known = truth && !truth.why ? [make("h3", {}, `${truth.system}, in its own units`), block(truth.text)] : [];
  const none = truth && truth.why ? make("p", {}, `There are no equations of ${truth.system}: ${truth.why}.`) : null;
  addSection(
    "equations",
    "Equations",
    make("p", { class: "lead" }, `What the model is, in the units of the data: ${grouped(found.terms)} terms.`),
    block(found.text),
    ...known,
    none,
    folded("LaTeX", block(found.latex)),
  );
}

function addDynamics(data) {
  const { dynamics } = data;
  if (dynamics.why) {
    addSection("dynamics", "Dynamics", make("p", {}, `The model was not taken apart: ${dynamics.why}.`));
    return;
  }
  const { lyapunov, regions } = dynamics;
  const facts = [
    lyapunov
      ? [
          `largest exponent per ${perWord(lyapunov.per)}`,
          lyapunov.exponents[0] === null
            ? "−∞"
            : `${figure(lyapunov.exponents[0])} ± ${figure(lyapunov.standard_errors[0], 2)}`,
        ]
      : ["exponents", `none: diverges at step ${grouped(dynamics.diverged_at)}`],
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
    make("div", { class: "pair" }, lyapunov ? exponentFigures(lyapunov) : null, regions ? regionFigure(regions) : null),
    periodicTables(data),
  );
}

function perWord(per) {
  return per === "time" ? "unit of time" : per;
}

function exponentFigures(lyapunov) {
  const colours = ["true", "generated", "third", "fourth", "fifth", "muted"];
  const count = Math.min(colours.length, lyapunov.exponents.length);
  const parts = indices(lyapunov.trace.length, (t) => t + 1);
  const lines = indices(count).map((j) => ({ x: parts, y: lyapunov.trace.map((row) => row[j]), colour: colours[j] }));
  const trace = chart("estimates of the Lyapunov exponents from longer and longer parts of the orbit", () => ({
    lines,
    xLabel: "parts of the orbit, of 20",
    wholeX: true,
    yLabel: `exponent per ${perWord(lyapunov.per)}`,
  }));
  const caption =
    count < lyapunov.exponents.length
      ? `Convergence of the ${count} largest exponents.`
      : "Convergence of the exponents.";
  const named = (v) => (v === null ? "−∞" : figure(v, 3));
  const legend = legendOf(lines.map((line, j) => [`λ${j + 1} = ${named(lyapunov.exponents[j])}`, line.colour]));
  const all = lyapunov.exponents.filter((v) => v !== null);
  const spectrum = chart("the Lyapunov spectrum", () => ({
    lines: [
      { x: [0.5, all.length + 0.5], y: [0, 0], colour: "muted", width: 1 },
      {
        x: [...indices(all.length, (j) => j + 0.5), all.length + 0.5],
        y: [...all, all[all.length - 1]],
        colour: "true",
        steps: true,
        width: 2,
      },
    ],
    xLabel: "number of the exponent",
    yLabel: `exponent per ${perWord(lyapunov.per)}`,
    xRange: [0.5, all.length + 0.5],
    wholeX: true,
  }));
  return [
    framed(trace.canvas, caption, legend),
    framed(spectrum.canvas, `The spectrum; the exponents add up to ${named(lyapunov.sum)}.`),
  ];
}

function regionFigure(regions) {
  const edges = indices(regions.shares.length + 1, (k) => k + 0.5);
  const shares = regions.shares.map((v) => 100 * v);
  const curve = chart("how often the most visited linear regions are visited", () => ({
    lines: [{ x: edges, y: [...shares, shares[shares.length - 1]], colour: "third", steps: true, width: 2 }],
    xLabel: "region, the most visited first",
    yLabel: "% of steps",
    wholeX: true,
    yRange: [0, Math.max(...shares) * 1.08],
  }));
  return framed(curve.canvas, `The ${regions.shares.length} most visited of ${grouped(regions.visited)} regions.`);
}

/** How complete a list is, in words. */
const PROOFS = {
  complete: "proven complete",
  degenerate: "complete but for degenerate regions",
  interrupted: "time was up: there may be more",
  searched: "found by a search: there may be more",
};

function periodicTables(data) {
  const named = data.channels.slice(0, 4).map((channel) => channel.name);
  const place = (points) =>
    `(${points[0]
      .slice(0, 4)
      .map((v) => figure(v, 3))
      .join(", ")}${points[0].length > 4 ? ", …" : ""})`;
  const on = (is) => (is === null ? "–" : is ? "on" : "off");
  return data.dynamics.periodic
    .filter((found) => found.count || found.period === 1)
    .map((found) => {
      const what = found.period === 1 ? "fixed points" : `cycles of period ${found.period}`;
      const caption = `${found.count} ${what}, ${PROOFS[found.proof]}`;
      if (!found.count) return make("p", { class: "lead" }, caption);
      const rows = found.cycles.map((cycle) => [
        place(cycle.points),
        `${cycle.kind} (${cycle.leading})`,
        figure(cycle.largest_multiplier),
        on(cycle.on_attractor),
      ]);
      const first =
        found.period === 1 ? `(${named.join(", ")}${data.channels.length > 4 ? ", …" : ""})` : "first point";
      return tableOf(
        found.count > rows.length ? `${caption}; the first ${rows.length}` : caption,
        [first, "kind", "largest |μ|", "attractor"],
        rows,
      );
    });
}
