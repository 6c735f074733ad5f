"""Pack numbers as text that a page can decode into typed arrays."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Packed", "pack", "pack_column", "pack_shades"]

Packed = dict[str, Any]
"""The input of arrays.js: "type", "data", and for shades also "low" and "high"."""

_TYPES = ("u1", "u2", "i4", "f4", "f8")
_EXACT = 1e-6
"""Error, in standard deviations of the column, below which a shorter type is used."""
_SHADES = 65535


def pack(values: NDArray[Any], kind: str) -> Packed:
    """Return the values in one of ``_TYPES``, little-endian, in row order."""
    return {"type": kind, "data": b64encode(np.ascontiguousarray(values, dtype=f"<{kind}").tobytes()).decode("ascii")}


def pack_column(values: NDArray[np.floating]) -> Packed:
    """Return the values in the shortest type that is exact to a millionth of their standard deviation."""
    missing = bool(np.isnan(values).any())
    allowed = _EXACT * float(np.nanstd(values)) if not np.isnan(values).all() else 0.0
    for kind in _TYPES[3:] if missing else _TYPES:
        with np.errstate(invalid="ignore", over="ignore"):
            shorter = values.astype(kind).astype(np.float64)
        if np.allclose(shorter, values, rtol=0, atol=allowed if kind == "f4" else 0, equal_nan=True):
            return pack(values, kind)
    return pack(values, "f8")


def pack_shades(values: NDArray[np.floating], top: float) -> Packed:
    """Return the values in 65,536 steps from 0, or the lowest value, to ``top``, or the highest value."""
    low, high = min(0.0, float(values.min())), max(top, float(values.max()))
    steps = np.rint((values.astype(np.float64) - low) * (_SHADES / (high - low)))
    return {**pack(steps, "u2"), "low": low, "high": high}
