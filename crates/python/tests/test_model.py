"""What is done with a fitted model: orbits, forecasts, scores, anatomy, pages, copies."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import attractor as at
from conftest import SMALL, command


@pytest.fixture(scope="module")
def nvar(lorenz: at.Series) -> at.Model:
    return at.Model("nvar", ridge=1e-6).fit(lorenz)


def test_an_orbit_starts_where_it_is_told(nvar: at.Model, lorenz: at.Series) -> None:
    orbit = nvar.generate(50, start=lorenz[:20])
    assert np.array_equal(orbit.values, nvar.generate(50, data=lorenz).values)
    assert orbit.channels == ["x", "y", "z"] and orbit.dt == 0.01
    with pytest.raises(at.SettingError, match="whole number"):
        nvar.generate(-1)
    with pytest.raises(at.GenerateError, match="at least one step"):
        nvar.generate(0)
    with pytest.raises(at.UnlikeError, match="3 channels, the data have 2"):
        nvar.generate(5, start=[0.0, 0.0])
    with pytest.raises(at.ArrayError, match="both"):
        nvar.generate(5, start=lorenz[0], data=lorenz)


def test_a_forecast_goes_on_where_the_past_ends(nvar: at.Model, lorenz: at.Series, fitted: at.Model) -> None:
    for m in (nvar, fitted):
        ahead = m.forecast(lorenz[:200], steps=30)
        assert ahead.shape == (30, 3)
        assert ahead.times[0] == pytest.approx(lorenz.times[200])
    # The orbit from the last row of the past begins with that row.
    orbit = fitted.generate(31, start=lorenz[199])
    assert np.array_equal(fitted.forecast(lorenz[:200], steps=30).values, orbit.values[1:])
    truth = lorenz.values[200:210]
    error = np.abs(nvar.forecast(lorenz[:200], steps=10).values - truth).max()
    still = np.abs(lorenz.values[199] - truth).max()
    assert error < still


def test_an_orbit_that_diverges_is_given_as_far_as_it_goes() -> None:
    growing = 1.2 ** np.arange(60.0)
    m = at.Model("linear", order=1, standardize="off").fit(np.column_stack([growing, np.cos(np.arange(60.0))]))
    with pytest.warns(at.DivergenceWarning, match="diverged in row"):
        orbit = m.generate(5000)
    assert 100 < len(orbit) < 5000 and np.isfinite(orbit.values).all()


def test_a_system_that_diverges_is_given_as_far_as_it_goes(tmp_path: Path) -> None:
    with pytest.warns(at.DivergenceWarning, match="`henon` in row .* the orbit diverges"):
        x = at.simulate("henon", steps=1000, set={"a": 5})
    assert 3 < len(x) < 30 and np.isfinite(x.values).all()
    with pytest.raises(at.SimulateError, match="diverges") as nothing:
        at.simulate("henon", steps=10, transient=50, set={"a": 5})
    assert nothing.value.hint
    with pytest.warns(at.DivergenceWarning, match="diverges"):
        assert at.lyapunov("henon", steps=1000, set={"a": 5}) is None


def test_scores_are_those_of_the_command(tmp_path: Path, lorenz: at.Series) -> None:
    lorenz.save(tmp_path / "x.csv")
    m = at.Model("nvar").fit(at.read(tmp_path / "x.csv"), out=tmp_path / "run")
    ended = command("evaluate", "run", "--data", "x.csv", "--starts", 2, "--json", folder=tmp_path)
    theirs = json.loads(ended.stdout)
    ours = m.evaluate(lorenz, starts=2)
    assert ours.to_dict() == theirs
    assert ours["d_stsp"].value == theirs["d_stsp"]["value"] and ours.d_stsp.floor == theirs["d_stsp"]["floor"]
    assert m.verdict_ in {"good", "partly", "not a reconstruction", "cannot tell"}
    assert theirs["verdict"]["word"] in repr(ours) and "<table>" in ours._repr_html_()
    assert m.score(lorenz) == -ours["d_stsp"].value
    for wrong in ({"startz": 1}, {"starts": 0}, {"pe_steps": "x"}):
        with pytest.raises(at.SettingError):
            m.evaluate(lorenz, **wrong)
    with pytest.raises(at.UnknownNameError, match="no system is named"):
        m.evaluate(lorenz, system="lorenz64")


def test_anatomy(fitted: at.Model, nvar: at.Model) -> None:
    exponents = fitted.lyapunov(steps=2000)
    assert np.asarray(exponents).shape == (3,) and len(exponents.standard_errors) == 3
    assert "Kaplan" in repr(exponents)
    points = fitted.fixed_points(steps=500, seconds=2)
    for point in points:
        z = np.array(point.point)
        assert np.allclose(fitted.step(z), z, atol=1e-5)
        multipliers = [complex(*m) for m in point.multipliers]
        eigenvalues = np.linalg.eigvals(fitted.jacobian(z))
        assert np.allclose(np.sort(np.abs(eigenvalues)), np.sort(np.abs(multipliers)), rtol=1e-6)
    assert "period" in repr(points)
    assert isinstance(fitted.cycles(up_to=2, steps=500, seconds=1), at.Cycles)
    with pytest.raises(at.SettingError, match="`steps` must be"):
        fitted.lyapunov(steps=3)


def test_steps_and_jacobians(fitted: at.Model, lorenz: at.Series) -> None:
    z = fitted.state(lorenz)
    assert np.allclose(fitted.observe(z), lorenz[0])
    orbit = fitted.generate(3, data=lorenz).values
    assert np.allclose(fitted.observe(fitted.step(z)), orbit[1])
    several = np.stack([z, z + 0.1])
    assert np.array_equal(fitted.step(several)[0], fitted.step(z))
    assert fitted.jacobian(several).shape == (2, 3, 3)
    small = 1e-6
    column = (fitted.step(z + small * np.eye(3)[0]) - fitted.step(z - small * np.eye(3)[0])) / (2 * small)
    # Differences of a piecewise-linear map are exact up to rounding, unless a hinge lies between.
    assert np.allclose(fitted.jacobian(z)[:, 0], column, atol=1e-6)
    with pytest.raises(at.ArrayError, match="3 latent states"):
        fitted.step([0.0, 1.0])


def test_a_page(fitted: at.Model, tmp_path: Path) -> None:
    page = fitted.report(tmp_path / "page.html", seconds=0.5, cycles=1)
    assert (tmp_path / "page.html").read_text() == page.html
    assert page.html.startswith("<!doctype html>") or "<html" in page.html[:200]
    assert "srcdoc=" in page._repr_html_() and "allow-scripts" in page._repr_html_()
    # Its run is known in memory: data, settings and history are on the page.
    assert not [note for note in page.notes if "history" in note or "experiment" in note or "no data" in note]
    with pytest.raises(at.ReportError, match="html"):
        fitted.report(tmp_path / "page.txt")


@pytest.mark.parametrize("again", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_are_the_same_model(fitted: at.Model, lorenz: at.Series, again: object, tmp_path: Path) -> None:
    other = again(fitted)  # type: ignore[operator]
    assert repr(other) == repr(fitted) and other.outcome_ == "finished"
    assert np.array_equal(other.generate(20).values, fitted.generate(20).values)
    assert np.array_equal(other.history_["loss"], fitted.history_["loss"])
    fitted.save(tmp_path / "a.safetensors")
    other.save(tmp_path / "b.safetensors")
    assert (tmp_path / "a.safetensors").read_bytes() == (tmp_path / "b.safetensors").read_bytes()
    unfitted = again(at.Model(alpha=0.3))  # type: ignore[operator]
    assert repr(unfitted) == "Model('clipped-shallow-plrnn', alpha=0.3)"
    with pytest.raises(at.NotFittedError):
        unfitted.generate(1)


def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m.safetensors").write_bytes(b"\x08\0\0\0\0\0\0\0{}      ")
    with pytest.raises(at.ModelFileError) as refused:
        at.load(tmp_path / "m.safetensors")
    assert "m.safetensors" in str(refused.value)


def test_reprs(fitted: at.Model, lorenz: at.Series) -> None:
    assert repr(fitted).startswith("Model('clipped-shallow-plrnn', epochs=6")
    assert "finished" in fitted._repr_html_() and "not fitted" in at.Model()._repr_html_()
    assert "1500 rows of x, y, z" in repr(lorenz) and "<table>" in lorenz._repr_html_()
    found = at.inspect(lorenz)
    assert "1500 rows of 3 channels" in repr(found) and "<table>" in found._repr_html_()


def test_tools(lorenz: at.Series) -> None:
    x = at.Series(lorenz["x"], dt=0.01, channels=["x"])
    assert at.embed(x, method="delay", dims=3, max_delay=30).channels[0] == "x"
    assert at.lyapunov(x, dims=(3, 4)).exponent.per_time is not None
    with pytest.raises(at.SettingError, match="`fit` must be A:B"):
        at.lyapunov(x, fit=(3, 1))
    with pytest.raises(at.EmbeddingError, match="expected one channel, found 3"):
        at.lyapunov(lorenz)
    assert at.prepare(x, "every 2").dt == 0.02
    with pytest.raises(at.PipelineError, match="no step") as refused:
        at.prepare(x, "evry 2")
    assert refused.value.hint
    assert at.simulate("henon", steps=10, set={"a": 1.2}).shape == (10, 2)
    for wrong in ({"steps": 0}, {"steps": 10, "dt": -1}, {"steps": 10, "sede": 1}):
        with pytest.raises(at.SettingError):
            at.simulate("lorenz63", **wrong)
    with pytest.raises(at.UnknownNameError) as unknown:
        at.simulate("lorentz63", steps=10)
    assert unknown.value.hint == "did you mean `lorenz63`?"
    with pytest.raises(at.SettingError, match="unknown setting `chanels`") as unknown_option:
        at.read("x.csv", chanels=[1])
    assert unknown_option.value.hint == "did you mean `channels`?"


def test_a_study(lorenz: at.Series, tmp_path: Path) -> None:
    # Every run of a study has one thread.
    short = {name: value for name, value in SMALL.items() if name != "threads"}
    study = at.Study(
        lorenz,
        test=at.simulate("lorenz63", steps=1500, transient=500, seed=2, standardize=True),
        seeds=2,
        grid={"alpha": [0.1, 0.5]},
        evaluation={"floors": False, "starts": 1},
        **short,
    )
    with pytest.raises(at.RunError, match="not been run"):
        study.rows()
    study.run(tmp_path / "study", workers=1)
    assert (study.done, study.left) == (4, 0)
    assert json.loads((tmp_path / "study/study.json").read_text())["study"] == "study"
    assert [row["alpha"] for row in study.rows()] == ["0.1", "0.5"]
    assert len(study.runs()) == 4
    told = command("table", "study", folder=tmp_path)
    assert told.returncode == 0 and "alpha" in told.stdout
    again = command("sweep", "study/study.toml", "--out", "study", "--quiet", folder=tmp_path)
    assert again.returncode == 0, again.stderr
    pytest.importorskip("pandas")
    assert list(study.table()["runs"]) == [2, 2]
    other = at.Study(lorenz.values[:1000], seeds=1, **short)
    with pytest.raises(at.StudyError) as refused:
        other.run(tmp_path / "study")
    assert refused.value.hint
    with pytest.raises(at.AttractorError, match="alhpa"):
        at.Study(lorenz, alhpa=0.2).run(tmp_path / "wrong")
    assert not (tmp_path / "wrong").exists()


def test_a_study_has_the_name_that_it_is_given(lorenz: at.Series, tmp_path: Path) -> None:
    given = {"seeds": 1, "model": "linear", "evaluation": {"floors": False, "starts": 1}}
    named = lambda folder: json.loads((tmp_path / folder / "study.json").read_text())["study"]  # noqa: E731
    at.Study(lorenz, **given).run(tmp_path / "forcing")
    assert named("forcing") == "forcing"
    at.Study(lorenz, name="by hand", **given).run(tmp_path / "other")
    assert named("other") == "by hand"
    # A folder that got another name is that of the same study.
    (tmp_path / "forcing").rename(tmp_path / "renamed")
    assert at.Study(lorenz, **given).run(tmp_path / "renamed").done == 1
    assert named("renamed") == "forcing"
    with pytest.raises(at.StudyError, match="by hand"):
        at.Study(lorenz, name="another", **given).run(tmp_path / "other")


def test_the_command(tmp_path: Path) -> None:
    assert command("--version", folder=tmp_path).stdout.strip() == f"attractor {at.__version__}"
    wrong = command("train", "nowhere.csv", "--out", "r", folder=tmp_path)
    assert wrong.returncode == 2 and "no such file" in wrong.stderr
