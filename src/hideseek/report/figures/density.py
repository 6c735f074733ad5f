"""A smooth density of numbers that live between two ends."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["density"]

_FINE = 1000
"""Cells that the numbers are first counted in, so that the work does not grow with their number."""


def density(
    numbers: ArrayLike, grid: NDArray[np.float64], ends: tuple[float, float], width: float = 0.01
) -> NDArray[np.float64]:
    """A kernel density between the ends, with what the kernel carries beyond an end reflected there.

    Args:
        numbers: Not one of them NaN.
        grid: Where to give the density. Shape: ``(points,)``.
        ends: The smallest and the largest number possible.
        width: Of the kernel, as a share of the range: fine enough to leave peaks at the ends where they are.

    Returns:
        Its integral between the ends is 1. Shape: ``(points,)``.

    Example:
        >>> import numpy as np
        >>> flat = density(np.linspace(0, 1, 9999), np.linspace(0, 1, 5), (0.0, 1.0))
        >>> flat.round(1).tolist()
        [1.0, 1.0, 1.0, 1.0, 1.0]
    """
    low, high = ends
    counts, edges = np.histogram(np.asarray(numbers), _FINE, (low, high))
    points = (edges[:-1] + edges[1:]) / 2
    scale = width * (high - low)
    kernels = sum(
        np.exp(-0.5 * ((grid[:, None] - image) / scale) ** 2)
        for image in (points[None], 2 * low - points[None], 2 * high - points[None])
    )
    heights: NDArray[np.float64] = kernels @ counts / (scale * np.sqrt(2 * np.pi) * max(counts.sum(), 1))
    return heights
