// Where it is from: the data, the settings, and how to repeat it; then the page from top to bottom.
"use strict";

function addData(found) {
  if (!found) return;
  const { path, rows, channels, inputs, role } = found;
  const driven = inputs.length ? ` and ${counted(inputs.length, "input")}` : "";
  const table = channelTable(channels);
  const findings = found.findings.map((f) =>
    make("li", {}, make("strong", {}, f.severity), ...coded(`: ${f.what}; ${f.remedy}`)),
  );
  addSection(
    "data",
    "Data",
    make("p", { class: "lead" }, `${path}: ${counted(rows, "row")} of ${counted(channels.length, "channel")}${driven}, ${role}.`),
    findings.length ? make("ul", { class: "notes" }, findings) : make("p", {}, "Nothing stands out in them."),
    channels.length > MANY ? folded("All channels", table) : table,
  );
}

function channelTable(channels) {
  const head = ["channel", "mean", "spread", "min", "max", "missing", "memory [rows]", "period [rows]"];
  const rows = (found) => (found ? figure(found.rows) : "–");
  const row = (c) => [
    c.name + (c.unit ? ` [${c.unit}]` : ""),
    ...[c.mean, c.spread, c.min, c.max].map((v) => figure(v)),
    String(c.missing),
    rows(c.autocorrelation),
    rows(c.period),
  ];
  return tableOf(null, head, channels.map(row));
}

/** Something long under a line that opens it. */
function folded(title, content) {
  return make("details", {}, make("summary", {}, title), content);
}

function addRepeat(data) {
  const { repeat, settings } = data;
  const block = (text) => make("pre", {}, make("code", {}, text));
  const row = (s) => [
    s.name,
    make("td", { class: s.usual ? "" : "unusual" }, s.value),
    make("td", { class: "text" }, s.about),
  ];
  const table = settings && tableOf("bold: not the default", ["setting", "value", "meaning"], settings.map(row));
  addSection(
    "repeat",
    "Settings, and how to repeat it",
    make("p", { class: "lead" }, originWords(data)),
    repeat.train ? make("p", {}, "The same training again gives the same bits on the same kind of processor:") : null,
    block(repeat.train ? `${repeat.train}\n${repeat.report}` : repeat.report),
    repeat.experiment ? folded("The file experiment.toml", block(repeat.experiment)) : null,
    table ? folded("All settings", table) : null,
    folded("The equation", block(data.equation)),
    folded("What to cite (BibTeX)", block(data.bibtex)),
  );
}

function originWords({ version, repeat }) {
  const words = [`This page was written by attractor ${version}.`];
  if (repeat.trained_by) words.push(`The model was trained by version ${repeat.trained_by}.`);
  if (repeat.seed !== null) words.push(`The seed was ${repeat.seed}.`);
  return words.join(" ");
}

function build() {
  const data = JSON.parse(document.getElementById("document").textContent);
  const picker = new ChannelPicker(data.channels);
  const coordinates = new Coordinates(data.signals, data.channels);
  addTiles(data);
  const stage = addStage(data, coordinates, new View());
  listSection("words");
  addPerturbation(data, stage);
  addSignals(data, picker);
  addForecast(data, picker);
  addEquations(data.equations);
  addScores(data.scores);
  addTraining(data.history);
  addDynamics(data);
  addData(data.data);
  addRepeat(data);
}

build();
