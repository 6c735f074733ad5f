"""Statistics of rows with standard errors, over the rows and over the training of networks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Estimate", "Ranks", "Statistic", "weighted_mean", "weighted_r2", "with_error"]

_DRAWS = 200


class Estimate(NamedTuple):
    """A number and its standard error.

    Attributes:
        value: The estimate.
        error: Its standard error, over the rows and over the training of the networks.
    """

    value: float
    error: float

    @property
    def ratio(self) -> float:
        """The value divided by its standard error."""
        return self.value / self.error if self.error > 0 else float(np.sign(self.value)) * float("inf")

    def __str__(self) -> str:
        return f"{self.value:.4f} ± {self.error:.4f}"


Statistic = Callable[[NDArray[np.float64], NDArray[np.float64]], Any]
"""Numbers of the rows ``(rows, ...)`` and the weights of the rows ``(rows,)`` -> a number or an array."""


def with_error(
    statistic: Statistic,
    networks: NDArray[np.float64],
    ensemble: NDArray[np.float64],
    fold: NDArray[np.int64],
    seed: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return a statistic of the ensemble's numbers, and its standard error.

    The error has two parts, added as squares: the spread over bootstrap samples of the rows, and the spread between
    networks that were trained on the same rows from different starts, which a bootstrap of rows does not see.

    Args:
        statistic: The statistic.
        networks: The numbers of each network. Shape: ``(networks, rows, ...)``.
        ensemble: The numbers of all networks together. Shape: ``(rows, ...)``.
        fold: The fold of each row; networks of different folds are independent. Shape: ``(rows,)``.
        seed: Seed of the bootstrap samples.
    """
    n_rows, rng = len(ensemble), np.random.default_rng([seed, 3])
    draws = (np.bincount(rng.integers(n_rows, size=n_rows), minlength=n_rows) for _ in range(_DRAWS))
    variance = np.nanvar([statistic(ensemble, draw.astype(np.float64)) for draw in draws], axis=0, ddof=1)
    if len(networks) > 1:
        for number in np.unique(fold):
            inside = (fold == number).astype(np.float64)
            spread = np.var([statistic(network, inside) for network in networks], axis=0, ddof=1)
            variance = variance + inside.mean() ** 2 * np.nan_to_num(spread) / len(networks)
    return np.asarray(statistic(ensemble, np.ones(n_rows))), np.sqrt(variance)


def weighted_mean(scores: NDArray[np.float64], weight: NDArray[np.float64]) -> Any:
    """Return the mean over rows. Shape: ``(rows, ...)`` -> ``(...)``."""
    return weight @ scores / weight.sum()


class Ranks:
    """AUROC with weighted rows: for two classes, or the mean over one-against-rest curves.

    Args:
        classes: The number of each row's class. Shape: ``(rows,)``.
        n_classes: Number of classes.
    """

    def __init__(self, classes: NDArray[np.int64], n_classes: int) -> None:
        self._classes = classes
        self._positive = range(1, 2) if n_classes == 2 else range(n_classes)

    def auroc(self, probability: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
        """Return the AUROC; NaN where a class has no weight. Shape: ``(rows, classes)``, ``(rows,)``."""
        areas = [self._area(probability[:, c], weight, self._classes == c) for c in self._positive]
        return float(np.mean(areas))

    @staticmethod
    def _area(score: NDArray[np.float64], weight: NDArray[np.float64], positive: NDArray[np.bool_]) -> float:
        order = np.argsort(score, kind="stable")
        ranked = score[order]
        starts = np.flatnonzero(np.concatenate(([True], ranked[1:] != ranked[:-1])))  # equal scores count one half
        above = np.add.reduceat(np.where(positive, weight, 0.0)[order], starts)
        below = np.add.reduceat(np.where(positive, 0.0, weight)[order], starts)
        pairs = above.sum() * below.sum()
        return float((above * (below.cumsum() - below / 2)).sum() / pairs) if pairs > 0 else float("nan")


def weighted_r2(y: NDArray[np.float64], prediction: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    """Return the share of the variance of y that the predictions explain; NaN if y does not vary."""
    mean = np.average(y, weights=weight)
    variation = (weight * (y - mean) ** 2).sum()
    return float(1 - (weight * (y - prediction) ** 2).sum() / variation) if variation > 0 else float("nan")
