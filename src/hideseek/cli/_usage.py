"""The error for a wrong command line."""

from __future__ import annotations

__all__ = ["UsageError"]


class UsageError(Exception):
    """The command line itself is wrong, whatever the files contain."""
