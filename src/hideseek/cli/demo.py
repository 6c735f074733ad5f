"""``hideseek demo``: run the commands of a first session on a table that comes with the library, and show them."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from hideseek.cli import datasets, explain, fit, report
from hideseek.cli._columns import frame_of
from hideseek.cli._output import Output
from hideseek.cli._usage import UsageError

HELP = "fit, explain and report on a small table, and show the commands"

_SENTENCES = 3

_TABLE = """\
A cafe has noted on 10,000 days the temperature, what it sold (as deviations from the mean), six columns that mean
nothing, and whether the day was profitable. Which of the columns decided about a day?
"""

_TRUTH = """\
The answer is known here. On days below 20 degrees, profit depends on coffee and hot chocolate; on warmer days on
coffee, iced coffee and iced tea. So temperature decides on every day, hot chocolate on cold days only, and x6 to x11
never.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``hideseek demo``."""
    parser.add_argument("--out", default="hideseek-demo", metavar="FOLDER", help="default: hideseek-demo")
    parser.add_argument("--force", action="store_true", help="replace files of an earlier demo")


def run(arguments: argparse.Namespace, output: Output) -> dict[str, Any]:
    """Run the commands one after the other."""
    frame_of({"x": [0]})  # raises what to install, before any file is made
    folder = Path(arguments.out)
    if folder.exists() and not (folder.is_dir() and (arguments.force or not any(folder.iterdir()))):
        raise UsageError(f"{folder} exists and is no empty folder; pass --force to write into it, or --out FOLDER")
    folder.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    table, new, model, answers, page = (
        str(folder / name) for name in ("cafe.csv", "new-days.csv", "cafe.safetensors", "answers.txt", "report.html")
    )
    output.line(_TABLE)
    steps = _Steps(output)
    _command(steps, datasets, "datasets", "cafe", "--out", table)
    _command(steps, datasets, "datasets", "cafe", "--rows", "1000", "--seed", "1", "--out", new)
    fitted = _command(steps, fit, "fit", table, "--target", "profit", "--held-out", "0.2", "--out", model)
    _command(steps, explain, "explain", model, new, "--sentences", "--out", answers)
    for sentence in Path(answers).read_text().splitlines()[:_SENTENCES]:
        output.line(f"  {sentence}")
    output.line(f"\n{_TRUTH}")
    _command(steps, report, "report", model, new, "--out", page)
    seconds = time.perf_counter() - start
    output.line(f"Done in {seconds:.0f} s. Open {page} in a browser: the model runs in it, so values can be changed.")
    output.line("Next: the same commands with a table of your own; hideseek fit --help lists the options.")
    return {"folder": str(folder), "seconds": seconds, "fit": fitted, "report": page}


class _Steps(Output):
    """The same output without the lines that say what to do next, since the demo does it."""

    def __init__(self, output: Output) -> None:
        self.__dict__ = output.__dict__  # warnings and the exit code are the caller's

    def line(self, text: str = "") -> None:
        """Print a line for people."""
        if not text.startswith("Next: "):
            super().line(text)


def _command(output: Output, command: Any, *words: str) -> dict[str, Any]:
    """Show a command as it would be typed, and run it."""
    from hideseek.cli._parser import build_parser  # which imports this module

    words = (*words, "--force")
    output.line(f"$ hideseek {' '.join(words[:-1])}")
    result: dict[str, Any] = command.run(build_parser().parse_args(words), output)
    output.line()
    return result
