// Heat maps: channels over time, each channel in standard deviations of the data about their mean.
"use strict";

/** The greatest distance from the mean that has a colour of its own. */
const REACH = 3;

/** A heat map of rows (flat, `dim` a row), scaled by `moments` = { mean, sd }. */
function heatMap(label, rows, dim, moments, timeOf) {
  return drawn("clamp(180px, 38vw, 340px)", label, (context, width, tall) => {
    const [left, bottom] = [46, tall - 34];
    const count = Math.floor(rows.length / dim);
    const image = new ImageData(Math.max(1, count), dim);
    const ends = ["low", "middle", "high"].map(channelsOf);
    for (let t = 0; t < count; t += 1) {
      for (let i = 0; i < dim; i += 1) {
        const v = (rows[t * dim + i] - moments.mean[i]) / (moments.sd[i] * REACH);
        image.data.set([...shade(v, ends), 255], 4 * (i * count + t));
      }
    }
    paintImage(context, image, [left, 4, width - left - 12, bottom - 4]);
    labelHeat(context, [left, 4, width - 12, bottom], dim, count, timeOf);
  });
}

/** A colour between the ends for v in −1 … 1. */
function shade(v, [low, middle, high]) {
  const share = Math.min(1, Math.abs(v) || 0);
  const end = v < 0 ? low : high;
  return middle.map((m, k) => Math.round(m + (end[k] - m) * share));
}

function paintImage(context, image, [x, y, width, tall]) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.width, image.height];
  canvas.getContext("2d").putImageData(image, 0, 0);
  context.imageSmoothingEnabled = image.width > width;
  context.drawImage(canvas, x, y, width, tall);
}

function labelHeat(context, [left, top, right, bottom], dim, count, timeOf) {
  context.font = FONT;
  context.fillStyle = colour("muted");
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const i of ticks(1, dim, 5).filter((v) => Number.isInteger(v) && v >= 1)) {
    context.fillText(String(i), left - 5, top + ((i - 0.5) / dim) * (bottom - top));
  }
  context.textAlign = "center";
  context.textBaseline = "top";
  const end = timeOf(count);
  for (const t of ticks(0, end, Math.max(2, Math.floor((right - left) / 90)))) {
    const half = context.measureText(figure(t)).width / 2;
    context.fillText(figure(t), Math.min(left + (t / end) * (right - left), right - half), bottom + 4);
  }
  context.textBaseline = "bottom";
  context.fillText(timeOf.label, (left + right) / 2, bottom + 34);
  context.save();
  context.translate(9, (top + bottom) / 2);
  context.rotate(-Math.PI / 2);
  context.textBaseline = "middle";
  context.fillText("channel", 0, 0);
  context.restore();
}

/** Mean and standard deviation of every channel. */
function momentsOf(rows, dim) {
  const count = Math.max(1, rows.length / dim);
  const mean = new Array(dim).fill(0);
  const square = new Array(dim).fill(0);
  rows.forEach((v, e) => {
    mean[e % dim] += v / count;
  });
  rows.forEach((v, e) => {
    square[e % dim] += (v - mean[e % dim]) ** 2 / count;
  });
  return { mean, sd: square.map((v) => Math.sqrt(v) || 1) };
}
