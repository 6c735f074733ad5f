"""Writing files so that a reader sees the old one or the new one, never half of one."""

from __future__ import annotations

import os
from pathlib import Path
from uuid import uuid4

__all__ = ["write_atomically"]


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
