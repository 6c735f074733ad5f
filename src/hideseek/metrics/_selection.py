"""Agreement of the selected with the relevant features of each row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hideseek.errors import InputError
from hideseek.validation import as_array, check_parameters, integer

__all__ = ["RowScores", "SelectionScores", "as_mask", "row_scores", "selection_scores", "switch_accuracy", "top_k"]


class RowScores(NamedTuple):
    """Scores of every row, in percent. Shape: ``(rows,)`` each.

    Attributes:
        tpr: True positive rate: share of the relevant features that were selected.
        fdr: False discovery rate: share of the selected features that are not relevant.
        f1: 2 TP / (2 TP + FP + FN).
    """

    tpr: NDArray[np.float64]
    fdr: NDArray[np.float64]
    f1: NDArray[np.float64]


class SelectionScores(NamedTuple):
    """Means over rows of the scores in :class:`RowScores`, in percent."""

    tpr: float
    fdr: float
    f1: float


def row_scores(selected: ArrayLike, relevant: ArrayLike) -> RowScores:
    """Score the selection of every row.

    A row where nothing is selected has FDR 0 and F1 0. A row where nothing is relevant has TPR NaN and F1 0.

    Args:
        selected: True where a feature was selected. Shape: ``(rows, features)``.
        relevant: True where a feature is relevant. Shape: ``(rows, features)``.

    Example:
        >>> from hideseek.metrics import row_scores
        >>> relevant = [[True, False, False], [True, False, True]]
        >>> scores = row_scores([[True, True, False], [False, False, False]], relevant)
        >>> scores.tpr.tolist(), scores.fdr.tolist()
        ([100.0, 0.0], [50.0, 0.0])
    """
    chosen, true = as_mask("selected", selected), as_mask("relevant", relevant)
    if chosen.shape != true.shape:
        raise InputError(
            f"selected has shape {chosen.shape} and relevant {true.shape}; both must be the same rows and features"
        )
    hits, n_chosen, n_true = (chosen & true).sum(axis=1), chosen.sum(axis=1), true.sum(axis=1)
    return RowScores(
        tpr=_percent(hits, n_true, otherwise=np.nan),
        fdr=_percent(n_chosen - hits, n_chosen, otherwise=0.0),
        f1=_percent(2 * hits, n_chosen + n_true, otherwise=0.0),
    )


def selection_scores(selected: ArrayLike, relevant: ArrayLike) -> SelectionScores:
    """Return mean TPR, FDR and F1 over the rows, in percent.

    Rows without any relevant feature count for FDR and F1 but not for TPR; if there are no others, TPR is NaN.
    See :func:`row_scores` for single rows.

    Args:
        selected: True where a feature was selected. Shape: ``(rows, features)``.
        relevant: True where a feature is relevant. Shape: ``(rows, features)``.

    Example:
        >>> from hideseek.metrics import selection_scores
        >>> selection_scores([[True, True, False], [False, True, True]], [[True, False, False], [False, True, True]])
        SelectionScores(tpr=100.0, fdr=25.0, f1=83.33333333333334)
    """
    rows = row_scores(selected, relevant)
    found = rows.tpr[~np.isnan(rows.tpr)]
    return SelectionScores(
        tpr=float(found.mean()) if found.size else float("nan"),
        fdr=float(rows.fdr.mean()),
        f1=float(rows.f1.mean()),
    )


def switch_accuracy(selected: ArrayLike, switch: int = 10) -> float:
    """Return the share of the rows, in percent, in which the switch was selected.

    Args:
        selected: True where a feature was selected. Shape: ``(rows, features)``.
        switch: The column of the switch; x11 of Syn4 to Syn6 if not given.

    Example:
        >>> from hideseek.metrics import switch_accuracy
        >>> switch_accuracy([[True, False], [True, True]], switch=1)
        50.0
    """
    chosen = as_mask("selected", selected)
    check_parameters("switch_accuracy", {"switch": switch}, {"switch": integer(0, chosen.shape[1] - 1)})
    return float(100 * chosen[:, switch].mean())


def top_k(scores: ArrayLike, k: int | ArrayLike) -> NDArray[np.bool_]:
    """Select the k features with the largest scores of every row; of equal ones, those further left.

    Scores are compared as they are: pass absolute values if the sign of a score does not matter.

    Args:
        scores: Shape: ``(rows, features)``.
        k: Number of features in every row; or one number per row, which may be 0.

    Returns:
        True where a feature is selected. Shape: ``(rows, features)``.

    Example:
        >>> from hideseek.metrics import top_k
        >>> top_k([[0.1, 0.7, 0.7], [0.5, 0.5, 0.5]], k=2).tolist()
        [[False, True, True], [True, True, False]]
        >>> top_k([[0.1, 0.7, 0.7], [0.5, 0.5, 0.5]], k=[1, 0]).tolist()
        [[False, True, False], [False, False, False]]
    """
    values = as_array("scores", scores, float)
    if values.ndim != 2 or np.isnan(values).any():
        raise InputError(f"scores must be (rows, features) without NaN; it has shape {values.shape}")
    best = np.argsort(-values, axis=1, kind="stable")
    rank = np.empty_like(best)
    np.put_along_axis(rank, best, np.broadcast_to(np.arange(values.shape[1]), best.shape), axis=1)
    return np.asarray(rank < _sizes(k, *values.shape))


def _sizes(k: int | ArrayLike, n_rows: int, n_features: int) -> NDArray[np.integer]:
    """Return the number of features to select, in a shape comparable with ``(rows, features)``."""
    sizes = as_array("k", k)
    if sizes.ndim == 0:
        check_parameters("top_k", {"k": k}, {"k": integer(1, n_features)})
    elif sizes.shape != (n_rows,) or sizes.dtype.kind not in "iu" or sizes.min() < 0 or sizes.max() > n_features:
        raise InputError(
            f"k for each row must be {n_rows} whole numbers from 0 to {n_features}; "
            f"it has shape {sizes.shape} and type {sizes.dtype}"
        )
    return sizes.reshape(-1, 1)


def as_mask(name: str, values: ArrayLike) -> NDArray[np.bool_]:
    """Return booleans of shape ``(rows, features)``, or raise an InputError."""
    if hasattr(values, "selected"):
        raise InputError(f"{name} is an explanation; pass explanation.selected")
    array = as_array(name, values)
    if array.ndim != 2 or array.size == 0 or not (array.dtype == bool or np.isin(array, (0, 1)).all()):
        raise InputError(
            f"{name} must be booleans of shape (rows, features), at least one of each; "
            f"it has shape {array.shape} and type {array.dtype}. Threshold masks first, for example {name} > 0.5"
        )
    return array.astype(bool)


def _percent(count: NDArray[np.int64], total: NDArray[np.int64], *, otherwise: float) -> NDArray[np.float64]:
    """Return 100 * count / total, and ``otherwise`` where total is 0."""
    share = np.full(len(total), otherwise)
    np.divide(100.0 * count, total, out=share, where=total > 0)
    return share
