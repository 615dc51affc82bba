// Numbers as text, and the marks of axes.
"use strict";

/** A number with a few significant digits; a dash where there is none. */
function figure(v, digits = 4) {
  if (v === null || v === undefined || Number.isNaN(v)) return "–";
  if (v === 0 || !Number.isFinite(v)) return String(v).replace("-", "−");
  const size = Math.abs(v);
  const text =
    size >= 1e-4 && size < 1e6 ? String(Number(v.toPrecision(digits))) : Number(v.toPrecision(Math.max(digits - 1, 1))).toExponential().replace("e+", "e");
  return text.replace(/-/g, "−");
}

/** A value as [value, error], to the place of its error; of an error that is nothing beside it there is none. */
function rounded(value, error) {
  if (!(error > 1e-5 * Math.abs(value))) return [figure(value, 5), null];
  const place = Math.floor(Math.log10(Number(error.toPrecision(1))));
  // An error of one or two units of its place is given with one more.
  const digits = Math.max(0, error / 10 ** place < 3 ? 1 - place : -place);
  if (digits > 8 || Math.abs(value) >= 1e6) return [figure(value, 3), figure(error, 1)];
  return [value, error].map((v) => v.toFixed(digits).replace(/^-(0(\.0*)?)$/, "$1").replace("-", "−"));
}

/** A value with its error, unless that is beyond the digits that are shown. */
function withError(value, error) {
  if (!(error > 1e-3 * Math.abs(value))) return figure(value, 3);
  return rounded(value, error).join(" ± ");
}

/** A whole number with commas between its thousands. */
function grouped(n) {
  return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A whole number of things. */
function counted(n, thing) {
  return `${grouped(n)} ${thing}${n === 1 ? "" : "s"}`;
}

/** Around `count` round values from low to high. */
function ticks(low, high, count) {
  const raw = (high - low) / Math.max(1, count);
  if (!(raw > 0) || !Number.isFinite(raw)) return [low];
  const power = 10 ** Math.floor(Math.log10(raw));
  const steps = [10, 5, 2, 1, 0.5, 0.2].map((m) => m * power);
  const from = steps.findLastIndex((step) => step >= raw * 0.999);
  // One mark alone says nothing of the scale: then they are closer.
  const lists = steps.slice(from).map((step) => multiples(low, high, step));
  return lists.find((list) => list.length > 1) || lists.at(-1);
}

/** The multiples of a step from low to high. */
function multiples(low, high, step) {
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1) found.push(Number((k * step).toPrecision(12)));
  return found;
}

/** Powers of ten (as exponents) from low to high, about `count` of them; null if there are not two. */
function decades(low, high, count) {
  for (let every = Math.max(1, Math.ceil((high - low) / Math.max(1, count))); every > 0; every -= 1) {
    const found = [];
    for (let k = Math.ceil(low / every) * every; k <= high; k += every) found.push(k);
    if (found.length > 1) return found;
  }
  return null;
}

/** 10 to this power, as text. */
function powerText(exponent) {
  const digits = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  if (exponent >= -2 && exponent <= 3) return figure(10 ** exponent);
  return `10${String(exponent)
    .replace("-", "⁻")
    .replace(/\d/g, (d) => digits[Number(d)])}`;
}

/** A range for data and for what a model makes of them: what is farther from the data than they, or all of them, are wide is cut. */
function rangeBeside(truth, generated, all = truth) {
  const [low, high] = rangeOf([truth, generated]);
  if (!truth.length) return [low, high];
  const [least, most] = rangeOf([truth]);
  const [lowest, highest] = rangeOf([all]);
  const room = highest - lowest || Infinity;
  return [Math.max(low, least - room), Math.min(high, most + room)];
}

/** The least and greatest of finite values, or [0, 1]. */
function rangeOf(lists) {
  let [low, high] = [Infinity, -Infinity];
  for (const list of lists) {
    for (const v of list) {
      if (v === null || !Number.isFinite(v)) continue;
      if (v < low) low = v;
      if (v > high) high = v;
    }
  }
  return low <= high ? [low, high] : [0, 1];
}
