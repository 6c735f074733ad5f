"""What a fitted model keeps of the training rows to stand in for hidden features."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hideseek.errors import InputError

if TYPE_CHECKING:
    from hideseek.estimators._base import BaseHideSeek

__all__ = ["check_draws", "limit_pools"]


def check_draws(n_draws: int, n_rows: int) -> None:
    """Raise an InputError where a prediction would need more replacement rows than are kept."""
    if n_draws > n_rows:
        raise InputError(
            f"prediction_draws={n_draws} needs as many replacement rows, and {n_rows} are kept; "
            f"lower prediction_draws, or fit with pool_rows={n_draws} or more"
        )


def limit_pools(model: BaseHideSeek) -> None:
    """Leave the fitted model no more of the training rows than its parameters allow."""
    model.pool_ = model.pool if model._ensemble.knockoffs is None else "noise"
    model._ensemble = model._ensemble.with_pool(model.pool, model.pool_rows)
