"""A model's output for some rows: class probabilities or values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hideseek.errors import InputError
from hideseek.validation import choice

__all__ = ["TASK", "as_answers"]

TASK = choice("auto", "classification", "regression")

_TOLERANCE = 1e-3
"""Tolerance of the sum of a row's probabilities, for models of low precision."""


def as_answers(raw: Any, n_rows: int, task: str = "auto", *, source: str = "predict") -> NDArray[np.float64]:
    """Return a model's output as class probabilities ``(rows, classes)`` or values ``(rows,)``.

    Numbers from 0 to 1, one per row, are probabilities of the second of two classes; rows of numbers that add up to 1
    are probabilities; anything else is values.

    Args:
        raw: The model's output.
        n_rows: Number of rows passed to the model.
        task: "classification" or "regression" accept only probabilities or only values.
        source: The name of the model in errors.
    """
    answers = _numbers(raw, n_rows, source)
    if task != "regression":
        probability = np.column_stack((1 - answers, answers)) if answers.ndim == 1 else answers
        if probability.min() >= -_TOLERANCE and np.abs(probability.sum(axis=1) - 1).max() <= _TOLERANCE:
            probability = np.clip(probability, 0, None)
            return np.asarray(probability / probability.sum(axis=1, keepdims=True))
    if task == "classification":
        raise InputError(
            f"{source} did not return probabilities but numbers from {answers.min():.3g} to {answers.max():.3g}, "
            f"shape {answers.shape}; for classification it must give, for each row, one number from 0 to 1 or "
            "probabilities that add up to 1: apply a softmax or sigmoid, or pass task='regression'"
        )
    if answers.ndim == 2:
        raise InputError(
            f"{source} gave {answers.shape[1]} numbers for each row, which are not probabilities since they do not add "
            "up to 1; apply a softmax, or let it give one value"
        )
    return answers


def _numbers(raw: Any, n_rows: int, source: str) -> NDArray[np.float64]:
    """Return finite numbers ``(rows,)`` or, if there are two or more for each row, ``(rows, outputs)``."""
    try:
        answers = np.asarray(raw.detach().cpu() if hasattr(raw, "detach") else raw)
        answers = answers.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"{source} must give numbers, probabilities or values, and gave {type(raw).__name__} of something else; "
            "for labels, let it give their probabilities"
        ) from error
    if answers.ndim == 2 and answers.shape[1] == 1:
        answers = answers[:, 0]
    if answers.ndim not in (1, 2) or len(answers) != n_rows or answers.size == 0:
        raise InputError(
            f"{source} was asked about {n_rows} rows and gave an answer of shape {answers.shape}; "
            f"expected ({n_rows},) or ({n_rows}, classes)"
        )
    n_odd = int((~np.isfinite(answers)).reshape(n_rows, -1).any(axis=1).sum())
    if n_odd:
        raise InputError(f"{source} gave NaN or infinite numbers for {n_odd} of {n_rows} rows; check the model")
    return answers
