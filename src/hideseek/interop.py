"""Explanations in the form of other libraries."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from hideseek.errors import InputError

if TYPE_CHECKING:
    from hideseek.explanation import Explanation

__all__ = ["to_shap"]


class NotAdditive:
    """Stands where SHAP keeps the base value that contributions add up from, and says why there is none."""

    shape = ()

    def __init__(self, importance_kind: str) -> None:
        self._kind = importance_kind

    def _refuse(self, *_: Any) -> NoReturn:
        raise InputError(
            f"importance of the kind {self._kind!r} does not add up from a base value to the prediction, so waterfall, "
            "force and decision plots would show sums that mean nothing; use bar, beeswarm, violin, scatter or heatmap"
        )

    __float__ = __array__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse

    def __repr__(self) -> str:
        return f"none: {self._kind} is not additive"


def to_shap(explanation: Explanation) -> Any:
    """As a ``shap.Explanation``; see :meth:`hideseek.Explanation.to_shap`."""
    try:
        shap = import_module("shap")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "to_shap needs shap, which is not installed; pip install 'hideseek[compare]'", name=error.name
        ) from error
    return shap.Explanation(
        explanation.importance.astype(float),
        base_values=NotAdditive(explanation.importance_kind),
        data=explanation.data,
        feature_names=list(explanation.feature_names),
    )
