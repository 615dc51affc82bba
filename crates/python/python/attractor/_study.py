"""Studies: many fits of one recording, side by side, and their table."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any, Union

from . import _native
from ._documents import frame
from ._errors import AttractorWarning, RunError, warn
from ._series import as_series
from ._work import ProgressLike, lists, pairs, result

Seeds = Union[int, Iterable[int]]


class Study:
    """Fits with every combination of a grid of settings, and every seed; judged by test data, else by the training data.

    The folder is one of `attractor sweep`: runs that have ended are not done again, and `attractor table` reads it as well. Without a
    `name` it is that of the folder. `list` has combinations one by one, such as `[{"name": "a", "model": "nvar"}]`; `evaluation` is that of
    `evaluate`, with `set` inside.

    >>> import attractor as at, tempfile, pathlib
    >>> x = at.simulate("lorenz63", steps=1500, transient=500, standardize=True)
    >>> study = at.Study(x, seeds=1, list=[{"model": "linear"}, {"model": "persistence"}], evaluation={"floors": False, "starts": 1})
    >>> study.run(pathlib.Path(tempfile.mkdtemp(), "study")).done
    2
    """

    def __init__(
        self,
        x: Any,
        *,
        test: Any = None,
        name: str | None = None,
        seeds: Seeds = 1,
        preset: str | None = None,
        grid: Mapping[str, Iterable[Any]] | None = None,
        list: Iterable[Mapping[str, Any]] | None = None,
        evaluation: Mapping[str, Any] | None = None,
        inputs: Any = None,
        dt: float | None = None,
        **settings: Any,
    ) -> None:
        self._train = as_series(x, inputs=inputs, dt=dt)._recording
        self._test = None if test is None else as_series(test, dt=None if dt is None or hasattr(test, "dt") else dt)._recording
        judging = dict(evaluation or {})
        system = judging.pop("set", {})
        self._given = (
            name,
            [*range(1, seeds + 1)] if isinstance(seeds, int) else [int(seed) for seed in seeds],
            preset,
            pairs(settings),
            lists({name: [*values] for name, values in (grid or {}).items()}),
            [pairs(entry) for entry in list or []],
            pairs(judging),
            pairs(system),
        )
        self.folder: str | None = None
        self.done = 0
        self.left = 0

    def run(self, folder: str | os.PathLike[str], *, workers: int = 0, progress: ProgressLike = None) -> Study:
        """Does all runs in a folder, so many side by side, 0 for all cores. Ctrl-C stores where they are; the same call continues."""
        path = os.fspath(folder)
        work = _native.sweep(path, self._train, self._test, self._given, workers)
        self.done, self.left, failed = result(work, progress)
        self.folder = path
        for run, (_, text, hint) in failed:
            warn(AttractorWarning, f"{os.fspath(run)} could not go on: {text}", hint)
        return self

    def _document(self, by: Iterable[str]) -> tuple[dict[str, Any], Any]:
        if self.folder is None:
            raise RunError("this study has not been run", "call `run` with a folder first")
        text, runs = _native.table(self.folder, [name.replace("_", "-") for name in by])
        return json.loads(text), runs

    def rows(self, by: Iterable[str] = ()) -> list[dict[str, Any]]:
        """One dictionary per group: what it differs in, the number of runs, and median and MAD of every measure."""
        document, _ = self._document(by)
        counts = ("runs", "diverged", "dropped", "good")
        rows = []
        for group in document["groups"]:
            row = {**group["keys"], **{name: group[name] for name in counts}}
            for name, measure in group["measures"].items():
                row |= {name: measure["median"], f"{name}_mad": measure["mad"]}
            rows.append(row)
        return rows

    def table(self, by: Iterable[str] = ()) -> Any:
        """`rows` as a DataFrame."""
        return frame(self.rows(by))

    def runs(self) -> list[dict[str, Any]]:
        """One dictionary per run that has ended: folder, seed and scores."""
        _, runs = self._document(())
        return [{"folder": os.fspath(folder), "seed": seed, **dict(scores)} for folder, seed, scores in runs]

    def __repr__(self) -> str:
        _, seeds, _, _, grid, entries, *_ = self._given
        cells = max(len(entries), 1)
        for _, values in grid:
            cells *= len(values)
        return f"Study: {cells} × {len(seeds)} runs, {self.done} done"
