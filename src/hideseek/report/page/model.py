"""A fitted model as JSON that a page can run; model.js reads it."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from hideseek.estimators import BaseHideSeek, turns_of
from hideseek.explanation import Explanation
from hideseek.export import describe
from hideseek.report.page.packing import pack

__all__ = ["obstacle", "page_model"]

_MOST_COLUMNS = 500
_MOST_WEIGHTS = 500_000


def obstacle(explanation: Explanation, model: Any) -> str | None:
    """Return why the model cannot run in a page, as a sentence; None if it can."""
    if model is None:
        return "The explanation came without its model (from a file, or made by hand)."
    if not isinstance(model, BaseHideSeek):
        return (
            f"{type(model).__name__} is not a Hide&Seek model: no network gives its importances, so none can run here."
        )
    check_is_fitted(model)
    if explanation.data is None or list(explanation.feature_names) != model.encoder_.feature_names:
        return "The explanation shows only some of the columns that the model needs."
    ensemble = model.learned_.ensemble
    if ensemble.draws_given_row:
        kind = "knockoffs" if ensemble.conditional is None else "conditional draws"
        return f"The model draws hidden values by {kind}, given the row, which this page cannot."
    if ensemble.n_features is not None:
        return f"The explanation selects {ensemble.n_features} features in every row, which this page cannot."
    n_columns, n_weights = len(ensemble.scaler.center), ensemble.stack.parameters.numel()
    if n_columns > _MOST_COLUMNS or n_weights > _MOST_WEIGHTS:
        return (
            f"The model is too large to run in a page: {n_columns:,} columns and {n_weights:,} weights; "
            f"{_MOST_COLUMNS:,} and {_MOST_WEIGHTS:,} are the most."
        )
    return None


def page_model(model: BaseHideSeek) -> dict[str, Any]:
    """Return what model.js needs: the description of the model, and in how many turns the Seeks answer for effects."""
    description = describe(model)
    return {**description, "turns": turns_of(model), "weights": pack(description["weights"], "f4")}
