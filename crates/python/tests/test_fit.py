"""Fits: the same as the command's to the byte, stopped and continued, diverging, refused."""

from __future__ import annotations

import importlib.util
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import attractor as at
from attractor import _native
from conftest import SMALL, command

FLAGS = [word for name, value in SMALL.items() for word in (f"--{name.replace('_', '-')}", str(value))]
#: Hours of training, in epochs of a moment each.
LONG = {**SMALL, "epochs": 10_000_000, "batches_per_epoch": 2}


def content(folder: Path) -> dict[str, bytes]:
    """The files of a run that do not hold times."""
    return {file.name: file.read_bytes() for file in folder.iterdir() if not file.name.startswith((".", "outcome"))}


def test_a_run_of_a_file_is_that_of_the_command_to_the_byte(tmp_path: Path, lorenz: at.Series) -> None:
    lorenz.save(tmp_path / "x.csv")
    ended = command("train", "x.csv", "--out", "theirs", "--seed", 3, *FLAGS, folder=tmp_path)
    assert ended.returncode == 0, ended.stderr
    at.Model(seed=3, **SMALL).fit(at.read(tmp_path / "x.csv"), out=tmp_path / "ours")
    ours, theirs = content(tmp_path / "ours"), content(tmp_path / "theirs")
    assert set(ours) == {"experiment.toml", "model.safetensors", "last.safetensors", "history.csv"}
    assert ours == theirs


def test_a_run_of_an_array_is_one_that_the_command_can_read(tmp_path: Path, rows: np.ndarray) -> None:
    m = at.Model(**SMALL).fit(rows, dt=0.01, out=tmp_path / "ours")
    ended = command("train", "ours/recording.csv", "--out", "theirs", *FLAGS, folder=tmp_path)
    assert ended.returncode == 0, ended.stderr
    ours, theirs = content(tmp_path / "ours"), content(tmp_path / "theirs")
    assert ours.pop("recording.csv").startswith(b"time")
    assert ours == theirs
    m.save(tmp_path / "m.safetensors")
    assert (tmp_path / "m.safetensors").read_bytes() == ours["model.safetensors"]


def test_the_same_settings_give_the_same_file(tmp_path: Path, fitted: at.Model) -> None:
    fitted.save(tmp_path / "a.safetensors")
    again = at.Model(**SMALL).fit(at.simulate("lorenz63", steps=1500, transient=500, seed=1, standardize=True))
    again.save(tmp_path / "b.safetensors")
    assert (tmp_path / "a.safetensors").read_bytes() == (tmp_path / "b.safetensors").read_bytes()


def test_history_and_outcome(fitted: at.Model) -> None:
    assert fitted.outcome_ == "finished"
    assert fitted.history_["epoch"].tolist() == [1, 2, 3, 4, 5, 6]
    assert np.isfinite(fitted.history_["loss"]).all()
    assert fitted.summary_.update == 30
    assert set(fitted.parameters) >= {"A", "W1", "W2", "h1", "h2"}
    assert fitted.parameters["W1"].shape == (3, 8) and fitted.parameters["W1"].dtype == np.float32


def interrupted(run: object, *arguments: object, **named: object) -> float:
    """Sends SIGINT while something runs, and gives the seconds to the exception."""
    sent: list[float] = []

    def press() -> None:
        time.sleep(0.3)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        run(*arguments, **named)  # type: ignore[operator]
    raised = time.monotonic()
    thread.join()
    return raised - sent[0]


def test_ctrl_c_is_heard_within_a_fifth_of_a_second(rows: np.ndarray) -> None:
    # A machine with other work may be late; one in five attempts may not.
    calls = [lambda: at.Model(**LONG).fit(rows), lambda: at.simulate("lorenz63", steps=500_000_000)]
    for call in calls:
        seconds = min(interrupted(call) for _ in range(5))
        assert seconds <= 0.2, f"KeyboardInterrupt after {seconds:.3f} s"


def test_ctrl_c_keeps_the_state_in_memory(rows: np.ndarray) -> None:
    m = at.Model(**LONG)
    interrupted(m.fit, rows)
    assert m.outcome_ == "stopped"
    assert m.summary_.update > 0
    assert m.generate(10, start=rows[0]).shape[1] == 3


def test_what_was_stopped_goes_on_bit_for_bit(tmp_path: Path, rows: np.ndarray) -> None:
    settings = {**SMALL, "epochs": 4000}
    whole = at.Model(**settings).fit(rows)

    class Enough(Exception):
        pass

    def stop(progress: at.Progress) -> None:
        if progress.epoch:
            raise Enough

    m = at.Model(**settings)
    with pytest.raises(Enough):
        m.fit(rows, progress=stop)
    assert m.outcome_ == "stopped" and m.summary_.update < whole.summary_.update
    m.resume()
    assert m.outcome_ == "finished"
    for name, values in whole.parameters.items():
        assert np.array_equal(values, m.parameters[name]), name
    assert np.array_equal(whole.history_["loss"], m.history_["loss"])


def test_ctrl_c_leaves_a_folder_that_goes_on(tmp_path: Path, rows: np.ndarray) -> None:
    interrupted(at.Model(**LONG).fit, rows, out=tmp_path / "run")
    deadline = time.monotonic() + 20
    while (tmp_path / "run/.claim").exists():
        assert time.monotonic() < deadline, "the epoch under way has not ended"
        time.sleep(0.01)
    assert (tmp_path / "run/checkpoint.safetensors").exists()
    file = tmp_path / "run/experiment.toml"
    with pytest.raises(at.RunError, match="interrupted"):
        at.Model(**LONG).fit(rows, out=tmp_path / "run")
    assert "epochs = 10000000" in file.read_text()
    with pytest.raises(KeyboardInterrupt):
        at.resume(tmp_path / "run", progress=lambda _: signal.raise_signal(signal.SIGINT))


def test_a_divergence_is_a_result_with_a_warning(rows: np.ndarray) -> None:
    m = at.Model("shallow-plrnn", alpha=0, lr=1, lr_end=1, clip_norm=0, standardize="off", **{**SMALL, "epochs": 300})
    with pytest.warns(at.DivergenceWarning, match="diverged at update"):
        m.fit(1e3 * rows)
    assert m.outcome_ == "diverged"
    assert np.isfinite(m.parameters["W1"]).all()


def test_a_second_fit_is_refused(rows: np.ndarray) -> None:
    m = at.Model("linear").fit(rows)
    before = m.parameters
    with pytest.raises(at.AlreadyFittedError) as refused:
        m.fit(rows)
    assert "m.copy()" in refused.value.hint
    assert all(np.array_equal(before[name], m.parameters[name]) for name in before)
    assert m.copy().fit(rows).outcome_ == "finished"


@pytest.mark.parametrize(
    "use",
    [
        lambda m: m.generate(3),
        lambda m: m.outcome_,
        lambda m: m.history_,
        lambda m: m.evaluate(),
        lambda m: m.save("m.safetensors"),
        lambda m: m.step([0.0]),
        lambda m: m.report(),
    ],
)
def test_use_before_fit_is_refused(use: object) -> None:
    with pytest.raises(at.NotFittedError, match="not fitted") as refused:
        use(at.Model())  # type: ignore[operator]
    assert "fit" in refused.value.hint


def test_settings_are_checked_at_once(tmp_path: Path, rows: np.ndarray) -> None:
    with pytest.raises(at.SettingError, match="unknown setting `held-otu`") as unknown:
        at.Model(held_otu=0.1)
    assert unknown.value.hint == "did you mean `held_out`?"
    with pytest.raises(at.UnknownNameError, match="no model is named `clipped-shalow-plrnn`") as unknown_model:
        at.Model("clipped-shalow-plrnn")
    assert unknown_model.value.hint == "did you mean `clipped-shallow-plrnn`?"
    with pytest.raises(at.SettingError, match="`alpha` must be a number from 0 to 1, found `2`"):
        at.Model(alpha=2)
    with pytest.raises(at.SettingError, match="number or a word, found list"):
        at.Model(alpha=[0.1])
    m = at.Model(alpha=0.3)
    with pytest.raises(at.SettingError):
        m.set_params(alpha=0.5, window=-1)
    assert m.get_params()["alpha"] == 0.3


def test_errors_say_what_the_command_says(tmp_path: Path) -> None:
    (tmp_path / "ragged.csv").write_text("a,b\n1,2\n3\n")
    told = command("inspect", "ragged.csv", folder=tmp_path).stderr
    with pytest.raises(at.FormatError) as error:
        at.read(tmp_path / "ragged.csv")
    assert f"error: {error.value}".replace(str(tmp_path) + os.sep, "") in told
    told = command("train", "ragged.csv", "--out", "r", "--alpha", 7, folder=tmp_path).stderr
    with pytest.raises(at.SettingError) as error:
        at.Model(alpha=7)
    assert str(error.value) in told and f"hint: {error.value.hint}" in told


def test_nothing_is_left_half_done(tmp_path: Path, rows: np.ndarray) -> None:
    with pytest.raises(at.ExperimentError):
        at.Model(window=5000).fit(rows, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/mine.txt").write_text("mine")
    with pytest.raises(at.RunError, match="not empty") as refused:
        at.Model("linear").fit(rows, out=tmp_path / "folder")
    assert refused.value.hint
    assert [file.name for file in (tmp_path / "folder").iterdir()] == ["mine.txt"]
    for use in (at.resume, at.load):
        with pytest.raises(at.RunError) as refused:
            use(tmp_path / "folder")
        assert refused.value.hint
        with pytest.raises(at.RunError):
            use(tmp_path / "nowhere")


def test_a_run_is_loaded_with_its_history(tmp_path: Path, rows: np.ndarray) -> None:
    m = at.Model(seed=5, **SMALL).fit(rows, out=tmp_path / "run")
    again = at.load(tmp_path / "run")
    # There is nothing left to continue.
    ended = at.resume(tmp_path / "run")
    assert ended.outcome_ == "finished" and np.array_equal(ended.history_["loss"], m.history_["loss"])
    # What was left to the data and to the usual settings is known then.
    known = again.get_params()
    assert known.items() >= {**SMALL, "seed": 5, "latent": 3, "forcing": "agtf"}.items()
    assert np.array_equal(again.history_["loss"], m.history_["loss"])
    assert np.array_equal(again.generate(20).values, m.generate(20).values)
    assert again.evaluate(floors=False, starts=1).to_dict() == m.evaluate(floors=False, starts=1).to_dict()


def test_threads_do_not_disturb_one_another(rows: np.ndarray) -> None:
    made: dict[int, at.Model] = {}

    def fit(seed: int) -> None:
        made[seed] = at.Model(seed=seed % 2, **SMALL).fit(rows)

    threads = [threading.Thread(target=fit, args=(seed,)) for seed in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    for name, values in made[0].parameters.items():
        assert np.array_equal(values, made[2].parameters[name])
    assert not np.array_equal(made[0].parameters["W1"], made[1].parameters["W1"])


def test_the_interpreter_is_free_while_a_model_is_fitted(rows: np.ndarray) -> None:
    ticks = 0
    with warnings.catch_warnings():
        thread = threading.Thread(target=at.Model(**{**SMALL, "epochs": 300}).fit, args=(rows,))
        thread.start()
        while thread.is_alive():
            ticks += 1
            time.sleep(0.001)
        thread.join()
    assert ticks > 3


def test_progress_is_reported(rows: np.ndarray) -> None:
    seen: list[at.Progress] = []
    at.Model(**{**SMALL, "epochs": 400}).fit(rows, progress=seen.append)
    assert seen and seen[-1].what == "training" and seen[-1].total == 2000
    assert all(a.done <= b.done for a, b in zip(seen, seen[1:]))


SHOWN = {**SMALL, "epochs": 3000}


def test_progress_is_a_bar_of_tqdm(rows: np.ndarray, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm")
    at.Model(**SHOWN).fit(rows, progress=True)
    shown = capsys.readouterr()
    assert "/15000" in shown.err and "epoch" in shown.err and "loss" in shown.err and not shown.out


def test_progress_is_a_bar_of_rich_without_tqdm(
    rows: np.ndarray, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("rich")
    find = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "tqdm" else find(name))
    monkeypatch.setenv("FORCE_COLOR", "1")
    at.Model(**SHOWN).fit(rows, progress=True)
    shown = capsys.readouterr()
    assert "epoch" in shown.out + shown.err and "%" in shown.out + shown.err


@pytest.mark.parametrize("is_terminal", [True, False])
def test_progress_is_shown_where_someone_looks(
    rows: np.ndarray, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, is_terminal: bool
) -> None:
    pytest.importorskip("tqdm")
    monkeypatch.setattr("sys.stderr.isatty", lambda: is_terminal, raising=False)
    at.Model(**SHOWN).fit(rows)
    shown = capsys.readouterr()
    assert bool(shown.err) == is_terminal and not shown.out


def test_without_tqdm_and_rich_it_is_quiet(
    rows: np.ndarray, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    at.Model(**SHOWN).fit(rows, progress=True)
    shown = capsys.readouterr()
    assert not shown.err and not shown.out


def test_an_exception_of_the_callback_is_that_of_the_fit(rows: np.ndarray) -> None:
    def wrong(_: at.Progress) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        at.Model(**LONG).fit(rows, progress=wrong)


@pytest.mark.parametrize("call", [_native.fault_in_call, lambda: _native.fault_in_work().result()])
def test_a_panic_is_an_exception_like_others(call: Callable[[], object]) -> None:
    with pytest.raises(at.BugError, match="a fault in") as bug:
        call()
    assert isinstance(bug.value, Exception) and "report" in bug.value.hint


def test_an_exception_before_the_wait_stops_the_work_too(rows: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    def late(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("attractor._work._shower", late)
    m = at.Model(**LONG)
    with pytest.raises(KeyboardInterrupt):
        m.fit(rows)
    assert m.outcome_ == "stopped"
