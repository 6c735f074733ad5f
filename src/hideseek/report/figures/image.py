"""A row of pixels as an image, with its importance."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike, NDArray

from hideseek.errors import InputError
from hideseek.explanation import Explanation
from hideseek.metrics import best_patches
from hideseek.metrics.patches import IMAGE_SHAPE
from hideseek.report.figures.axes import new_or_given, title
from hideseek.report.figures.colours import background, first, foreground, second
from hideseek.report.figures.features import as_numbers, row_heading
from hideseek.validation import check_parameters, integer, row_number

__all__ = ["image"]

_TITLE = 150
"""Points: maximum width of the title, for a figure of 2.2 inches."""
_FULL_INK = 0.7
"""Grey level of the strongest pixel, so that patches and importance remain visible on it."""


def image(
    explanation: Explanation,
    position: int,
    *,
    shape: tuple[int, int],
    patch_size: int,
    n_patches: int,
    pixels: ArrayLike | None,
    overlay: bool,
    ax: Axes | None,
) -> Axes:
    """Draw the pixels in grey, importance as a colour over them, and outlines of the best patches."""
    given = {"shape": shape, "patch_size": patch_size, "n_patches": n_patches}
    check_parameters("image", given, {"shape": IMAGE_SHAPE, "patch_size": integer(1), "n_patches": integer(0)})
    one = explanation[row_number(position)]
    importance = np.abs(np.nan_to_num(one.importance.astype(np.float64)))
    if len(one.feature_names) != shape[0] * shape[1]:
        raise InputError(f"shape={shape} has {shape[0] * shape[1]} pixels; the rows have {one.shape[1]} features")
    corners = best_patches(importance, shape, patch_size, n_patches)[0] if n_patches else []
    ax = new_or_given(ax, height=2.2, width=2.2)
    ground = one.data if pixels is None else np.asarray(pixels)
    if ground is not None:
        ink = LinearSegmentedColormap.from_list("ink", [background(ax), foreground()])
        grey = _pixels(ground, shape)
        known = grey[np.isfinite(grey)]
        low, high = (known.min(), known.max()) if known.size else (0.0, 0.0)
        ax.imshow(grey, cmap=ink, vmin=low, vmax=low + ((high - low) or 1.0) / _FULL_INK, interpolation="nearest")
    if overlay:
        ax.imshow(_overlay(ax, one.importance[0].reshape(shape)), interpolation="nearest")
    ax.set(xlim=(-0.5, shape[1] - 0.5), ylim=(shape[0] - 0.5, -0.5), aspect="equal")
    for top, left in corners:
        box = Rectangle((left - 0.5, top - 0.5), patch_size, patch_size)
        box.set(facecolor=(*to_rgb(second(ax)), 0.0 if overlay else 0.2), edgecolor=second(ax), linewidth=1.2)
        ax.add_patch(box)
    ax.grid(False)
    ax.set_xticks([])
    ax.set_yticks([])
    title(ax, *row_heading(one), width=_TITLE)
    return ax


def _pixels(ground: NDArray[Any], shape: tuple[int, int]) -> NDArray[np.float64]:
    numbers = as_numbers(ground.reshape(-1))
    if numbers is None or len(numbers) != shape[0] * shape[1]:
        raise InputError(f"an image needs {shape[0] * shape[1]} numbers; pass them as pixels, in reading order")
    return numbers.reshape(shape)


def _overlay(ax: Axes, importance: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return blue, or orange if negative, more opaque for larger importance. Shape: ``(height, width, 4)``."""
    numbers = np.nan_to_num(importance.astype(np.float64))
    colours = np.empty((*numbers.shape, 4))
    colours[..., :3] = np.where((numbers < 0)[..., None], to_rgb(second(ax)), to_rgb(first(ax)))
    colours[..., 3] = 0.75 * np.abs(numbers) / max(np.abs(numbers).max(), 1e-12)
    return colours
