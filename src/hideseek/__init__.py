"""Instance-wise feature selection: which few features decided the prediction of this row?

>>> from hideseek import HideSeekClassifier
>>> from hideseek.datasets import make_syn
>>> data = make_syn("Syn4", n_samples=2000, random_state=0)
>>> explanation = HideSeekClassifier("fast", random_state=0).fit(data.X, data.y).explain(data.X)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hideseek._version import __version__

if TYPE_CHECKING:
    from hideseek.errors import (
        DataError,
        FileFormatError,
        HideSeekError,
        HideSeekWarning,
        InputError,
        MaskWarning,
        TrainingError,
    )
    from hideseek.estimators import BlackBoxExplainer, HideSeekClassifier, HideSeekRegressor
    from hideseek.explanation import Explanation
    from hideseek.persistence import load
    from hideseek.scoring import Scorer

__all__ = [
    "BlackBoxExplainer",
    "DataError",
    "Explanation",
    "FileFormatError",
    "HideSeekClassifier",
    "HideSeekError",
    "HideSeekRegressor",
    "HideSeekWarning",
    "InputError",
    "MaskWarning",
    "Scorer",
    "TrainingError",
    "__version__",
    "load",
]

# Imported on first access, so that ``import hideseek`` is fast and the engine can be used with torch and numpy only.
_ROOMS = {
    "BlackBoxExplainer": "estimators",
    "Explanation": "explanation",
    "HideSeekClassifier": "estimators",
    "HideSeekRegressor": "estimators",
    "Scorer": "scoring",
    "load": "persistence",
}


_SUBPACKAGES = ("baselines", "benchmark", "datasets", "metrics", "report")


def __getattr__(name: str) -> Any:
    if name in _SUBPACKAGES:
        return import_module(f"hideseek.{name}")
    if name not in __all__:
        raise AttributeError(f"module 'hideseek' has no attribute {name!r}")
    return getattr(import_module(f"hideseek.{_ROOMS.get(name, 'errors')}"), name)


def __dir__() -> list[str]:
    return [*__all__, *_SUBPACKAGES]
