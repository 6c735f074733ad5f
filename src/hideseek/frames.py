"""Frame helpers: row labels, library, and row selection that keeps the type of the input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from hideseek.errors import InputError
from hideseek.extras import import_extra

__all__ = [
    "FrameLibrary",
    "check_arrow",
    "frame_library",
    "from_tensor",
    "is_series",
    "make_frame",
    "mixed_rows",
    "n_rows",
    "row_labels",
    "take_rows",
    "unmasked",
]

FrameLibrary = Literal["pandas", "polars"]


def check_arrow(X: Any) -> None:
    """Raise an InputError if X is a pyarrow table whose lengths and offsets point outside its memory.

    pyarrow does not check them when it reads a malformed file.
    """
    native = nw.to_native(X, pass_through=True)
    if not nw.dependencies.is_pyarrow_table(native):
        return
    try:
        native.validate(full=True)
    except ValueError as error:
        raise InputError(
            f"X is not a valid pyarrow table: {error}; the file it was read from may be damaged"
        ) from error


def row_labels(X: Any) -> NDArray[Any] | None:
    """Return the index of a pandas frame, or the name of a Series that is one row; None if rows have no labels."""
    if is_series(X):
        return None if X.name is None else np.array([X.name])
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    index = nw.maybe_get_index(frame) if isinstance(frame, nw.DataFrame) else None
    return None if index is None else np.asarray(index)


def is_series(values: Any) -> bool:
    """Return whether this is a single column, or row, of pandas or polars."""
    if isinstance(values, np.ndarray):  # the usual case, which narwhals takes long to tell
        return False
    return isinstance(nw.from_native(values, series_only=True, pass_through=True), nw.Series)


def frame_library(X: Any) -> FrameLibrary:
    """Return the library of a frame; pandas if X is not a frame."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return "polars" if isinstance(frame, nw.DataFrame) and frame.implementation.is_polars() else "pandas"


def make_frame(columns: Mapping[str, NDArray[Any] | Sequence[Any]], library: FrameLibrary) -> Any:
    """Return a frame of that library with these columns."""
    import_extra(library, "data", f"a frame needs {library}")
    return nw.from_dict(columns, backend=library).to_native()


def from_tensor(values: Any) -> NDArray[Any]:
    """Return a torch tensor as an array; types that numpy lacks become single precision."""
    values = values.detach().cpu().to_dense()
    try:
        return np.asarray(values.numpy())
    except TypeError:
        return np.asarray(values.float().numpy())


def unmasked(values: np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
    """Return the values of a masked array with NaN, or None for objects, where they are masked."""
    plain = np.array(values.data, dtype=object if values.dtype == object else np.float64)
    plain[np.ma.getmaskarray(values)] = None if plain.dtype == object else np.nan
    return plain


def n_rows(X: Any) -> int:
    """Return the number of rows of a table of any kind; 0 if it is not a table."""
    shape = getattr(X, "shape", None)
    if isinstance(shape, tuple):
        return int(shape[0]) if shape else 0
    return len(X) if hasattr(X, "__len__") and not isinstance(X, type) else 0


def take_rows(X: Any, rows: NDArray[np.intp]) -> Any:
    """Return some rows of a table, as a table of the same kind; lists become an array."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame[rows].to_native()
    return X[rows] if hasattr(X, "shape") else np.asarray(X)[rows]


def mixed_rows(X: Any, others: Any, kept: NDArray[np.bool_], picks: NDArray[np.intp]) -> Any:
    """Return X where ``kept`` is true, and values of other rows elsewhere, as a table with X's kind and types.

    Args:
        X: A frame, an array or a tensor of numbers. Shape: ``(rows, features)``.
        others: Rows of the same columns.
        kept: True for cells that are not replaced. Shape: ``(rows, features)``.
        picks: The row of ``others`` that replaces each cell. Shape: ``(rows, features)``.
    """
    frame, other = (nw.from_native(table, eager_only=True, pass_through=True) for table in (X, others))
    if isinstance(frame, nw.DataFrame) and isinstance(other, nw.DataFrame):
        if frame.implementation != other.implementation or frame.columns != other.columns:
            raise InputError("X and the background rows must be frames of one library with the same columns")
        both = nw.concat([frame, other], how="vertical")
        cells = np.where(kept, np.arange(len(frame))[:, None], len(frame) + picks)
        return frame.with_columns(*(column[cells[:, j]] for j, column in enumerate(both.iter_columns()))).to_native()
    values, replacements = (from_tensor(part) if hasattr(part, "detach") else np.asarray(part) for part in (X, others))
    try:
        mixed = np.where(kept, values, np.take_along_axis(replacements, picks, axis=0)).astype(values.dtype, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"X and the background rows must have values of one type: {error}") from error
    return X.new_tensor(mixed) if hasattr(X, "new_tensor") else mixed
