"""Agreement of two explanations of the same rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from hideseek.errors import InputError
from hideseek.explanation import Explanation

__all__ = ["agreement", "check_same_rows", "method_names"]


def check_same_rows(explanation: Explanation, other: Any) -> None:
    """Raise an InputError unless the other is an explanation of as many rows and the same features."""
    if not isinstance(other, Explanation):
        raise InputError(f"other must be an Explanation of the same rows; got {type(other).__name__}")
    if explanation.shape != other.shape or explanation.feature_names != other.feature_names:
        raise InputError(
            f"other is {other.shape[0]} rows by {other.shape[1]} features; this explanation is "
            f"{explanation.shape[0]} by {explanation.shape[1]}: both must explain the same rows and features"
        )


def agreement(explanation: Explanation, other: Explanation) -> str:
    """Return in words how alike the selections are: rows with the same features, and the mean overlap."""
    a, b = explanation.selected, other.selected
    union = (a | b).sum(axis=1)
    overlap = np.where(union > 0, (a & b).sum(axis=1) / np.maximum(union, 1), 1.0).mean()
    return f"same features in {(a == b).all(axis=1).mean():.0%} of the rows; mean overlap {overlap:.0%}"


def method_names(explanation: Explanation, other: Explanation) -> tuple[str, str]:
    """Return the importance kinds as names of the methods, unless both have the same kind."""
    kinds = explanation.importance_kind, other.importance_kind
    return kinds if kinds[0] != kinds[1] else ("the first", "the second")
