"""Writing files so that a reader sees the old one or the new one, never half of one, and knows what was written."""

from __future__ import annotations

import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

__all__ = ["digest_of", "write_atomically"]


def digest_of(text: str, arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return the SHA-256 of a text and of the name, type, shape and values of every array."""
    digest = sha256(text.encode("utf-8", "surrogatepass"))
    for name in sorted(arrays):
        array = np.asarray(arrays[name])
        digest.update(f"\0{name}\0{array.dtype.str}\0{array.shape}\0".encode("utf-8", "surrogatepass"))
        digest.update(array.tobytes())
    return digest.hexdigest()


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write beside the target, then rename over it; a failure leaves what was there."""
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"cannot write {os.fspath(path)!r}: there is no folder {str(target.parent)!r}")
    beside = target.with_name(f".{target.name}.{uuid4().hex[:8]}")
    try:
        with open(beside, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, target)
    finally:
        beside.unlink(missing_ok=True)
