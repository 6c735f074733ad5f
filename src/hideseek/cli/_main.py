"""Run the command given by the words of a command line, and return an exit code."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from hideseek.cli._output import Output
from hideseek.cli._parser import COMMANDS, FIRST_STEPS, build_parser
from hideseek.cli._usage import UsageError
from hideseek.errors import HideSeekError
from hideseek.wording import did_you_mean

__all__ = ["main"]

_FAILED, _USAGE, _INTERRUPTED, _CLOSED_PIPE = 1, 2, 130, 141


def main(words: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        words: The arguments after ``hideseek``; those of this process if not given.

    Returns:
        The exit code: 0 done, 1 failed, 2 wrong usage, 130 interrupted, 141 standard output was closed.

    Example:
        >>> from hideseek.cli import main
        >>> main(["completion", "tcsh"])
        2
    """
    words = sys.argv[1:] if words is None else list(words)
    output = Output(as_json="--json" in words)
    try:
        with output.capturing_warnings():
            _run(words, output)
        code = output.exit_code
    except SystemExit as leaving:  # raised by argparse after --help or --version
        code = int(leaving.code or 0)
    except BrokenPipeError:
        code = _CLOSED_PIPE
    except (Exception, KeyboardInterrupt) as error:
        if "--debug" in words:
            traceback.print_exception(error)
        code = _exit_code(error)
        output.fail(_message(error), code)
    code = code or _flush(output)
    _abandon_standard_output()
    return code


def _run(words: list[str], output: Output) -> None:
    if not words:
        output.line(FIRST_STEPS.rstrip())
        return
    command = next((word for word in words if not word.startswith("-")), None)
    if command is not None and command not in COMMANDS:
        hint = did_you_mean(command, COMMANDS) or f"; the commands are {', '.join(COMMANDS)}"
        raise UsageError(f"there is no command {command!r}{hint}")
    arguments = build_parser().parse_args(words)
    if command is None:
        raise UsageError(f"no command given: expected one of {', '.join(COMMANDS)}; see hideseek --help")
    result: dict[str, Any] = COMMANDS[command].run(arguments, output)
    output.finish({"command": command, **result})


def _exit_code(error: BaseException) -> int:
    if isinstance(error, KeyboardInterrupt):
        return _INTERRUPTED
    return _USAGE if isinstance(error, UsageError) else _FAILED


def _message(error: BaseException) -> str:
    """Return the error message for a user who does not know the code."""
    if isinstance(error, KeyboardInterrupt):
        return str(error) or "interrupted"
    if isinstance(error, MemoryError):
        return "out of memory; pass fewer rows or columns, or a smaller --set batch_size"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, HideSeekError | UsageError | OSError | ModuleNotFoundError):
        return str(error)
    return f"{type(error).__name__}: {error} (--debug shows where)"


def _flush(output: Output) -> int:
    """Flush standard output, and return the exit code, since the last lines may not have been written yet."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        return _CLOSED_PIPE
    except OSError as error:
        output.say_error(f"cannot write to standard output: {error.strerror}")
        return _FAILED
    return 0


def _abandon_standard_output() -> None:
    """Drop unwritten output; otherwise Python reports the same error again at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        with suppress(OSError, ValueError):  # a stream without a descriptor needs nothing
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
