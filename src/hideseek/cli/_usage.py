"""The error for a wrong command line, and suggestions for misspelt words."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["UsageError", "did_you_mean"]


class UsageError(Exception):
    """The command line itself is wrong, whatever the files contain."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint at the closest known word, ignoring case; empty if none is close."""
    by_lower = {name.lower(): name for name in known}
    close = get_close_matches(word.lower(), by_lower, n=1)
    return f"; did you mean {by_lower[close[0]]!r}?" if close else ""
