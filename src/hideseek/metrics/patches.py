"""Importance of small square patches from that of pixels."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray

from hideseek.errors import InputError
from hideseek.validation import Rule, as_array, check_parameters, integer

__all__ = ["IMAGE_SHAPE", "best_patches", "patch_scores"]

IMAGE_SHAPE = Rule(
    "height and width, two whole numbers of at least 1",
    lambda value: isinstance(value, list | tuple) and len(value) == 2 and all(map(integer(1).accepts, value)),
)


def patch_scores(importance: ArrayLike, shape: tuple[int, int] = (28, 28), size: int = 3) -> NDArray[np.float64]:
    """Sum the importance of the pixels in every square window, moved by one pixel at a time.

    Args:
        importance: Pixels in reading order. Shape: ``(images, height * width)``.
        shape: Height and width of the images.
        size: Side of a window.

    Returns:
        Entry [i, r, c] is the sum over the window of image i whose upper left pixel is (r, c).
        Shape: ``(images, height - size + 1, width - size + 1)``.

    Example:
        >>> from hideseek.metrics import patch_scores
        >>> patch_scores([[1, 2, 3, 4, 5, 6]], shape=(2, 3), size=2).tolist()
        [[[12.0, 16.0]]]
    """
    check_parameters("patch_scores", {"shape": shape}, {"shape": IMAGE_SHAPE})
    pixels = as_array("importance", importance, float)
    if pixels.ndim != 2 or pixels.shape[1] != shape[0] * shape[1]:
        raise InputError(
            f"importance must be (images, {shape[0]} * {shape[1]}) for shape={shape}; it has shape {pixels.shape}"
        )
    check_parameters("patch_scores", {"size": size}, {"size": integer(1, min(shape))})
    windows = sliding_window_view(pixels.reshape(-1, *shape), (size, size), axis=(1, 2))
    return np.asarray(windows.sum(axis=(-2, -1)))


def best_patches(
    importance: ArrayLike, shape: tuple[int, int] = (28, 28), size: int = 3, n_patches: int = 4
) -> NDArray[np.intp]:
    """Find the windows with the largest scores of every image, the best first. They may overlap.

    Ties are broken in reading order.

    Args:
        importance: Pixels in reading order. Shape: ``(images, height * width)``.
        shape: Height and width of the images.
        size: Side of a window.
        n_patches: Number of windows.

    Returns:
        Row and column of the upper left pixel of each. Shape: ``(images, n_patches, 2)``.

    Example:
        >>> from hideseek.metrics import best_patches
        >>> best_patches([[0, 0, 1, 0, 0, 1]], shape=(2, 3), size=2, n_patches=1).tolist()
        [[[0, 1]]]
    """
    scores = patch_scores(importance, shape, size)
    check_parameters(
        "best_patches", {"n_patches": n_patches}, {"n_patches": integer(1, scores.shape[1] * scores.shape[2])}
    )
    best = np.argsort(-scores.reshape(len(scores), -1), axis=1, kind="stable")[:, :n_patches]
    return np.stack(np.unravel_index(best, scores.shape[1:]), axis=-1)
