"""Quality of predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import roc_auc_score

from hideseek.errors import InputError
from hideseek.validation import as_array

__all__ = ["auroc"]


def auroc(y: ArrayLike, probability: ArrayLike) -> float:
    """Return the area under the ROC curve; with more than two classes, the mean over one-against-rest curves.

    Args:
        y: Class labels. Shape: ``(rows,)``.
        probability: Probability of the second class in sorted order, ``(rows,)``; or of every class, ``(rows,
            classes)``.

    Example:
        >>> from hideseek.metrics import auroc
        >>> auroc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
        0.75
    """
    labels, scores = as_array("y", y), as_array("probability", probability)
    if labels.ndim != 1 or scores.ndim not in (1, 2):
        raise InputError(
            f"y must be (rows,) and probability (rows,) or (rows, classes); they are {labels.shape} and {scores.shape}"
        )
    if scores.ndim == 2 and scores.shape[1] == 2:
        scores = scores[:, 1]
    try:
        classes = np.unique(labels)
        if len(classes) == 2 and _plain(labels, scores):
            return _area(scores[labels == classes[1]], scores[labels == classes[0]])
        if len(classes) < 2:
            raise InputError("AUROC is not defined for y of one class; pass rows of at least two classes")
        return float(roc_auc_score(labels, scores, multi_class="ovr", average="macro"))
    except InputError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"cannot compute AUROC for y of shape {labels.shape} and probability of {scores.shape}: {error}"
        ) from error


def _plain(labels: NDArray[Any], scores: NDArray[Any]) -> bool:
    """Return whether there is one finite score for each label; scikit-learn explains what is wrong with all others."""
    same_length = labels.shape == scores.shape
    return same_length and labels.dtype.kind in "biuU" and scores.dtype.kind == "f" and bool(np.isfinite(scores).all())


def _area(positive: NDArray[np.floating], negative: NDArray[np.floating]) -> float:
    """Return the share of pairs of a positive and a negative row in which the positive scores higher; equal: a half.

    This is the area under the ROC curve, a tenth of scikit-learn's time for a few thousand rows.
    """
    ordered = np.sort(negative)
    below, up_to = (np.searchsorted(ordered, np.sort(positive), side=side).sum() for side in ("left", "right"))
    return float((below + up_to) / 2 / (len(positive) * len(negative)))
