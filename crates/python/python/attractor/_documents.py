"""What comes out, as documents: read by attribute or by key, printed as text, shown as HTML in a notebook."""

from __future__ import annotations

import html
import importlib
import importlib.util
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ._errors import MissingPackageError


def package(name: str) -> Any:
    """A package that may not be installed."""
    if importlib.util.find_spec(name) is None:
        raise MissingPackageError(f"the package {name} is not installed", f"`pip install {name}`")
    return importlib.import_module(name)


def frame(rows: Sequence[Mapping[str, Any]], index: str | None = None) -> Any:
    """Rows as a DataFrame."""
    made = package("pandas").DataFrame(list(rows))
    return made if index is None else made.set_index(index)


class Document(Mapping[str, Any]):
    """A JSON document of the command: ``d["key"]`` and ``d.key`` are the same."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        self._content = {key: _wrapped(value) for key, value in content.items()}

    @classmethod
    def parse(cls, text: str) -> Any:
        """The document that a text holds."""
        return cls(json.loads(text))

    def __getitem__(self, key: str) -> Any:
        return self._content[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._content)

    def __len__(self) -> int:
        return len(self._content)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "_content" not in self.__dict__:
            raise AttributeError(name)
        try:
            return self._content[name]
        except KeyError:
            raise AttributeError(f"no `{name}`; there are {', '.join(self)}") from None

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *self._content]

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionaries and lists."""
        plain: dict[str, Any] = _plain(self)
        return plain

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{key}={_short(value)}' for key, value in self.items())})"

    def _repr_html_(self) -> str:
        return table_html([(key, _short(value)) for key, value in self.items()], ["", ""])


def _wrapped(value: Any) -> Any:
    if isinstance(value, Mapping) and not isinstance(value, Document):
        return Document(value)
    if isinstance(value, list):
        return [_wrapped(one) for one in value]
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, Document):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list) else value


def _short(value: Any) -> str:
    told = figure(value) if isinstance(value, float) else repr(value)
    return told if len(told) <= 60 else f"<{len(value)} entries>" if isinstance(value, (list, Document)) else told[:57] + "…"


def figure(value: float | None) -> str:
    """A number with four digits, a dash where there is none."""
    return "–" if value is None else f"{value:.4g}"


def table_html(rows: Iterable[Sequence[object]], head: Sequence[str]) -> str:
    """A table whose cells are text."""
    cells = lambda tag, row: "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in row)  # noqa: E731
    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return f"<table><thead><tr>{cells('th', head)}</tr></thead><tbody>{body}</tbody></table>"


def table_text(rows: Sequence[Sequence[str]]) -> str:
    """Columns of text, the first flush left."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    line = lambda row: "  ".join(  # noqa: E731
        [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))]
    )
    return "\n".join(line(row).rstrip() for row in rows)


class Evaluation(Document):
    """Scores of a model, each with ``value``, ``floor`` (what the data themselves reach) and ``chance`` (the best surrogate).

    ``evaluation["d_stsp"].value``; ``verdict`` is the word with its reasons; ``to_frame()`` needs pandas.
    """

    _COLUMNS = ("value", "floor", "chance", "median", "worst")

    @property
    def scores(self) -> dict[str, Document]:
        """All scores by the name of the measure."""
        is_score = lambda value: isinstance(value, Document) and {"value", "floor", "chance"} <= set(value)  # noqa: E731
        return {key: value for key, value in self.items() if is_score(value)}

    def to_frame(self) -> Any:
        """One row per measure, as a DataFrame."""
        rows = [
            {"measure": key, **{name: score.get(name) for name in self._COLUMNS}} for key, score in self.scores.items()
        ]
        return frame(rows, "measure").astype(float)

    def _rows(self) -> list[list[str]]:
        least = lambda score, name: "≥ " if name == "value" and score.get("at_least") else ""  # noqa: E731
        cells = lambda score: (least(score, name) + figure(score.get(name)) for name in self._COLUMNS)  # noqa: E731
        return [[key, *cells(score)] for key, score in self.scores.items()]

    def __repr__(self) -> str:
        table = table_text([["measure", *self._COLUMNS], *self._rows()])
        reasons = "".join(f"\n  {reason}" for reason in self["verdict"]["reasons"])
        return f"{table}\nverdict: {self['verdict']['word']}{reasons}"

    def _repr_html_(self) -> str:
        reasons = "".join(f"<li>{html.escape(reason)}</li>" for reason in self["verdict"]["reasons"])
        word = html.escape(self["verdict"]["word"])
        return f"{table_html(self._rows(), ['measure', *self._COLUMNS])}<p>verdict: <b>{word}</b></p><ul>{reasons}</ul>"


class Inspection(Document):
    """What a recording holds, and findings with remedies, the most serious first."""

    def __repr__(self) -> str:
        s = "" if len(self["channels"]) == 1 else "s"
        head = f"{self['rows']} rows of {len(self['channels'])} channel{s}, step {figure(self['step']['dt'])}"
        found = [f"{one['severity']}: {one['what']}\n  {one['remedy']}" for one in self["findings"]]
        return "\n".join([head, *(found or ["no findings"])])

    def _repr_html_(self) -> str:
        names = ("name", "mean", "spread", "min", "max", "missing")
        cell = lambda value: figure(value) if isinstance(value, float) else value  # noqa: E731
        channels = table_html(([cell(channel[name]) for name in names] for channel in self["channels"]), names)
        found = ((one["severity"], one["what"], one["remedy"]) for one in self["findings"])
        return channels + table_html(found, ("", "finding", "remedy"))

    def to_frame(self) -> Any:
        """One row per channel, as a DataFrame."""
        names = ("name", "unit", "mean", "spread", "min", "max", "missing")
        return frame([{name: channel[name] for name in names} for channel in self["channels"]], "name")


class Exponents(Document):
    """Lyapunov exponents, the largest first, with standard errors; ``numpy.asarray`` gives the exponents."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self["exponents"], dtype=dtype)

    def __repr__(self) -> str:
        rows = [
            [str(i + 1), figure(value), f"± {figure(error)}"]
            for i, (value, error) in enumerate(zip(self["exponents"], self["standard_errors"]))
        ]
        dimension = figure(self.get("kaplan_yorke"))
        return f"{table_text(rows)}\nper {self['per']}; Kaplan–Yorke dimension {dimension}"

    def _repr_html_(self) -> str:
        rows = zip(range(1, len(self["exponents"]) + 1), map(figure, self["exponents"]), map(figure, self["standard_errors"]))
        return table_html(rows, ("", f"exponent per {self['per']}", "error"))


class Cycles(Sequence[Document]):
    """Fixed points or cycles; ``complete`` says whether these are all there are."""

    def __init__(self, found: Sequence[Document], complete: bool) -> None:
        self._found = list(found)
        self.complete = complete

    def __getitem__(self, place: Any) -> Any:
        return self._found[place]

    def __len__(self) -> int:
        return len(self._found)

    def _rows(self) -> list[list[str]]:
        largest = lambda one: figure(max((abs(complex(*m)) for m in one["multipliers"]), default=None))  # noqa: E731
        return [[str(one["period"]), one["kind"], largest(one)] for one in self._found]

    def __repr__(self) -> str:
        end = "these are all" if self.complete else "there may be more"
        return table_text([["period", "kind", "largest multiplier"], *self._rows()]) + f"\n{end}"

    def _repr_html_(self) -> str:
        return table_html(self._rows(), ("period", "kind", "largest multiplier"))


class Page:
    """A page in which the model runs; shown live in a notebook."""

    def __init__(self, content: str, notes: Sequence[str]) -> None:
        self.html = content
        self.notes = list(notes)

    def __repr__(self) -> str:
        return f"Page of {len(self.html.encode()) // 1000} kB"

    def _repr_html_(self) -> str:
        # Scripts run, but nothing of the notebook is theirs.
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" sandbox="allow-scripts" '
            'style="width:100%;height:48em;border:0" title="report"></iframe>'
        )
