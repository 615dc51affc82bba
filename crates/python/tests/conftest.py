"""What the tests share: small data, and the command."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import attractor as at

#: A training of a second or less.
SMALL = {"epochs": 6, "batches_per_epoch": 5, "window": 20, "hidden": 8, "batch": 8, "threads": 1}


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTRACTOR_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="session")
def lorenz() -> at.Series:
    return at.simulate("lorenz63", steps=1500, transient=500, seed=1, standardize=True)


@pytest.fixture(scope="session")
def rows(lorenz: at.Series) -> np.ndarray:
    return lorenz.values


@pytest.fixture(scope="session")
def fitted(lorenz: at.Series) -> at.Model:
    return at.Model(**SMALL).fit(lorenz)


def command(*words: object, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs the command that the package carries."""
    arguments = [sys.executable, "-m", "attractor", *map(str, words)]
    environment = {**os.environ, "ATTRACTOR_CACHE": str(folder / "cache")}
    return subprocess.run(arguments, cwd=folder, env=environment, capture_output=True, text=True, check=False)
