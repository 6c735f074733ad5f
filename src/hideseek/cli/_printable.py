"""Make text of unknown origin safe to print: no control characters, and a bounded length."""

from __future__ import annotations

__all__ = ["LAYOUT", "printable", "shortened"]

LAYOUT = "\n\t"
"""Control characters that are allowed in text of several lines."""


def printable(text: str, *, keep: str = "") -> str:
    r"""Return the text with every character that is not printable written as an escape.

    A terminal would execute some of them.

    Args:
        text: Any text.
        keep: Characters that are not escaped.

    Example:
        >>> from hideseek.cli._printable import printable
        >>> printable("red: \x1b[31m")
        'red: \\u001b[31m'
    """
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or one in keep else _escaped(one) for one in text)


def shortened(text: str, most: int) -> str:
    """Return the text cut to ``most`` characters, with dots for the rest."""
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _escaped(character: str) -> str:
    """Return the escape that JSON uses, so that JSON text remains valid."""
    number = ord(character)
    if number <= 0xFFFF:
        return f"\\u{number:04x}"
    return "".join(f"\\u{half:04x}" for half in (0xD7C0 + (number >> 10), 0xDC00 + (number & 0x3FF)))
