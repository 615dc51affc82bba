"""Exceptions and warnings: the errors of the command, with the same text, and a hint in which settings are keywords."""

import re
import warnings


def _as_keywords(hint: str) -> str:
    """Flags in a hint as keywords: ``--held-out`` becomes ``held_out``, but not in commands."""
    words = r"`attractor [^`]*`|--([a-z][a-z-]*)"
    return re.sub(words, lambda found: found[1].replace("-", "_") if found[1] else found[0], hint)


class AttractorError(Exception):
    """What went wrong; ``hint`` says what can be done about it, or is None.

    >>> import attractor as at
    >>> try:
    ...     at.Model(aplha=0.1)
    ... except at.SettingError as error:
    ...     print(error, "|", error.hint)
    unknown setting `aplha` | did you mean `alpha`?
    """

    def __init__(self, text: str, hint: "str | None" = None) -> None:
        super().__init__(text, hint)
        self.hint = None if hint is None else _as_keywords(hint)
        if self.hint is not None:
            # Shown under the traceback from Python 3.11 on.
            self.__notes__ = [f"hint: {self.hint}"]

    def __str__(self) -> str:
        return str(self.args[0])


class SettingError(AttractorError, ValueError):
    """A setting is unknown or outside its range."""

    def __init__(self, text: str, hint: "str | None" = None) -> None:
        # Names of settings are keywords here.
        keywords = None if hint is None else re.sub(r"(?<=[a-z])-(?=[a-z])", "_", hint)
        super().__init__(text, keywords)


class UnknownNameError(AttractorError, ValueError):
    """No system or other entry of the lists has this name."""


class ArrayError(AttractorError, ValueError):
    """Arrays form no recording: their shape, type or values are wrong."""


class UnlikeError(AttractorError, ValueError):
    """Data are not those of a model: other columns, or another step."""


class FormatError(AttractorError, ValueError):
    """A file of data cannot be read or written."""


class FileError(AttractorError):
    """A file or folder cannot be read or written."""


class PipelineError(AttractorError, ValueError):
    """A recording cannot be prepared as asked."""


class SimulateError(AttractorError, ValueError):
    """A system cannot be simulated as asked."""


class ExperimentError(AttractorError, ValueError):
    """A model cannot be fitted to these data."""


class ModelFileError(AttractorError, ValueError):
    """A model file cannot be read."""


class RunError(AttractorError):
    """There is no run in a folder, or none may be made there."""


class GenerateError(AttractorError, ValueError):
    """A model has no orbit as asked."""


class EvaluationError(AttractorError, ValueError):
    """A model cannot be judged by these data."""


class StudyError(AttractorError, ValueError):
    """A study cannot be done, or its folder not be used."""


class EmbeddingError(AttractorError, ValueError):
    """A recording is not embedded, or has no exponent."""


class ReportError(AttractorError, ValueError):
    """A page is not written."""


class NotFittedError(AttractorError, ValueError, AttributeError):
    """A model is used before it is fitted."""


class AlreadyFittedError(AttractorError):
    """A model is fitted twice."""


class MissingPackageError(AttractorError, ImportError):
    """A package that is not installed is needed."""


class BugError(AttractorError):
    """A bug in attractor."""


class AttractorWarning(UserWarning):
    """What should be known about a result."""


class DivergenceWarning(AttractorWarning):
    """A training or an orbit diverged: the result is what there was before."""


def warn(category: "type[AttractorWarning]", text: str, hint: "str | None" = None) -> None:
    """Warns where the user called."""
    told = text if hint is None else f"{text}\nhint: {_as_keywords(hint)}"
    warnings.warn(told, category, stacklevel=4)
