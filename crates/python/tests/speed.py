"""What the package costs on top of the command: `python speed.py` prints both in seconds of processor time, the least of several turns.

A fit of some ten seconds may cost 2 % more than `attractor train`. For 10⁶ rows `attractor generate` needs the time of the library and
that of writing them, beyond that of its start. Take a release build on a quiet machine.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import attractor as at

SETTINGS = {"hidden": 50, "window": 200, "batch": 16, "epochs": 2000, "batches_per_epoch": 50, "threads": 1, "seed": 1}
ROWS = 1_000_000
TURNS = 4


def command(*words: object) -> float:
    """The processor time of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "attractor", *map(str, words)], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def fit(file: Path) -> float:
    begun = time.process_time()
    at.Model(**SETTINGS).fit(at.read(file), progress=False)
    return time.process_time() - begun


def generate(m: at.Model) -> float:
    begun = time.process_time()
    assert m.generate(ROWS, progress=False).values.shape == (ROWS, 3)
    return time.process_time() - begun


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        at.simulate("lorenz63", steps=100_000, transient=1000, seed=1, standardize=True).save(here / "x.csv")
        flags = [word for name, value in SETTINGS.items() for word in (f"--{name.replace('_', '-')}", value)]
        fits, orbits = [], []
        for i in range(TURNS):
            start = command("--version")
            theirs = command("train", here / "x.csv", "--out", here / f"run{i}", "--quiet", *flags) - start
            fits.append((fit(here / "x.csv"), theirs))
        m = at.load(here / "run0")
        for _ in range(TURNS):
            few, many = (command("generate", here / "run0", "--steps", n, "--out", here / "o.npy") for n in (1, ROWS))
            orbits.append((generate(m), many - few))
    for name, turns in (("fit", fits), ("generate", orbits)):
        ours, theirs = (min(turn[i] for turn in turns) for i in range(2))
        print(f"{name:9}  package {ours:.3f} s  command {theirs:.3f} s  ratio {ours / theirs:.3f}")


if __name__ == "__main__":
    main()
