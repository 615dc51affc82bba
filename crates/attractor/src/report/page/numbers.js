// Numbers as text, and the marks of axes.
"use strict";

/** A number with a few significant digits; a dash where there is none. */
function figure(v, digits = 4) {
  if (v === null || v === undefined || Number.isNaN(v)) return "–";
  if (v === 0 || !Number.isFinite(v)) return String(v).replace("-", "−");
  const size = Math.abs(v);
  const text =
    size >= 1e-4 && size < 1e6 ? String(Number(v.toPrecision(digits))) : v.toExponential(Math.max(digits - 2, 0)).replace("e+", "e");
  return text.replace(/-/g, "−");
}

/** A whole number with commas between its thousands. */
function grouped(n) {
  return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Around `count` round values from low to high. */
function ticks(low, high, count) {
  const raw = (high - low) / Math.max(1, count);
  if (!(raw > 0) || !Number.isFinite(raw)) return [low];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1) found.push(k * step);
  return found.map((v) => Number(v.toPrecision(12)));
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
