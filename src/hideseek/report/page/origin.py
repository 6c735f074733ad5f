"""The parameters and library versions of the model."""

from __future__ import annotations

import platform
from dataclasses import asdict
from typing import Any

from hideseek._version import __version__
from hideseek.engine.draws import columns_given
from hideseek.estimators import BaseHideSeek
from hideseek.extras import version_of

__all__ = ["name_of", "parameters_of", "versions"]

_LIBRARIES = ("torch", "numpy", "scikit-learn")


def parameters_of(model: Any) -> dict[str, str]:
    """Return the parameters given and the settings used; empty if the model is not known."""
    if model is None:
        return {}
    told = {name: value for name, value in model.get_params(deep=False).items() if name not in ("verbose", "device")}
    if "model" in told:
        told["model"] = name_of(told["model"])
    if isinstance(model, BaseHideSeek):
        told |= _of_hideseek(model)
    return {
        "method": type(model).__name__,
        **{name.replace("_", " "): _display(value) for name, value in told.items() if value is not None},
    }


def _of_hideseek(model: BaseHideSeek) -> dict[str, Any]:
    ensemble, recipe = model.learned_.ensemble, asdict(model.recipe_)
    n_given = columns_given(len(model.encoder_.feature_names), model.recipe_.column_fraction)
    return {
        **recipe,
        "batch_size": recipe["batch_size"] or "full",
        "cuts": model.cuts_ or "none",
        "penalty": f"{model.penalty_:.4g}",
        "price of showing one feature of one row": f"{model.penalty_ / n_given:.4g}",
        "members that answer": len(ensemble.visible),
        "weights": f"{ensemble.stack.parameters.numel():,}",
    }


def name_of(explained: Any) -> str | None:
    """Return the name of a black box: its type, or a function's own name; None if it is not known."""
    return None if explained is None else getattr(explained, "__name__", type(explained).__name__)


def _display(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{name}: {_display(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(str(part) for part in value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def versions() -> dict[str, str]:
    """Return the versions of this library, Python and its dependencies."""
    libraries = {name: version_of(name) or "unknown" for name in _LIBRARIES}
    return {"hideseek": __version__, "Python": platform.python_version(), **libraries}
