// Making elements. Texts are only ever set as text: nothing that a user named becomes markup.
"use strict";

/** An element with attributes (or listeners, for functions) and children; null children are left out. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** A text in which what stands between backticks is code. */
function coded(text) {
  return text.split("`").map((part, k) => (k % 2 ? make("code", {}, part) : part));
}

/** A section of the page with its heading, linked from the contents. */
function addSection(id, title, ...children) {
  const heading = make("h2", { id: `${id}-title` }, title);
  const section = make("section", { id, "aria-labelledby": `${id}-title` }, heading, ...children);
  document.querySelector("main").append(section);
  listSection(id);
  return section;
}

/** Links a section that is on the page already from the contents. */
function listSection(id) {
  const title = document.getElementById(`${id}-title`).textContent;
  document.getElementById("contents").append(make("a", { href: `#${id}` }, title));
}

/** A figure around a canvas, with its title and its legend above it and a caption below. */
function framed(canvas, title, { caption = null, legend = null } = {}) {
  const head = title || legend ? make("div", { class: "over" }, title ? make("h3", {}, title) : null, legend) : null;
  return make("figure", {}, head, canvas, caption ? make("figcaption", {}, caption) : null);
}

/** A legend: names, each with a colour variable of the style and the mark that it has: a line, dashes, a dot, a circle, … */
function legendOf(entries) {
  const item = ([name, colour, mark = "line"]) => {
    const sample = make("span", { class: `mark ${mark}`, "aria-hidden": "true" });
    sample.style.color = `var(--${colour})`;
    return make("li", {}, sample, name);
  };
  return make("ul", { class: "legend" }, entries.map(item));
}

/** A select element with a label; `choose` is given the index. */
function selectOf(label, names, chosen, choose, id = null) {
  const options = names.map((name, i) => make("option", { value: i, selected: i === chosen }, name));
  const select = make("select", { id, change: (event) => choose(Number(event.target.value)) }, options);
  return make("label", {}, label, select);
}

/** A range input with a label; `choose` is given the value while it moves. */
function sliderOf(label, { low, high, step, value }, choose, id = null) {
  const input = make("input", {
    type: "range",
    min: low,
    max: high,
    step,
    value,
    id,
    input: (event) => choose(Number(event.target.value)),
  });
  return make("label", {}, label, input);
}

/** A table from a heading and rows of cells. */
function tableOf(caption, head, rows) {
  const cells = (row) =>
    make(
      "tr",
      {},
      row.map((cell) => (cell instanceof Node ? cell : make("td", {}, cell))),
    );
  const heading = make(
    "thead",
    {},
    make(
      "tr",
      {},
      head.map((name) => make("th", { scope: "col" }, name)),
    ),
  );
  return make(
    "div",
    { class: "wide" },
    make("table", {}, caption ? make("caption", {}, caption) : null, heading, make("tbody", {}, rows.map(cells))),
  );
}
