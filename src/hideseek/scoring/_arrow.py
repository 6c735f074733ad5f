"""pyarrow, which is an extra."""

from __future__ import annotations

from typing import Any

__all__ = ["arrow"]


def arrow() -> Any:
    """Return the module pyarrow, or raise an error that names the extra."""
    try:
        import pyarrow
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "Scorer and explain_files need pyarrow, which is not installed; pip install 'hideseek[files]'"
        ) from error
    return pyarrow
