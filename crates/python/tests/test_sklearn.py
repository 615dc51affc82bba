"""The habits of scikit-learn, where it is installed."""

from __future__ import annotations

import numpy as np
import pytest

import attractor as at
from conftest import SMALL

sklearn = pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.model_selection import GridSearchCV, KFold, TimeSeriesSplit, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402


def test_parameters_and_clone(fitted: at.Model) -> None:
    params = fitted.get_params()
    assert params["model"] == "clipped-shallow-plrnn" and params["hidden"] == 8 and params["alpha"] == 0.15
    other = clone(fitted)
    assert other.get_params() == params
    with pytest.raises(at.NotFittedError):
        other.generate(1)
    assert at.Model(**params).get_params() == params
    assert other.set_params(alpha=0.4) is other and other.get_params()["alpha"] == 0.4


def test_cross_validation(rows: np.ndarray) -> None:
    scores = cross_val_score(at.Model("nvar"), rows, cv=TimeSeriesSplit(2), error_score="raise")
    assert scores.shape == (2,) and (scores <= 0).all()


def test_folds_of_a_series_leave_gaps(lorenz: at.Series) -> None:
    scores = cross_val_score(at.Model("linear"), lorenz, cv=KFold(3), error_score="raise")
    assert scores.shape == (3,)


def test_a_grid_search(rows: np.ndarray) -> None:
    search = GridSearchCV(at.Model(**SMALL), {"alpha": [0.1, 0.9]}, cv=TimeSeriesSplit(2), error_score="raise")
    search.fit(rows)
    assert search.best_params_["alpha"] in (0.1, 0.9)
    assert search.best_estimator_.outcome_ == "finished"
    assert search.score(rows) <= 0


def test_a_pipeline(rows: np.ndarray) -> None:
    pipe = make_pipeline(StandardScaler(), at.Model("nvar"))
    assert pipe.fit(rows).score(rows) <= 0
    pipe = make_pipeline(StandardScaler(), at.Model(**SMALL)).set_params(model__alpha=0.3)
    assert pipe.fit(rows)[-1].get_params()["alpha"] == 0.3
