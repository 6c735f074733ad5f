"""What a frame brings along besides its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

__all__ = ["FrameLibrary", "frame_library", "make_frame", "row_labels"]

FrameLibrary = Literal["pandas", "polars"]


def row_labels(X: Any) -> NDArray[Any] | None:
    """The index of a pandas frame; None for anything that has no labels on its rows."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    index = nw.maybe_get_index(frame) if isinstance(frame, nw.DataFrame) else None
    return None if index is None else np.asarray(index)


def frame_library(X: Any) -> FrameLibrary:
    """The library that made X, or pandas where X is no frame."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return "polars" if isinstance(frame, nw.DataFrame) and frame.implementation.is_polars() else "pandas"


def make_frame(columns: Mapping[str, NDArray[Any] | Sequence[Any]], library: FrameLibrary) -> Any:
    """A frame of that library with these columns."""
    try:
        return nw.from_dict(columns, backend=library).to_native()
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"a frame needs {library}, which is not installed; pip install 'hideseek[data]'"
        ) from error
