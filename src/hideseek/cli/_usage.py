"""The error of a command line that cannot be understood."""

from __future__ import annotations

__all__ = ["UsageError"]


class UsageError(Exception):
    """The command line asks for something that cannot be, whatever the files hold."""
