"""Optional libraries. Standard library only."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

__all__ = ["import_extra", "version_of"]


def import_extra(module: str, extra: str, need: str, *, otherwise: str = "") -> Any:
    """Import a module of an optional library, or raise a ModuleNotFoundError that says how to install it.

    Args:
        module: Its name, such as "lime.lime_tabular".
        extra: The extra of this package that installs it.
        need: The reason, for the message: "to_shap needs shap".
        otherwise: An alternative, for the message.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        advice = f"pip install 'hideseek[{extra}]'{otherwise}"
        raise ModuleNotFoundError(f"{need}, which is not installed; {advice}", name=error.name) from error


def version_of(*packages: str) -> str | None:
    """Return the version of the first of these packages that is installed; None if none is, or has no metadata."""
    for package in packages:
        try:
            return version(package)
        except PackageNotFoundError:
            continue
    return None
