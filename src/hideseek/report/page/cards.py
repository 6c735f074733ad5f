"""Cards that describe groups of rows with different selections."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hideseek.cells import count_answers, named_answer
from hideseek.markup import Markup, element
from hideseek.report.page.content import Content
from hideseek.report.page.subgroups import Subgroup
from hideseek.wording import listed

__all__ = ["groups"]

_NAMED_IN_A_GROUP = 8


def groups(content: Content) -> Markup:
    """Return one card per subgroup."""
    if len(content.subgroups) == 1:
        lead = "The rows do not fall into groups with clearly different answers."
    else:
        lead = f"By what was selected, the rows fall into {len(content.subgroups)} groups."
    cards = [_card(content, subgroup) for subgroup in content.subgroups]
    return Markup(element("p", lead) + element("ul", *cards, class_="cards"))


def _card(content: Content, subgroup: Subgroup) -> Markup:
    names = content.explanation.feature_names
    features = [f"{names[j]} ({share:.0%})" for j, share in subgroup.deciding[:_NAMED_IN_A_GROUP]]
    if len(subgroup.deciding) > _NAMED_IN_A_GROUP:
        features.append(f"{len(subgroup.deciding) - _NAMED_IN_A_GROUP} more")
    number = subgroup.number - 1
    parts = [
        element("h3", element("span", class_=f"swatch group-{number}", aria_hidden="true"), subgroup.name),
        element("p", f"{subgroup.n_rows:,} rows, {subgroup.share:.0%} of all.", class_="quiet"),
        element(
            "p",
            element("strong", "What decides: "),
            element("span", listed(features) or "no feature in most of its rows", data_deciding=number),
            ".",
        ),
    ]
    if len(content.subgroups) > 1:
        parts.append(element("p", element("strong", "Which rows: "), *_rule_text(subgroup)))
        if content.explanation.prediction is not None:
            parts.append(element("p", _answers(content, content.explanation.prediction, number)))
        parts.append(element("p", element("a", "Show these rows", href="#rows", data_group=number), class_="no-print"))
    return element("li", *parts)


def _rule_text(subgroup: Subgroup) -> list[object]:
    rule = subgroup.rule
    if rule is None:
        return ["no short rule separates them from the others."]
    return [
        element("b", rule, class_="rule"),
        f" holds for {rule.covered:.0%} of them, and {rule.pure:.0%} of the rows for which it holds are theirs "
        f"(a decision tree's rule; accuracy {rule.accuracy:.0%} on rows it was not made from).",
    ]


def _answers(content: Content, prediction: NDArray[Any], number: int) -> str:
    """Return the predictions for the rows of a group, in words."""
    own = prediction[content.group == number]
    if content.explanation.probability is None:
        mean = named_answer(float(np.mean(own)), content.explanation.target_name)
        return f"Predicted {mean} on average; {np.mean(prediction):.4g} over all rows."
    answers = count_answers(own, content.explanation.target_name)[:3]
    shares = [f"{answer} ({count / len(own):.0%})" for answer, count in answers]
    return f"Predicted: {', '.join(shares)}."
