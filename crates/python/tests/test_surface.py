"""The surface, line by line as users are shown it; only the fits are shortened."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import attractor as at

SHORT = {"epochs": 5, "batches_per_epoch": 5}
SHOWN = """
x  = at.simulate("lorenz63", steps=100_000, seed=1)           # a Series; np.asarray(x) works
np.asarray(x)
at.inspect(x)                                                 # findings; HTML in a notebook
m  = at.Model("clipped-shallow-plrnn", alpha=0.15, hidden=50, seed=1)   # any method of `attractor list models`
m.fit(x, dt=0.01)                                             # or fit([x1, x2], inputs=[s1, s2]); NaN is missing; DataFrames and xarray too
m = m.copy()
m.fit(x, out="run"); m = at.resume("run")                     # a run folder like that of the command, to the byte
m.history_, m.outcome_, m.verdict_
y  = m.generate(10_000, start=x[0]);  p = m.forecast(x[:200], steps=50)
s  = m.evaluate(x_test, system="lorenz63");  s["d_stsp"].value, s["d_stsp"].floor, s["d_stsp"].chance;  s.to_frame()
m.lyapunov();  m.fixed_points();  m.cycles(up_to=5);  m.step(z);  m.jacobian(z)
m.report()                                                    # the live page inside the notebook
m.report("page.html")
m.save("m.safetensors");  at.load("m.safetensors").parameters["W1"]
at.Study(x, test=x_test, seeds=20, grid={"alpha": [0.1, 0.2]}).run("study", workers=2).table()   # pandas if installed
at.embed(y1d), at.prepare(x, "every 2"), at.read("heart.edf"), at.lyapunov(series)
"""


def heart(path: Path) -> None:
    """A recording in EDF."""
    edfio = pytest.importorskip("edfio")
    beats = np.sin(2 * np.pi * 1.2 * np.arange(2000) / 100) ** 9
    edfio.Edf([edfio.EdfSignal(beats, sampling_frequency=100, label="ecg", physical_dimension="mV")]).write(path)


def test_all_lines_run_as_they_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    heart(tmp_path / "heart.edf")
    shortened = {
        "Model": partial(at.Model, **SHORT),
        "Study": partial(at.Study, **SHORT, evaluation={"floors": False, "starts": 1}),
    }
    x_test = at.simulate("lorenz63", steps=2000, transient=1000, seed=2)
    y1d = at.Series(x_test["x"], dt=0.01, channels=["x"])
    names: dict[str, Any] = {"at": SimpleNamespace(**{**vars(at), **shortened}), "np": np, "x_test": x_test}
    names |= {"y1d": y1d, "series": y1d, "z": np.array([0.1, 0.2, 0.3])}
    for line in SHOWN.strip().splitlines():
        exec(line, names)
    assert names["y"].shape == (10_000, 3) and names["p"].shape == (50, 3)
    assert {"page.html", "m.safetensors", "run", "study"} <= {file.name for file in tmp_path.iterdir()}


def test_several_recordings_with_inputs_and_missing_values() -> None:
    rng = np.random.default_rng(1)
    x1, x2 = rng.normal(size=(300, 2)), rng.normal(size=(200, 2))
    s1, s2 = rng.normal(size=(300, 1)), rng.normal(size=(200, 1))
    x1[7, 1] = np.nan
    m = at.Model(**SHORT, window=20).fit([x1, x2], inputs=[s1, s2])
    assert m.outcome_ == "finished"
