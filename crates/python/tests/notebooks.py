"""Runs the notebooks under docs/notebooks, as a kernel would; `python notebooks.py` writes their outputs into them.

The value of a cell's last expression is shown as HTML if it has such a form, else as text, and figures of matplotlib as small images.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

# No window is opened.
os.environ["MPLBACKEND"] = "agg"

ALL = sorted((Path(__file__).parents[3] / "docs/notebooks").glob("*.ipynb"))


def read(path: Path) -> dict[str, Any]:
    """A notebook."""
    return json.loads(path.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def run(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """The cells with the outputs of running them one after another."""
    names: dict[str, Any] = {"__name__": "__main__"}
    count = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            count += 1
            cell["execution_count"] = count
            cell["outputs"] = _outputs("".join(cell["source"]), names, count)
    return notebook["cells"]  # type: ignore[no-any-return]


def _outputs(source: str, names: dict[str, Any], count: int) -> list[dict[str, Any]]:
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) and not source.rstrip().endswith(";") else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), "cell", "exec"), names)
        value = None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": _lines(printed.getvalue())})
    if value is not None:
        data = {"text/plain": _lines(repr(value))}
        shown = value._repr_html_() if hasattr(value, "_repr_html_") else None
        if shown is not None and len(shown) < 20_000:
            data["text/html"] = _lines(shown)
        outputs.append({"output_type": "execute_result", "execution_count": count, "metadata": {}, "data": data})
    return outputs + _figures()


def _figures() -> list[dict[str, Any]]:
    """The figures that a cell has drawn."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    outputs = []
    for number in pyplot.get_fignums() if pyplot is not None else []:
        image = io.BytesIO()
        # Without the version in it, the same figure is the same file.
        pyplot.figure(number).savefig(image, format="png", dpi=64, bbox_inches="tight", metadata={"Software": None})
        data = {"image/png": base64.b64encode(image.getvalue()).decode() + "\n", "text/plain": ["<Figure>"]}
        outputs.append({"output_type": "display_data", "metadata": {}, "data": data})
    if pyplot is not None:
        pyplot.close("all")
    return outputs


def _lines(text: str) -> list[str]:
    return text.rstrip("\n").splitlines(keepends=True)


def _write(path: Path) -> None:
    notebook = read(path)
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        run(notebook)
        os.chdir(before)
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for one in ALL:
        _write(one)
