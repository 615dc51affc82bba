// Orbits in the state space on a canvas. Three coordinates are seen in a box with ticks, turned by mouse, touch or arrow keys: what is near is
// drawn stronger than what is far, and casts a shadow on the floor. Two coordinates are a plane.
"use strict";

/** Layers of depth, from far to near, and of age, from old to new. */
const LAYERS = 8;

/** The box about the middle of the data, in halves of their extent. */
const BOX = 1.06;

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

  /** Looks at points from the side from which they cover most. */
  face(points, frame) {
    const angles = Array.from({ length: 24 }, (_, k) => ((k - 11.5) / 24) * Math.PI);
    const covered = angles.map((yaw) => coveredFrom(yaw, points, frame));
    this.home = angles[covered.indexOf(Math.max(...covered))];
    this.reset();
  }

  turn(right, up) {
    this.yaw += right;
    this.pitch = Math.min(Math.max(this.pitch + up, 0), Math.PI / 2);
    this.redraw();
  }

  redraw() {
    for (const redraw of this.canvases) redraw();
  }
}

/** The determinant of the covariance of what is seen from an angle. */
function coveredFrom(yaw, points, frame) {
  const every = 3 * Math.max(1, Math.floor(points.length / 3000));
  const [cos, sin] = [Math.cos(yaw), Math.sin(yaw)];
  const sums = [0, 0, 0];
  for (let e = 0; e < points.length; e += every) {
    const [x, y, z] = [0, 1, 2].map((k) => (points[e + k] - frame.middle[k]) / frame.half[k]);
    const [right, up] = [x * cos - y * sin, z + 0.3 * (x * sin + y * cos)];
    sums[0] += right * right;
    sums[1] += up * up;
    sums[2] += right * up;
  }
  return sums[0] * sums[1] - sums[2] * sums[2];
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

/** The projection of a box for a view and a size: screen x, y and depth (−1 far … 1 near) of a point; `away` is how far each axis leads away. */
function projector(view, frame, width, tall) {
  const [cosYaw, sinYaw, cosPitch, sinPitch] = [Math.cos(view.yaw), Math.sin(view.yaw), Math.cos(view.pitch), Math.sin(view.pitch)];
  const size = Math.min((width - 76) / 3.1, (tall - 56) / (2 * BOX * (cosPitch + Math.SQRT2 * sinPitch)));
  const project = (points, e) => {
    const x = (points[e] - frame.middle[0]) / frame.half[0];
    const y = (points[e + 1] - frame.middle[1]) / frame.half[1];
    const z = (points[e + 2] - frame.middle[2]) / frame.half[2];
    const [right, back] = [x * cosYaw - y * sinYaw, x * sinYaw + y * cosYaw];
    const [up, far] = [z * cosPitch + back * sinPitch, back * cosPitch - z * sinPitch];
    const near = size / (1 + 0.12 * far);
    return [width / 2 + 8 + right * near, tall / 2 - 8 - up * near, -far / 1.8];
  };
  project.away = [sinYaw * cosPitch, cosYaw * cosPitch, -sinPitch];
  project.floor = frame.middle[2] - BOX * frame.half[2];
  return project;
}

/** The projection of a plane: its first coordinate to the right, its second upward. */
function planeOf(frame, width, tall) {
  const box = { left: 58, top: 10, right: width - 14, bottom: tall - 38 };
  const ranges = [0, 1].map((k) => [frame.middle[k] - BOX * frame.half[k], frame.middle[k] + BOX * frame.half[k]]);
  const share = (v, [low, high]) => (v - low) / (high - low);
  const project = (points, e) => [
    box.left + share(points[e], ranges[0]) * (box.right - box.left),
    box.bottom - share(points[e + 1], ranges[1]) * (box.bottom - box.top),
    0.1,
  ];
  return Object.assign(project, { box, ranges });
}

/**
 * A canvas of `content()` = { frame, names, still: [{ points, colour, alpha, width, block, shadow }], cycles: [{ points, kind }],
 * trails: [{ points, colour }] }: what is still is kept as a picture while trails move (`move()`). Two names are a plane, three a box.
 * `pick(cloud, index)` is called for a click near a point of a still cloud.
 */
function spaceCanvas(label, view, content, pick = null) {
  let [project, picture, isMoving] = [null, null, false];
  const made = drawn(
    "clamp(240px, 38vh, 420px)",
    label,
    (context, width, tall) => {
      const what = content();
      project = what.names.length === 2 ? planeOf(what.frame, width, tall) : projector(view, what.frame, width, tall);
      const isKept = isMoving && picture && picture.width === context.canvas.width && picture.height === context.canvas.height;
      if (!isKept) picture = pictureOf(what, project, context, width, tall);
      context.drawImage(picture, 0, 0, width, tall);
      for (const trail of what.trails || []) drawTrail(context, project, trail, isSmooth(trail.points, what.frame));
    },
    "space",
  );
  view.canvases.add(made.redraw);
  made.canvas.tabIndex = 0;
  followPointer(made.canvas, view, (x, y) => {
    if (pick && project) pickNearest(content().still, project, x, y, pick);
  });
  followKeys(made.canvas, view);
  const move = () => {
    isMoving = true;
    made.redraw();
    isMoving = false;
  };
  return { ...made, move };
}

/** The axes and all that is still, as large as a context's canvas. */
function pictureOf({ frame, names, still, cycles = [] }, project, { canvas, font }, width, tall) {
  const picture = document.createElement("canvas");
  [picture.width, picture.height] = [canvas.width, canvas.height];
  const context = picture.getContext("2d");
  context.font = font;
  context.setTransform(canvas.width / width, 0, 0, canvas.height / tall, 0, 0);
  if (project.box) drawPlane(context, project, names);
  else drawBox(context, project, frame, names, width);
  for (const cloud of still) drawCloud(context, project, cloud, isSmooth(cloud.points, frame));
  for (const cycle of cycles) drawCycle(context, project, cycle);
  return picture;
}

/** Axes with ticks about a plane. */
function drawPlane(context, { box, ranges }, names) {
  const marks = (range, length, room) => ticks(...range, Math.max(2, Math.floor(length / room))).map((v) => ({ v, text: figure(v) }));
  const at = ([low, high], from, to) => (v) => from + ((v - low) / (high - low)) * (to - from);
  const axes = {
    ...box,
    xMarks: marks(ranges[0], box.right - box.left, 80),
    yMarks: marks(ranges[1], box.bottom - box.top, 45),
    px: at(ranges[0], box.left, box.right),
    py: at(ranges[1], box.bottom, box.top),
  };
  drawAxes(context, axes, { xLabel: names[0], yLabel: names[1] });
}

/** The faces of the box that are behind, with lines at round values, and the values along three of its edges. */
function drawBox(context, project, frame, names, width) {
  const back = project.away.map((far) => (far > 0 ? 1 : -1));
  const at = (signs) => project(signs.map((s, k) => frame.middle[k] + s * frame.half[k]), 0);
  const marks = [0, 1, 2].map((k) => ticks(frame.middle[k] - frame.half[k], frame.middle[k] + frame.half[k], 5).map((v) => ({ text: figure(v), s: (v - frame.middle[k]) / frame.half[k] })));
  context.font = FONT;
  context.lineWidth = 1;
  context.strokeStyle = colour("line");
  for (const k of [0, 1, 2]) {
    const [i, j] = [0, 1, 2].filter((other) => other !== k);
    const on = (si, sj) => at([0, 1, 2].map((m) => (m === k ? back[k] * BOX : m === i ? si : sj)));
    stroke(context, [on(-BOX, -BOX), on(BOX, -BOX), on(BOX, BOX), on(-BOX, BOX), on(-BOX, -BOX)]);
    context.globalAlpha = 0.55;
    for (const { s } of marks[i]) stroke(context, [on(s, -BOX), on(s, BOX)]);
    for (const { s } of marks[j]) stroke(context, [on(-BOX, s), on(BOX, s)]);
    context.globalAlpha = 1;
  }
  const sides = [(s) => [s, -back[1] * BOX, -BOX], (s) => [-back[0] * BOX, s, -BOX], leftEdge(at)];
  sides.forEach((side, k) => drawEdge(context, (s) => at(side(s)), marks[k], names[k], [at([0, 0, 0]), width]));
}

/** The upright edge of the box that is farthest to the left. */
function leftEdge(at) {
  const corners = [-1, 1].flatMap((a) => [-1, 1].map((b) => [a * BOX, b * BOX]));
  const lefts = corners.map(([a, b]) => at([a, b, 0])[0]);
  const [a, b] = corners[lefts.indexOf(Math.min(...lefts))];
  return (s) => [a, b, s];
}

/** An edge of the box with its values and its name, on the side away from the middle. */
function drawEdge(context, at, marks, name, [middle, width]) {
  const [from, to] = [at(-BOX), at(BOX)];
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
  if (length < 40) return;
  let aside = [(to[1] - from[1]) / length, (from[0] - to[0]) / length];
  const half = at(0);
  if ((half[0] - middle[0]) * aside[0] + (half[1] - middle[1]) * aside[1] < 0) aside = aside.map((v) => -v);
  context.fillStyle = colour("muted");
  context.strokeStyle = colour("muted");
  context.textBaseline = "middle";
  stroke(context, [from, to]);
  const most = Math.max(1, Math.floor(length / 34));
  const every = Math.ceil(marks.length / most);
  const anchor = aside[0] < -0.5 ? "right" : aside[0] > 0.5 ? "left" : "center";
  context.textAlign = anchor;
  for (const { s, text } of marks.filter((_, i) => i % every === 0)) {
    const [x, y] = at(s);
    stroke(context, [[x, y], [x + 4 * aside[0], y + 4 * aside[1]]]);
    context.fillText(text, x + 8 * aside[0], y + 11 * aside[1]);
  }
  const widest = Math.max(...marks.map(({ text }) => context.measureText(text).width));
  const text = name.length > 24 ? `${name.slice(0, 23)}…` : name;
  const isUpright = aside[0] < -0.9;
  const wide = isUpright ? 0 : context.measureText(text).width / 2;
  const off = 16 + Math.abs(aside[0]) * (widest + wide) + Math.abs(aside[1]) * 10;
  context.fillStyle = colour("ink");
  drawName(context, text, isUpright, [half[0] + off * aside[0], half[1] + off * aside[1]], width);
}

/** The name of an axis; along an upright edge it runs upward. */
function drawName(context, text, isUpright, [x, y], width) {
  context.save();
  context.textAlign = "center";
  if (isUpright) {
    context.translate(Math.max(x, 8), y);
    context.rotate(-Math.PI / 2);
    context.fillText(text, 0, 0);
  } else {
    const half = context.measureText(text).width / 2 + 3;
    context.fillText(text, Math.min(Math.max(x, half), width - half), y);
  }
  context.restore();
}

/** An orbit as lines, or as points where steps are long, in layers from far to near; lines end with their block. */
function drawCloud(context, project, { points, colour: name, alpha = 1, width = 1, block = Infinity, shadow }, asLines) {
  const count = points.length / 3;
  const layers = Array.from({ length: LAYERS }, () => []);
  const fallen = [];
  let [before, under] = [null, null];
  for (let i = 0; i < count; i += 1) {
    if (i % block === 0) [before, under] = [null, null];
    const now = project(points, 3 * i);
    const layer = Math.min(LAYERS - 1, Math.max(0, Math.floor(((now[2] + 1) / 2) * LAYERS)));
    if (!asLines) layers[layer].push(now);
    else if (before) layers[layer].push(before, now);
    before = now;
    if (!shadow || project.box) continue;
    const low = project([points[3 * i], points[3 * i + 1], project.floor], 0);
    if (!asLines) fallen.push(low);
    else if (under) fallen.push(under, low);
    under = low;
  }
  [context.strokeStyle, context.fillStyle] = [colour(name), colour(name)];
  drawLayer(context, fallen, 0.1 * alpha, width, asLines);
  layers.forEach((layer, k) => {
    const near = k / (LAYERS - 1);
    drawLayer(context, layer, alpha * (0.18 + 0.62 * near), width * (0.7 + 0.5 * near), asLines);
  });
  context.globalAlpha = 1;
}

function drawLayer(context, layer, alpha, width, asLines) {
  [context.globalAlpha, context.lineWidth] = [alpha, width];
  context.beginPath();
  layer.forEach(([x, y], i) => {
    if (!asLines) context.rect(x - 0.8 * width, y - 0.8 * width, 1.6 * width, 1.6 * width);
    else if (i % 2) context.lineTo(x, y);
    else context.moveTo(x, y);
  });
  if (asLines) context.stroke();
  else context.fill();
}

/** An orbit that runs: the newer, the stronger, with a mark where it is now. */
function drawTrail(context, project, { points, colour: name }, asLines) {
  const count = points.length / 3;
  if (!count) return;
  [context.strokeStyle, context.fillStyle, context.lineJoin] = [colour(name), colour(name), "round"];
  for (let k = 0; k < LAYERS; k += 1) {
    const [from, to] = [k, k + 1].map((part) => Math.floor((part / LAYERS) * (count - 1)));
    const part = Array.from({ length: to - from + 1 }, (_, i) => project(points, 3 * (from + i)));
    const pairs = asLines ? part.slice(1).flatMap((now, i) => [part[i], now]) : part;
    drawLayer(context, pairs, 0.08 + (0.92 * (k + 1)) / LAYERS, asLines ? 2 : 1.4, asLines);
  }
  context.globalAlpha = 1;
  const [x, y] = project(points, points.length - 3);
  [context.strokeStyle, context.lineWidth] = [colour("mark"), 1.5];
  context.beginPath();
  context.arc(x, y, 5, 0, 2 * Math.PI);
  context.fill();
  context.stroke();
}

/** The colour and the shape of a kind of fixed point or cycle. */
const KINDS = {
  stable: { colour: "stable", corners: 0, mark: "circle" },
  saddle: { colour: "saddle", corners: 4, mark: "diamond" },
  repeller: { word: "repelling", colour: "repeller", corners: 3, mark: "triangle" },
  marginal: { colour: "muted", corners: 4, mark: "diamond" },
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
    context.lineWidth = 1.2;
    context.strokeStyle = colour("mark");
    context.stroke();
    context.strokeStyle = colour(name);
  }
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
  const turns = { ArrowLeft: [0.1, 0], ArrowRight: [-0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] };
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
