"""Recordings: made of arrays, read from files, simulated, prepared, inspected."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from . import _native
from ._arrays import recorded
from ._documents import Document, Exponents, Inspection, package, table_html
from ._errors import ArrayError, AttractorWarning, DivergenceWarning, warn
from ._work import ProgressLike, lists, pairs, result


class Series:
    """A recording: one or more trajectories over the same channels and inputs, with a step, names and units.

    Rows of channels may be an array, a list, a DataFrame, a DataArray, a Dataset or an MNE recording, or a list of these, one per
    trajectory. NaN is missing. What is not given (`dt`, names, units) is taken from the data where they know it. With `own_times` rows
    keep the times that their index has, for `ode-rnn` and `latent-ode`; it is the step of their free orbits.

    >>> import attractor as at, numpy as np
    >>> x = at.Series(np.arange(6.0).reshape(3, 2), dt=0.1, channels=["u", "v"])
    >>> x
    Series: 3 rows of u, v, step 0.1
    >>> x[1], x["v"]
    (array([2., 3.]), array([1., 3., 5.]))
    >>> np.asarray(x[1:]).shape
    (2, 2)
    """

    _recording: _native.Series
    _rows: np.ndarray | None

    def __init__(
        self,
        x: Any,
        *,
        inputs: Any = None,
        dt: float | None = None,
        channels: Sequence[str] | None = None,
        units: Sequence[str] | None = None,
        input_names: Sequence[str] | None = None,
        names: Sequence[str] | None = None,
        time_unit: str | None = None,
        own_times: float | None = None,
    ) -> None:
        self._recording = recorded(
            x,
            inputs=inputs,
            dt=dt,
            channels=channels,
            units=units,
            input_names=input_names,
            names=names,
            time_unit=time_unit,
            own_times=own_times,
        )
        self._rows = None

    @classmethod
    def _of(cls, native: _native.Series) -> Series:
        series = cls.__new__(cls)
        series._recording = native
        series._rows = None
        return series

    @property
    def channels(self) -> list[str]:
        """Names of the channels."""
        return [name for name, _ in self._recording.channels]

    @property
    def units(self) -> list[str]:
        """Units of the channels, empty where unknown."""
        return [unit for _, unit in self._recording.channels]

    @property
    def input_names(self) -> list[str]:
        """Names of the external inputs."""
        return [name for name, _ in self._recording.inputs]

    @property
    def dt(self) -> float:
        """The sampling step."""
        return self._recording.step[0]

    @property
    def time_unit(self) -> str:
        """The unit of time, empty where unknown."""
        return self._recording.step[1]

    @property
    def names(self) -> list[str]:
        """Names of the trajectories, empty where they have none."""
        return [name for name, _ in self._recording.trajectories]

    @property
    def lengths(self) -> list[int]:
        """Rows of every trajectory."""
        return [rows for _, rows in self._recording.trajectories]

    @property
    def missing(self) -> int:
        """How many values are missing."""
        return self._recording.missing

    @property
    def path(self) -> str | None:
        """The file that it was read from, if any."""
        path = self._recording.path
        return None if path is None else os.fspath(path)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows over all trajectories, and channels."""
        return len(self), len(self._recording.channels)

    @property
    def ndim(self) -> int:
        """Two."""
        return 2

    @property
    def trajectories(self) -> list[Series]:
        """Every trajectory as a recording of its own."""
        return [Series._of(self._recording.trajectory(i)) for i in range(len(self.lengths))]

    @property
    def gaps(self) -> list[int]:
        """Rows after which time jumps, of the only trajectory."""
        return self._recording.gaps(self._only())

    @property
    def values(self) -> np.ndarray:
        """Rows × channels of the only trajectory, as a new array."""
        return self._recording.values(self._only())

    @property
    def inputs(self) -> np.ndarray:
        """Rows × inputs of the only trajectory, as a new array."""
        return self._recording.input_values(self._only())

    @property
    def times(self) -> np.ndarray:
        """The time of every row of the only trajectory."""
        return self._recording.times(self._only())

    def _only(self) -> int:
        if len(self.lengths) > 1:
            raise ArrayError(
                f"the recording has {len(self.lengths)} trajectories, which are no single array",
                "take one of them: `x.trajectories[0]`",
            )
        return 0

    def _stacked(self) -> np.ndarray:
        """All rows, read-only, kept for indexing."""
        if self._rows is None:
            parts = [self._recording.values(i) for i in range(len(self.lengths))]
            self._rows = parts[0] if len(parts) == 1 else np.vstack(parts)
            self._rows.setflags(write=False)
        return self._rows

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("a recording is copied when it becomes an array")
        values = self.values
        return values if dtype is None else values.astype(dtype)

    def __len__(self) -> int:
        return sum(self.lengths)

    def __iter__(self) -> Iterator[np.ndarray]:
        return (row.copy() for row in self._stacked())

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            if key not in self.channels:
                raise ArrayError(f"no channel is named `{key}`", f"the known names are {', '.join(self.channels)}")
            return self._stacked()[:, self.channels.index(key)].copy()
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            return self[key[0]]
        if isinstance(key, tuple):
            return self._stacked()[key].copy()
        if isinstance(key, (int, np.integer)):
            return self._stacked()[key].copy()
        rows = np.arange(len(self))[key]
        if isinstance(key, slice) and key.step not in (None, 1):
            raise ArrayError("a step between rows would make other time steps", '`attractor.prepare(x, "every 4")` keeps every fourth row')
        return Series._of(self._recording.take([int(row) for row in rows]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Series) and self._recording.same(other._recording)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        native = self._recording
        whole = [
            (name, native.values(i), native.input_values(i) if native.inputs else None, native.times(i))
            for i, (name, _) in enumerate(native.trajectories)
        ]
        dt, unit = native.step
        return _unpickled, (native.channels, native.inputs, dt, unit, whole, dt if native.has_own_times else None)

    def __repr__(self) -> str:
        several = f" in {len(self.lengths)} trajectories" if len(self.lengths) > 1 else ""
        driven = f", driven by {', '.join(self.input_names)}" if self.input_names else ""
        missing = f", {self.missing} values missing" if self.missing else ""
        names = self.channels if len(self.channels) <= 6 else [*self.channels[:5], "…"]
        step = f"{self.dt:g} {self.time_unit}".strip()
        return f"Series: {len(self)} rows{several} of {', '.join(names)}{driven}, step {step}{missing}"

    def _repr_html_(self) -> str:
        stacked = self._stacked()
        some = lambda f, i: f"{f(column):.4g}" if (column := stacked[~np.isnan(stacked[:, i]), i]).size else "–"  # noqa: E731
        rows = [
            (name, unit, some(np.mean, i), some(np.std, i), some(np.min, i), some(np.max, i))
            for i, (name, unit) in enumerate(self._recording.channels)
        ]
        return f"<p>{repr(self)}</p>{table_html(rows, ('channel', 'unit', 'mean', 'spread', 'min', 'max'))}"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it in the format that the name says, whole or not at all: `.csv`, `.tsv`, `.npy`, `.npz`."""
        lost = self._recording.write(os.fspath(path))
        if lost:
            warn(AttractorWarning, f"the format does not hold {', '.join(lost)}")

    def to_frame(self) -> Any:
        """The only trajectory as a DataFrame, with times as the index and inputs as further columns."""
        pandas = package("pandas")
        frame = pandas.DataFrame(self.values, columns=self.channels, index=pandas.Index(self.times, name="time"))
        for i, name in enumerate(self.input_names):
            frame[name] = self.inputs[:, i]
        frame.attrs = {"units": dict(self._recording.channels), "time_unit": self.time_unit}
        return frame

    def to_xarray(self) -> Any:
        """The only trajectory as a Dataset, one variable per channel and input, over time."""
        xarray = package("xarray")
        columns = list(zip(self._recording.channels, self.values.T)) + list(zip(self._recording.inputs, self.inputs.T))
        variables = {name: ("time", values, {"units": unit} if unit else {}) for (name, unit), values in columns}
        time = ("time", self.times, {"units": self.time_unit} if self.time_unit else {})
        return xarray.Dataset(variables, coords={"time": time})

    def to_mne(self, ch_types: str | Sequence[str] | None = None) -> Any:
        """The only trajectory as an MNE recording, in SI units, as MNE has them.

        Without `ch_types` channels in volts are `bio`, those in tesla `mag` and `grad`, all others `misc`.
        """
        mne = package("mne")
        if self.time_unit not in _SECONDS:
            raise ArrayError(f"the step is in `{self.time_unit}`, MNE has seconds", f"known units are {', '.join(filter(None, _SECONDS))}")
        known = [_SI.get(unit, ("misc", 1.0)) for unit in self.units]
        info = mne.create_info(self.channels, 1.0 / (self.dt * _SECONDS[self.time_unit]), ch_types or [kind for kind, _ in known])
        return mne.io.RawArray((self.values * [factor for _, factor in known]).T, info, verbose="error")


#: Units of time in seconds; without a unit it is taken for seconds.
_SECONDS = {"": 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "min": 60.0, "h": 3600.0}

#: The kind of a channel in MNE, and its unit in those of SI.
_SI = {
    **{f"{prefix}V": ("bio", factor) for prefix, factor in (("", 1.0), ("m", 1e-3), ("u", 1e-6), ("µ", 1e-6), ("n", 1e-9))},
    **{f"{prefix}T": ("mag", factor) for prefix, factor in (("", 1.0), ("n", 1e-9), ("p", 1e-12), ("f", 1e-15))},
    "T/m": ("grad", 1.0),
}


def _unpickled(channels: Any, inputs: Any, dt: float, unit: str, trajectories: Any, own_times: float | None = None) -> Series:
    return Series._of(_native.Series(channels, inputs, dt, unit, trajectories, own_times))


def as_series(x: Any, *, inputs: Any = None, dt: float | None = None, **named: Any) -> Series:
    """A recording of whatever stands for one: a Series, a file, arrays, tables."""
    if isinstance(x, (str, os.PathLike)):
        if inputs is not None:
            raise ArrayError("inputs of a file are columns of it", 'name them: `attractor.read(path, input=["s"])`')
        return read(x, dt=dt)
    if isinstance(x, Series):
        dt = None if dt == x.dt else dt
        given = {name: value for name, value in {"inputs": inputs, "dt": dt, **named}.items() if value is not None}
        if given:
            raise ArrayError(f"a Series has its own {', '.join(given)}", "make the Series with it: `Series(x, …)`")
        return x
    return Series(x, inputs=inputs, dt=dt, **named)


def read(path: str | os.PathLike[str], **options: Any) -> Series:
    """A recording from a file, in any format of `attractor list formats`.

    Options are the flags of every verb that reads data: `dt`, `time`, `state`, `input`, `trajectory`, `channels`, `array`, `from_`, `to`,
    `rate`, `resample`, `grid`, `own_times`, `missing_value`, `only_trajectories`, `delimiter`, `decimal`, `header`, and `prepare`, a list of steps.

    >>> import attractor as at, tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp(), "r.csv")
    >>> _ = file.write_text("t [s],u [mV],v\\n0,1,2\\n0.5,3,4\\n")
    >>> x = at.read(file, channels=["u"])
    >>> x, x.units
    (Series: 2 rows of u, step 0.5 s, ['mV'])
    """
    native, remarks = result(_native.read(os.fspath(path), lists(options)))
    for remark in remarks:
        warn(AttractorWarning, f"{remark}: {os.fspath(path)}")
    return Series._of(native)


def simulate(system: str, *, steps: int, set: Mapping[str, Any] | None = None, progress: ProgressLike = None, **options: Any) -> Series:
    """A series of a known system, by seed; `set` has its parameters. `attractor list systems` names all.

    Options are those of the command: `dt`, `seed`, `transient`, `standardize`, `noise`, `method`, `tolerance`. An orbit that diverges is
    given as far as it goes, with a DivergenceWarning.

    >>> import attractor as at
    >>> at.simulate("lorenz63", steps=1000, seed=1, set={"rho": 24.5})
    Series: 1000 rows of x, y, z, step 0.01
    """
    work = _native.simulate(system, pairs(set or {}), pairs({"steps": steps, **options}))
    native, ended = result(work, progress)
    if ended is not None:
        warn(DivergenceWarning, ended[1], ended[2])
    return Series._of(native)


def prepare(x: Any, *steps: str, inputs: Any = None, dt: float | None = None) -> Series:
    """A recording after some steps, in their order: smoothed, filtered, scaled or cut (see docs/preparing.md).

    >>> import attractor as at
    >>> at.prepare(at.simulate("lorenz63", steps=1000), "every 4", "standardize")
    Series: 250 rows of x, y, z, step 0.04
    """
    native, _ = result(_native.prepare(as_series(x, inputs=inputs, dt=dt)._recording, list(steps)))
    return Series._of(native)


def inspect(x: Any, *, against: Any = None, dt: float | None = None, progress: ProgressLike = None, **options: Any) -> Inspection:
    """What a recording holds, and what may go wrong with it; `against` is a second one, such as test data.

    >>> import attractor as at
    >>> found = at.inspect(at.simulate("lorenz63", steps=2000, transient=500))
    >>> found.channels[0].name, len(found.findings) > 0
    ('x', True)
    """
    second = None if against is None else as_series(against, dt=dt)._recording
    work = _native.inspect(as_series(x, dt=dt)._recording, second, pairs(options))
    found: Inspection = Inspection.parse(result(work, progress))
    return found


def embed(x: Any, *, dt: float | None = None, progress: ProgressLike = None, **options: Any) -> Series:
    """States of a recording: its values at several delays, found by PECUZAL, or with `method="delay"` by Cao's method.

    >>> import attractor as at
    >>> x = at.simulate("lorenz63", steps=2000, transient=500)
    >>> at.embed(at.Series(x["x"], dt=0.01, channels=["x"]), method="delay", dims=3).channels[0]
    'x'
    """
    native, _ = result(_native.embed(as_series(x, dt=dt)._recording, pairs(options)), progress)
    return Series._of(native)


def lyapunov(
    x: Any, *, set: Mapping[str, Any] | None = None, dt: float | None = None, progress: ProgressLike = None, **options: Any
) -> Document | None:
    """The largest Lyapunov exponent of a recording of one channel; or all of a known system, by its name.

    Of a system whose orbit diverges there are none: None, with a DivergenceWarning.

    >>> import attractor as at
    >>> at.lyapunov("henon", steps=20_000).exponents[0] > 0.4
    True
    """
    if isinstance(x, str):
        spectrum, ended = result(_native.spectrum(x, pairs(set or {}), pairs(options)), progress)
        if ended is not None:
            warn(DivergenceWarning, ended[1], ended[2])
            return None
        document: Document = Document.parse(spectrum)
        return Exponents({**document["lyapunov"], "kaplan_yorke": document["kaplan_yorke"]})
    found: Document = Document.parse(result(_native.exponent(as_series(x, dt=dt)._recording, pairs(options)), progress))
    return found
