"""The target of a fit: labels or numbers from a column of the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hideseek.errors import InputError
from hideseek.warn import warn_caller

if TYPE_CHECKING:
    import narwhals as nw
    from numpy.typing import NDArray

__all__ = ["TASKS", "split_target", "task_of"]

TASKS = ("auto", "classification", "regression")
_MOST_CLASSES = 20


def split_target(table: nw.DataFrame[Any], target: str) -> tuple[nw.DataFrame[Any], NDArray[Any]]:
    """Return the other columns and the target, without the rows whose target is missing."""
    import narwhals as nw

    labelled = table.filter(~nw.col(target).is_null())
    n_missing = len(table) - len(labelled)
    if n_missing == len(table):
        raise InputError(f"the target {target!r} is missing in every row")
    if n_missing:
        warn_caller(f"ignored: {n_missing:,} rows whose {target!r} is missing")
    y = labelled[target].to_numpy()
    if y.dtype.kind == "f" and n_missing and (y == y.round()).all():
        y = y.astype(int)  # integers that became floats because some were missing
    return labelled.drop(target), y


def task_of(y: NDArray[Any]) -> str:
    """Return "classification" for text, booleans and few different integers, "regression" for other numbers."""
    import numpy as np

    if y.dtype.kind not in "iuf":
        return "classification"
    few = len(np.unique(y)) <= _MOST_CLASSES
    return "classification" if few and (y == np.round(y)).all() else "regression"
