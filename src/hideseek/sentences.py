"""Sentences that explain one row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hideseek.cells import format_value, named_answer, quote_value
from hideseek.stand_ins import as_good_as
from hideseek.wording import listed

if TYPE_CHECKING:
    from hideseek.explanation import Explanation

__all__ = ["sentence"]


def sentence(one: Explanation) -> str:
    """Return a sentence on the only row of an explanation: its prediction and the effects of the selected features."""
    predicted = ""
    if one.prediction is not None:
        sure = "" if one.probability is None else f" (probability {one.probability[0]:.2f})"
        predicted = f"predicted {named_answer(one.prediction[0], one.target_name)}{sure}; "
    n_selected, n_features = int(one.n_selected[0]), one.shape[1]
    if not n_selected:
        return f"Row {one.row_labels[0]}: {predicted}no feature stood out."
    effect = one.effect
    features = _with_importance(one) if effect is None else _with_effect(one, effect[0])
    return f"Row {one.row_labels[0]}: {predicted}{n_selected} of {n_features} features decided: {features}."


def _with_importance(one: Explanation) -> str:
    """Return the selected features, most important first, with their importance: "age = 42 (0.97) and sex (0.60)"."""
    chosen = _by_size(one, one.importance[0])
    return listed(f"{_named(one, j)} ({one.importance[0, j]:.2f})" for j in chosen)


def _with_effect(one: Explanation, effect: NDArray[np.float64]) -> str:
    """Return clauses on the features that raise the prediction, lower it, or hardly change it.

    "age = 42 raises the probability of y = 1 from 0.21 to 0.58, sex = 1 from 0.50; hours = 3 lowers it from 0.61".
    """
    answer, what = _answer(one)
    after = _written(one, answer)
    clauses: dict[str, list[str]] = {}
    for j in _by_size(one, effect):
        before = _written(one, answer - effect[j])
        verb = "hardly changes" if before == after else "raises" if effect[j] > 0 else "lowers"
        clause = clauses.setdefault(verb, [])
        if verb == "hardly changes":
            clause.append(_named(one, j))
        elif clause:
            clause.append(f"{_named(one, j)} from {before}")
        elif len(clauses) == 1:
            clause.append(f"{_named(one, j)} {verb} {what} from {before} to {after}")
        else:
            clause.append(f"{_named(one, j)} {verb} it from {before}")
    unchanged = clauses.pop("hardly changes", [])
    parts = [", ".join(clause) for clause in clauses.values()]
    if unchanged:
        verb = "hardly changes" if len(unchanged) == 1 else "hardly change"
        parts.append(f"{listed(unchanged)} {verb} {'it' if parts else what}")
    return "; ".join(parts)


def _answer(one: Explanation) -> tuple[float, str]:
    """Return the number that the effects change, and its name."""
    if one.probability is None:
        return float(np.asarray(one.prediction)[0]), "the prediction"
    label = named_answer(np.asarray(one.prediction)[0], one.target_name)
    return float(one.probability[0]), f"the probability of {label}"


def _written(one: Explanation, answer: float) -> str:
    return format_value(answer) if one.probability is None else f"{min(1.0, max(0.0, answer)):.2f}"


def _by_size(one: Explanation, numbers: NDArray[np.floating]) -> NDArray[np.intp]:
    """Return the selected features, largest absolute number first."""
    chosen = np.flatnonzero(one.selected[0])
    return chosen[np.argsort(-np.abs(numbers[chosen]), kind="stable")]


def _named(one: Explanation, j: int) -> str:
    value = "" if one.data is None else f" = {quote_value(one.data[0, j])}"
    return one.feature_names[j] + value + _stand_in(one, j)


def _stand_in(one: Explanation, j: int) -> str:
    """Return " (x12 would have done as well)", or nothing if every such column is selected itself or there is none."""
    found = as_good_as(one.feature_names[j], one.stand_ins_by_feature)
    selected = {one.feature_names[k] for k in np.flatnonzero(one.selected[0])} if found else set()
    free = [name for name in found if name not in selected]
    return f" ({free[0]} would have done as well)" if free else ""
