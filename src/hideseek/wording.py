"""Names, and lists, values and suggestions in the text of messages. Standard library only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

__all__ = ["column_names", "did_you_mean", "listed", "shown", "some", "values_by_name"]

_NAMED = 5
_LONGEST_REPR = 200


def column_names(given: Iterable[object] | None, n_columns: int) -> list[str]:
    """Return the given names as text, or x1, x2, ... if there are none."""
    return [f"x{j + 1}" for j in range(n_columns)] if given is None else list(map(str, given))


def did_you_mean(word: Any, known: Iterable[str]) -> str:
    """Return "; did you mean 'name'?" for the closest other known word, ignoring case; empty if none is close."""
    if not isinstance(word, str):
        return ""
    by_lower = {name.lower(): name for name in known if name != word}
    close = get_close_matches(word.lower(), by_lower, n=1)
    return f"; did you mean {by_lower[close[0]]!r}?" if close else ""


def listed(words: Iterable[object], *, last: str = "and") -> str:
    """Return the words as a list in a sentence: a, b and c."""
    texts = [str(word) for word in words]
    return f" {last} ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else "".join(texts)


def some(items: list[str]) -> str:
    """Return the first few of a long list as text, and how many more there are."""
    more = len(items) - _NAMED
    return listed(items) if more <= 0 else listed([*items[:_NAMED], f"{more} more"])


def shown(value: Any) -> str:
    """Return the repr of a value, shortened if it is long; the type for numbers that Python does not print."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # any repr may raise; that of a huge int raises a ValueError
        text = f"<{type(value).__name__}>"
    return text if len(text) <= _LONGEST_REPR else f"{text[:_LONGEST_REPR]}..."


def values_by_name(values: Mapping[str, Iterable[float]]) -> str:
    """Return numbers with the names that they belong to: age at 25 and 35.5, income at 1200."""
    return ", ".join(f"{name} at {listed(f'{value:.4g}' for value in own)}" for name, own in values.items())
