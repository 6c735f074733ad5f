"""pyarrow, which is an extra."""

from __future__ import annotations

from typing import Any

from hideseek.extras import import_extra

__all__ = ["arrow"]


def arrow() -> Any:
    """Return the module pyarrow, or raise an error that names the extra."""
    return import_extra("pyarrow", "files", "Scorer and explain_files need pyarrow")
