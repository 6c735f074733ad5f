"""Messages about columns before training."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from hideseek.errors import InputError
from hideseek.search.problem import Problem
from hideseek.warn import warn_caller
from hideseek.wording import some

__all__ = ["check_columns"]


def check_columns(problem: Problem, ids: Collection[str]) -> None:
    """Raise an InputError where nothing can be learned, and warn of constant columns but for ``ids``."""
    names, scaler = problem.names, problem.scaler
    huge = problem.by_feature(~np.isfinite(scaler.scale) | ~np.isfinite(scaler.center))
    if huge.any():
        columns = some([name for name, is_huge in zip(names, huge, strict=True) if is_huge])
        raise InputError(f"X has values too large to standardise in {columns}; rescale those columns")
    if not problem.varies.any():
        raise InputError("every column of X is constant, so there is nothing to select from; pass columns that vary")
    constant = [name for name, varies in zip(names, problem.varies, strict=True) if not varies and name not in ids]
    if constant:
        warn_caller(f"constant columns are never selected: {some(constant)}")
