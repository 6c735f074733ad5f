"""The error of a command line that cannot be understood, and words that almost fit."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["UsageError", "did_you_mean"]


class UsageError(Exception):
    """The command line asks for something that cannot be, whatever the files hold."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A hint at the known word that is closest, whatever the case; empty if none is close."""
    by_lower = {name.lower(): name for name in known}
    close = get_close_matches(word.lower(), by_lower, n=1)
    return f"; did you mean {by_lower[close[0]]!r}?" if close else ""
