// Models of runs, iterated in the page beside their data.
"use strict";

/** Steps of an orbit that is drawn at once, before it a transient; fewer of models with many parameters. */
const STEPS = 3000;
const TRANSIENT = 500;
const WORK = 1.5e8;

/** Rows behind the mark that runs along an orbit. */
const TAIL = 120;

/** How often the newest model of a running training is asked for, at most, in milliseconds. */
const OFTEN = 2500;

/** The free orbit of a model from a row of data: rows behind a transient, flat; and whether it left all bounds. */
function freeOrbit(live, start) {
  const model = liveModelOf(live);
  const steps = Math.max(300, Math.min(STEPS, Math.floor(WORK / (live.parameters || 1))));
  let z = model.infer(start);
  const rows = [];
  for (let t = -TRANSIENT; t < steps; t += 1) {
    z = model.step(z);
    if (!z.every((v) => Math.abs(v) < BOUND)) return { rows, diverged: true };
    if (t >= 0) rows.push(...model.observe(z));
  }
  return { rows, diverged: false };
}

/** What is shown of one run: its document, its orbit, and a canvas for it. */
class Portrait {
  constructor(run, found, shared) {
    [this.run, this.document, this.shared] = [run, found, shared];
    this.head = 0;
    this.caption = make("figcaption");
    this.take(found.live, found);
    const label = `the free orbit of ${run.name} in the state space`;
    this.space = spaceCanvas(label, shared.view, () => this.content());
    this.element = make("figure", {}, make("h3", {}, make("a", { href: `#/run/${run.id}` }, run.name)), this.space.canvas, this.caption);
  }

  /** Takes a newer model. */
  take(live, { epoch, update }) {
    const { signals } = this.document;
    this.update = update;
    const start = signals.truth.length ? signals.truth.slice(0, signals.dim) : live && (live.start || live.mean);
    const orbit = live && start ? freeOrbit(live, start) : { rows: signals.generated, diverged: signals.diverged_at !== null };
    this.points = this.shared.coordinates.points(orbit.rows);
    if (this.space) this.space.redraw();
    const when = epoch ? `after epoch ${grouped(epoch)}` : "at the end of its training";
    const how = orbit.diverged ? "; its free orbit leaves all bounds" : "";
    this.caption.textContent = `The model ${when}, running freely${how}.`;
  }

  content() {
    const { frame, coordinates } = this.shared;
    const { points } = this;
    const count = points.length / 3;
    const at = count ? this.head % count : 0;
    return {
      frame,
      names: coordinates.names(),
      still: count ? [{ points, colour: "model", alpha: 0.7, shadow: true }] : [],
      trails: count ? [{ points: points.slice(3 * Math.max(0, at - TAIL), 3 * (at + 1)), colour: "model" }] : [],
    };
  }

  advance() {
    this.head += 2;
    this.space.move();
  }
}

/** Coordinates, frame and direction that portraits share, from the first document that has data. */
function sharedBy(documents) {
  const first = documents.find((found) => found.signals.truth.length) || documents[0];
  const { signals, channels } = first;
  const coordinates = new Coordinates(signals, channels);
  const reference = signals.truth.length ? signals.truth : signals.generated;
  const frame = frameOf(Array.from(coordinates.points(reference)));
  const view = new View();
  view.face(coordinates.points(reference), frame);
  return { coordinates, frame, view, first };
}

/** The data of portraits. */
function dataFigure({ coordinates, frame, view, first }) {
  const { points, block } = dataCloud(first.signals, coordinates);
  if (!points.length) return null;
  const space = spaceCanvas("the data in the state space", view, () => ({
    frame,
    names: coordinates.names(),
    still: [{ points, block, colour: "data", shadow: true }],
  }));
  const { cloud, rows } = first.signals;
  const words = cloud ? `All ${grouped(cloud.of)} rows, thinned where they are dense.` : `${grouped(rows.truth)} rows.`;
  const turn = coordinates.names().length > 2 ? " Drag to turn." : "";
  return framed(space.canvas, "data", { caption: words + turn });
}

/** Portraits of runs beside the data of the first; those of running trainings follow their checkpoints. */
class Gallery {
  constructor(runs) {
    this.runs = runs;
    this.portraits = [];
    this.element = make("div", {}, make("p", { class: "lead" }, "Loading …"));
    this.asked = new Map();
  }

  async show(list) {
    const ids = list.map((run) => run.id).join();
    if (ids === this.ids) return;
    this.ids = ids;
    const found = await Promise.all(list.map((run) => this.load(run)));
    if (ids !== this.ids) return;
    const whole = list.map((run, k) => [run, found[k]]);
    const usable = whole.filter(([, one]) => one && one.signals);
    const dim = usable.length && usable[0][1].signals.dim;
    const alike = usable.filter(([, one]) => one.signals.dim === dim);
    this.portraits = [];
    const notes = whole.filter(([, one]) => !one || !one.signals).map(([run, one]) => make("li", {}, `${run.name}: ${one ? one.why : "it is gone"}`));
    const figures = alike.length ? this.figures(alike) : [];
    this.missing = usable.length < list.length;
    this.element.replaceChildren(make("div", { class: "trio" }, figures), make("ul", { class: "notes" }, notes));
    this.start();
  }

  figures(alike) {
    const shared = sharedBy(alike.map(([, one]) => one));
    this.portraits = alike.map(([run, one]) => new Portrait(run, one, shared));
    return [dataFigure(shared), ...this.portraits.map((portrait) => portrait.element)];
  }

  async load(run) {
    const answer = await fetch(`run/${run.id}`);
    return answer.ok ? answer.json() : null;
  }

  /** Moves the heads as long as the gallery is on the page. */
  start() {
    const frame = () => {
      if (!this.element.isConnected || !this.portraits.length) {
        this.isMoving = false;
        return;
      }
      if (!matchMedia("(prefers-reduced-motion: reduce)").matches) for (const portrait of this.portraits) portrait.advance();
      requestAnimationFrame(frame);
    };
    if (!this.isMoving) requestAnimationFrame(frame);
    this.isMoving = true;
  }

  /** Asks for newer models, where trainings have gone on. */
  refresh() {
    const now = performance.now();
    if (this.missing) {
      const ids = this.ids;
      if (now - (this.tried || 0) < OFTEN) return;
      this.tried = now;
      this.ids = null;
      if (ids) this.show(ids.split(",").map((id) => this.runs.byId.get(Number(id))).filter(Boolean));
      return;
    }
    for (const portrait of this.portraits) {
      const run = this.runs.byId.get(portrait.run.id);
      const before = this.asked.get(portrait) || { at: -Infinity };
      const isNew = run && (run.update !== before.update || run.state !== before.state);
      if (!isNew || now - before.at < OFTEN) continue;
      this.asked.set(portrait, { at: now, update: run.update, state: run.state });
      if (run.state === "running" || before.state === "running") this.renew(portrait);
    }
  }

  async renew(portrait) {
    const answer = await fetch(`model/${portrait.run.id}`);
    if (!answer.ok) return;
    const found = await answer.json();
    if (found.live && found.update !== portrait.update) portrait.take(found.live, found);
    if (found.ended) {
      const whole = await this.load(portrait.run);
      if (whole && whole.signals) portrait.take(whole.live, whole);
    }
  }
}
