"""What a frame brings along besides its numbers."""

from __future__ import annotations

from typing import Any, Literal

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

__all__ = ["frame_library", "row_labels"]


def row_labels(X: Any) -> NDArray[Any] | None:
    """The index of a pandas frame; None for anything that has no labels on its rows."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    index = nw.maybe_get_index(frame) if isinstance(frame, nw.DataFrame) else None
    return None if index is None else np.asarray(index)


def frame_library(X: Any) -> Literal["pandas", "polars"]:
    """The library that made X, or pandas where X is no frame."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return "polars" if isinstance(frame, nw.DataFrame) and frame.implementation.is_polars() else "pandas"
