"""``hideseek report``: write the explanations of a table as one HTML page."""

from __future__ import annotations

import argparse
from typing import Any

from hideseek.cli._models import explain_file
from hideseek.cli._output import Output
from hideseek.cli._reading import title
from hideseek.cli._writing import check_free, check_suffix, with_path_in_errors

HELP = "write the explanations of a table as one interactive HTML page"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``hideseek report``."""
    parser.add_argument("model", metavar="MODEL.safetensors", help="a model saved by hideseek fit")
    parser.add_argument("data", metavar="DATA", help="the rows to explain; - is CSV on standard input")
    parser.add_argument("--out", required=True, metavar="REPORT.html", help="output file")
    parser.add_argument(
        "--protected", metavar="NAME,...", help="columns that should not decide; the page counts the rows where they do"
    )
    parser.add_argument("--force", action="store_true", help="replace the file if it exists")


def run(arguments: argparse.Namespace, output: Output) -> dict[str, Any]:
    """Explain the rows, and write the page."""
    check_suffix(arguments.out, ".html", "a report")
    check_free(arguments.out, force=arguments.force)
    _, _, explanation = explain_file(arguments.model, arguments.data)
    with with_path_in_errors(arguments.out):
        explanation.report(arguments.out, protected=arguments.protected.split(",") if arguments.protected else None)
    output.line(f"Explained {len(explanation):,} rows of {title(arguments.data)}: {arguments.out}")
    return {"rows": len(explanation), "features": explanation.shape[1], "out": arguments.out}
