"""Effects as an explanation whose importance is the effect, so that figures draw them as signed importance."""

from __future__ import annotations

from typing import Any

import numpy as np

from hideseek.cells import named_answer
from hideseek.errors import InputError
from hideseek.explanation import Explanation
from hideseek.validation import check_parameters, choice

__all__ = ["VALUES", "as_effects", "wants_effects"]

VALUES = choice("effect", "importance").or_none()


def wants_effects(explanation: Explanation, values: str | None) -> bool:
    """Return whether to draw effects: if asked for, or if known and nothing else is asked for."""
    check_parameters("this picture", {"values": values}, {"values": VALUES})
    known = explanation.answers.effects is not None if values != "importance" else False
    if values == "effect" and not known:
        raise InputError('values="effect": this explanation has no effects; explain with a HideSeek model to get them')
    return known


def as_effects(explanation: Explanation, of: Any = None) -> Explanation:
    """Return an explanation of the same rows and features whose importance is the effect.

    Args:
        explanation: An explanation with effects.
        of: The class whose probability the effects are on; None: the predicted one.
    """
    effect = explanation.effect if of is None else explanation.effect_of(of)
    if of is not None:
        what = f"the probability of {_unbroken(of, explanation)}"
    elif explanation.probability is None:
        what = explanation.target_name or "the predicted value"
    elif len(explanation) == 1:
        what = f"the probability of {_unbroken(np.asarray(explanation.prediction)[0], explanation)}"
    else:
        what = "the probability of the predicted class"
    found = Explanation(
        np.asarray(effect),
        explanation.selected,
        feature_names=explanation.feature_names,
        data=explanation.data,
        row_labels=explanation.row_labels,
        importance_kind=f"effect on {what}",
        target_name=explanation.target_name,
    )
    found.answers.give(predicted=explanation.answers.predicted)
    return found


def _unbroken(label: Any, explanation: Explanation) -> str:
    """Return "y = 1" with non-breaking spaces, for axis labels."""
    return named_answer(label, explanation.target_name).replace(" ", "\N{NO-BREAK SPACE}")
