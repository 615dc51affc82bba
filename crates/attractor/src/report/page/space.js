// Orbits in three dimensions on a canvas: turned by mouse, touch or arrow keys, near parts stronger than far ones.
"use strict";

/** Layers of depth, from far to near. */
const LAYERS = 6;

/** A direction to look from, shared by the canvases that turn together. */
class View {
  constructor() {
    this.canvases = new Set();
    this.home = 0.65;
    this.reset();
  }

  reset() {
    [this.yaw, this.pitch] = [this.home, 0.3];
    this.redraw();
  }

  /** Looks at points from the side from which they are broad. */
  face(points, frame) {
    let product = 0;
    for (let e = 0; e < points.length; e += 3)
      product += (points[e] - frame.middle[0]) * (points[e + 1] - frame.middle[1]);
    this.home = product > 0 ? -0.65 : 0.65;
    this.reset();
  }

  turn(right, up) {
    this.yaw += right;
    this.pitch = Math.min(Math.max(this.pitch + up, -Math.PI / 2), Math.PI / 2);
    this.redraw();
  }

  redraw() {
    for (const redraw of this.canvases) redraw();
  }
}

/** The middle and half the extent of points (flat, three a point) along each axis. */
function frameOf(points) {
  const along = (k) => points.filter((_, e) => e % 3 === k);
  const ranges = [0, 1, 2].map((k) => rangeOf([along(k)]));
  return { middle: ranges.map(([a, b]) => (a + b) / 2), half: ranges.map(([a, b]) => (b - a) / 2 || 1) };
}

/** Whether points are an orbit of a flow: its steps are short beside its extent. */
function isSmooth(points, frame) {
  let sum = 0;
  for (let e = 3; e < points.length; e += 1) sum += Math.abs(points[e] - points[e - 3]) / frame.half[e % 3];
  return sum / Math.max(1, points.length - 3) < 0.3;
}

/** The projection for a view and a size: gives screen x, y and depth (−1 far … 1 near) of a point. */
function projector(view, frame, width, tall) {
  const [cosYaw, sinYaw, cosPitch, sinPitch] = [
    Math.cos(view.yaw),
    Math.sin(view.yaw),
    Math.cos(view.pitch),
    Math.sin(view.pitch),
  ];
  const size = Math.min(width, tall) / 2.9;
  return (points, e) => {
    const x = (points[e] - frame.middle[0]) / frame.half[0];
    const y = (points[e + 1] - frame.middle[1]) / frame.half[1];
    const z = (points[e + 2] - frame.middle[2]) / frame.half[2];
    const [right, back] = [x * cosYaw - y * sinYaw, x * sinYaw + y * cosYaw];
    const [up, far] = [z * cosPitch - back * sinPitch, back * cosPitch + z * sinPitch];
    const near = size / (1 + 0.12 * far);
    return [width / 2 + right * near, tall / 2 - up * near, -far / 1.8];
  };
}

/**
 * A canvas of `content()` = { frame, names, clouds: [{ points, colour, alpha, width }], heads: [{ point, colour }],
 * cycles: [{ points, kind }] }; `pick(cloud, index)` is called for a click near a point of a cloud.
 */
function spaceCanvas(label, view, content, pick = null) {
  let project = null;
  const canvas = drawn(
    "clamp(260px, 46vw, 440px)",
    label,
    (context, width, tall) => {
      const { frame, names, clouds, heads = [], cycles = [] } = content();
      project = projector(view, frame, width, tall);
      drawCorner(context, project, frame, names);
      for (const cloud of clouds) drawCloud(context, project, cloud, isSmooth(cloud.points, frame));
      for (const cycle of cycles) drawCycle(context, project, cycle);
      for (const head of heads) drawHead(context, project, head);
    },
    "space",
  );
  view.canvases.add(canvas.redraw);
  canvas.canvas.tabIndex = 0;
  followPointer(canvas.canvas, view, (x, y) => {
    if (pick && project) pickNearest(content().clouds, project, x, y, pick);
  });
  followKeys(canvas.canvas, view);
  return canvas;
}

/** The three axes, from a corner of the box, with their names. */
function drawCorner(context, project, frame, names) {
  const corner = frame.middle.map((m, k) => m - frame.half[k] * 1.15);
  context.font = FONT;
  context.strokeStyle = colour("line");
  context.fillStyle = colour("muted");
  context.lineWidth = 1;
  context.textAlign = "center";
  context.textBaseline = "middle";
  const from = project(corner, 0);
  const taken = [];
  names.forEach((name, k) => {
    const end = corner.map((c, j) => (j === k ? frame.middle[k] + frame.half[k] * 1.15 : c));
    const to = project(end, 0);
    stroke(context, [from, to]);
    const length = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1;
    const at = [to[0] + ((to[0] - from[0]) / length) * 14, to[1] + ((to[1] - from[1]) / length) * 12];
    const hides = taken.some((other) => Math.hypot(other[0] - at[0], other[1] - at[1]) < 26);
    const text = name.length > 24 ? `${name.slice(0, 23)}…` : name;
    if (!hides) context.fillText(text, ...inside(context, text, at));
    taken.push(at);
  });
}

/** Where a text can stand without leaving the canvas. */
function inside(context, text, [x, y]) {
  const half = context.measureText(text).width / 2 + 3;
  const { width, height } = context.canvas.getBoundingClientRect();
  return [Math.min(Math.max(x, half), width - half), Math.min(Math.max(y, 8), height - 8)];
}

/** An orbit as lines, or as points where steps are long, in layers from far to near. */
function drawCloud(context, project, { points, colour: name, alpha = 1, width = 1 }, asLines) {
  const count = points.length / 3;
  const layers = Array.from({ length: LAYERS }, () => []);
  let before = null;
  for (let i = 0; i < count; i += 1) {
    const now = project(points, 3 * i);
    const layer = Math.min(LAYERS - 1, Math.max(0, Math.floor(((now[2] + 1) / 2) * LAYERS)));
    if (!asLines) layers[layer].push(now);
    else if (before) layers[layer].push(before, now);
    before = now;
  }
  context.strokeStyle = colour(name);
  context.fillStyle = colour(name);
  context.lineWidth = width;
  layers.forEach((layer, k) => {
    context.globalAlpha = alpha * (0.22 + (0.6 * k) / (LAYERS - 1));
    context.beginPath();
    for (let i = 0; i < layer.length; i += 1) {
      const [x, y] = layer[i];
      if (!asLines) context.rect(x - 0.8, y - 0.8, 1.6, 1.6);
      else if (i % 2) context.lineTo(x, y);
      else context.moveTo(x, y);
    }
    if (asLines) context.stroke();
    else context.fill();
  });
  context.globalAlpha = 1;
}

/** The colour and the shape of a kind of fixed point or cycle. */
const KINDS = {
  stable: { colour: "third", corners: 0 },
  saddle: { colour: "fourth", corners: 4 },
  repeller: { colour: "fifth", corners: 3 },
  marginal: { colour: "muted", corners: 4 },
};

/** A fixed point as a mark; a longer cycle as marks joined by a line. */
function drawCycle(context, project, { points, kind }) {
  const { colour: name, corners } = KINDS[kind];
  const places = [];
  for (let e = 0; e < points.length; e += 3) places.push(project(points, e));
  context.strokeStyle = colour(name);
  context.fillStyle = colour(name);
  context.lineWidth = 1.2;
  if (places.length > 1) stroke(context, [...places, places[0]]);
  for (const [x, y] of places) {
    const size = places.length > 1 ? 3 : 6;
    context.beginPath();
    if (corners === 0) context.arc(x, y, size, 0, 2 * Math.PI);
    for (let k = 0; k < corners; k += 1) {
      const angle = -Math.PI / 2 + (2 * Math.PI * k) / corners;
      context.lineTo(x + size * Math.cos(angle), y + size * Math.sin(angle));
    }
    context.closePath();
    context.fill();
    context.lineWidth = 1.5;
    context.strokeStyle = colour("mark");
    context.stroke();
    context.strokeStyle = colour(name);
  }
}

/** Where an orbit is now. */
function drawHead(context, project, { point, colour: name }) {
  const [x, y] = project(point, 0);
  context.fillStyle = colour(name);
  context.strokeStyle = colour("mark");
  context.lineWidth = 1.5;
  context.beginPath();
  context.arc(x, y, 5, 0, 2 * Math.PI);
  context.fill();
  context.stroke();
}

/** Turns the view while the pointer is down; a press that does not move is a click. */
function followPointer(canvas, view, click) {
  let last = null;
  let moved = 0;
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    [last, moved] = [[event.clientX, event.clientY], 0];
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!last) return;
    const [right, down] = [event.clientX - last[0], event.clientY - last[1]];
    last = [event.clientX, event.clientY];
    moved += Math.abs(right) + Math.abs(down);
    if (moved > 4) view.turn(-right * 0.01, down * 0.01);
  });
  canvas.addEventListener("pointerup", (event) => {
    const box = canvas.getBoundingClientRect();
    if (last && moved <= 4) click(event.clientX - box.left, event.clientY - box.top);
    last = null;
  });
  canvas.addEventListener("pointercancel", () => {
    last = null;
  });
}

function followKeys(canvas, view) {
  const turns = { ArrowLeft: [0.1, 0], ArrowRight: [-0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] };
  canvas.addEventListener("keydown", (event) => {
    const turn = turns[event.key];
    if (!turn) return;
    event.preventDefault();
    view.turn(...turn);
  });
}

/** Finds the point of a cloud that is nearest to a place on the canvas, up to 24 pixels away. */
function pickNearest(clouds, project, x, y, pick) {
  let best = { off: 24 };
  for (const cloud of clouds) {
    for (let i = 0; i < cloud.points.length / 3; i += 1) {
      const [px, py] = project(cloud.points, 3 * i);
      const off = Math.hypot(px - x, py - y);
      if (off < best.off) best = { off, cloud, i };
    }
  }
  if (best.cloud) pick(best.cloud, best.i);
}
