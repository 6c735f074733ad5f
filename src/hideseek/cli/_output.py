"""Output of a command: text for people, or one JSON object for programs; errors and warnings in one line each."""

from __future__ import annotations

import io
import json
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from hideseek.cli._formats import STANDARD_STREAM
from hideseek.cli._printable import LAYOUT, printable, shortened
from hideseek.cli._usage import UsageError
from hideseek.cli._writing import with_path_in_errors, write_bytes, write_to_standard_output
from hideseek.errors import HideSeekError

__all__ = ["Output", "one_line"]

_OF_NO_USE_TO_USERS = (DeprecationWarning, FutureWarning, ImportWarning, PendingDeprecationWarning, ResourceWarning)


_UNBROKEN = 100_000
_LONGEST_MESSAGE = 2000
"""Maximum length of an error or warning, which may quote names and values of the user's table."""


class Output:
    """Standard output and standard error of one command.

    Args:
        as_json: Print one JSON object instead of text.
    """

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self.exit_code = 0
        self.warnings: list[str] = []

    @contextmanager
    def capturing_warnings(self) -> Iterator[None]:
        """Print each warning in one line while the context is active."""
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            for category in _OF_NO_USE_TO_USERS:
                warnings.simplefilter("ignore", category)
            warnings.showwarning = lambda message, *_args, **_more: self.warn(str(message))
            yield

    def warn(self, text: str) -> None:
        """Print a warning: something works, but probably not as intended."""
        self.warnings.append(one_line(text))
        sys.stderr.write(f"warning: {self.warnings[-1]}\n")

    def say_error(self, text: str) -> None:
        """Print an error message."""
        sys.stderr.write(f"error: {one_line(text)}\n")
        sys.stderr.flush()

    def fail(self, text: str, exit_code: int) -> None:
        """Print an error message, and the JSON object of the error if JSON was asked for."""
        self.say_error(text)
        with suppress(HideSeekError, OSError):  # writing to standard output may be what failed
            self.finish({"error": one_line(text), "exit_code": exit_code})

    def finish(self, result: Mapping[str, Any]) -> None:
        """Print the JSON object, if JSON was asked for."""
        if self.as_json:
            text = json.dumps(plain({**result, "warnings": self.warnings}), ensure_ascii=False, allow_nan=False)
            write_bytes(STANDARD_STREAM, f"{text}\n".encode(errors="backslashreplace"))

    def check_one_on_standard_output(self, *paths: str) -> None:
        """Raise if standard output would get both a table and the JSON object, or two tables."""
        if paths.count(STANDARD_STREAM) + self.as_json > 1:
            raise UsageError("only one result can be written to standard output: pass --out FILE")

    def line(self, text: str = "") -> None:
        """Print a line for people."""
        if not self.as_json:
            write_bytes(STANDARD_STREAM, f"{printable(text, keep=LAYOUT)}\n".encode())

    def facts(self, facts: Mapping[str, str | None]) -> None:
        """Print names and values below each other; values of None are omitted."""
        width = max(map(len, facts))
        for name, value in facts.items():
            if value is not None:
                self.line(f"  {name:{width}}  {value}")

    def table(self, columns: Sequence[str], lines: Iterable[Sequence[Any]]) -> None:
        """Print a table for people, with numbers aligned right."""
        if self.as_json:
            return
        from rich.console import Console
        from rich.table import Table

        rows = [tuple(line) for line in lines]
        table = Table(box=None, pad_edge=False, header_style="bold")
        for j, name in enumerate(columns):
            numeric = any(isinstance(row[j], int | float) for row in rows)
            table.add_column(printable(name), justify="right" if numeric else "left")
        for row in rows:
            table.add_row(*(printable(_cell(value)) for value in row))
        # A narrow terminal may break lines, but no number is truncated.
        # On a closed pipe a rich console exits the process, so it writes to a string.
        text, terminal = io.StringIO(), sys.stdout.isatty()
        Console(file=text, force_terminal=terminal, width=_UNBROKEN, markup=False, emoji=False, highlight=False).print(
            table
        )
        lines = "".join(f"{line.rstrip()}\n" for line in text.getvalue().splitlines())
        with with_path_in_errors("to standard output"):
            write_to_standard_output(lines.encode())


def one_line(text: str) -> str:
    """Return a message and its list of points without line breaks, printable and of bounded length."""
    first, *rest = [line.strip().removeprefix("- ") for line in text.splitlines() if line.strip()] or [""]
    points = "; ".join(rest)
    line = first if not rest else f"{first} {points}" if first.endswith(":") else f"{first}; {points}"
    return shortened(printable(line), _LONGEST_MESSAGE)


def plain(value: Any) -> Any:
    """Return the value as JSON data: no numpy types, and null for NaN and infinity."""
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    return value if value is None or isinstance(value, str | int) else str(value)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
