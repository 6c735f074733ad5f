"""Summaries over seeds of one method, and comparisons of two."""

from __future__ import annotations

from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hideseek.errors import InputError
from hideseek.validation import as_array, check_parameters, integer, number

__all__ = ["PairedComparison", "SeedSummary", "compare_seeds", "summarize_seeds"]

_RESAMPLES = 10_000


class SeedSummary(NamedTuple):
    """Summary of one method over seeds.

    Attributes:
        median: The median.
        lower_quartile: The lower quartile.
        upper_quartile: The upper quartile.
        worst: The worst value.
        low: Lower end of the bootstrap interval of the median.
        high: Upper end of it.
        n_seeds: Number of seeds.
    """

    median: float
    lower_quartile: float
    upper_quartile: float
    worst: float
    low: float
    high: float
    n_seeds: int


class PairedComparison(NamedTuple):
    """Comparison of two methods on the same seeds.

    Attributes:
        median_difference: Median of first minus second.
        low: Lower end of the bootstrap interval of the median difference.
        high: Upper end of it.
        n_larger: Seeds on which the first is larger.
        n_equal: Seeds on which both are the same.
        n_smaller: Seeds on which the first is smaller.
        p_value: p-value of the two-sided sign test on the seeds that differ. 1 if none do.
    """

    median_difference: float
    low: float
    high: float
    n_larger: int
    n_equal: int
    n_smaller: int
    p_value: float


def summarize_seeds(
    values: ArrayLike,
    *,
    higher_is_better: bool = True,
    confidence: float = 0.95,
    random_state: int = 0,
) -> SeedSummary:
    """Return median, quartiles, worst seed and a bootstrap interval of the median.

    Args:
        values: One number per seed, all finite. Shape: ``(seeds,)``.
        higher_is_better: Whether the smallest value is the worst, as for TPR and F1, or the largest, as for FDR.
        confidence: Confidence of the percentile bootstrap interval.
        random_state: Seed of the bootstrap.

    Example:
        >>> from hideseek.metrics import summarize_seeds
        >>> summary = summarize_seeds([90, 96, 97, 98, 99])
        >>> summary.median, summary.lower_quartile, summary.upper_quartile, summary.worst
        (97.0, 96.0, 98.0, 90.0)
    """
    array = _seeds("values", values)
    lower, median, upper = np.quantile(array, [0.25, 0.5, 0.75])
    worst = array.min() if higher_is_better else array.max()
    low, high = _median_interval(array, confidence, random_state)
    return SeedSummary(float(median), float(lower), float(upper), float(worst), low, high, len(array))


def compare_seeds(
    first: ArrayLike, second: ArrayLike, *, confidence: float = 0.95, random_state: int = 0
) -> PairedComparison:
    """Compare two methods seed by seed.

    Args:
        first: One number per seed, all finite. Shape: ``(seeds,)``.
        second: Numbers of the other method, for the same seeds in the same order.
        confidence: Confidence of the percentile bootstrap interval, which resamples seeds.
        random_state: Seed of the bootstrap.

    Example:
        >>> from hideseek.metrics import compare_seeds
        >>> comparison = compare_seeds([97, 98, 99, 95], [90, 91, 99, 94])
        >>> comparison.median_difference, comparison.n_larger, comparison.n_equal, comparison.p_value
        (4.0, 3, 1, 0.25)
    """
    one, other = _seeds("first", first), _seeds("second", second)
    if len(one) != len(other):
        raise InputError(f"first has {len(one)} seeds and second {len(other)}; pass both for the same seeds, in order")
    difference = one - other
    low, high = _median_interval(difference, confidence, random_state)
    larger, smaller = int((difference > 0).sum()), int((difference < 0).sum())
    return PairedComparison(
        median_difference=float(np.median(difference)),
        low=low,
        high=high,
        n_larger=larger,
        n_equal=len(one) - larger - smaller,
        n_smaller=smaller,
        p_value=_sign_test(larger, smaller),
    )


def _seeds(name: str, values: ArrayLike) -> NDArray[np.float64]:
    array = as_array(name, values, float)
    if array.ndim != 1 or array.size == 0 or not np.isfinite(array).all():
        raise InputError(
            f"{name} must be one finite number per seed; it has shape {array.shape} and "
            f"{int((~np.isfinite(array)).sum())} that are not finite. Report failed seeds separately"
        )
    return array


def _median_interval(values: NDArray[np.float64], confidence: float, random_state: int) -> tuple[float, float]:
    rules = {"confidence": number("a number between 0 and 1", lambda v: 0 < v < 1), "random_state": integer(0)}
    check_parameters("the bootstrap interval", {"confidence": confidence, "random_state": random_state}, rules)
    draws = np.random.default_rng(random_state).integers(len(values), size=(_RESAMPLES, len(values)))
    tail = (1 - confidence) / 2
    low, high = np.quantile(np.median(values[draws], axis=1), [tail, 1 - tail])
    return float(low), float(high)


def _sign_test(larger: int, smaller: int) -> float:
    n = larger + smaller
    as_uneven = sum(comb(n, k) for k in range(min(larger, smaller) + 1))
    return min(1.0, as_uneven * 2.0 ** (1 - n))
