"""Long work: keywords as settings, progress, and waiting that Ctrl-C ends."""

from __future__ import annotations

import atexit
import contextlib
import importlib
import importlib.util
import numbers
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Union

import numpy as np

from . import _native
from ._errors import SettingError

Pairs = list[tuple[str, str]]


@dataclass(frozen=True)
class Progress:
    """How far work is: ``done`` of ``total`` parts; of a training, its last epoch with loss and alpha."""

    what: str
    done: int
    total: int
    epoch: int | None = None
    loss: float | None = None
    alpha: float | None = None


#: None shows a bar on a terminal and in a notebook if tqdm or rich is installed, True shows one anywhere, False nothing; a function is
#: called with a `Progress` up to forty times per second.
ProgressLike = Union[None, bool, Callable[[Progress], object]]


def text(name: str, value: object) -> str:
    """A value as it would be typed."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if isinstance(value, tuple) and len(value) == 2:
        return ":".join(text(name, end) for end in value)
    raise SettingError(
        f"`{flag(name)}` must be a number or a word, found {type(value).__name__}", "give a single value"
    )


def flag(name: str) -> str:
    """The name of a setting, of a keyword; `from_` is `from`."""
    return name.rstrip("_").replace("_", "-")


def pairs(values: Mapping[str, object]) -> Pairs:
    """Keywords as settings; what is None is left to its default."""
    return [(flag(name), text(name, value)) for name, value in values.items() if value is not None]


def lists(values: Mapping[str, object]) -> list[tuple[str, list[str]]]:
    """Keywords that take one value or several."""
    several = {
        name: list(value) if isinstance(value, (list, tuple)) else [value]
        for name, value in values.items()
        if value is not None
    }
    return [(flag(name), [text(name, one) for one in value]) for name, value in several.items()]


def wait(work: _native.Work, progress: ProgressLike = None) -> None:
    """Waits for the end of work, showing how far it is. An exception asks it to stop."""
    try:
        with _shower(progress) as show:
            work.wait(show)
    except BaseException:
        # It may have come before the work was waited for.
        work.stop()
        raise


def result(work: _native.Work, progress: ProgressLike = None) -> Any:
    """What comes of work."""
    wait(work, progress)
    return work.result()


#: Work that was interrupted and ends by itself.
_ending: set[_native.Work] = set()


def leave(work: _native.Work) -> None:
    """Keeps track of work that was interrupted, so that the interpreter does not end before it."""
    _ending.add(work)


def collect(work: _native.Work) -> Any:
    """What came of work that was interrupted."""
    _ending.discard(work)
    return work.result()


@atexit.register
def _end_all() -> None:
    for work in list(_ending):
        with contextlib.suppress(Exception):
            collect(work)


_Show = Callable[[str, int, int, Union[tuple[int, float, float], None]], None]


@contextlib.contextmanager
def _shower(progress: ProgressLike) -> Iterator[_Show | None]:
    if callable(progress):
        yield _of_callback(progress)
    elif progress or (progress is None and _has_audience()):
        with _bar() as show:
            yield show
    else:
        yield None


def _of_callback(callback: Callable[[Progress], object]) -> _Show:
    def show(what: str, done: int, total: int, epoch: tuple[int, float, float] | None) -> None:
        callback(Progress(what, done, total, *(epoch or ())))

    return show


def _has_audience() -> bool:
    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell is not None else None
    return type(running).__name__ == "ZMQInteractiveShell" or bool(sys.stderr and sys.stderr.isatty())


@contextlib.contextmanager
def _bar() -> Iterator[_Show | None]:
    if importlib.util.find_spec("tqdm"):
        with contextlib.closing(_Tqdm()) as bar:
            yield bar.show
    elif importlib.util.find_spec("rich"):
        with importlib.import_module("rich.progress").Progress(transient=True) as bars:
            yield _rich(bars)
    else:
        yield None


class _Tqdm:
    def __init__(self) -> None:
        self._bar: Any = None

    def show(self, what: str, done: int, total: int, epoch: tuple[int, float, float] | None) -> None:
        if self._bar is None or self._bar.total != total:
            self.close()
            self._bar = importlib.import_module("tqdm.auto").tqdm(total=total, leave=False)
        self._bar.set_description_str(_words(what, epoch), refresh=False)
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


def _rich(bars: Any) -> _Show:
    task = bars.add_task("", total=None)

    def show(what: str, done: int, total: int, epoch: tuple[int, float, float] | None) -> None:
        bars.update(task, description=_words(what, epoch), completed=done, total=total)

    return show


def _words(what: str, epoch: tuple[int, float, float] | None) -> str:
    return what if epoch is None else f"epoch {epoch[0]}  loss {epoch[1]:.6f}  α {epoch[2]:.3f}"
