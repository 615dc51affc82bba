// Line charts on a canvas: axes with round marks, logarithmic if asked, lines, steps and vertical marks.
"use strict";

const FONT = "12px system-ui, sans-serif";

/**
 * A chart of `describe()`, which is asked each time it is drawn:
 * { lines: [{ x, y, colour, dash, steps, width }], xLabel, yLabel, logX, logY, wholeX, xRange, yRange, marks: [{ x, text }],
 *   a line with `dots` is drawn as points, which let others show through unless it has an `alpha`; empty: what to say in the middle of a chart without lines }.
 */
function chart(label, describe, height = 230) {
  return drawn(height, label, (context, width, tall) => {
    const what = describe();
    const axes = axesOf(what, context, width, tall);
    drawAxes(context, axes, what);
    context.save();
    context.beginPath();
    context.rect(axes.left, axes.top, axes.right - axes.left, axes.bottom - axes.top);
    context.clip();
    for (const line of what.lines) drawLine(context, axes, line);
    context.restore();
    for (const mark of what.marks || []) drawMark(context, axes, mark);
    if (what.empty) drawEmpty(context, axes, what.empty);
  });
}

/** Where values stand on the canvas. */
function axesOf(what, context, width, tall) {
  const positive = (list, isLog) => (isLog ? list.map((v) => (v > 0 ? Math.log10(v) : null)) : list);
  const x = what.xRange || spread(rangeOf(what.lines.map((line) => positive(line.x, what.logX))));
  const y = what.yRange || padded(rangeOf(what.lines.map((line) => positive(line.y, what.logY))));
  const [top, bottom] = [what.marks && what.marks.length ? 20 : 8, tall - 34];
  const yMarks = marksOf(y, what.logY, Math.max(2, Math.floor((bottom - top) / 45)));
  context.font = FONT;
  const widest = Math.max(...yMarks.map((mark) => context.measureText(mark.text).width));
  const [left, right] = [Math.ceil(widest) + 26, width - 12];
  const xMarks = marksOf(x, what.logX, Math.max(2, Math.floor((right - left) / 80))).filter(
    ({ v }) => !what.wholeX || Number.isInteger(v),
  );
  const place = (v, isLog, [low, high], from, to) => {
    const at = isLog ? (v > 0 ? Math.log10(v) : NaN) : v;
    return from + ((at - low) / (high - low || 1)) * (to - from);
  };
  return {
    left,
    right,
    top,
    bottom,
    xMarks,
    yMarks,
    px: (v) => place(v, what.logX, x, left, right),
    py: (v) => place(v, what.logY, y, bottom, top),
  };
}

/** A range that is not a point. */
function spread([low, high]) {
  return low < high ? [low, high] : padded([low, high]);
}

/** A range with some room about it. */
function padded([low, high]) {
  const room = (high - low) * 0.06 || Math.abs(high) * 0.1 || 1;
  return [low - room, high + room];
}

/** Values to be marked on an axis, with their texts. */
function marksOf([low, high], isLog, count) {
  if (!isLog) return ticks(low, high, count).map((v) => ({ v, text: figure(v) }));
  const powers = decades(low, high, count);
  if (powers) return powers.map((k) => ({ v: 10 ** k, text: powerText(k) }));
  return ticks(10 ** low, 10 ** high, Math.min(count, 4))
    .filter((v) => v > 0)
    .map((v) => ({ v, text: figure(v) }));
}

function drawAxes(context, axes, what) {
  const { left, right, top, bottom } = axes;
  context.font = FONT;
  context.lineWidth = 1;
  context.strokeStyle = colour("line");
  context.fillStyle = colour("muted");
  context.textAlign = "center";
  context.textBaseline = "top";
  let free = -Infinity;
  for (const { v, text } of axes.xMarks) {
    const x = Math.min(Math.max(axes.px(v), left), right);
    stroke(context, [
      [x, bottom],
      [x, bottom + 4],
    ]);
    const half = context.measureText(text).width / 2;
    const at = Math.min(x, right + 10 - half);
    if (at - half > free) {
      context.fillText(text, at, bottom + 5);
      free = at + half + 6;
    }
  }
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const { v, text } of axes.yMarks) {
    const y = axes.py(v);
    stroke(context, [
      [left, y],
      [right, y],
    ]);
    context.fillText(text, left - 5, y);
  }
  context.textAlign = "center";
  context.textBaseline = "bottom";
  context.fillText(what.xLabel || "", (left + right) / 2, bottom + 34);
  context.save();
  context.translate(11, (top + bottom) / 2);
  context.rotate(-Math.PI / 2);
  context.textBaseline = "middle";
  context.fillText(what.yLabel || "", 0, 0);
  context.restore();
}

function stroke(context, points) {
  context.beginPath();
  points.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.stroke();
}

/** A line that is broken where a value is missing. */
function drawLine(context, axes, line) {
  if (line.dots) {
    drawDots(context, axes, line);
    return;
  }
  context.strokeStyle = colour(line.colour);
  context.lineWidth = line.width || 1.6;
  context.lineJoin = "round";
  context.setLineDash(line.dash || []);
  context.beginPath();
  let isDown = false;
  let last = 0;
  const alone = aloneIn(line.y);
  if (alone !== null) drawDots(context, axes, { ...line, x: [line.x[alone]], y: [line.y[alone]], alpha: 1 });
  for (let i = 0; i < line.x.length; i += 1) {
    const [x, y] = [axes.px(line.x[i]), line.y[i] === null ? NaN : axes.py(line.y[i])];
    if (!Number.isFinite(x) || !Number.isFinite(y)) {
      isDown = false;
      continue;
    }
    if (!isDown) context.moveTo(x, y);
    else {
      if (line.steps) context.lineTo(x, last);
      context.lineTo(x, y);
    }
    [isDown, last] = [true, y];
  }
  context.stroke();
  context.setLineDash([]);
}

/** Where the only value of a line is, of which nothing would else be seen; null if there are others. */
function aloneIn(values) {
  const isThere = (v) => v !== null && Number.isFinite(v);
  const first = values.findIndex(isThere);
  return first >= 0 && first === values.findLastIndex(isThere) ? first : null;
}

/** Points that let others show through. */
function drawDots(context, axes, line) {
  context.fillStyle = colour(line.colour);
  context.globalAlpha = line.alpha || 0.55;
  line.x.forEach((x, i) => {
    const [px, py] = [axes.px(x), line.y[i] === null ? NaN : axes.py(line.y[i])];
    if (!Number.isFinite(px) || !Number.isFinite(py)) return;
    context.beginPath();
    context.arc(px, py, 2.6, 0, 2 * Math.PI);
    context.fill();
  });
  context.globalAlpha = 1;
}

/** A text in the middle, on the colour of the page. */
function drawEmpty(context, { left, right, top, bottom }, text) {
  const [x, y, half] = [(left + right) / 2, (top + bottom) / 2, context.measureText(text).width / 2 + 8];
  context.fillStyle = colour("paper");
  context.fillRect(x - half, y - 12, 2 * half, 24);
  context.fillStyle = colour("muted");
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(text, x, y);
}

/** A vertical line with a text above it. */
function drawMark(context, axes, { x, text }) {
  const at = axes.px(x);
  if (!(at >= axes.left && at <= axes.right)) return;
  context.strokeStyle = colour("muted");
  context.setLineDash([4, 3]);
  stroke(context, [
    [at, axes.top],
    [at, axes.bottom],
  ]);
  context.setLineDash([]);
  context.fillStyle = colour("ink");
  context.textBaseline = "bottom";
  const half = context.measureText(text).width / 2;
  context.textAlign = "center";
  context.fillText(text, Math.min(Math.max(at, axes.left + half), axes.right - half), axes.top - 3);
}
