"""The parser of the command line, made from the commands."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn, Protocol, cast

from hideseek._version import __version__
from hideseek.cli import benchmark, completion, datasets, explain, export, fit, info, report
from hideseek.cli._usage import UsageError

__all__ = ["COMMANDS", "Parser", "build_parser"]

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
    """What a module of a command has to have."""

    HELP: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Say what follows the command's name."""

    def run(self, arguments: argparse.Namespace, output: Any) -> dict[str, Any]:
        """Do it, print it, and give the result for ``--json``."""


COMMANDS = {
    name: cast(Command, module)
    for name, module in {
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
"""Each is a module beside this one; to add one, add it here."""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are raised, and said in one line."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of leaving."""
        raise UsageError(f"{message}; see {self.prog} --help")


def build_parser() -> Parser:
    """The parser of all commands."""
    parser = Parser(
        prog="hideseek",
        description="For this very row, which few features decided?",
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
    """Options that may stand before the command and after it."""
    how: dict[str, Any] = {"action": "store_true", "default": argparse.SUPPRESS}
    parser.add_argument("--json", help="print one JSON object on standard output, for programs", **how)
    parser.add_argument("--debug", help="show where an error happened", **how)
