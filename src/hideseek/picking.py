"""Selection of rows and features by position, slice, list, boolean array or name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hideseek.errors import PositionError, UnknownFeatureError
from hideseek.validation import as_array
from hideseek.wording import listed, shown

__all__ = ["are_names", "by_name", "positions"]


def are_names(key: Any) -> bool:
    """Return whether the key is one name, or a list, tuple, array or index of names."""
    parts = key.tolist() if hasattr(key, "tolist") else key
    return isinstance(key, str) or (
        isinstance(parts, list | tuple) and len(parts) > 0 and all(isinstance(part, str) for part in parts)
    )


def by_name(features: Any, feature_names: Sequence[str]) -> Any:
    """Return the positions of features given by name; other keys are returned unchanged."""
    if not are_names(features):
        return features
    names = [features] if isinstance(features, str) else [str(name) for name in features]
    unknown = [name for name in names if name not in feature_names]
    if unknown:
        raise UnknownFeatureError(f"no feature named {listed(map(repr, unknown), last='or')}")
    return [feature_names.index(name) for name in names]


def positions(key: Any, size: int, what: str) -> Any:
    """Return an index that keeps the axis: a slice, an array of positions, or an array of booleans.

    Args:
        key: The user's key.
        size: The length of the axis.
        what: "row" or "feature", for messages.
    """
    refused = f"{what}s are selected by position, slice, list or boolean array; got {shown(key)}"
    if isinstance(key, slice):
        try:
            key.indices(size)
        except (TypeError, ValueError) as error:
            raise PositionError(f"{refused}: {error}") from error
        return key
    picked = as_array(f"the {what}s to pick", key)
    if picked.ndim == 0:
        if isinstance(key, bool | np.bool_) or not hasattr(key, "__index__"):
            raise PositionError(refused)
        picked = picked[None]
    picked = picked if picked.size else picked.astype(int)
    whole = picked.dtype.kind in "biu" or all(isinstance(i, int) for i in picked.reshape(-1).tolist())
    if picked.ndim != 1 or not whole:
        raise PositionError(refused)
    if picked.dtype == bool:
        if len(picked) != size:
            raise PositionError(f"got {len(picked)} booleans to select from {size} {what}s")
        return picked
    outside = picked[(picked < -size) | (picked >= size)]
    if len(outside):
        raise PositionError(f"{what} {shown(outside.tolist()[0])} is out of range: the explanation has {size} {what}s")
    return picked
