"""The features of an explanation by their importance over all rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ranking"]


def ranking(
    importance: NDArray[Any], selected: NDArray[np.bool_], feature_names: Sequence[str]
) -> tuple[NDArray[np.intp], dict[str, NDArray[Any]]]:
    """Return the positions of the features, most important first, and their figures as columns of a frame."""
    n_rows = len(importance)
    mean = importance.mean(axis=0, dtype=np.float64)
    spread = importance.std(axis=0, ddof=1, dtype=np.float64) if n_rows > 1 else np.full(len(mean), np.nan)
    order = np.argsort(-mean, kind="stable")
    return order, {
        "feature": np.array(feature_names)[order],
        "importance": mean[order],
        "standard_error": (spread / np.sqrt(n_rows))[order],
        "selected": selected.mean(axis=0)[order],
    }
