"""What goes in: arrays of any order and type, tables of other packages; and what is refused."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest

import attractor as at


def test_order_and_type_in_memory_do_not_matter(rows: np.ndarray) -> None:
    plain = at.Series(rows)
    assert np.array_equal(plain.values, rows)
    assert at.Series(np.asfortranarray(rows)) == plain
    assert at.Series(rows.tolist()) == plain
    assert at.Series(np.repeat(rows, 2, axis=0)[::2]) == plain
    assert at.Series(rows.astype(">f8")) == plain
    single = rows.astype(np.float32)
    assert np.array_equal(at.Series(single).values, single.astype(np.float64))
    assert at.Series([1, 2, 3]).values.tolist() == [[1.0], [2.0], [3.0]]
    masked = np.ma.masked_less(rows, -1.0)
    assert at.Series(masked).missing == int(masked.mask.sum())
    before = rows.copy()
    at.Series(rows).values[0] = 7.0
    assert np.array_equal(rows, before)


def test_fortran_order_fits_the_same_model(rows: np.ndarray) -> None:
    a = at.Model("linear").fit(rows)
    b = at.Model("linear").fit(np.asfortranarray(rows))
    assert all(np.array_equal(a.parameters[name], b.parameters[name]) for name in a.parameters)


@pytest.mark.parametrize(
    ("x", "text", "hint"),
    [
        (np.zeros((10, 2), dtype=complex), "complex numbers", "real"),
        (np.array([[1, "a"]], dtype=object), "objects", "float"),
        (np.array([["a", "b"]]), "texts", "float"),
        (np.zeros((2, 3, 4, 5)), r"shape \(2, 3, 4, 5\)", "one row per time step"),
        (np.zeros(()), r"shape \(\)", "one row per time step"),
        (np.zeros((5, 0)), r"shape \(5, 0\)", "one row per time step"),
        ([[1.0, 2.0], [3.0]], "unequal length", "list of such arrays"),
        ([np.zeros((5, 2)), np.zeros((5, 3))], "trajectory 2 has 3 channels, the first 2", "same columns"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "dates", "index"),
        (None, "objects", "float"),
    ],
)
def test_what_is_no_recording_is_refused(x: object, text: str, hint: str) -> None:
    with pytest.raises(at.ArrayError, match=text) as refused:
        at.Model().fit(x)
    assert hint in refused.value.hint


def test_values_that_form_no_series_are_refused() -> None:
    with pytest.raises(at.ArrayError, match="channel `x1` is infinite in row 2"):
        at.Series([[1.0], [np.inf]])
    with pytest.raises(at.ArrayError, match="all values are missing"):
        at.Series([[np.nan]])
    with pytest.raises(at.ArrayError, match="sampling step must be a number above 0"):
        at.Series([[1.0]], dt=0.0)
    with pytest.raises(at.ArrayError, match="sampling step"):
        at.Series([[1.0]], dt="fast")  # type: ignore[arg-type]
    with pytest.raises(at.ArrayError, match="does not name 1 channels"):
        at.Series([[1.0]], channels=["a", "b"])
    with pytest.raises(at.ArrayError, match="3 rows but 2 rows of inputs"):
        at.Series(np.ones((3, 1)), inputs=np.ones((2, 1)))
    with pytest.raises(at.ArrayError, match="1 arrays of inputs for 2 trajectories"):
        at.Series([np.ones((3, 1)), np.ones((4, 1))], inputs=np.ones((3, 1)))


def test_trajectories_with_inputs_and_missing_values() -> None:
    rng = np.random.default_rng(1)
    x = [rng.normal(size=(200, 2)), rng.normal(size=(150, 2))]
    s = [rng.normal(size=(200, 1)), rng.normal(size=(150, 1))]
    x[0][3, 1] = np.nan
    series = at.Series(x, inputs=s, dt=0.5, names=["a", "b"])
    assert series.lengths == [200, 150] and series.missing == 1 and series.names == ["a", "b"]
    assert np.array_equal(series.trajectories[1].inputs, s[1])
    with pytest.raises(at.ArrayError, match="2 trajectories") as refused:
        np.asarray(series)
    assert "trajectories[0]" in refused.value.hint
    m = at.Model("linear").fit(series)
    future = rng.normal(size=(5, 1))
    past = at.Series(x[1], inputs=s[1], dt=0.5)
    assert m.forecast(past, steps=5, inputs=future).shape == (5, 2)
    with pytest.raises(at.GenerateError, match="a forecast of 5 steps needs as many rows of inputs, found 4"):
        m.forecast(past, steps=5, inputs=future[:4])
    orbit = m.generate(100, start=x[1][:5], inputs=s[1][:104])
    assert orbit.shape == (100, 2)
    assert np.array_equal(orbit.values[:10], m.generate(10, data=past).values[:10])


def test_rows_are_taken_without_making_steps_up(lorenz: at.Series) -> None:
    part = lorenz[200:300]
    assert part.times[0] == pytest.approx(lorenz.times[200]) and len(part) == 100 and part.gaps == []
    assert lorenz[np.r_[0:100, 150:200]].gaps == [100]
    assert np.array_equal(lorenz[-1], lorenz.values[-1])
    high = lorenz["x"] > 1
    assert len(lorenz[high]) == high.sum()
    with pytest.raises(IndexError):
        lorenz[5000]
    with pytest.raises(at.ArrayError, match="step between rows") as refused:
        lorenz[::2]
    assert "every" in refused.value.hint
    with pytest.raises(at.ArrayError, match="no channel is named `w`"):
        lorenz["w"]


def test_series_are_copied_and_pickled(lorenz: at.Series, tmp_path: Path) -> None:
    gapped = lorenz[np.r_[0:100, 150:200]]
    several = at.Series([np.ones((3, 1)), np.zeros((4, 1))], inputs=[np.ones((3, 1)), np.ones((4, 1))], names=["a", "b"])
    for series in (lorenz, gapped, several):
        assert pickle.loads(pickle.dumps(series)) == series
        assert copy.deepcopy(series) == series
    gapped.save(tmp_path / "g.csv")
    assert at.read(tmp_path / "g.csv") == gapped
    with pytest.raises(at.FormatError, match="gaps in time"):
        gapped.save(tmp_path / "g.npy")
    assert not (tmp_path / "g.npy").exists()


def test_data_frames(lorenz: at.Series, rows: np.ndarray) -> None:
    pd = pytest.importorskip("pandas")
    frame = lorenz.to_frame()
    assert list(frame.columns) == ["x", "y", "z"]
    assert at.Series(frame) == lorenz
    dated = pd.DataFrame(rows, columns=list("abc"), index=pd.date_range("2020-01-01", periods=len(rows), freq="250ms"))
    series = at.Series(dated)
    assert (series.dt, series.time_unit, series.channels) == (0.25, "s", ["a", "b", "c"])
    part = pd.DataFrame(rows, columns=list("abc")).drop(range(100, 120))
    assert at.Series(part, dt=0.01).gaps == [100]
    missing = pd.DataFrame({"a": [1, None, 3], "b": pd.array([1, 2, None], dtype="Int64")})
    assert at.Series(missing).missing == 2
    with pytest.raises(at.ArrayError, match="column `c`"):
        at.Series(missing.assign(c=["x", "y", "z"]))
    driven = at.Series(pd.DataFrame(rows, columns=["u", "v", "s"]), inputs=["s"], dt=0.1)
    assert (driven.channels, driven.input_names) == (["u", "v"], ["s"])
    m = at.Model("linear").fit(frame)
    assert list(m.generate(5).to_frame().columns) == ["x", "y", "z"]
    assert m.evaluate(frame, floors=False, starts=1).to_frame().loc["d_stsp", "value"] >= 0


def test_xarray(lorenz: at.Series, rows: np.ndarray) -> None:
    xr = pytest.importorskip("xarray")
    array = xr.DataArray(
        rows.T,
        dims=("channel", "time"),
        coords={"channel": ["a", "b", "c"], "time": ("time", 0.5 * np.arange(len(rows)), {"units": "ms"})},
        attrs={"units": "mV"},
    )
    series = at.Series(array)
    assert (series.dt, series.time_unit, series.channels, series.units) == (0.5, "ms", ["a", "b", "c"], ["mV"] * 3)
    assert np.array_equal(series.values, rows)
    assert at.Series(series.to_xarray()) == series
    cube = xr.DataArray(np.stack([rows, rows]), dims=("subject", "time", "channel"), coords={"subject": ["p", "q"]})
    assert at.Series(cube).names == ["p", "q"]


def test_mne(rows: np.ndarray) -> None:
    mne = pytest.importorskip("mne")
    info = mne.create_info(["Fp1", "Fp2", "STI"], 250.0, ["eeg", "eeg", "stim"])
    raw = mne.io.RawArray(1e-6 * rows.T, info, verbose="error")
    series = at.Series(raw)
    assert (series.dt, series.time_unit) == (1 / 250, "s")
    assert (series.channels, series.units) == (["Fp1", "Fp2"], ["V", "V"])
    assert np.array_equal(series.values, 1e-6 * rows[:, :2])
    m = at.Model("nvar").fit(raw)
    ahead = m.forecast(raw, steps=50)
    assert isinstance(ahead, at.Series) and ahead.units == ["V", "V"]
    back = ahead.to_mne(ch_types="eeg")
    assert isinstance(back, mne.io.BaseRaw)
    assert (back.ch_names, back.get_channel_types()) == (["Fp1", "Fp2"], ["eeg", "eeg"])
    assert back.info["sfreq"] == 250.0 and np.array_equal(back.get_data().T, ahead.values)
    again = at.Series(series.to_mne())
    assert (again.dt, again.channels, again.units) == (series.dt, series.channels, series.units)
    assert np.array_equal(again.values, series.values)
    parts = at.Series(mne.make_fixed_length_epochs(raw, 1.0, preload=True, verbose="error"))
    assert parts.lengths == [250] * 6


def test_mne_has_units_of_si(rows: np.ndarray) -> None:
    mne = pytest.importorskip("mne")
    given = at.Series(rows, dt=4.0, time_unit="ms", channels=["a", "b", "c"], units=["mV", "fT", ""])
    back = given.to_mne()
    assert isinstance(back, mne.io.BaseRaw) and back.info["sfreq"] == pytest.approx(250.0)
    assert back.get_channel_types() == ["bio", "mag", "misc"]
    assert np.allclose(back.get_data().T, rows * [1e-3, 1e-15, 1.0], rtol=1e-15)
    with pytest.raises(at.ArrayError, match="`days`"):
        at.Series(rows, time_unit="days").to_mne()


def test_a_package_that_is_not_there_is_named(lorenz: at.Series, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(at.MissingPackageError, match="pandas is not installed") as refused:
        lorenz.to_frame()
    assert refused.value.hint == "`pip install pandas`"


def test_rows_keep_their_times(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    times = np.cumsum(np.random.default_rng(1).uniform(0.3, 1.7, 60))
    table = pd.DataFrame({"u": np.sin(times), "v": np.cos(times)}, index=times)
    with pytest.raises(at.ArrayError, match="time steps differ"):
        at.Series(table)
    x = at.Series(table, own_times=1.0)
    assert x.dt == 1.0 and np.array_equal(x.times, times)
    assert pickle.loads(pickle.dumps(x)) == x
    x.save(tmp_path / "own.csv")
    assert at.read(tmp_path / "own.csv", own_times=1.0) == x
    model = at.Model("ode-rnn", preset="bare", latent=2, hidden=4, decoder_hidden=4, window=10, epochs=1, batches_per_epoch=2)
    orbit = model.fit(x).generate(5, start=x)
    assert np.diff(orbit.times) == pytest.approx(1.0)
