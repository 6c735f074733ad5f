"""Messages about columns before training, and about masks after it."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from hideseek.engine.recipe import PRICE_PER_FEATURE
from hideseek.errors import InputError, MaskWarning
from hideseek.search.learned import Learned
from hideseek.search.problem import Problem
from hideseek.tabular import TableEncoder
from hideseek.warn import warn_caller
from hideseek.wording import some

__all__ = ["check_columns", "summarise_masks"]

_ROWS_LOOKED_AT = 2000
_WORTH_A_WARNING = 0.9
_SHOWN = 0.5


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


def summarise_masks(learned: Learned, encoder: TableEncoder, table: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the mean mask of each column, and warn if nothing or everything is shown in nearly every row.

    Of a long table some thousand rows, evenly spread, are looked at. Shape: ``(rows, columns)`` -> ``(columns,)``.
    """
    masks = learned.ensemble.masks(table[:: max(1, len(table) // _ROWS_LOOKED_AT)])
    _warn_of_odd_masks(learned, masks)
    return np.asarray(encoder.to_columns(masks.mean(axis=0, dtype=np.float64)[None])[0])


def _warn_of_odd_masks(learned: Learned, masks: NDArray[np.float32]) -> None:
    n_shown, ensemble, penalty = (masks > _SHOWN).sum(axis=1), learned.ensemble, learned.penalty
    n_columns = int(ensemble.visible.any(dim=0).sum())
    if (n_shown == 0).mean() >= _WORTH_A_WARNING:
        problem = "collapsed: no feature is shown in nearly every row"
        advice = f"try penalty={penalty / 10:.2g} or a longer fit, or ask whether X can predict y at all"
    elif ensemble.kept is None and n_columns > 1 and (n_shown == n_columns).mean() >= _WORTH_A_WARNING:
        problem = "saturated: every feature is shown in nearly every row"
        advice = f"try penalty={max(3 * penalty, PRICE_PER_FEATURE * n_columns):.2g}"
        if not learned.recipe.cross_fit:
            advice += ", or cross_fit=True"
    else:
        return
    warn_caller(f"the masks {problem}; penalty is {penalty:.3g}: {advice}", MaskWarning)
