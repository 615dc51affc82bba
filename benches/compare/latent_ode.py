#!/usr/bin/env python3
"""One training update of ODE-RNN and Latent-ODE at the paper's sizes beside PyTorch and JAX, in one sitting.

    python3 benches/compare/latent_ode.py [--turns 20] [--binary FILE]

JAX makes several updates in one jitted scan, in single precision, with its own gradient and Adamax; the scans over rows are unrolled by
the factor that is fastest here. Its Latent-ODE takes 13 steps of dopri5 of eight rows in each window, with rows in between by the
polynomial of fourth order, and does not look at errors; ours and PyTorch's control them. PyTorch is eager, as the original program
(`torch_latent_ode.py`). All are held on one core and take turns. Before
anything is timed, loss and gradient of the ODE-RNN in JAX are compared with known values, which those of ours are compared with in
`crates/core/src/method/ode_rnn/tests.rs`.
"""

import argparse
import os
import statistics
import time
from functools import partial
from pathlib import Path

from methods import BINARY, Ours, agree, inside

UNROLLS = [1, 4]
# Updates of one call.
UPDATES = 5
WINDOW, BATCH, CHANNELS = 100, 50, 64
SAMPLES, SIGMA, STEP_ROWS = 3, 0.01, 8


# --- the models -------------------------------------------------------------------------------------------------------


def shapes(name, widths):
    """Weights and biases of a network that numbers of these widths go through."""
    pairs = list(zip(widths, widths[1:]))
    return {f"{name}_{kind}{k + 1}": shape for k, (i, o) in enumerate(pairs) for kind, shape in (("W", (o, i)), ("b", (o,)))}


def unit_shapes(d, gates, layers, units, channels, inputs=0):
    """The flow and the gated unit."""
    seen = 2 * d + 2 * channels + inputs
    gate = lambda name, out: shapes(name, [seen, gates, out])
    return {**shapes("ode", [d, *[units] * layers, d]), **gate("update", d), **gate("reset", d), **gate("new", 2 * d)}


def net(jnp, p, name, x):
    """Layers with tanh between them."""
    k = 1
    while f"{name}_W{k + 1}" in p:
        x = jnp.tanh(x @ p[f"{name}_W{k}"].T + p[f"{name}_b{k}"])
        k += 1
    return x @ p[f"{name}_W{k}"].T + p[f"{name}_b{k}"]


def drive(jax, jnp, p, v, taken, h, steps, unroll):
    """States behind all rows v = (x, mask, inputs), rows × batch × features, from zero states."""
    d = p["ode_W1"].shape[1]
    gate = lambda c: jax.nn.sigmoid(c)

    def step(state, row):
        (m, s), (v, taken) = state, row
        for _ in range(steps):
            m = m + h / steps * net(jnp, p, "ode", m)
        seen = jnp.concatenate([m, s, v], -1)
        u, r = gate(net(jnp, p, "update", seen)), gate(net(jnp, p, "reset", seen))
        new = net(jnp, p, "new", jnp.concatenate([m * r, s * r, v], -1))
        m_new, s_new = (1 - u) * new[..., :d] + u * m, (1 - u) * jnp.abs(new[..., d:]) + u * s
        m, s = jnp.where(taken, m_new, m), jnp.where(taken, s_new, s)
        return (m, s), m

    zero = jnp.zeros(v.shape[1:-1] + (d,), v.dtype)
    return jax.lax.scan(step, (zero, zero), (v, taken), unroll=unroll)


def whole(jnp, x):
    """Rows of which no value is missing, as the unit sees them."""
    return jnp.concatenate([x, jnp.ones_like(x)], -1), jnp.ones(x.shape[:-1] + (1,), bool)


def ode_rnn_loss(jax, jnp, p, x, unroll):
    """The mean squared error of all forecasts."""
    _, m = drive(jax, jnp, p, *whole(jnp, x[:-1]), 0.01, 1, unroll)
    return jnp.mean((net(jnp, p, "decoder", m) - x[1:]) ** 2)


def dopri5(jnp, p, z, span, tableau):
    """One step of a length; the state behind it, and those at fractions of it."""
    a, b, within = tableau
    k = []
    for row in a:
        k.append(net(jnp, p, "flow", z + span * sum((w * s for w, s in zip(row, k)), jnp.zeros_like(z))))
    after = z + span * sum(w * s for w, s in zip(b, k))
    k.append(net(jnp, p, "flow", after))
    return after, [z + span * sum(w * s for w, s in zip(row, k)) for row in within]


def latent_ode_loss(jax, jnp, p, x, epsilon, tableau, unroll):
    """−ln Σ exp ℓ over the solutions of every window, x rows × batch × channels."""
    (m, s), _ = drive(jax, jnp, p, *whole(jnp, x[::-1]), -0.01, 1, unroll)
    mean, spread = jnp.split(net(jnp, p, "transform", jnp.concatenate([m, s], -1)), 2, -1)
    z = mean + jnp.abs(spread) * epsilon

    def step(z, _):
        after, rows = dopri5(jnp, p, z, STEP_ROWS * 0.01, tableau)
        return after, jnp.stack([*rows, after])

    count = -(-(x.shape[0] - 1) // STEP_ROWS)
    _, rows = jax.lax.scan(step, z, None, length=count, unroll=unroll)
    states = jnp.concatenate([z[None], rows.reshape((-1, *z.shape))])[: x.shape[0]]
    squares = jnp.mean((net(jnp, p, "decoder", states) - x[:, None]) ** 2, (0, 3))
    return -jnp.mean(jax.nn.logsumexp(-squares / (2 * SIGMA**2), 0))


def tableau(np):
    """a, b and b(θ) of dopri5, from SciPy."""
    from scipy.integrate import RK45

    powers = [[(row / STEP_ROWS) ** (k + 1) for k in range(4)] for row in range(1, STEP_ROWS)]
    within = [[float(np.dot(weights, power)) for weights in RK45.P] for power in powers]
    return [list(map(float, row[:i])) for i, row in enumerate(RK45.A)], list(map(float, RK45.B)), within


# --- the same gradient ------------------------------------------------------------------------------------------------


def check_gradient(jax, jnp, np):
    """JAX against known values in double precision: entry i of tensor j is 0.1 ((7 (3 j + i) mod 11) − 5)."""
    sizes = {**unit_shapes(2, 3, 2, 4, 2, 1), **shapes("decoder", [2, 5, 2])}
    entry = lambda k: 0.1 * ((7 * k) % 11 - 5)
    p = {name: jnp.asarray(entry(3 * j + np.arange(np.prod(shape)))).reshape(shape) for j, (name, shape) in enumerate(sizes.items())}
    nan = np.nan
    x = np.array([[0.5, -1], [0.25, nan], [nan, nan], [-0.3, 0.6], [0.8, 0.1]])
    inputs = np.array([[0.2], [-0.4], [0.1], [0.3], [0.0]])
    there = ~np.isnan(x)
    v = jnp.asarray(np.concatenate([np.nan_to_num(x), there, inputs], 1))[:, None]
    taken = jnp.asarray(there.any(1))[:, None, None]

    def loss(p):
        _, m = drive(jax, jnp, p, v[:-1], taken[:-1], 0.2, 2, 1)
        error = (net(jnp, p, "decoder", m)[:, 0] - np.nan_to_num(x[1:])) * there[1:]
        return jnp.sum(error**2) / there[1:].sum()

    value, gradient = jax.value_and_grad(loss)(p)
    new = np.asarray(gradient["new_W1"]).ravel()
    agree("ode-rnn", value, 0.15783460670131025, (new * (1 + np.arange(new.size) % 7)).sum(), -0.087411517211)


# --- timing -----------------------------------------------------------------------------------------------------------


def trainer(jax, jnp, np, kind, unroll):
    """A call that makes `UPDATES` updates, and gives its seconds per update."""
    rng = np.random.default_rng(0)
    n = CHANNELS
    sizes = {
        "ode-rnn": {**unit_shapes(9, 8, 2, 44, n), **shapes("decoder", [9, 100, n])},
        "latent-ode": {
            **shapes("flow", [8, 20, 20, 8]),
            **unit_shapes(15, 20, 2, 20, n),
            **shapes("transform", [30, 100, 16]),
            **shapes("decoder", [8, n]),
        },
    }[kind]
    start = {name: jnp.asarray(0.1 * rng.normal(size=shape) * (len(shape) - 1), jnp.float32) for name, shape in sizes.items()}
    series = jnp.asarray(np.cumsum(rng.normal(size=(10_000, n)), 0) / 50, jnp.float32)
    weights = tableau(np)
    rows = WINDOW + (kind == "ode-rnn")

    def update(state, key):
        p, m, v = state
        draw, noise = jax.random.split(key)
        starts = jax.random.randint(draw, (BATCH,), 0, 9000)
        x = series[starts[None, :] + jnp.arange(rows)[:, None]]
        if kind == "ode-rnn":
            g = jax.grad(lambda p: ode_rnn_loss(jax, jnp, p, x, unroll))(p)
        else:
            epsilon = jax.random.normal(noise, (SAMPLES, BATCH, 8))
            g = jax.grad(lambda p: latent_ode_loss(jax, jnp, p, x, epsilon, weights, unroll))(p)
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = jax.tree.map(lambda v, g: jnp.maximum(0.999 * v, jnp.abs(g) + 1e-8), v, g)
        p = jax.tree.map(lambda p, m, v: p - 1e-3 * m / v, p, m, v)
        return (p, m, v), None

    @partial(jax.jit, donate_argnums=0)
    def many(state, key):
        return jax.lax.scan(update, state, jax.random.split(key, UPDATES))[0]

    state = [start, jax.tree.map(jnp.zeros_like, start), jax.tree.map(jnp.zeros_like, start)]
    keys = iter(range(10**9))

    def block():
        nonlocal state
        begun = time.perf_counter()
        state = jax.block_until_ready(many(tuple(state), jax.random.PRNGKey(next(keys))))
        return (time.perf_counter() - begun) / UPDATES

    block(), block()
    return block


def main():
    inside()
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp
    import numpy as np

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--binary", type=Path, default=BINARY)
    given = parser.parse_args()
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    check_gradient(jax, jnp, np)
    jax.config.update("jax_enable_x64", False)
    import torch
    import torch_latent_ode

    print(f"PyTorch {torch.__version__}, JAX {jax.__version__}, one core, medians of {given.turns} turns\n")
    print("| workload | ours, ms | PyTorch, ms | ratio | JAX, ms | ratio |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    for name in ["ode-rnn", "latent-ode"]:
        trainers = [trainer(jax, jnp, np, name, unroll) for unroll in UNROLLS]
        theirs = min(trainers, key=lambda block: min(block() for _ in range(3)))
        rows = WINDOW + (name == "ode-rnn")
        eager = torch_latent_ode.trainer(name, (rows, BATCH, CHANNELS), 1, SAMPLES, SIGMA)
        ours = Ours(given.binary, name, core, UPDATES)
        turns = [(ours.block(), eager(), theirs()) for _ in range(given.turns)]
        ours.process.kill()
        mine, *others = [1e3 * statistics.median(turn[i] for turn in turns) for i in range(3)]
        ratios = [statistics.median(turn[i] / turn[0] for turn in turns) for i in (1, 2)]
        cells = " | ".join(f"{other:.1f} | {ratio:.1f}×" for other, ratio in zip(others, ratios))
        print(f"| {name} | {mine:.2f} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
