"""What is said of the columns before training, and of the masks after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hideseek.engine.recipe import PRICE_PER_FEATURE
from hideseek.errors import InputError, MaskWarning
from hideseek.estimators._fitting import Prepared
from hideseek.warn import warn_caller
from hideseek.wording import some

if TYPE_CHECKING:
    from hideseek.estimators._base import BaseHideSeek

__all__ = ["check_columns", "summarise_masks"]

_ROWS_LOOKED_AT = 2000
_WORTH_A_WARNING = 0.9
_SHOWN = 0.5


def check_columns(model: BaseHideSeek, problem: Prepared) -> None:
    """Raise an InputError where nothing can be learned, and warn of columns that are constant."""
    names, scaler = model._names(), problem.scaler
    huge = problem.by_feature(~np.isfinite(scaler.scale) | ~np.isfinite(scaler.center))
    if huge.any():
        columns = some([names[j] for j in np.flatnonzero(huge)])
        raise InputError(f"X has values too large to standardise in {columns}; rescale those columns")
    if not problem.varies.any():
        raise InputError("every column of X is constant, so there is nothing to select from; pass columns that vary")
    ids = model.encoder_.ids  # of which there is a warning already
    constant = [name for name, varies in zip(names, problem.varies, strict=True) if not varies and name not in ids]
    if constant:
        warn_caller(f"constant columns are never selected: {some(constant)}")


def summarise_masks(model: BaseHideSeek, table: NDArray[np.floating]) -> None:
    """Set ``feature_importances_``, and warn if nothing or everything is shown in nearly every row.

    Of a long table some thousand rows, evenly spread, are looked at. Shape: ``(rows, columns)``.
    """
    masks = model._ensemble.masks(table[:: max(1, len(table) // _ROWS_LOOKED_AT)])
    by_feature = masks.mean(axis=0, dtype=np.float64)
    model.feature_importances_ = model.encoder_.to_columns(by_feature[None])[0]
    _warn_of_odd_masks(model, masks)


def _warn_of_odd_masks(model: BaseHideSeek, masks: NDArray[np.float32]) -> None:
    n_shown = (masks > _SHOWN).sum(axis=1)
    n_columns = int(model._ensemble.visible.any(dim=0).sum())
    if (n_shown == 0).mean() >= _WORTH_A_WARNING:
        problem = "collapsed: no feature is shown in nearly every row"
        advice = f"try penalty={model.penalty_ / 10:.2g} or a longer fit, or ask whether X can predict y at all"
    elif model._ensemble.kept is None and n_columns > 1 and (n_shown == n_columns).mean() >= _WORTH_A_WARNING:
        problem = "saturated: every feature is shown in nearly every row"
        advice = f"try penalty={max(3 * model.penalty_, PRICE_PER_FEATURE * n_columns):.2g}"
        if not model.recipe_.cross_fit:
            advice += ", or cross_fit=True"
    else:
        return
    warn_caller(f"the masks {problem}; penalty is {model.penalty_:.3g}: {advice}", MaskWarning)
