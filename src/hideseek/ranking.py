"""The ranking of the features over all rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["rank_features"]


def rank_features(
    importance: NDArray[np.floating], selected: NDArray[np.bool_], names: Sequence[str]
) -> tuple[NDArray[np.intp], dict[str, NDArray[Any]]]:
    """Return the positions of the features, most important first, and the columns of ``mean_importance``.

    The standard error is NaN for a single row. Shape: ``(rows, features)`` both.
    """
    n_rows = len(importance)
    mean = importance.mean(axis=0, dtype=np.float64)
    spread = importance.std(axis=0, ddof=1, dtype=np.float64) if n_rows > 1 else np.full(len(mean), np.nan)
    order = np.argsort(-mean, kind="stable")
    return order, {
        "feature": np.array(names)[order],
        "importance": mean[order],
        "standard_error": (spread / np.sqrt(n_rows))[order],
        "selected": selected.mean(axis=0)[order],
    }
