#!/usr/bin/env python3
"""One training update of LSTM, LEM and neural ODEs beside JAX, in one sitting.

    python3 benches/compare/methods.py [--workload lstm-15 …] [--turns 40] [--binary FILE]

JAX makes many updates in one jitted scan, in single precision, with its own gradient and Adam; the scan over the rows of a window is
unrolled by the factor that is fastest here. Both programs are held on one core and take turns; a ratio is the median of the ratios
within a turn, and beside it that of the fastest blocks, which other work on the machine has hardly disturbed. Before anything is timed, the gradients of JAX are compared with known values, which those of ours are compared with
in `crates/core/tests/recurrent.rs` and `crates/core/src/method/neural_ode/tests.rs`.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import environment

BINARY = environment.ROOT / "target" / "release" / "attractor"
ONE_THREAD = {
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "OMP_NUM_THREADS": "1",
    "JAX_PLATFORMS": "cpu",
}
UNROLLS = [1, 2, 4, 8]
# Updates of one call.
UPDATES = 20
# name: kind, channels, hidden units, rows that are predicted, windows
WORKLOADS = {
    "lstm-15": ("lstm", 3, 15, 12, 32),
    "lstm-35": ("lstm", 5, 35, 12, 32),
    "lstm-80": ("lstm", 64, 80, 12, 32),
    "lem-7": ("lem", 3, 7, 100, 32),
    "lem-31": ("lem", 5, 31, 100, 32),
    "lem-38": ("lem", 64, 38, 100, 32),
    "neural-ode-50": ("neural-ode", 3, 50, 25, 16),
    "neural-ode-450": ("neural-ode", 5, 450, 25, 16),
    "neural-ode-139": ("neural-ode", 64, 139, 25, 16),
}


def inside():
    """Start again inside the environment, with one thread, on one core."""
    if os.environ.get("OMP_NUM_THREADS") == "1":
        return
    python = Path(os.environ.get("ATTRACTOR_JAX", environment.PYTHON))
    if not python.exists():
        environment.prepare()
    os.execve(python, [str(python), *sys.argv], {**os.environ, **ONE_THREAD})


# --- the models -------------------------------------------------------------------------------------------------------


def lstm(jax, jnp, p, x, unroll, scored=4):
    """Outputs of the last rows: gates i, j, f, o, and a forget bias of one."""
    n = p["Wo"].shape[1]
    driven = x @ p["W"][:, : x.shape[-1]].T + p["b"]
    recurrent = p["W"][:, x.shape[-1] :].T

    def step(state, driven):
        h, c = state
        i, j, f, o = jnp.split(driven + h @ recurrent, 4, -1)
        c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(j)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zero = jnp.zeros(x.shape[1:-1] + (n,), x.dtype)
    _, h = jax.lax.scan(step, (zero, zero), driven, unroll=unroll)
    return h[-scored:] @ p["Wo"].T + p["bo"]


def lem(jax, jnp, p, x, unroll, dt=1.0):
    """Outputs of all rows: lines y and z, two gates, doubled biases."""
    n = p["C"].shape[0]
    driven = x @ p["A"].T + p["a"]

    def step(state, driven):
        y, z = state
        own = y @ p["B"].T + p["b"]
        bar = dt * jax.nn.sigmoid(driven[..., :n] + own[..., :n])
        gate = dt * jax.nn.sigmoid(driven[..., n : 2 * n] + own[..., n : 2 * n])
        z = (1 - gate) * z + gate * jnp.tanh(driven[..., 3 * n :] + own[..., 2 * n :])
        y = (1 - bar) * y + bar * jnp.tanh(driven[..., 2 * n : 3 * n] + z @ p["C"].T + p["c"])
        return (y, z), y

    zero = jnp.zeros(x.shape[1:-1] + (n,), x.dtype)
    _, y = jax.lax.scan(step, (zero, zero), driven, unroll=unroll)
    return y @ p["Q"].T + p["q"]


def neural_ode(jax, jnp, p, x, steps, unroll, activation, h=0.1):
    """States after each step of Runge and Kutta's method in the 3/8 form."""
    field = lambda x: activation(x @ p["Wa"].T + p["ba"]) @ p["Wb"].T + p["bb"]

    def step(x, _):
        k1 = field(x)
        k2 = field(x + h * k1 / 3)
        k3 = field(x + h * (k2 - k1 / 3))
        k4 = field(x + h * (k1 - k2 + k3))
        x = x + h * (k1 + 3 * (k2 + k3) + k4) / 8
        return x, x

    return jax.lax.scan(step, x, length=steps, unroll=unroll)[1]


# --- the same gradient ------------------------------------------------------------------------------------------------


def check_gradients(jax, jnp, np):
    """JAX against known values in double precision: weights are 0.1 ((7 k mod 11) − 5)."""
    w = lambda start, *shape: jnp.asarray(0.1 * ((7 * (start + np.arange(np.prod(shape))) % 11) - 5.0)).reshape(shape)
    x = jnp.asarray([[0.5, -1.0], [0.25, 0.75]])
    p = {"W": w(0, 12, 5), "b": w(3, 12), "Wo": w(5, 2, 3), "bo": w(1, 2)}
    loss = lambda p: jnp.mean((lstm(jax, jnp, p, x[:, None], 1, 1) - 1) ** 2)
    value, gradient = jax.value_and_grad(loss)(p)
    agree("lstm", value, 1.1909263439166926, gradient["W"].sum(), 0.11995218729363095)
    p = {"A": w(0, 12, 2), "a": w(2, 12), "B": w(4, 9, 3), "b": w(6, 9), "C": w(1, 3, 3), "c": w(8, 3), "Q": w(5, 2, 3), "q": w(1, 2)}
    loss = lambda p: jnp.mean((lem(jax, jnp, p, x[:, None], 1, 0.5) - 1) ** 2)
    value, gradient = jax.value_and_grad(loss)(p)
    agree("lem", value, 0.7565914947799867, gradient["A"][0, 0], -0.0213270278)
    p = {"Wa": w(0, 3, 2), "ba": w(2, 3), "Wb": w(4, 2, 3), "bb": w(6, 2)}
    truth = jnp.asarray([[0.4, -0.9], [0.3, -0.8]])
    loss = lambda p: jnp.mean((neural_ode(jax, jnp, p, x[0], 2, 1, jnp.tanh) - truth) ** 2)
    value, gradient = jax.value_and_grad(loss)(p)
    agree("neural-ode", value, 0.03834322705496112, gradient["Wa"][0, 0], 0.0013873348)


def agree(name, *pairs):
    """Stop unless numbers are the known ones, to the digits that these have."""
    for found, known in zip(pairs[::2], pairs[1::2]):
        if abs(float(found) - known) > 1e-9:
            sys.exit(f"error: JAX computes another {name}: {found}, not {known}")


# --- timing -----------------------------------------------------------------------------------------------------------


def trainer(jax, jnp, np, workload, unroll, updates=UPDATES):
    """A call that makes a block of updates, and gives its seconds per update."""
    kind, channels, n, window, batch = workload
    rng = np.random.default_rng(0)
    r = lambda *shape: jnp.asarray(0.1 * rng.normal(size=shape), jnp.float32)
    N = channels
    start = {
        "lstm": lambda: {"W": r(4 * n, N + n), "b": r(4 * n), "Wo": r(N, n), "bo": r(N)},
        "lem": lambda: {"A": r(4 * n, N), "a": r(4 * n), "B": r(3 * n, n), "b": r(3 * n), "C": r(n, n), "c": r(n), "Q": r(N, n), "q": r(N)},
        "neural-ode": lambda: {"Wa": r(n, N), "ba": r(n), "Wb": r(N, n), "bb": r(N)},
    }[kind]()
    series = jnp.asarray(np.cumsum(rng.normal(size=(10_000, N)), 0) / 50, jnp.float32)

    def loss(p, x):
        if kind == "lstm":
            return jnp.mean((lstm(jax, jnp, p, x[:-1], unroll) - x[-4:]) ** 2)
        if kind == "lem":
            return jnp.mean((lem(jax, jnp, p, x[:-1], unroll) - x[1:]) ** 2)
        return jnp.mean((neural_ode(jax, jnp, p, x[0], window, unroll, jax.nn.relu) - x[1:]) ** 2)

    def update(state, key):
        p, m, v = state
        starts = jax.random.randint(key, (batch,), 0, 9000)
        x = series[starts[None, :] + jnp.arange(window + 1)[:, None]]
        g = jax.grad(loss)(p, x)
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
        p = jax.tree.map(lambda p, m, v: p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), p, m, v)
        return (p, m, v), None

    @partial(jax.jit, donate_argnums=0)
    def many(state, key):
        return jax.lax.scan(update, state, jax.random.split(key, updates))[0]

    state = [start, jax.tree.map(jnp.zeros_like, start), jax.tree.map(jnp.zeros_like, start)]
    keys = iter(range(10**9))

    def block():
        nonlocal state
        begun = time.perf_counter()
        state = jax.block_until_ready(many(tuple(state), jax.random.PRNGKey(next(keys))))
        return (time.perf_counter() - begun) / updates

    block(), block()
    return block


def fastest(jax, jnp, np, workload, unrolls, updates):
    """The trainer with the best unroll factor."""
    trainers = [trainer(jax, jnp, np, workload, unroll, updates) for unroll in unrolls]
    return min(trainers, key=lambda block: min(block() for _ in range(5)))


class Ours:
    """Our program, which makes a block of updates for every line that it gets."""

    def __init__(self, binary, name, core, updates):
        command = ["taskset", "--cpu-list", str(core), binary, "bench", "--workload", name, "--threads", "1", "--paced", "--block", str(updates)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.block()

    def block(self):
        """Seconds per update of one block."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        return float(answer) if answer else sys.exit("error: `attractor bench --paced` ended early")


def main():
    inside()
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp
    import numpy as np

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--workload", nargs="*", choices=WORKLOADS, default=list(WORKLOADS))
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--updates", type=int, default=UPDATES, help="updates per block: few on a busy machine, whose time slices blocks then fit into")
    parser.add_argument("--unroll", type=int, nargs="*", default=UNROLLS, help="factors by which JAX's scan may be unrolled")
    parser.add_argument("--binary", type=Path, default=BINARY)
    given = parser.parse_args()
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    check_gradients(jax, jnp, np)
    jax.config.update("jax_enable_x64", False)
    print(f"JAX {jax.__version__}, one core, medians of {given.turns} turns\n")
    print("| workload | ours, ms | JAX, ms | ratio | fastest: ours, ms | JAX, ms | ratio |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name in given.workload:
        ours = Ours(given.binary, name, core, given.updates)
        theirs = fastest(jax, jnp, np, WORKLOADS[name], given.unroll, given.updates)
        turns = [(ours.block(), theirs()) for _ in range(given.turns)]
        ours.process.kill()
        mine, other = [1e3 * statistics.median(turn[i] for turn in turns) for i in (0, 1)]
        ratio = statistics.median(b / a for a, b in turns)
        a, b = [1e3 * min(turn[i] for turn in turns) for i in (0, 1)]
        cells = [f"{mine:.3f}", f"{other:.3f}", f"{ratio:.1f}×", f"{a:.3f}", f"{b:.3f}", f"{b / a:.1f}×"]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
