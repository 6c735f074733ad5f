"""A smooth density of numbers in an interval."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["density"]

_FINE = 1000
"""Bins that the numbers are counted in first, so that the work does not grow with their number."""


def density(
    numbers: ArrayLike, grid: NDArray[np.float64], ends: tuple[float, float], width: float = 0.01
) -> NDArray[np.float64]:
    """Return a kernel density between the ends, with the kernel's mass beyond an end reflected.

    Args:
        numbers: Numbers without NaN.
        grid: The points of the density. Shape: ``(points,)``.
        ends: The smallest and the largest possible number.
        width: Width of the kernel as a share of the range, small enough to keep peaks at the ends.

    Returns:
        The density, whose integral between the ends is 1. Shape: ``(points,)``.

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
