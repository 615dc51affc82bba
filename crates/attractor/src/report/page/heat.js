// Heat maps: channels over time, each channel in standard deviations of the data about their mean.
"use strict";

/** The greatest distance from the mean that has a colour of its own. */
const REACH = 3;

/** Room for the bar of colours and its values. */
const BAR_ROOM = 62;

/** A heat map of rows (flat, `dim` a row) of named channels, scaled by `moments` = { mean, sd }. */
function heatMap(label, rows, names, moments, timeOf) {
  const dim = names.length;
  return drawn("clamp(200px, 38vw, 340px)", label, (context, width, tall) => {
    context.font = FONT;
    const shown = names.map((name) => (name.length > 14 ? `${name.slice(0, 13)}…` : name));
    const left = 12 + Math.max(...shown.map((name) => context.measureText(name).width));
    const box = [left, 6, width - BAR_ROOM, tall - 36];
    const count = Math.floor(rows.length / dim);
    const image = new ImageData(Math.max(1, count), dim);
    const ends = ["low", "middle", "high"].map(channelsOf);
    for (let t = 0; t < count; t += 1) {
      for (let i = 0; i < dim; i += 1) {
        const v = (rows[t * dim + i] - moments.mean[i]) / (moments.sd[i] * REACH);
        image.data.set([...shade(v, ends), 255], 4 * (i * count + t));
      }
    }
    paintImage(context, image, [left, 6, box[2] - left, box[3] - 6]);
    labelHeat(context, box, shown, count, timeOf);
    drawColours(context, box, ends);
  });
}

/** The bar of colours beside a heat map. */
function drawColours(context, [, top, right, bottom], ends) {
  const [x, tall] = [right + 12, bottom - top];
  for (let k = 0; k < tall; k += 1) {
    context.fillStyle = `rgb(${shade(1 - (2 * k) / tall, ends).join()})`;
    context.fillRect(x, top + k, 10, 1.5);
  }
  context.fillStyle = colour("muted");
  context.textAlign = "left";
  context.textBaseline = "middle";
  for (const v of [-REACH, 0, REACH]) context.fillText(`${figure(v)}`, x + 14, top + ((1 - v / REACH) / 2) * (tall - 8) + 4);
  context.save();
  context.translate(x + 42, (top + bottom) / 2);
  context.rotate(-Math.PI / 2);
  context.textAlign = "center";
  context.fillText("standard deviations", 0, 0);
  context.restore();
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

function labelHeat(context, [left, top, right, bottom], names, count, timeOf) {
  context.fillStyle = colour("muted");
  context.textAlign = "right";
  context.textBaseline = "middle";
  const every = Math.ceil((names.length * 15) / (bottom - top));
  names.forEach((name, i) => {
    if (i % every === 0) context.fillText(name, left - 6, top + ((i + 0.5) / names.length) * (bottom - top));
  });
  context.textAlign = "center";
  context.textBaseline = "top";
  const end = timeOf(count);
  for (const t of ticks(0, end, Math.max(2, Math.floor((right - left) / 90)))) {
    const half = context.measureText(figure(t)).width / 2;
    context.fillText(figure(t), Math.min(left + (t / end) * (right - left), right - half), bottom + 4);
  }
  context.textBaseline = "bottom";
  context.fillText(timeOf.label, (left + right) / 2, bottom + 34);
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
