"""Scores of predictions with standard errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hideseek.metrics._audit._errors import Estimate, Ranks, weighted_mean, weighted_r2, with_error
from hideseek.metrics._audit._inputs import Features, Target

if TYPE_CHECKING:
    from hideseek.metrics._audit._estimation import Predictions  # imports torch

__all__ = ["Summary"]

_RESOLUTION = 2e-3
"""Share of the loss with nothing shown by which networks can differ for reasons other than their features."""
_SMALLEST = 1e-12
_LARGEST_RATIO = 20.0
"""Upper bound of a row's ratio, so that a few rows do not dominate the correction."""


class Summary:
    """Scores of predictions with standard errors.

    Args:
        target: The target of the predictions.
        fold: The fold of each row. Shape: ``(rows,)``.
        seed: Seed of the bootstrap samples.
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

    def score(self, kept: NDArray[np.float64]) -> Estimate:
        """Return the mean score of some predictions. Shape: ``(networks, rows, numbers)``."""
        return self._mean(self.by_row(kept), self.by_row(kept.mean(axis=0)))

    def evalx(self, found: Predictions) -> Estimate:
        """Return the score of EVAL-X's predictions, corrected for their error."""
        return self._mean(*self._evalx_by_row(found))

    def encode(self, found: Predictions) -> Estimate:
        """Return ROAR's score minus EVAL-X's, row by row."""
        networks, ensemble = self._evalx_by_row(found)
        return self._mean(self.by_row(found.roar) - networks, self.by_row(found.roar.mean(axis=0)) - ensemble)

    def _mean(self, networks: NDArray[np.float64], ensemble: NDArray[np.float64]) -> Estimate:
        value, error = with_error(weighted_mean, networks, ensemble, self._fold, self._seed)
        return Estimate(float(value), float(np.hypot(error, self._resolution)))

    def _evalx_by_row(self, found: Predictions) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return EVAL-X's corrected score of each row, by network and for the ensemble."""
        networks = self.by_row(found.evalx) + self._correction(found, found.pair_evalx, found.pair_roar)
        pairs = found.pair_evalx.mean(axis=0), found.pair_roar.mean(axis=0)
        return networks, self.by_row(found.evalx.mean(axis=0)) + self._correction(found, *pairs)

    def _correction(
        self, found: Predictions, evalx: NDArray[np.float64], roar: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return each row's estimate of the error of EVAL-X's predictions, to first order.

        If a selector leaks, rows with their own masks do not follow p(y given x_S), so that an error of its estimate q
        changes the score linearly instead of quadratically. Rows with masks of other rows do follow it. Let r be
        ROAR's prediction. The mean of r(y) / q(y) - 1 over these rows, or of 2 (r - q) (y - q) for values, is the gain
        of the score when q is corrected by them (a one-step correction); it is 0 without leakage, where r equals q. It
        also includes the sampling error of q in the standard error.
        Shape: ``(..., pairs, numbers)`` -> ``(..., rows)``.
        """
        y = self._target.values[found.pair_rows]
        if self._target.task == "regression":
            gain = 2 * (roar[..., 0] - evalx[..., 0]) * (y - evalx[..., 0])
        else:
            each = np.arange(len(y))
            gain = np.minimum(roar[..., each, y] / np.maximum(evalx[..., each, y], _SMALLEST), _LARGEST_RATIO) - 1
        n_rows = len(self._target.values)
        sums = [np.bincount(found.pair_rows, part, n_rows) for part in gain.reshape(-1, len(y))]
        return np.reshape(sums, (*gain.shape[:-1], n_rows)) * n_rows / len(y)

    def quality(self, evalx: NDArray[np.float64], own: NDArray[np.float64] | None) -> dict[str, Any]:
        """Return AUROC and accuracy, or R2, of EVAL-X's predictions, those of the method's own, and the difference."""
        y, ranks = self._target.values, Ranks(self._target.values, self._target.n_classes)

        def good(kept: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
            return (
                weighted_r2(y, kept[:, 0], weight) if self._target.task == "regression" else ranks.auroc(kept, weight)
            )

        def right(kept: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
            return float(weighted_mean((kept.argmax(axis=1) == y).astype(np.float64), weight))

        def estimate(statistic: Any) -> Estimate:
            return Estimate(*map(float, with_error(statistic, evalx, evalx.mean(axis=0), self._fold, self._seed)))

        named = estimate(good)
        return {
            "eauroc": named if self._target.task == "classification" else None,
            "eaccuracy": estimate(right) if self._target.task == "classification" else None,
            "r2": named if self._target.task == "regression" else None,
            "own": None if own is None else estimate(lambda kept, weight: good(own, weight)),
            "own_gain": None if own is None else estimate(lambda kept, weight: good(own, weight) - good(kept, weight)),
        }

    def feature_leak(
        self, features: Features, mask: NDArray[np.bool_], evalx: NDArray[np.float64], roar: NDArray[np.float64]
    ) -> dict[str, Any]:
        """Return what the choice of features reveals about each hidden one, and in total."""
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
        """Return the prediction without features from the other folds: class frequencies, or the mean value."""
        y, n_classes = self._target.values, self._target.n_classes
        kept = np.empty((len(y), n_classes))
        for number in np.unique(self._fold):
            others = y[self._fold != number]
            if self._target.task == "regression":
                kept[self._fold == number] = others.mean()
            else:
                counts = (
                    np.bincount(others, minlength=n_classes) + 0.5
                )  # a class that does not occur in the other folds is possible
                kept[self._fold == number] = counts / counts.sum()
        return kept
