"""The command line parser, built from the commands."""

from __future__ import annotations

import argparse
from functools import cache
from typing import Any, NoReturn, Protocol, cast

from hideseek._version import __version__
from hideseek.cli import benchmark, completion, datasets, demo, explain, export, fit, info, report
from hideseek.cli._usage import UsageError

__all__ = ["COMMANDS", "FIRST_STEPS", "Parser", "build_parser"]

FIRST_STEPS = """\
hideseek finds, for every row of a table, the few features that decided its prediction.

  hideseek demo                                            a first session on a small table, in under a minute

With a table of your own (CSV, TSV, Parquet or Arrow):

  hideseek fit data.csv --target COLUMN --out model.safetensors
  hideseek explain model.safetensors new.csv --sentences   a sentence for each row
  hideseek report model.safetensors new.csv --out report.html

hideseek --help lists all commands; hideseek COMMAND --help says what a command can do.
"""
"""What ``hideseek`` prints without arguments."""

_EPILOG = """\
tables:
  .csv, .tsv, .csv.gz, .tsv.gz, .parquet, .arrow, .feather; - is CSV on standard input or output.
  In text files empty cells and NA, N/A, NaN, nan, null and NULL are missing values.

exit codes:
  0    done
  1    the work failed: bad data, a broken file, a full disk, a fit without a usable model
  2    the command line cannot be understood
  130  interrupted
  141  the reader of standard output left before the end

Tab completion: hideseek completion bash|zsh|fish
"""


class Command(Protocol):
    """The interface of a command's module."""

    HELP: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments to the parser."""

    def run(self, arguments: argparse.Namespace, output: Any) -> dict[str, Any]:
        """Run the command, print the output, and return the result for ``--json``."""


COMMANDS = {
    name: cast(Command, module)
    for name, module in {
        "demo": demo,
        "fit": fit,
        "explain": explain,
        "report": report,
        "export": export,
        "benchmark": benchmark,
        "datasets": datasets,
        "info": info,
        "completion": completion,
    }.items()
}
"""The commands by name, each a module beside this one; to add a command, add its module here."""


class Parser(argparse.ArgumentParser):
    """A parser that raises its errors, as one line."""

    def error(self, message: str) -> NoReturn:
        """Raise a ``UsageError`` instead of exiting."""
        raise UsageError(f"{message}; see {self.prog} --help")


@cache
def build_parser() -> Parser:
    """Return the parser of all commands, built once in a process."""
    parser = Parser(
        prog="hideseek",
        description="Which few features decided the prediction of this row?",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"hideseek {__version__}")
    _add_common(parser)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, command in COMMANDS.items():
        own = commands.add_parser(
            name,
            help=command.HELP,
            description=f"{command.HELP[0].upper()}{command.HELP[1:]}.",
            epilog="Tables, exit codes: hideseek --help",
            allow_abbrev=False,
        )
        command.add_arguments(own)
        _add_common(own)
    return parser


def _add_common(parser: argparse.ArgumentParser) -> None:
    """Add the options that may be given before or after the command."""
    how: dict[str, Any] = {"action": "store_true", "default": argparse.SUPPRESS}
    parser.add_argument("--json", help="print one JSON object on standard output, for programs", **how)
    parser.add_argument("--debug", help="show where an error happened", **how)
