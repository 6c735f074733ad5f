"""Scores of predictions with their errors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hideseek.metrics._audit._errors import Estimate, Ranks, weighted_mean, weighted_r2, with_error
from hideseek.metrics._audit._inputs import Features, Target

__all__ = ["Summary"]

_RESOLUTION = 2e-3
"""Share of the loss with nothing shown that networks can differ by for reasons other than the features they see."""
_SMALLEST = 1e-12


class Summary:
    """Scores of predictions with their errors.

    Args:
        target: What is predicted.
        fold: The fold of each row. Shape: ``(rows,)``.
        seed: Where the bootstrap samples come from.
    """

    def __init__(self, target: Target, fold: NDArray[np.int64], seed: int) -> None:
        self._target, self._fold, self._seed = target, fold, seed
        self.nothing = self._without_features()
        self._resolution = -_RESOLUTION * float(self.by_row(self.nothing).mean())

    def by_row(self, kept: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the score of each row. Shape: ``(..., rows, numbers)`` -> ``(..., rows)``."""
        y = self._target.values
        if self._target.task == "regression":
            return np.asarray(-((kept[..., 0] - y) ** 2))
        return np.log(np.maximum(kept[..., np.arange(len(y)), y], _SMALLEST))

    def score(self, kept: NDArray[np.float64], minus: NDArray[np.float64] | None = None) -> Estimate:
        """Return the mean score of some predictions, or how much better they are than others."""
        networks, ensemble = self.by_row(kept), self.by_row(kept.mean(axis=0))
        if minus is not None:
            networks, ensemble = networks - self.by_row(minus), ensemble - self.by_row(minus.mean(axis=0))
        value, error = with_error(weighted_mean, networks, ensemble, self._fold, self._seed)
        return Estimate(float(value), float(np.hypot(error, self._resolution)))

    def quality(self, evalx: NDArray[np.float64], own: NDArray[np.float64] | None) -> dict[str, Any]:
        """Return AUROC or R2 of EVAL-X's predictions, of the method's own, and the difference."""
        y, ranks = self._target.values, Ranks(self._target.values, self._target.n_classes)

        def good(kept: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
            return (
                weighted_r2(y, kept[:, 0], weight) if self._target.task == "regression" else ranks.auroc(kept, weight)
            )

        def estimate(statistic: Any) -> Estimate:
            return Estimate(*map(float, with_error(statistic, evalx, evalx.mean(axis=0), self._fold, self._seed)))

        named = estimate(good)
        return {
            "eauroc": named if self._target.task == "classification" else None,
            "r2": named if self._target.task == "regression" else None,
            "own": None if own is None else estimate(lambda kept, weight: good(own, weight)),
            "own_gain": None if own is None else estimate(lambda kept, weight: good(own, weight) - good(kept, weight)),
        }

    def feature_leak(
        self, features: Features, mask: NDArray[np.bool_], evalx: NDArray[np.float64], roar: NDArray[np.float64]
    ) -> dict[str, Any]:
        """Return what the choice of features tells about each hidden one, and in all."""
        hidden = ~mask[:, features.feature_of_cell]
        feature = np.eye(len(features.widths))[features.feature_of_cell]

        def gain(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
            better = np.log(np.maximum(other, _SMALLEST)) - np.log(np.maximum(one, _SMALLEST))
            by_feature = np.where(hidden, better, 0.0) @ feature
            return np.concatenate([by_feature, by_feature.sum(axis=-1, keepdims=True)], axis=-1)

        ensemble = gain(evalx.mean(axis=0), roar.mean(axis=0))
        value, error = with_error(weighted_mean, gain(evalx, roar), ensemble, self._fold, self._seed)
        unknown = -np.where(hidden, np.log(np.maximum(evalx.mean(axis=0), _SMALLEST)), 0.0).mean(axis=0) @ feature
        error = np.hypot(error, _RESOLUTION * np.append(unknown, unknown.sum()))
        return {
            "feature_leak": value[:-1],
            "feature_leak_error": error[:-1],
            "total_feature_leak": Estimate(float(value[-1]), float(error[-1])),
        }

    def _without_features(self) -> NDArray[np.float64]:
        """Return what the other folds say of each row: frequencies of the classes, or the mean value."""
        y, n_classes = self._target.values, self._target.n_classes
        kept = np.empty((len(y), n_classes))
        for number in np.unique(self._fold):
            others = y[self._fold != number]
            if self._target.task == "regression":
                kept[self._fold == number] = others.mean()
            else:
                counts = np.bincount(others, minlength=n_classes) + 0.5  # a class that the others lack is possible
                kept[self._fold == number] = counts / counts.sum()
        return kept
