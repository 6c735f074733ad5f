"""What each feature does to the predictions over all rows: how often it raises or lowers them, for which values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hideseek.cells import named_answer
from hideseek.explanation import Explanation
from hideseek.report.page.columns import Column
from hideseek.report.page.rules import rule_for

__all__ = ["Directions", "directions_of"]

_HARDLY = 0.005
"""Change of a probability that two decimals do not show."""
_HARDLY_OF_VALUES = 0.02
"""The same for values, in standard deviations of the predictions."""
_MOST_RULES = 8
"""Features, those selected most often, for which a rule is looked for."""
_MOST_CLASSES = 8


@dataclass(frozen=True)
class Directions:
    """The effects of each feature in summary.

    Attributes:
        what: The quantity that effects change, such as "the probability of y = 1".
        raises: Share of all rows in which the feature raises it. Shape: ``(features,)``.
        lowers: The same for lowering.
        size: Mean absolute effect over the rows that select the feature; 0 if none does. Shape: ``(features,)``.
        rule: In words for which values a feature raises it, such as "x1 ≥ 3"; empty if no short rule tells.
    """

    what: str
    raises: NDArray[np.float64]
    lowers: NDArray[np.float64]
    size: NDArray[np.float64]
    rule: Sequence[str]


def directions_of(
    shown: Explanation, weight: NDArray[np.float64], columns: Sequence[Column], rows: NDArray[np.intp]
) -> list[Directions]:
    """Summarise the effects of the rows shown; empty if effects are not known.

    Of two classes, the effects on the second; of more, on the predicted class of each row, and then on each class.

    Args:
        shown: The explanation of the rows shown.
        weight: How many rows each of them stands for. Shape: ``(rows shown,)``.
        columns: The columns of the whole table.
        rows: Positions of the rows shown in it.
    """
    if shown.effect is None or shown.answers.effects is None:
        return []
    share = weight / weight.sum()
    used = share @ shown.selected
    with_rule = np.argsort(-used, kind="stable")[:_MOST_RULES]
    found = []
    for what, effect, hardly, has_rules in _effects(shown, shown.answers.effects.classes):
        raises, lowers = shown.selected & (effect > hardly), shown.selected & (effect < -hardly)
        rule = [""] * len(used)
        for j in with_rule if has_rules else ():
            own = [column for column in columns if column.feature == j]
            chosen = shown.selected[:, j]
            rule[j] = str(rule_for(raises[chosen, j], own, rows[chosen]) or "")
        size = share @ np.abs(effect) / np.maximum(used, 1e-12)
        found.append(Directions(what, share @ raises, share @ lowers, size, rule))
    return found


def _effects(shown: Explanation, known: NDArray[Any] | None) -> Iterator[tuple[str, NDArray[np.float64], float, bool]]:
    """Give what effects change, in words; the effects; a change too small to mention; whether to look for rules."""
    effect = np.asarray(shown.effect)
    if known is None:
        hardly = _HARDLY_OF_VALUES * float(np.std(np.asarray(shown.prediction)))
        yield f"the predicted {shown.target_name or 'value'}", effect, hardly, True
        return
    classes = known.tolist()
    if len(classes) != 2:
        yield "the probability of the predicted class", effect, _HARDLY, False
    for label in classes[1:] if len(classes) == 2 else classes[:_MOST_CLASSES]:
        what = f"the probability of {named_answer(label, shown.target_name)}"
        yield what, np.asarray(shown.effect_of(label)), _HARDLY, True
