"""What a frame brings along besides its numbers, and tables of any kind that stay what they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from hideseek.errors import InputError

__all__ = ["FrameLibrary", "check_arrow", "frame_library", "make_frame", "mixed_rows", "row_labels", "take_rows"]

FrameLibrary = Literal["pandas", "polars"]


def check_arrow(X: Any) -> None:
    """Raise an InputError if X is a table of pyarrow whose lengths and offsets lead out of its memory.

    Tables from malformed files are such: pyarrow reads them without a look at these.
    """
    native = nw.to_native(X, pass_through=True)
    if not nw.dependencies.is_pyarrow_table(native):
        return
    try:
        native.validate(full=True)
    except ValueError as error:
        raise InputError(f"X is not a valid table of pyarrow: {error}; look for a damaged file behind it") from error


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


def take_rows(X: Any, rows: NDArray[np.intp]) -> Any:
    """Some rows of a table, as a table of the same kind; lists become an array."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame[rows].to_native()
    return X[rows] if hasattr(X, "shape") else np.asarray(X)[rows]


def mixed_rows(X: Any, others: Any, kept: NDArray[np.bool_], picks: NDArray[np.intp]) -> Any:
    """X where ``kept`` is true, and elsewhere the same column of another row: a table of X's kind, with its types.

    Args:
        X: A frame, an array or a tensor of numbers. Shape: ``(rows, features)``.
        others: Rows of the same columns.
        kept: Shape: ``(rows, features)``.
        picks: The row of ``others`` that stands in for each cell. Shape: ``(rows, features)``.
    """
    frame, other = (nw.from_native(table, eager_only=True, pass_through=True) for table in (X, others))
    if isinstance(frame, nw.DataFrame) and isinstance(other, nw.DataFrame):
        both = nw.concat([frame, other], how="vertical")
        cells = np.where(kept, np.arange(len(frame))[:, None], len(frame) + picks)
        return frame.with_columns(*(column[cells[:, j]] for j, column in enumerate(both.iter_columns()))).to_native()
    values, replacements = np.asarray(X), np.asarray(others)
    mixed = np.where(kept, values, np.take_along_axis(replacements, picks, axis=0)).astype(values.dtype, copy=False)
    return X.new_tensor(mixed) if hasattr(X, "new_tensor") else mixed
