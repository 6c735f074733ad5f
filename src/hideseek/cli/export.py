"""``hideseek export``: a saved model as a file for programs without this library."""

from __future__ import annotations

import argparse
import os
from typing import Any

from hideseek.cli._output import Output
from hideseek.cli._writing import check_free, check_suffix, with_path_in_errors

HELP = "write a saved model as an ONNX file, which runs without Python"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what follows ``hideseek export``."""
    parser.add_argument("model", metavar="MODEL.safetensors", help="a model saved by hideseek fit")
    parser.add_argument("--out", required=True, metavar="MODEL.onnx", help="where the file goes")
    parser.add_argument("--float32", action="store_true", help="take numbers of single precision, not double")
    parser.add_argument("--force", action="store_true", help="replace the file if it exists")


def run(arguments: argparse.Namespace, output: Output) -> dict[str, Any]:
    """Load the model, and write the file."""
    from hideseek import InputError, load

    check_suffix(arguments.out, ".onnx", "an export")
    check_free(arguments.out, force=arguments.force)
    model = load(arguments.model)
    if not hasattr(model, "to_onnx"):
        raise InputError(f"{arguments.model} is a {type(model).__name__}; only Hide&Seek models can be exported")
    input_type = "float32" if arguments.float32 else "float64"
    with with_path_in_errors(arguments.out):
        model.to_onnx(arguments.out, input_type=input_type)
    size = os.path.getsize(arguments.out)
    output.line(f"Exported {type(model).__name__} ({size:,} bytes): {arguments.out}")
    return {"model": arguments.model, "out": arguments.out, "input_type": input_type, "bytes": size}
