#!/usr/bin/env python3
"""Fit and free run of a reservoir beside ReservoirPy, in one sitting.

    python3 benches/compare/reservoir.py [--units 1000] [--rows 100000] [--turns 3] [--data FILE.npy]

Both have the same sizes: units of degree 10, five channels, ridge regression, no squares. They take turns on one core with one
thread. Of ours the whole command is timed, with reading the data and writing the model; of a free run, the difference between a long
one and a short one. The bound is that of the sums of products alone, rows × units², at the peak of a matrix product in double
precision, which is measured in the same sitting.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
HOME = ROOT / "target" / "compare-reservoir"
PYTHON = HOME / "bin" / "python"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
PACKAGES = ["reservoirpy", "numpy"]


def inside():
    """Start again inside the environment, with one thread."""
    if os.environ.get("OMP_NUM_THREADS") == "1":
        return
    python = Path(os.environ.get("ATTRACTOR_RESERVOIRPY", PYTHON))
    if not python.exists():
        venv.create(HOME, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-qq", *PACKAGES], check=True)
    os.execve(python, [str(python), *sys.argv], {**os.environ, **ONE_THREAD})


def seconds(work):
    """How long a call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def synthetic(rows):
    """Five channels of smooth oscillations that never repeat."""
    import numpy as np

    t = np.arange(rows)
    waves = [np.sin(0.013 * k * t) + 0.5 * np.sin(0.0211 * np.sqrt(k + 1) * t + k) for k in range(1, 6)]
    return np.stack(waves, axis=1)


def ours(binary, data, folder, units):
    """Seconds of a fit and of 10,000 free steps."""
    run = folder / "run"
    settings = ["--model", "reservoir", "--hidden", str(units), "--noise", "0", "--squares", "false", "--threads", "1"]
    subprocess.run(["rm", "-rf", run], check=True)
    call = lambda *arguments: subprocess.run([binary, *map(str, arguments)], check=True, capture_output=True)
    fit = seconds(lambda: call("train", data, "--out", run, *settings, "--quiet"))
    free = lambda steps: seconds(lambda: call("generate", run, "--data", data, "--steps", steps, "--out", folder / "g.npy"))
    return fit, free(11_000) - free(1_000)


def theirs(x, units):
    """The same of ReservoirPy."""
    from reservoirpy.nodes import Reservoir, Ridge

    reservoir = Reservoir(units, sr=0.9, lr=1.0, input_scaling=0.5, rc_connectivity=10 / units, seed=1)
    model = reservoir >> Ridge(ridge=1e-5)
    fit = seconds(lambda: model.fit(x[:-1], x[1:], warmup=200))

    def free():
        row = x[-1:]
        for _ in range(1000):
            row = model.run(row)

    return fit, 10 * seconds(free)


def peak():
    """FLOP per second of a matrix product in double precision."""
    import numpy as np

    a = np.random.default_rng(1).normal(size=(1500, 1500))
    return 2 * 1500**3 / min(seconds(lambda: a @ a) for _ in range(5))


def main():
    inside()
    import numpy as np
    import reservoirpy

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--units", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--binary", type=Path, default=ROOT / "target" / "release" / "attractor")
    given = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    x = np.load(given.data)[: given.rows] if given.data else synthetic(given.rows)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        data = folder / "x.npy"
        np.save(data, x)
        turns = [(ours(given.binary, data, folder, given.units), theirs(x, given.units), peak()) for _ in range(given.turns)]
    bound = [len(x) * given.units**2 / turn[2] for turn in turns]
    print(f"ReservoirPy {reservoirpy.__version__}, {given.units} units, {len(x)} × {x.shape[1]}, medians of {given.turns} turns\n")
    print("| | ours, s | ReservoirPy, s | ratio |\n| --- | ---: | ---: | ---: |")
    for i, what in enumerate(["fit", "10,000 free steps"]):
        mine, other = [[turn[who][i] for turn in turns] for who in (0, 1)]
        ratio = statistics.median(b / a for a, b in zip(mine, other))
        print(f"| {what} | {statistics.median(mine):.2f} | {statistics.median(other):.2f} | {ratio:.1f}× |")
    share = statistics.median(b / turn[0][0] for b, turn in zip(bound, turns))
    print(f"\nThe bound of the sums is {statistics.median(bound):.2f} s: the fit reaches {100 * share:.0f} % of it.")


if __name__ == "__main__":
    main()
