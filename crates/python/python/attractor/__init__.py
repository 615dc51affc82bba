"""Learn the dynamics of a chaotic system from its time series, run them forward, and take them apart.

>>> import attractor as at
>>> x = at.simulate("lorenz63", steps=2000, transient=500, seed=1, standardize=True)
>>> m = at.Model("nvar").fit(x)
>>> m.generate(100, start=x[:20])
Series: 100 rows of x, y, z, step 0.01
"""

from . import _native
from ._documents import Cycles, Document, Evaluation, Exponents, Inspection, Page
from ._errors import (
    AlreadyFittedError,
    ArrayError,
    AttractorError,
    AttractorWarning,
    BugError,
    DivergenceWarning,
    EmbeddingError,
    EvaluationError,
    ExperimentError,
    FileError,
    FormatError,
    GenerateError,
    MissingPackageError,
    ModelFileError,
    NotFittedError,
    PipelineError,
    ReportError,
    RunError,
    SettingError,
    SimulateError,
    StudyError,
    UnknownNameError,
    UnlikeError,
)
from ._model import Model, load, models, resume, settings
from ._series import Series, embed, inspect, lyapunov, prepare, read, simulate
from ._study import Study
from ._work import Progress

__version__: str = _native.version()

__all__ = [
    "AlreadyFittedError",
    "ArrayError",
    "AttractorError",
    "AttractorWarning",
    "BugError",
    "Cycles",
    "DivergenceWarning",
    "Document",
    "EmbeddingError",
    "Evaluation",
    "EvaluationError",
    "ExperimentError",
    "Exponents",
    "FileError",
    "FormatError",
    "GenerateError",
    "Inspection",
    "MissingPackageError",
    "Model",
    "ModelFileError",
    "NotFittedError",
    "Page",
    "PipelineError",
    "Progress",
    "ReportError",
    "RunError",
    "Series",
    "SettingError",
    "SimulateError",
    "Study",
    "StudyError",
    "UnknownNameError",
    "UnlikeError",
    "embed",
    "inspect",
    "load",
    "lyapunov",
    "models",
    "prepare",
    "read",
    "resume",
    "settings",
    "simulate",
]
