// The trained model, iterated in double precision as the program does:
//   z₁ = P (x₁ − b),  z ← A∘z + W g(z) + h,  x̂ = B z + b,
// or, of a system in closed form, sums of products of x, integrated over Δt if it is a flow. Data are scaled by (x − mean)/sd before
// and back after. External inputs are held at zero.
"use strict";

const positive = (v) => Math.max(v, 0);

/** Σ aᵢ bᵢ over a row of a row-major matrix, in order. */
function dotRow(matrix, row, vector) {
  let sum = 0;
  const start = row * vector.length;
  for (let j = 0; j < vector.length; j += 1) sum += matrix[start + j] * vector[j];
  return sum;
}

/** The units g(z) of each kind of map; `t` are the tensors by name. */
const UNITS = {
  plrnn: (t, z) => z.map(positive),
  "mean-centred-plrnn": (t, z) => {
    const mean = z.reduce((sum, v) => sum + v, 0) / z.length;
    return z.map((v) => positive(v - mean));
  },
  "dendritic-plrnn": (t, z) => dendritic(t, z, () => 0),
  "clipped-dendritic-plrnn": (t, z) => dendritic(t, z, positive),
  "shallow-plrnn": (t, z) => shallow(t, z, (u, h) => positive(u + h)),
  "clipped-shallow-plrnn": (t, z) => shallow(t, z, (u, h) => positive(u + h) - positive(u)),
  "tanh-shallow-plrnn": (t, z) => shallow(t, z, (u, h) => Math.tanh(u + h)),
};

/** g_m = Σ_b α_b [φ(z_m − H_mb) − floor(z_m)]. */
function dendritic(t, z, floor) {
  const bases = t.slopes.length;
  return z.map((v, m) => {
    let sum = 0;
    for (let b = 0; b < bases; b += 1) sum += t.slopes[b] * (positive(v - t.thresholds[m * bases + b]) - floor(v));
    return sum;
  });
}

/** g_l = unit(u_l, h2_l) with u = W2 z. */
function shallow(t, z, unit) {
  return Array.from(t.h2, (h, l) => unit(dotRow(t.W2, l, z), h));
}

/** A model from the page's document. */
class LiveModel {
  constructor(document) {
    // Parameters were trained in single precision: this gives the same bits again.
    const tensors = Object.entries(document.tensors);
    this.tensors = Object.fromEntries(tensors.map(([name, values]) => [name, Float64Array.from(values, Math.fround)]));
    this.units = UNITS[document.model];
    this.w = this.tensors.W1 || this.tensors.W;
    this.h = this.tensors.h1 || this.tensors.h;
    this.initial = document.initial;
    this.mean = document.mean;
    this.sd = document.sd;
    this.latent = document.latent;
    this.isIdentity = document.observation === "identity";
  }

  /** The state that the model infers from a row of data. */
  infer(x) {
    const bias = this.tensors.b;
    const centred = x.map((v, i) => (v - this.mean[i]) / this.sd[i] - (bias ? bias[i] : 0));
    return Array.from({ length: this.latent }, (_, m) => dotRow(this.initial, m, centred));
  }

  /** The next state. */
  step(z) {
    const g = this.units(this.tensors, z);
    return z.map((v, m) => this.tensors.A[m] * v + dotRow(this.w, m, g) + this.h[m]);
  }

  /** A state as a row of data. */
  observe(z) {
    const bias = this.tensors.b;
    const see = (i) => (this.isIdentity ? z[i] : dotRow(this.tensors.B, i, z) + (bias ? bias[i] : 0));
    return this.mean.map((mean, i) => see(i) * this.sd[i] + mean);
  }
}

/** y = x + h Σⱼ aⱼ kⱼ over a row of (stage, coefficient). */
function combined(x, h, row, k) {
  return x.map((v, m) => {
    let sum = 0;
    for (const [j, a] of row) sum += a * k[j][m];
    return v + h * sum;
  });
}

/** A system in closed form from the page's document; its state is the scaled row. */
class LiveRecipe {
  constructor(document) {
    this.recipe = document.recipe;
    this.mean = document.mean;
    this.sd = document.sd;
    this.latent = document.recipe.channels;
  }

  infer(x) {
    return Array.from(x, (v, i) => (v - this.mean[i]) / this.sd[i]);
  }

  observe(z) {
    return this.mean.map((mean, i) => z[i] * this.sd[i] + mean);
  }

  step(z) {
    const { flow } = this.recipe;
    const next = flow ? this.part(z, flow.dt, flow.halvings) : this.sums(z);
    return next || z.map(() => NaN);
  }

  /** The right-hand sides. */
  sums(x) {
    const slots = [1, ...x, ...Array(this.recipe.inputs).fill(0)];
    for (const { times, sin, cos } of this.recipe.operations) {
      if (times) slots.push(slots[times[0]] * slots[times[1]]);
      else if (sin) slots.push(Math.sin(sin[1] * slots[sin[0]]));
      else slots.push(Math.cos(cos[1] * slots[cos[0]]));
    }
    return this.recipe.sums.map((terms) => {
      let sum = 0;
      for (const [slot, c] of terms) sum += c * slots[slot];
      return sum;
    });
  }

  /** The state a time h later, in halves where the error is too large; null if it leaves its bounds. */
  part(x, h, halvings) {
    const { end, error } = this.attempt(x, h);
    if (error <= 1) return end.every((v, i) => Math.abs(v) <= this.recipe.flow.bound[i]) ? end : null;
    const middle = halvings > 0 ? this.part(x, h / 2, halvings - 1) : null;
    return middle && this.part(middle, h / 2, halvings - 1);
  }

  attempt(x, h) {
    const { stages, weights, errors, absolute, relative } = this.recipe.flow;
    const k = [];
    for (const row of stages) k.push(this.sums(combined(x, h, row, k)));
    const end = combined(x, h, weights, k);
    const zero = x.map(() => 0);
    const squares = errors.map((row) => {
      const e = combined(zero, 1, row, k);
      return e.reduce((sum, v, i) => {
        const scaled = v * (1 / (absolute[i] + relative * Math.max(Math.abs(x[i]), Math.abs(end[i]))));
        return sum + scaled * scaled;
      }, 0);
    });
    const [fifth, third] = squares;
    const error = fifth === 0 ? 0 : (h * fifth) / Math.sqrt(x.length * (fifth + 0.01 * third));
    return { end, error };
  }
}

/** The model of the page's document, whatever it is. */
function liveModelOf(document) {
  return document.recipe ? new LiveRecipe(document) : new LiveModel(document);
}
