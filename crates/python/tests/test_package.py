"""The package itself: the stubs say what there is, examples in docstrings and notebooks run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import attractor as at
import notebooks


@pytest.mark.parametrize("name", ["__init__", "_errors", "_model", "_series", "_study"])
def test_examples_in_docstrings(name: str) -> None:
    module = importlib.import_module("attractor" if name == "__init__" else f"attractor.{name}")
    ended = doctest.testmod(module)
    assert ended.attempted > 0 and ended.failed == 0


def test_examples_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = Path(__file__).parents[3] / "docs/python.md"
    ended = doctest.testfile(str(page), module_relative=False)
    assert ended.attempted > 10 and ended.failed == 0


def test_all_that_is_public_is_documented() -> None:
    for name in at.__all__:
        thing = getattr(at, name)
        assert thing.__doc__, name
        inner = vars(thing).items() if isinstance(thing, type) else []
        for part, value in inner:
            if not part.startswith("_") and (callable(value) or isinstance(value, (property, classmethod))):
                assert value.__doc__, f"{name}.{part}"


def test_the_package_is_typed(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    folder = Path(at.__file__).parent
    assert (folder / "py.typed").is_file() and (folder / "_native.pyi").is_file()
    checked = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "attractor", "--ignore-missing-stub", "--concise"],
        # In the folder of all packages some of them would hide modules of Python's.
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_no_module_is_left_out() -> None:
    known = {module.name for module in pkgutil.iter_modules([str(Path(at.__file__).parent)])}
    assert {"_native", "_model", "_series", "_study", "_command"} <= known


@pytest.mark.parametrize("path", notebooks.ALL, ids=lambda path: path.stem)
def test_notebooks_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    kept = notebooks.read(path)["cells"]
    made = notebooks.run(notebooks.read(path))
    kinds = lambda cell: [sorted(output.get("data", {})) for output in cell.get("outputs", [])]  # noqa: E731
    assert [kinds(cell) for cell in made] == [kinds(cell) for cell in kept]
    assert any("image/png" in data for cell in kept for data in kinds(cell))
    assert path.stat().st_size < 150_000
