"""The methods that Hide&Seek is compared with, with one interface: ``fit``, ``explain``, ``predict_proba``.

>>> from hideseek import baselines
>>> from hideseek.datasets import make_syn
>>> data = make_syn("Syn4", n_samples=1000)
>>> explanation = baselines.get("forest")(k=5, random_state=0).fit(data.X, data.y).explain(data.X)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hideseek.validation import check_parameters, choice

if TYPE_CHECKING:
    from hideseek.baselines._base import Baseline
    from hideseek.baselines.forest import ForestImportance
    from hideseek.baselines.invase import Invase
    from hideseek.baselines.l2x import L2X
    from hideseek.baselines.lasso import LassoImportance
    from hideseek.baselines.lime import LimeExplainer
    from hideseek.baselines.realx import RealX
    from hideseek.baselines.shap import ShapExplainer

__all__ = [  # noqa: RUF022 - plain alphabetical order; ruff takes L2X for a constant
    "ForestImportance",
    "Invase",
    "L2X",
    "LassoImportance",
    "LimeExplainer",
    "RealX",
    "ShapExplainer",
    "available",
    "get",
]

# A method has the name of its module, which is imported at first access: a new method is one line here.
_METHODS = {
    "forest": "ForestImportance",
    "invase": "Invase",
    "l2x": "L2X",
    "lasso": "LassoImportance",
    "lime": "LimeExplainer",
    "realx": "RealX",
    "shap": "ShapExplainer",
}


def available() -> tuple[str, ...]:
    """Return the names that :func:`get` accepts, sorted.

    Example:
        >>> from hideseek import baselines
        >>> "forest" in baselines.available()
        True
    """
    return tuple(sorted(_METHODS))


def get(name: str) -> type[Baseline]:
    """Return the class of a method by its name.

    Args:
        name: One of :func:`available`.

    Example:
        >>> from hideseek import baselines
        >>> baselines.get("forest").__name__
        'ForestImportance'
    """
    check_parameters("hideseek.baselines.get", {"name": name}, {"name": choice(*available())})
    method: type[Baseline] = getattr(import_module(f"{__name__}.{name}"), _METHODS[name])
    return method


def __getattr__(name: str) -> Any:
    for method, class_name in _METHODS.items():
        if class_name == name:
            return get(method)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
