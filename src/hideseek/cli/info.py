"""``hideseek info``: describe a saved model, or this installation."""

from __future__ import annotations

import argparse
import os
import platform
from dataclasses import asdict
from typing import Any

from hideseek._version import __version__
from hideseek.cli._output import Output
from hideseek.extras import version_of
from hideseek.wording import some, values_by_name

HELP = "say what is in a saved model; without one, versions and devices"

_NEEDED = ("torch", "numpy", "scikit-learn", "safetensors", "narwhals", "rich")
_EXTRAS = ("pandas", "polars", "pyarrow", "matplotlib", "pooch", "shap", "lime", "xgboost", "ray", "onnx")
_SAME_MODULE = {"xgboost": ("xgboost-cpu",)}
"""Alternative packages that provide the same module."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``hideseek info``."""
    parser.add_argument("model", nargs="?", metavar="MODEL.safetensors", help="a model saved by hideseek fit")


def run(arguments: argparse.Namespace, output: Output) -> dict[str, Any]:
    """Describe the model, or the installation if none is given."""
    return _installation(output) if arguments.model is None else _model(arguments.model, output)


def _model(path: str, output: Output) -> dict[str, Any]:
    from hideseek import load
    from hideseek.cli._training_data import held_of_training
    from hideseek.persistence import header_of

    header, model = header_of(path), load(path)
    names = getattr(model, "feature_names_in_", None)
    recipe, trust = getattr(model, "recipe_", None), getattr(model, "trust_", None)
    files = getattr(model, "fitted_files_", None)
    result: dict[str, Any] = {
        "model": path,
        "kind": header["class"],
        "features": model.n_features_in_,
        "feature_names": names,
        "classes": getattr(model, "classes_", None),
        "penalty": getattr(model, "penalty_", None),
        "cuts": getattr(model, "cuts_", None),
        "recipe": None if recipe is None else asdict(recipe),
        "parameters": model.get_params(),
        "trust": None if trust is None else trust.to_dict(),
        "training_data": held_of_training(model),
        "fitted_files": None if files is None else asdict(files),
        "format": header["format"],
        "hideseek": header["library"],
        "bytes": os.path.getsize(path),
    }
    titles = "" if names is None else f": {some([str(name) for name in names])}"
    classes, penalty = result["classes"], result["penalty"]
    output.line(f"{path}: {result['kind']}")
    output.facts(
        {
            "features": f"{result['features']:,}{titles}",
            "classes": None if classes is None else some([str(label) for label in classes]),
            "penalty": None if penalty is None else f"{penalty:.3g} ({penalty / model.n_features_in_:.3g} per feature)",
            "cuts": values_by_name(result["cuts"]) if result["cuts"] else None,
            "preset": getattr(model, "preset", None),
            "recipe": None
            if recipe is None
            else ", ".join(f"{name} {_short(value)}" for name, value in asdict(recipe).items()),
            "fitted on": None if files is None else str(files),
            "training data": "; ".join(result["training_data"]),
            "written by": f"hideseek {header['library']}, file format {header['format']}",
            "size": f"{result['bytes']:,} bytes",
        }
    )
    if trust is not None:
        output.line(repr(trust))
    return result


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _installation(output: Output) -> dict[str, Any]:
    import torch

    versions = {name: version_of(name, *_SAME_MODULE.get(name, ())) for name in (*_NEEDED, *_EXTRAS)}
    devices = ["cpu", *(torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count()))]
    data = os.environ.get("HIDESEEK_DATA")
    output.line(f"hideseek {__version__}, Python {platform.python_version()}, {platform.platform()}")
    output.facts(
        {
            "needed": ", ".join(f"{name} {versions[name]}" for name in _NEEDED),
            "extras": ", ".join(f"{name} {versions[name]}" for name in _EXTRAS if versions[name]) or "none",
            "not installed": ", ".join(name for name in _EXTRAS if not versions[name]) or None,
            "devices": ", ".join(devices),
            "threads": str(torch.get_num_threads()),
            "HIDESEEK_DATA": data,
        }
    )
    return {
        "hideseek": __version__,
        "python": platform.python_version(),
        "versions": versions,
        "devices": devices,
        "threads": torch.get_num_threads(),
        "data_folder": data,
    }
