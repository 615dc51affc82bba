"""Models: fitted to a recording, run, judged and taken apart, with the habits of scikit-learn."""

from __future__ import annotations

import copy
import html
import importlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from . import _native
from ._arrays import matrix
from ._documents import Cycles, Document, Evaluation, Exponents, Page, table_html
from ._errors import (
    AlreadyFittedError,
    ArrayError,
    AttractorError,
    AttractorWarning,
    DivergenceWarning,
    NotFittedError,
    SettingError,
    warn,
)
from ._series import Series, as_series
from ._work import ProgressLike, collect, leave, pairs, result, wait

_DEFAULT = "clipped-shallow-plrnn"


class Model:
    """A model and the settings of its fit; any method of `attractor list models`.

    Settings are those of `attractor train`, as keywords: `attractor explain NAME` has all of a model. What is not given has its default.

    >>> import attractor as at
    >>> x = at.simulate("lorenz63", steps=1500, transient=500, standardize=True)
    >>> m = at.Model("nvar", ridge=1e-6).fit(x)
    >>> m.outcome_, m.generate(3, start=x[:20]).shape
    ('finished', (3, 3))
    """

    def __init__(self, model: str = _DEFAULT, *, preset: str | None = None, **settings: Any) -> None:
        self._set(model, preset, settings)
        self._native: _native.Fitted | None = None
        self._work: _native.Work | None = None
        self._history: dict[str, np.ndarray] | None = None
        self._verdict: str | None = None

    def _set(self, model: str, preset: str | None, settings: Mapping[str, Any]) -> None:
        given = {name: value for name, value in settings.items() if value is not None}
        # What is wrong is reported before anything is changed.
        self._resolved = dict(_native.check(preset, pairs({"model": model, **given})))
        self._model, self._preset, self._given = model, preset, given

    # Settings, as scikit-learn wants them.

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All settings with their values."""
        known = {name.replace("-", "_"): _value(text) for name, text in self._resolved.items()}
        return {"model": self._model, "preset": self._preset, **known, **self._given}

    def set_params(self, **params: Any) -> Model:
        """Changes settings; what was fitted stays as it was."""
        model = params.pop("model", self._model)
        preset = params.pop("preset", self._preset)
        self._set(model, preset, {**self._given, **params})
        return self

    def __sklearn_clone__(self) -> Model:
        return Model(self._model, preset=self._preset, **copy.deepcopy(self._given))

    def __sklearn_is_fitted__(self) -> bool:
        return self._found() is not None

    def __sklearn_tags__(self) -> Any:
        utils = importlib.import_module("sklearn.utils")
        return utils.Tags(
            estimator_type=None,
            target_tags=utils.TargetTags(required=False),
            input_tags=utils.InputTags(allow_nan=True),
            non_deterministic=False,
        )

    # Fits.

    def fit(
        self,
        X: Any,
        y: None = None,
        *,
        inputs: Any = None,
        dt: float | None = None,
        channels: list[str] | None = None,
        out: str | os.PathLike[str] | None = None,
        progress: ProgressLike = None,
    ) -> Model:
        """Fits the model to a recording, or several trajectories in a list; `y` is not used.

        NaN is missing. `inputs` are arrays beside the data, or names of columns. With `out`, a folder is written as
        `attractor train --out` does, which keeps what can be continued. Ctrl-C raises KeyboardInterrupt at once and keeps the state:
        `resume` continues, bit for bit. A training that diverges is a result, with a DivergenceWarning.
        """
        self._refuse_second()
        series = as_series(X, inputs=inputs, dt=dt, channels=channels)
        folder = None if out is None else os.fspath(out)
        settings = pairs({"model": self._model, **self._given})
        return self._follow(_native.fit(series._recording, self._preset, settings, folder), progress)

    def resume(self, *, progress: ProgressLike = None) -> Model:
        """Continues a fit that Ctrl-C has ended, bit for bit."""
        native = self._fitted()
        folder = native.folder
        work = _native.resume(folder, None) if folder is not None else native.go_on()
        return self._follow(work, progress)

    def _follow(self, work: _native.Work, progress: ProgressLike) -> Model:
        try:
            wait(work, progress)
        except BaseException:
            # It ends behind us; what it comes to is asked for when it is needed.
            self._work = work
            leave(work)
            raise
        self._take(work.result())
        return self

    def _take(self, native: _native.Fitted) -> None:
        self._native = native
        self._history = native.history()
        self._verdict = None
        if self.outcome_ == "diverged":
            told = f"training diverged at update {self.summary_['update']}; the last finite state is kept"
            warn(DivergenceWarning, told, native.advice)

    def _found(self) -> _native.Fitted | None:
        if self._work is not None:
            work, self._work = self._work, None
            try:
                self._native = collect(work)
                self._history = self._native.history()
            except AttractorError:
                # What was to be solved at once has not come to anything.
                self._native = None
        return self._native

    def _fitted(self) -> _native.Fitted:
        native = self._found()
        if native is None:
            raise NotFittedError("this model is not fitted", "call `fit` with a recording first")
        return native

    def _refuse_second(self) -> None:
        if self._found() is not None:
            raise AlreadyFittedError(
                f"this model is fitted already, with the outcome `{self.outcome_}`",
                "`m.copy()` is the same model before its fit; `m.resume()` continues one that was stopped",
            )

    def copy(self) -> Model:
        """The same model before its fit."""
        return self.__sklearn_clone__()

    # What came of a fit.

    @property
    def summary_(self) -> Document:
        """How the fit ended, as `outcome.json` has it."""
        found: Document = Document.parse(self._fitted().summary)
        return found

    @property
    def outcome_(self) -> str:
        """`finished`, `stopped` or `diverged`; `unknown` of a model file."""
        return str(self.summary_["outcome"])

    @property
    def history_(self) -> dict[str, np.ndarray]:
        """What was known at the end of every epoch: `epoch`, `update`, `loss`, `penalty`, `alpha`, `lr`, …"""
        native = self._fitted()
        if self._history is None or (not len(self._history["epoch"]) and native.folder is not None):
            self._history = _history_in(native)
        return self._history

    @property
    def notes_(self) -> list[str]:
        """What `attractor train` would note: settings without effect, what was done to the data."""
        return self._fitted().notes

    @property
    def verdict_(self) -> str:
        """What the model is worth, by what its fit held out, else by what it was trained on; `evaluate()` gives reasons."""
        if self._verdict is None:
            self._verdict = str(self.evaluate().verdict.word)
        return self._verdict

    @property
    def parameters(self) -> dict[str, np.ndarray]:
        """All tensors of the model by their names in the paper."""
        return _native.parameters(self._fitted())

    # Running it.

    def generate(
        self, steps: int, *, start: Any = None, inputs: Any = None, data: Any = None, progress: ProgressLike = None
    ) -> Series:
        """A free orbit of so many rows, from the row or rows `start`, or the first rows of `data`, else of the training data.

        An orbit that diverges is given as far as it goes, with a DivergenceWarning.
        """
        native = self._fitted()
        if data is not None and start is not None:
            raise ArrayError("both `start` and `data` say where to start", "give one of them")
        begin = as_series(data, inputs=inputs) if data is not None else self._past(start, inputs)
        work = _native.generate(native, _count(steps), None if begin is None else begin._recording)
        return self._orbit(result(work, progress))

    def forecast(
        self, X: Any, *, steps: int, inputs: Any = None, dt: float | None = None, progress: ProgressLike = None
    ) -> Series:
        """The rows after the last one of a recording. `inputs` are those of the rows to forecast; those of the past are in the Series."""
        native = self._fitted()
        width = len(_native.inputs(native))
        future = np.empty((0, width)) if inputs is None else matrix(inputs, "the inputs")
        work = _native.forecast(native, as_series(X, dt=dt)._recording, future, _count(steps))
        return self._orbit(result(work, progress))

    def _past(self, start: Any, inputs: Any) -> Series | None:
        """Rows to start from, with the inputs of these and of all that follow."""
        if start is None and inputs is None:
            return None
        if isinstance(start, Series):
            return start
        if start is None:
            raise ArrayError("inputs drive an orbit from some row on", "give `start` as well")
        names = [name for name, _ in _native.channels(self._fitted())]
        rows = np.atleast_2d(np.asarray(start)) if np.ndim(start) < 2 else start
        rows = matrix(rows, "the rows to start from")
        driven = None if inputs is None else matrix(inputs, "the inputs")
        if driven is not None:
            rows = np.vstack([rows, np.full((max(len(driven) - len(rows), 0), rows.shape[1]), np.nan)])
        named = names if rows.shape[1] == len(names) else None
        return Series(rows, inputs=driven, channels=named)

    @staticmethod
    def _orbit(found: tuple[_native.Series, tuple[str, str, str | None] | None, bool]) -> Series:
        series, diverged, is_from_zero = found
        if diverged is not None:
            warn(DivergenceWarning, diverged[1], diverged[2])
        if is_from_zero:
            warn(AttractorWarning, "the model does not say where to start: the orbit starts from zeros")
        return Series._of(series)

    # Judging it.

    def evaluate(
        self,
        X: Any = None,
        *,
        inputs: Any = None,
        dt: float | None = None,
        set: Mapping[str, Any] | None = None,
        progress: ProgressLike = None,
        **options: Any,
    ) -> Evaluation:
        """Scores beside floors and chance levels, by test data; without any, by what the fit held out or was trained on.

        Options are those of `attractor evaluate`: `system` with its parameters in `set`, `starts`, `pe_steps`, `threshold`, `box`, `seed`,
        `lyapunov`, and `floors=False` to leave levels out.
        """
        data = None if X is None else as_series(X, inputs=inputs, dt=dt)._recording
        work = _native.evaluate(self._fitted(), data, pairs(options), pairs(set or {}))
        found: Evaluation = Evaluation.parse(result(work, progress))
        return found

    def score(self, X: Any, y: None = None, *, inputs: Any = None, dt: float | None = None) -> float:
        """The negative of D_stsp: the higher, the better. Minus infinity if the orbit diverges."""
        found = self.evaluate(X, inputs=inputs, dt=dt, starts=1, floors=False, progress=False)
        value = found["d_stsp"].value
        return -np.inf if value is None else -float(value)

    # Taking it apart.

    def analyze(self, *, data: Any = None, progress: ProgressLike = None, **options: Any) -> Document:
        """Everything that `attractor analyze` finds. Options are `cycles`, `seconds`, `steps`, `seed` and `threads`."""
        start = None if data is None else as_series(data)._recording
        work = _native.analyze(self._fitted(), start, pairs(options))
        found: Document = Document.parse(result(work, progress))
        return found

    def lyapunov(self, *, data: Any = None, progress: ProgressLike = None, **options: Any) -> Exponents | None:
        """The Lyapunov exponents of the free orbit; None, with a DivergenceWarning, if it diverges."""
        found = self.analyze(data=data, progress=progress, **{"cycles": 1, "seconds": 0, **options})
        if found.lyapunov is None:
            warn(DivergenceWarning, f"the orbit diverges at step {found.orbit.diverged_at}: no exponents")
            return None
        return Exponents({**found.lyapunov, "kaplan_yorke": found.kaplan_yorke})

    def fixed_points(self, *, data: Any = None, progress: ProgressLike = None, **options: Any) -> Cycles:
        """Fixed points; `complete` says whether these are all."""
        found = self.analyze(data=data, progress=progress, cycles=1, **options)
        return Cycles(found.fixed_points, found.fixed_points_complete)

    def cycles(self, *, up_to: int = 3, data: Any = None, progress: ProgressLike = None, **options: Any) -> Cycles:
        """Cycles of period 2 up to some period."""
        found = self.analyze(data=data, progress=progress, cycles=up_to, **options)
        cycles = [cycle for of_period in found.cycles.values() for cycle in of_period]
        return Cycles(cycles, all(found.cycles_complete.values()))

    def state(self, data: Any = None) -> np.ndarray:
        """The latent state that free orbits start from, at the first rows of data if they are given."""
        return _native.start(self._fitted(), None if data is None else as_series(data)._recording)

    def step(self, z: Any, s: Any = None) -> np.ndarray:
        """The state after z, or after each of several, under inputs s."""
        native, (rows, driven) = self._fitted(), self._states(z, s)
        return _native.step(native, rows, driven).reshape(np.shape(z))

    def jacobian(self, z: Any, s: Any = None) -> np.ndarray:
        """∂G/∂z at z, or at each of several states."""
        native, (rows, driven) = self._fitted(), self._states(z, s)
        width = rows.shape[1]
        return _native.jacobian(native, rows, driven).reshape(*np.shape(z)[:-1], width, width)

    def observe(self, z: Any) -> np.ndarray:
        """What a state shows, or each of several, in the units of the data."""
        native, (rows, _) = self._fitted(), self._states(z, None)
        return _native.observe(native, rows).reshape(*np.shape(z)[:-1], -1)

    def _states(self, z: Any, s: Any) -> tuple[np.ndarray, np.ndarray]:
        _, state, _, inputs, *_ = _native.sizes(self._fitted())
        rows = matrix(np.atleast_2d(np.asarray(z)), "states")
        if np.ndim(z) not in (1, 2) or rows.shape[1] != state:
            raise ArrayError(f"states of shape {np.shape(z)}, the model has {state} latent states", f"give {state} numbers per state")
        driven = np.zeros((len(rows), inputs)) if s is None else np.atleast_2d(np.asarray(s, dtype=np.float64))
        driven = np.ascontiguousarray(np.broadcast_to(driven, (len(rows), inputs)) if len(driven) == 1 else driven)
        if driven.shape != (len(rows), inputs):
            raise ArrayError(f"inputs of shape {np.shape(s)} for {len(rows)} states", f"the model has {inputs} inputs")
        return rows, driven

    def report(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        system: str | None = None,
        progress: ProgressLike = None,
        **options: Any,
    ) -> Page:
        """A page in which the model runs: shown in a notebook, and written to a file if a name is given.

        Options are `seconds`, `cycles` and `threads` of the search for fixed points.
        """
        native = self._fitted()
        with tempfile.TemporaryDirectory() as folder:
            scratch, inside = Path(folder, "model"), Path(folder, "report.html")
            scratch.mkdir()
            out = inside if path is None else Path(path)
            work = _native.report(native, os.fspath(scratch), os.fspath(out), system, pairs(options))
            notes = result(work, progress)
            return Page(out.read_text(encoding="utf-8"), notes)

    # Keeping it.

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a model file, `model.safetensors` of a run to the byte."""
        self._fitted().write(os.fspath(path))

    @classmethod
    def _of(cls, native: _native.Fitted) -> Model:
        settings = dict(native.settings or [("model", _native.sizes(native)[0])])
        model = cls(settings.pop("model"), **{name.replace("-", "_"): _value(text) for name, text in settings.items()})
        model._native = native
        return model

    def __getstate__(self) -> dict[str, Any]:
        native = self._found()
        kept = {"_model": self._model, "_preset": self._preset, "_given": self._given, "_resolved": self._resolved}
        if native is None:
            return {**kept, "_fit": None, "_history": None, "_verdict": None}
        fit = (native.to_bytes(), native.summary, native.settings)
        return {**kept, "_fit": fit, "_history": self.history_, "_verdict": self._verdict}

    def __setstate__(self, state: dict[str, Any]) -> None:
        fit = state.pop("_fit")
        self.__dict__.update(state, _work=None)
        self._native = None if fit is None else _native.Fitted.from_bytes(*fit)

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        other = self.__sklearn_clone__()
        # What was fitted is never changed.
        other._native, other._history, other._verdict = self._found(), self._history, self._verdict
        return other

    def __repr__(self) -> str:
        preset = {} if self._preset is None else {"preset": self._preset}
        given = [f"{name}={value!r}" for name, value in {**preset, **self._given}.items()]
        return f"Model({', '.join([repr(self._model), *given])})"

    def _repr_html_(self) -> str:
        native = self._found()
        rows = [(name, text) for name, text in self._resolved.items()]
        settings = f"<details><summary>settings</summary>{table_html(rows, ('setting', 'value'))}</details>"
        if native is None:
            return f"<p><b>{html.escape(repr(self))}</b>, not fitted</p>{settings}"
        *_, parameters = _native.sizes(native)
        what = f"{_native.describe(native)}, {parameters} parameters, {self.outcome_}"
        return f"<p><b>{html.escape(self._model)}</b>: {html.escape(what)}</p>{settings}"


def _value(text: str) -> Any:
    """A setting as a number where it is one."""
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _count(steps: Any) -> int:
    if isinstance(steps, (int, np.integer)) and not isinstance(steps, bool) and 0 <= steps < 2**63:
        return int(steps)
    raise SettingError(f"`steps` must be a whole number of at least 1, found {steps!r}", "as in `steps=1000`")


def _history_in(native: _native.Fitted) -> dict[str, np.ndarray]:
    """The columns of `history.csv`."""
    names = list(native.history())
    file = Path(native.folder or "", "history.csv")
    if not file.is_file():
        return native.history()
    rows = [line.split(",") for line in file.read_text().splitlines()]
    places = [rows[0].index(name) for name in names]
    return {
        name: np.array([float(row[place] or "nan") for row in rows[1:]]) for name, place in zip(names, places)
    }


def load(path: str | os.PathLike[str]) -> Model:
    """A fitted model from the folder of a run, or from a model file.

    >>> import attractor as at, tempfile, pathlib
    >>> x = at.simulate("lorenz63", steps=1500, transient=500, standardize=True)
    >>> file = pathlib.Path(tempfile.mkdtemp(), "m.safetensors")
    >>> at.Model("linear").fit(x).save(file)
    >>> at.load(file).generate(5).shape
    (5, 3)
    """
    return Model._of(_native.load(os.fspath(path)))


def resume(path: str | os.PathLike[str], *, threads: int | None = None, progress: ProgressLike = None) -> Model:
    """Continues the run in a folder to its end, bit for bit, whether Python or the command began it; one that has ended is loaded."""
    work = _native.resume(os.fspath(path), threads)
    wait(work, progress)
    native = work.result()
    model = Model._of(native)
    model._take(native)
    return model


def settings(model: str = _DEFAULT) -> list[Document]:
    """The settings of a model: name, default, range and meaning of each.

    >>> import attractor as at
    >>> [s.default for s in at.settings() if s.name == "alpha"]
    ['0.15']
    """
    keys = ("name", "default", "domain", "about")
    return [Document(dict(zip(keys, row))) for row in _native.settings(model)]


def models() -> list[str]:
    """The names of all models."""
    return _native.models()


