// All runs, kept up to date by one stream of events, which is closed while nobody looks at the page.
"use strict";

/** States in the order in which they matter. */
const STATES = ["running", "waiting", "interrupted", "failed", "diverged", "finished"];

/** Measures in the order in which they are shown, with what papers call them. */
const MEASURES = [
  ["d_stsp", "D_stsp"],
  ["d_stsp_paper", "D_stsp (f32)"],
  ["d_h", "D_H"],
  ["pe", "PE"],
  ["vpt", "VPT"],
];

/** Verdicts from bad to good. */
const VERDICTS = ["not a reconstruction", "cannot tell", "partly", "good"];

class Runs {
  constructor() {
    this.byId = new Map();
    this.settings = [];
    this.trails = new Map();
    this.listeners = new Set();
    this.isLoaded = false;
  }

  /** Follows the server, while the page is seen. */
  follow(tell) {
    const open = () => {
      this.stream = new EventSource("events");
      this.stream.onmessage = (event) => this.take(JSON.parse(event.data));
      this.stream.onopen = () => tell("");
      this.stream.onerror = () => tell("The connection is lost; this page tries again by itself.");
    };
    document.addEventListener("visibilitychange", () => {
      if (this.stream) this.stream.close();
      this.stream = null;
      if (!document.hidden) open();
    });
    // A browser may open a page behind another: it still has its earlier state.
    open();
  }

  take({ whole, settings, runs, gone }) {
    if (whole) this.byId.clear();
    this.settings = settings;
    for (const run of runs) {
      this.byId.set(run.id, run);
      if (run.state === "running") this.note(run);
    }
    for (const id of gone) this.byId.delete(id);
    this.isLoaded = true;
    for (const listener of this.listeners) listener();
  }

  /** Keeps what a running training reports between its checkpoints. */
  note({ id, epoch, loss, alpha }) {
    const trail = this.trails.get(id) || { epoch: [], loss: [], alpha: [] };
    if (!epoch || trail.epoch.at(-1) === epoch) return;
    trail.epoch.push(epoch);
    trail.loss.push(loss);
    trail.alpha.push(alpha);
    this.trails.set(id, trail);
  }

  all() {
    return [...this.byId.values()];
  }

  /** The measures that any run has. */
  measures() {
    const known = new Set();
    for (const run of this.byId.values()) if (run.scores) for (const id of Object.keys(run.scores)) known.add(id);
    const paper = known.has("d_stsp_paper") && this.all().some((run) => scoreOf(run, "d_stsp_paper") !== null);
    return MEASURES.filter(([id]) => known.has(id) && (id !== "d_stsp" || !paper));
  }
}

/** The value of a measure; null if there is none. */
function scoreOf(run, id) {
  return run.scores && run.scores[id] ? run.scores[id][0] : null;
}

/** A setting's value as a number, where it is one. */
function valueOf(text) {
  if (text === null || text === undefined || text === "") return null;
  const number = Number(text);
  return Number.isNaN(number) ? text : number;
}

/** Whether less of a measure is better. */
function isLower(id) {
  return id !== "vpt";
}

function medianOf(values) {
  const sorted = values.filter((v) => v !== null && Number.isFinite(v)).sort((a, b) => a - b);
  if (!sorted.length) return null;
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/** Runs that differ in nothing but the seed, with their medians. */
function groupsOf(runs, measures) {
  const groups = new Map();
  for (const run of runs) {
    const key = JSON.stringify([run.study, run.values]);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(run);
  }
  return [...groups.values()].map((members, id) => ({
    id,
    members,
    values: members[0].values,
    study: members[0].study,
    done: members.filter((run) => run.scores).length,
    diverged: members.filter((run) => run.state === "diverged").length,
    good: members.filter((run) => run.verdict === "good").length,
    scores: Object.fromEntries(
      measures.map(([m]) => {
        const levels = members.map((run) => run.scores && run.scores[m]).find(Boolean) || [null, null, null];
        return [m, [medianOf(members.map((run) => scoreOf(run, m))), levels[1], levels[2]]];
      }),
    ),
  }));
}

/** A test of runs from words such as `running hidden=50 d_stsp<1`; a word without a sign is part of any text of a run. */
function filterOf(text, settings) {
  const tests = text
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => {
      const parts = word.match(/^([a-z_-]+)(<=|>=|=|<|>)(.+)$/);
      if (!parts) return (run) => textOf(run).includes(word);
      const [, name, sign, wanted] = parts;
      return (run) => compares(named(run, name, settings), sign, wanted);
    });
  return (run) => tests.every((test) => test(run));
}

function textOf(run) {
  return [run.name, run.state, run.verdict, run.study, ...run.values].join(" ").toLowerCase();
}

function named(run, name, settings) {
  const at = settings.indexOf(name);
  if (at >= 0) return run.values[at];
  if (name === "verdict" || name === "state") return run[name];
  const score = scoreOf(run, name);
  return score === null ? run[name] : score;
}

function compares(value, sign, wanted) {
  if (value === null || value === undefined) return false;
  if (sign === "=") return String(value).toLowerCase() === wanted || Number(value) === Number(wanted);
  const [a, b] = [Number(value), Number(wanted)];
  return { "<": a < b, ">": a > b, "<=": a <= b, ">=": a >= b }[sign];
}

/** Seconds in words. */
function duration(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 129600) return `${figure(seconds / 3600, 3)} h`;
  return `${figure(seconds / 86400, 3)} days`;
}
