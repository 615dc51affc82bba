// Colours of the style as the canvases need them, and drawing again when they, or sizes, change.
"use strict";

const drawings = new Set();

/** The value of a colour variable of the style. */
function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** Red, green and blue of a colour variable, from 0 to 255. */
function channelsOf(name) {
  const text = colour(name).replace("#", "");
  return [0, 2, 4].map((i) => parseInt(text.slice(i, i + 2), 16));
}

/** A canvas of a height in CSS pixels that calls `draw(context, width, height)` whenever it must. */
function drawn(height, label, draw, className = "") {
  const canvas = make("canvas", { role: "img", "aria-label": label, class: className });
  canvas.style.height = typeof height === "number" ? `${height}px` : height;
  const redraw = () => {
    const box = canvas.getBoundingClientRect();
    if (box.width === 0 || box.height === 0) return;
    const ratio = Math.min(window.devicePixelRatio || 1, 3);
    const [width, tall] = [Math.round(box.width * ratio), Math.round(box.height * ratio)];
    if (canvas.width !== width || canvas.height !== tall) [canvas.width, canvas.height] = [width, tall];
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, box.width, box.height);
    draw(context, box.width, box.height);
  };
  drawings.add(redraw);
  new ResizeObserver(redraw).observe(canvas);
  return { canvas, redraw };
}

/** Draws everything again. */
function redrawAll() {
  for (const redraw of drawings) redraw();
}

window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
// Paper is light whatever the screen is.
window.addEventListener("beforeprint", () => {
  document.documentElement.setAttribute("data-print", "");
  redrawAll();
});
window.addEventListener("afterprint", () => {
  document.documentElement.removeAttribute("data-print");
  redrawAll();
});
