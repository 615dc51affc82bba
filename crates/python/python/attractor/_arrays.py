"""Arrays and tables of other packages as recordings: names, step and units are kept."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _native
from ._errors import ArrayError

SHAPE = "give one row per time step and one column per channel, or a list of such arrays"


@dataclass
class Table:
    """The rows of one trajectory, and what is known of them."""

    values: np.ndarray
    names: list[str] | None = None
    units: list[str] | None = None
    times: np.ndarray | None = None
    dt: float | None = None
    unit: str = ""
    name: str = ""
    #: Whether the times are numbers of rows, to be multiplied by the step.
    counted: bool = False
    inputs: np.ndarray | None = field(default=None)
    input_names: list[str] | None = None


def matrix(x: Any, what: str = "the data") -> np.ndarray:
    """Numbers as float64, row-major, one row per time step; missing ones are NaN."""
    if np.ma.isMaskedArray(x):
        x = np.ma.filled(np.ma.asarray(x).astype(np.float64), np.nan)
    try:
        array = np.asarray(x)
    except ValueError:
        raise ArrayError(f"{what} have rows of unequal length", SHAPE) from None
    if array.dtype.names:
        array = np.column_stack([array[name] for name in array.dtype.names])
    _refuse_kind(array, what)
    if array.ndim == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2 or array.shape[1] == 0:
        raise ArrayError(f"{what} are an array of shape {array.shape}, expected rows × channels", SHAPE)
    return np.ascontiguousarray(array, dtype=np.float64)


def _refuse_kind(array: np.ndarray, what: str) -> None:
    kinds = {
        "c": ("complex numbers", "give real and imaginary part as two channels: `np.column_stack([x.real, x.imag])`"),
        "O": ("objects, not numbers", "make them numbers first: `np.asarray(x, dtype=float)`"),
        "U": ("texts, not numbers", "`attractor.read` reads files; texts become numbers by `np.asarray(x, dtype=float)`"),
        "S": ("bytes, not numbers", "texts become numbers by `np.asarray(x, dtype=float)`"),
        "M": ("dates, not numbers", "dates may be the index of a DataFrame, or the coordinate of a DataArray"),
        "m": ("spans of time, not numbers", "these may be the index of a DataFrame, or the coordinate of a DataArray"),
        "V": ("records, not numbers", SHAPE),
    }
    if array.dtype.kind in kinds:
        found, hint = kinds[array.dtype.kind]
        raise ArrayError(f"{what} are {found}", hint)


def tables(x: Any, names: Sequence[str] | None = None) -> list[Table]:
    """The trajectories of whatever is given."""
    if isinstance(x, (list, tuple)) and x and _is_trajectory(x[0]):
        made = [one for part in x for one in tables(part)]
    elif _is(x, "mne", "BaseEpochs"):
        made = _of_epochs(x)
    elif _is(x, "xarray", "DataArray") and x.ndim == 3:
        made = _of_cube(x)
    elif isinstance(x, np.ndarray) and x.ndim == 3:
        made = [Table(matrix(part)) for part in x]
    else:
        made = [_table(x)]
    if not made:
        raise ArrayError("the data have no trajectory", SHAPE)
    for table, name in zip(made, names or []):
        table.name = str(name)
    if names is not None and len(names) != len(made):
        raise ArrayError(f"{len(names)} names for {len(made)} trajectories", "give one name per trajectory")
    return made


def _is_trajectory(x: Any) -> bool:
    from ._series import Series

    kinds = [("pandas", "DataFrame"), ("pandas", "Series"), ("xarray", "DataArray"), ("xarray", "Dataset"), ("mne", "BaseRaw")]
    return isinstance(x, Series) or (isinstance(x, np.ndarray) and x.ndim == 2) or any(_is(x, *kind) for kind in kinds)


def _is(x: Any, package: str, name: str) -> bool:
    """Whether something is of a class of a package, which is not imported for that."""
    module = sys.modules.get(package)
    if module is None:
        return False
    kind = getattr(module.io, name, None) if name == "BaseRaw" else getattr(module, name, None)
    return kind is not None and isinstance(x, kind)


def _table(x: Any) -> Table:
    if _is(x, "pandas", "Series"):
        x = x.to_frame(x.name if x.name is not None else "x1")
    if _is(x, "pandas", "DataFrame"):
        return _of_frame(x)
    if _is(x, "xarray", "Dataset"):
        return _of_dataset(x)
    if _is(x, "xarray", "DataArray"):
        return _of_data_array(x)
    if _is(x, "mne", "BaseRaw"):
        return _of_raw(x)
    names = np.asarray(x).dtype.names if isinstance(x, np.ndarray) else None
    return Table(matrix(x), list(names) if names else None)


def _of_frame(x: Any) -> Table:
    names = [" ".join(map(str, name)) if isinstance(name, tuple) else str(name) for name in x.columns]
    columns = [_column(x.iloc[:, i], name) for i, name in enumerate(names)]
    if not columns:
        raise ArrayError("the table has no column", SHAPE)
    units = x.attrs.get("units", {})
    table = Table(np.column_stack(columns), names, [str(units.get(name, "")) for name in names])
    _set_times(table, x.index, str(x.attrs.get("time_unit", "")))
    return table


def _column(column: Any, name: str) -> np.ndarray:
    kind = getattr(column.dtype, "kind", "O")
    if kind in "fiub":
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    _refuse_kind(np.asarray(column), f"values of column `{name}`")
    return np.asarray(column, dtype=np.float64)


def _set_times(table: Table, index: Any, unit: str) -> None:
    """The times that an index holds; the numbers of rows where it holds no times."""
    values = np.asarray(index)
    if values.dtype.kind in "mM":
        table.times = (values - values[:1]).astype("timedelta64[ns]").astype(np.int64) / 1e9
        table.unit = "s"
    elif values.dtype.kind == "f":
        table.times, table.unit = values.astype(np.float64), unit
    elif values.dtype.kind in "iu" and len(values) and np.all(np.diff(values) > 0):
        if values[0] != 0 or values[-1] != len(values) - 1:
            table.times, table.counted = values.astype(np.float64), True
        table.unit = unit


def _of_data_array(x: Any) -> Table:
    if x.ndim not in (1, 2):
        raise ArrayError(f"a DataArray of {x.ndim} dimensions, expected time and channel", SHAPE)
    time = next((dim for dim in x.dims if str(dim) in ("time", "t")), x.dims[0])
    x = x.transpose(time, ...)
    unit = str(x.attrs.get("units", ""))
    table = Table(matrix(x.values))
    if x.ndim == 2 and x.dims[1] in x.coords:
        table.names = [str(name) for name in x.coords[x.dims[1]].values]
    elif x.name is not None and x.ndim == 1:
        table.names = [str(x.name)]
    table.units = [unit] * table.values.shape[1]
    if time in x.coords:
        _set_times(table, x.coords[time].values, str(x.coords[time].attrs.get("units", "")))
    return table


def _of_cube(x: Any) -> list[Table]:
    """One trajectory for each place along the dimension that is neither time nor the last."""
    rest = [dim for dim in x.dims if str(dim) not in ("time", "t")]
    along = rest[0]
    made = [_of_data_array(x.isel({along: i})) for i in range(x.sizes[along])]
    if along in x.coords:
        for table, name in zip(made, x.coords[along].values):
            table.name = str(name)
    return made


def _of_dataset(x: Any) -> Table:
    parts = [_of_data_array(x[name]) for name in x.data_vars]
    if not parts:
        raise ArrayError("the Dataset has no variable", SHAPE)
    first = parts[0]
    return Table(
        np.column_stack([part.values for part in parts]),
        [name for part in parts for name in part.names or []],
        [unit for part in parts for unit in part.units or []],
        first.times,
        unit=first.unit,
        counted=first.counted,
    )


_MNE_UNITS = {"eeg": "V", "bio": "V", "eog": "V", "ecg": "V", "emg": "V", "seeg": "V", "ecog": "V", "dbs": "V", "mag": "T", "grad": "T/m"}


def _of_raw(x: Any) -> Table:
    kinds = x.get_channel_types()
    picks = [i for i, kind in enumerate(kinds) if kind != "stim"]
    return Table(
        matrix(x.get_data(picks=picks).T),
        [x.ch_names[i] for i in picks],
        [_MNE_UNITS.get(kinds[i], "") for i in picks],
        dt=1.0 / x.info["sfreq"],
        unit="s",
    )


def _of_epochs(x: Any) -> list[Table]:
    kinds = x.get_channel_types()
    units = [_MNE_UNITS.get(kind, "") for kind in kinds]
    step = 1.0 / x.info["sfreq"]
    return [Table(matrix(part.T), list(x.ch_names), units, dt=step, unit="s") for part in x.get_data()]


def recorded(
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
) -> _native.Series:
    """A recording of whatever is given, with what is said of it."""
    made = tables(x, names)
    _add_inputs(made, inputs)
    first = made[0]
    _refuse_widths([table.values for table in made], "channels")
    width = first.values.shape[1]
    step = dt if dt is not None else first.dt
    column_names = _named(channels, first.names, "x", width, "channels")
    column_units = list(units) if units is not None else first.units or [""] * width
    if len(column_units) != width:
        raise ArrayError(f"{len(column_units)} units for {width} channels", "give one unit per channel")
    wide = 0 if first.inputs is None else first.inputs.shape[1]
    of_inputs = _named(input_names, first.input_names, "s", wide, "inputs")
    scale = (step if step is not None else 1.0) if any(table.counted for table in made) else 1.0
    has_times = all(table.times is not None for table in made)
    parts = [
        (table.name, table.values, table.inputs, table.times * scale if has_times and table.times is not None else None)
        for table in made
    ]
    if has_times and any(table.counted for table in made):
        step = scale
    unit = time_unit if time_unit is not None else first.unit
    step, own_times = _step(step), _step(own_times)
    return _native.Series(
        list(zip(column_names, map(str, column_units))), [(name, "") for name in of_inputs], step, unit, parts, own_times
    )


def _step(dt: Any) -> float | None:
    try:
        return None if dt is None else float(dt)
    except (TypeError, ValueError):
        raise ArrayError(f"the sampling step must be a number above 0, found {dt!r}", "as in `dt=0.01`") from None


def _named(given: Sequence[str] | None, known: list[str] | None, letter: str, width: int, what: str) -> list[str]:
    if given is None:
        return known or [f"{letter}{i + 1}" for i in range(width)]
    if isinstance(given, str) or len(given) != width:
        raise ArrayError(f"{given!r} does not name {width} {what}", f"give one name per column: a list of {width} texts")
    return [str(name) for name in given]


def _refuse_widths(values: Sequence[np.ndarray], what: str) -> None:
    for i, part in enumerate(values):
        if part.shape[1] != values[0].shape[1]:
            raise ArrayError(
                f"trajectory {i + 1} has {part.shape[1]} {what}, the first {values[0].shape[1]}",
                "all trajectories have the same columns",
            )


def _add_inputs(made: list[Table], inputs: Any) -> None:
    """Puts inputs beside the rows: arrays like the data, or the names of columns of them."""
    if inputs is None:
        return
    if isinstance(inputs, (list, tuple)) and inputs and all(isinstance(name, str) for name in inputs):
        for table in made:
            _split_off(table, list(inputs))
        return
    is_cube = isinstance(inputs, np.ndarray) and inputs.ndim == 3
    is_list = isinstance(inputs, (list, tuple)) and len(inputs) > 0 and (len(made) > 1 or _is_trajectory(inputs[0]))
    parts = list(inputs) if is_cube or is_list else [inputs]
    if len(parts) != len(made):
        told = f"{len(parts)} arrays of inputs for {len(made)} trajectories"
        raise ArrayError(told, "give a list with one array per trajectory")
    for table, part in zip(made, parts):
        beside = _table(part)
        table.inputs, table.input_names = beside.values, beside.names
    _refuse_widths([table.inputs for table in made if table.inputs is not None], "inputs")


def _split_off(table: Table, names: list[str]) -> None:
    known = table.names or []
    for name in names:
        if name not in known:
            raise ArrayError(f"no column is named `{name}`", f"the known names are {', '.join(known) or 'none'}")
    chosen = [known.index(name) for name in names]
    rest = [i for i in range(len(known)) if i not in chosen]
    table.inputs, table.input_names = np.ascontiguousarray(table.values[:, chosen]), names
    table.values = np.ascontiguousarray(table.values[:, rest])
    table.units = [table.units[i] for i in rest] if table.units else None
    table.names = [known[i] for i in rest]
