// Choosing what is shown: one channel for curves, three coordinates for orbits in space.
"use strict";

/** A chosen channel; `listeners` hear when it changes. */
class ChannelPicker {
  constructor(channels) {
    this.channels = channels;
    this.chosen = 0;
    this.listeners = [];
  }

  /** The name with its unit. */
  label(i = this.chosen) {
    return channelName(this.channels[i]);
  }

  choose(i) {
    this.chosen = (i + this.channels.length) % this.channels.length;
    this.select.value = String(this.chosen);
    for (const listener of this.listeners) listener();
  }

  /** A list with a button to either side. */
  controls() {
    const label = selectOf(
      "Channel",
      this.channels.map((_, i) => this.label(i)),
      0,
      (i) => this.choose(i),
      "channel",
    );
    this.select = label.querySelector("select");
    const beside = (text, name, by) =>
      make("button", { type: "button", "aria-label": name, click: () => this.choose(this.chosen + by) }, text);
    const several = this.channels.length > 1;
    return make(
      "div",
      { class: "controls" },
      several ? beside("←", "previous channel", -1) : null,
      label,
      several ? beside("→", "next channel", 1) : null,
    );
  }
}

/** The coordinates of a row that are drawn: two of two channels, else three of channels, channels some rows ago, or principal components. */
class Coordinates {
  constructor(signals, channels) {
    this.dim = signals.dim;
    this.options = coordinateOptions(signals, channels);
    this.chosen = Array.from({ length: this.dim === 2 ? 2 : 3 }, (_, k) => Math.min(k, this.options.length - 1));
    this.listeners = [];
  }

  names() {
    return this.chosen.map((k) => this.options[k].name);
  }

  /** Rows before the first that has all coordinates. */
  lag() {
    return Math.max(...this.chosen.map((k) => this.options[k].lag));
  }

  /** The coordinates of all rows that have them, flat, three a point, of which the third is zero in a plane. */
  points(rows) {
    const count = Math.floor(rows.length / this.dim);
    const first = this.lag();
    const points = new Float64Array(3 * Math.max(0, count - first));
    const options = this.chosen.map((k) => this.options[k]);
    for (let t = first; t < count; t += 1) {
      options.forEach((option, k) => {
        points[3 * (t - first) + k] = option.value(rows, (t - option.lag) * this.dim);
      });
    }
    return points;
  }

  /** The coordinates of rows that are thinned; those of one channel are its delay vectors. */
  thinned(rows) {
    if (this.dim > 1) return this.points(rows);
    return Float64Array.from(rows, (_, e) => rows[e - (e % 3) + this.chosen[e % 3]]);
  }

  /** The coordinates of the points of a cycle, which come back for ever. */
  cycle(points) {
    const at = (t, option) =>
      option ? option.value(points[(((t - option.lag) % points.length) + points.length) % points.length], 0) : 0;
    return points.flatMap((_, t) => [0, 1, 2].map((k) => at(t, this.options[this.chosen[k]])));
  }

  controls() {
    const names = this.options.map((option) => option.name);
    const choose = (k) => (i) => {
      this.chosen[k] = i;
      for (const listener of this.listeners) listener();
    };
    return this.chosen.map((chosen, k) => selectOf(["First axis", "Second axis", "Third axis"][k], names, chosen, choose(k), `axis-${k + 1}`));
  }
}

/** A channel with its unit. */
function channelName({ name, unit }) {
  return unit ? `${name} [${unit}]` : name;
}

/** What can be an axis. */
function coordinateOptions({ dim, projection, lag }, channels) {
  const channel = (i, rows) => ({
    name: rows ? `${channels[i].name}, ${rows} ${rows === 1 ? "row" : "rows"} ago` : channelName(channels[i]),
    lag: rows,
    value: (values, e) => values[e + i],
  });
  const all = channels.map((_, i) => channel(i, 0));
  if (dim === 1) return [...all, channel(0, lag), channel(0, 2 * lag)];
  if (!projection) return all;
  const component = (weights, k) => ({
    name: `component ${k + 1}`,
    lag: 0,
    value: (values, e) =>
      weights.reduce((sum, w, i) => sum + (w * (values[e + i] - projection.mean[i])) / projection.sd[i], 0),
  });
  return [...projection.components.map(component), ...all];
}
