"""Digests that detect damaged files."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["digest_of"]


def digest_of(text: str, arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return the SHA-256 of a text and of the name, type, shape and values of every array."""
    digest = sha256(text.encode("utf-8", "surrogatepass"))
    for name in sorted(arrays):
        array = np.asarray(arrays[name])
        digest.update(f"\0{name}\0{array.dtype.str}\0{array.shape}\0".encode("utf-8", "surrogatepass"))
        digest.update(array.tobytes())
    return digest.hexdigest()
