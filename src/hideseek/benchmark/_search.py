"""Choose a penalty on rows that are neither fitted nor reported on, without the true relevant features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import log_loss

from hideseek.datasets import Dataset

__all__ = ["CRITERIA", "best_penalty", "sparsest"]

TOLERANCE = 0.01
"""The share of the best model's gain over no features that a sparser one may lose."""


def best_penalty(
    models: Sequence[Any], penalties: Sequence[float], train: Dataset, validation: Dataset, criterion: str
) -> int:
    """Return the position of the penalty to use, given fits of one method that differ only in the penalty."""
    loss, y = CRITERIA[criterion], np.asarray(validation.y)
    losses = [loss(y, np.asarray(model.predict_proba(validation.X)), model.classes_) for model in models]
    classes, counts = np.unique(np.asarray(train.y), return_counts=True)
    shares = np.tile(counts / counts.sum(), (len(y), 1))
    return sparsest(losses, penalties, loss(y, shares, classes))


def sparsest(losses: Sequence[float], penalties: Sequence[float], null: float) -> int:
    """Return the position of the largest penalty that explains nearly as much as the best one.

    The smallest loss alone would choose too small a penalty wherever every feature helps a little.

    Args:
        losses: Losses of the predictions on held-out rows, by penalty.
        penalties: In any order.
        null: The loss without any feature.
    """
    best = min(losses)
    allowed = best + TOLERANCE * max(null - best, 0.0)
    return max((i for i, loss in enumerate(losses) if loss <= allowed), key=lambda i: penalties[i])


def _cross_entropy(y: NDArray[Any], probability: NDArray[Any], classes: NDArray[Any]) -> float:
    return float(log_loss(y, probability.astype(np.float64), labels=classes))


def _error_rate(y: NDArray[Any], probability: NDArray[Any], classes: NDArray[Any]) -> float:
    return float(np.mean(classes[probability.argmax(axis=1)] != y))


CRITERIA = {"loss": _cross_entropy, "accuracy": _error_rate}
"""Losses by which fits are compared. Cross-entropy also depends on the confidence, which soft masks reduce."""
