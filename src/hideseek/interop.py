"""Conversion of explanations to the types of other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from hideseek.errors import InputError
from hideseek.extras import import_extra
from hideseek.validation import check_parameters, choice

if TYPE_CHECKING:
    from hideseek.explanation import Explanation

__all__ = ["to_shap"]

_NOT_A_SUM = "effects of hiding one feature at a time (they do not add up)"


class NotAdditive:
    """Placeholder for SHAP's base value that raises an error with the reason why there is none."""

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


def to_shap(explanation: Explanation, values: str = "importance", of: Any = None) -> Any:
    """Return a ``shap.Explanation``; see :meth:`hideseek.Explanation.to_shap`."""
    check_parameters("to_shap", {"values": values}, {"values": choice("importance", "effect")})
    about = {"data": explanation.data, "feature_names": list(explanation.feature_names)}
    shap = import_extra("shap", "compare", "to_shap needs shap")
    if values == "importance":
        kind = NotAdditive(explanation.importance_kind)
        return shap.Explanation(explanation.importance.astype(float), base_values=kind, **about)
    effect, answer = _effects_and_answer(explanation, of)
    return shap.Explanation(effect, base_values=answer - effect.sum(axis=1), output_names=_NOT_A_SUM, **about)


def _effects_and_answer(explanation: Explanation, of: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the effects, and the probabilities or values that they change. Shape: rows along axis 0."""
    effect = explanation.effect if of is None else explanation.effect_of(of)
    if effect is None or explanation.prediction is None:
        raise InputError('values="effect": this explanation has no effects; explain with a HideSeek model to get them')
    if explanation.probability is None:
        return effect, np.asarray(explanation.prediction, dtype=np.float64)
    answer = np.asarray(explanation.probability, dtype=np.float64)
    if of is None:
        return effect, answer
    predicted = np.asarray(explanation.prediction == of)
    classes = getattr(explanation.model, "classes_", None)
    if predicted.all() or (classes is not None and len(classes) == 2):
        return effect, np.where(predicted, answer, 1 - answer)
    raise InputError(f"of={of!r}: with more than two classes, only the probability of the predicted class is known")
