"""What the Python package costs over the command and the library: ratios, measured alternately in one sitting.

    python benches/compare/python_package.py [pairs]

fit       seconds of processor time of `Model.fit` in memory over those that the command, run by the same wheel, spends on the same training
generate  time until 10⁶ rows are a NumPy array over the time of the library's call alone, which runs on a thread of its own
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import attractor as at
from attractor import _native

SETTINGS = {"epochs": 40, "batches_per_epoch": 50, "window": 50, "threads": 1}
FLAGS = [word for name, value in SETTINGS.items() for word in (f"--{name.replace('_', '-')}", str(value))]


def processor_seconds(run: object) -> float:
    """Of a call in a process of its own, so that both sides pay for the same."""
    child = os.fork()
    if child == 0:
        run()  # type: ignore[operator]
        os._exit(0)
    _, _, used = os.wait4(child, 0)
    return used.ru_utime + used.ru_stime


def fits(folder: Path, turn: int) -> float:
    file = folder / "x.csv"
    out = [str(folder / f"{who}-{turn}") for who in ("command", "python")]
    words = ["attractor", "train", str(file), "--out", out[0], "--quiet", *FLAGS]
    command = processor_seconds(lambda: _native.main(words))
    ours = processor_seconds(lambda: at.Model(**SETTINGS).fit(at.read(file), out=out[1], progress=False))
    return ours / command


def orbits(model: at.Model) -> float:
    begun = time.perf_counter()
    work = _native.generate(model._native, 1_000_000, None)
    work.wait()
    called = time.perf_counter()
    series = at.Model._orbit(work.result())
    values = np.asarray(series)
    ended = time.perf_counter()
    assert values.shape == (1_000_000, 3)
    return (ended - begun) / (called - begun)


def main() -> None:
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        at.simulate("lorenz63", steps=20_000, transient=1000, standardize=True).save(folder / "x.csv")
        ratios = [fits(folder, turn) for turn in range(pairs)]
        print(f"fit       {statistics.median(ratios):.3f}  ({min(ratios):.3f} to {max(ratios):.3f})")
        model = at.Model(**{**SETTINGS, "epochs": 5}).fit(at.read(folder / "x.csv"), progress=False)
        ratios = [orbits(model) for _ in range(pairs)]
        print(f"generate  {statistics.median(ratios):.3f}  ({min(ratios):.3f} to {max(ratios):.3f})")


if __name__ == "__main__":
    main()
