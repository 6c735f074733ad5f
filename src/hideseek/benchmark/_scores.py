"""The scores of a fitted method, with and without known relevant features."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor
from sklearn.metrics import r2_score
from sklearn.utils.multiclass import type_of_target

from hideseek.datasets import Dataset
from hideseek.errors import InputError
from hideseek.metrics import auroc, selection_scores, switch_accuracy

__all__ = ["SCORES", "scores_of"]

SCORES: dict[str, bool | None] = {
    "tpr": True,
    "fdr": False,
    "f1": True,
    "switch": True,
    "auroc": True,
    "accuracy": True,
    "r2": True,
    "n_selected": None,
    "penalty": None,
    "seconds_fit": False,
    "seconds_explain": False,
}
"""The scores of every job, if they apply, and whether higher is better; None: neither."""


def scores_of(model: Any, test: Dataset, selected: NDArray[np.bool_], switch: int | str | None) -> dict[str, float]:
    """Return the scores of the selection, for the first test rows, and of the predictions, for all of them.

    Shape: ``selected (rows to explain, features)``.
    """
    scores = {"n_selected": float(selected.sum(axis=1).mean())}
    if test.relevant is not None:
        relevant = np.asarray(test.relevant)
        scores |= selection_scores(selected, relevant[: len(selected)])._asdict()
        column = _switch_column(relevant) if switch is None else _column(test, switch)
        if column is not None:
            scores["switch"] = switch_accuracy(selected, column)
    elif switch is not None:
        scores["switch"] = switch_accuracy(selected, _column(test, switch))
    return {**scores, **_prediction_scores(model, test)}


def _prediction_scores(model: Any, test: Dataset) -> dict[str, float]:
    y, scores = np.asarray(test.y), {}
    if hasattr(model, "predict") and (_is_regressor(model) or type_of_target(y) == "continuous"):
        return {"r2": float(r2_score(y, model.predict(test.X)))}
    if hasattr(model, "predict"):
        scores["accuracy"] = float(np.mean(np.asarray(model.predict(test.X)) == y))
    if hasattr(model, "predict_proba"):
        with suppress(InputError):  # undefined if a class is missing among the test rows
            scores["auroc"] = auroc(y, model.predict_proba(test.X))
    return scores


def _is_regressor(model: Any) -> bool:
    """Return scikit-learn's ``is_regressor``, which does not accept other objects."""
    return hasattr(model, "__sklearn_tags__") and bool(is_regressor(model))


def _column(test: Dataset, switch: int | str) -> int:
    if isinstance(switch, int):
        return switch
    if switch not in test.feature_names:
        raise InputError(f"switch={switch!r}: there is no such column")
    return test.feature_names.index(switch)


def _switch_column(relevant: NDArray[np.bool_]) -> int | None:
    """Return the only column that is relevant in every row, if the other relevant ones vary between rows."""
    always, ever = relevant.all(axis=0), relevant.any(axis=0)
    return int(always.argmax()) if always.sum() == 1 and (ever & ~always).any() else None
