// What came of it: scores, training and equations.
"use strict";

function addScores(scores) {
  if (!scores.measures) {
    addSection("scores", "Scores", make("p", {}, coded(`There are no scores: ${scores.why}.`)));
    return;
  }
  const titles = ["measure", "", "value", "floor", "chance"].map((text) => make("span", {}, text));
  const head = make("li", { class: "score head", "aria-hidden": "true" }, titles);
  const notes = (scores.notes || []).map((note) => make("li", {}, note));
  addSection(
    "scores",
    "Scores",
    make("p", { class: "lead" }, scoreWords(scores)),
    legendOf([["model", "model", "value"], ["floor", "floor", "tick"], ["chance", "chance", "tick"]]),
    make("ul", { class: "scores" }, head, scores.measures.map(scoreRow)),
    make("ul", { class: "notes" }, notes),
  );
}

/** By what the model was judged, and how to read the bars. */
function scoreWords({ rows, from, floor_from: floor, starts }) {
  const words = [`By ${counted(rows, "row")} of ${from}.`];
  if (floor) {
    words.push(`Floor: ${floor === "halves" ? "the halves of the data against each other" : floor}.`);
    words.push("Chance: the best surrogate without the dynamics.");
  } else words.push("These scores were stored without floors and chance levels; a page with --data has them.");
  if (starts) {
    const diverged = starts.diverged ? `, ${starts.diverged} of them diverged` : "";
    words.push(`Orbits from ${counted(starts.count, "row")} of the data were run${diverged}.`);
  }
  return words.join(" ");
}

function scoreRow(score) {
  const cell = (key, text) => make("span", { class: "cell", "data-title": key }, text);
  const about = score.why ? `${score.about}; ${score.why}` : `${score.about} (${score.better} is better)`;
  return make(
    "li",
    { class: "score" },
    make("span", { class: "name" }, score.name),
    scaleOf(score),
    cell("value", `${least(score)}${withError(score.value, score.standard_error)}`),
    cell("floor", figure(score.floor, 3)),
    cell("chance", figure(score.chance, 3)),
    make("span", { class: "about" }, about),
  );
}

/** A bar with the floor, chance and the value on it, logarithmic if all of them are positive. */
function scaleOf({ value, floor, chance, name }) {
  const marks = [["i", floor, "floor"], ["i", chance, "chance"], ["b", value, "model"]].filter(([, v]) => v !== null && v !== undefined);
  if (marks.length < 2) return make("span", { class: "scale" });
  const of = marks.every(([, v]) => v > 0) ? Math.log10 : (v) => v;
  const known = marks.map(([, v]) => of(v));
  const room = of === Math.log10 ? 0.15 : 0.1 * (Math.max(...known) - Math.min(...known)) || 1;
  const [low, high] = [Math.min(...known) - room, Math.max(...known) + room];
  const place = (v) => (of(v) - low) / (high - low);
  const text = `${name}: ${figure(value, 3)}, floor ${figure(floor, 3)}, chance ${figure(chance, 3)}`;
  return barOf(marks.map(([tag, v, kind]) => [tag, place(v), kind]), text);
}

/** What is drawn of a history: its columns, labels, and whether the scale is logarithmic. */
const CURVES = [
  { title: "Loss", columns: ["loss", "penalty"], label: "loss", logY: true },
  { title: "Strength of forcing", columns: ["alpha", "alpha_estimate"], label: "α", logY: false },
  { title: "Norms", columns: ["gradient_norm", "jacobian_norm"], label: "norm", logY: true },
  { title: "Learning rate", columns: ["lr"], label: "learning rate", logY: true },
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
  // Of training, not of data or model: their dashes tell them apart.
  const styles = [{ colour: "ink" }, { colour: "muted", dash: [5, 3] }];
  const figures = CURVES.map(({ title, columns, label, logY }) => {
    // A strength of 0 throughout is that of a training without forcing.
    const shown = columns.filter((name) => history[name] && history[name].some((v) => v !== null && v !== 0 && (!logY || v > 0)));
    if (!shown.length) return null;
    const lines = shown.map((name, k) => ({ x: history.epoch, y: history[name], ...styles[k] }));
    const curve = chart(
      `${label} over the epochs of training`,
      () => ({ lines, logY, xLabel: "epoch", yLabel: label, wholeX: true }),
      210,
    );
    return framed(curve.canvas, title, { legend: legendOf(shown.map((name, k) => [names[name], styles[k].colour, k ? "dashed" : "line"])) });
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
