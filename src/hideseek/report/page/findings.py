"""Warnings about an explanation: collapsed or saturated masks, columns that are nearly the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hideseek.explanation import Explanation
from hideseek.report.page.columns import Column
from hideseek.search import Trust
from hideseek.wording import some

__all__ = ["findings_of"]

_NEARLY_ALL = 0.99
_SOME = 0.01
_UNDECIDED = 0.1
"""Distance to the threshold below which the selection of a feature is uncertain."""
_TOO_MANY_UNDECIDED = 0.05
_ALIKE = 0.9
_ROWS_LOOKED_AT = 5000
_COLUMNS_COMPARED = 200


def findings_of(explanation: Explanation, columns: Sequence[Column], model: Any) -> list[str]:
    """Return the warnings as sentences, the most serious first."""
    return [
        *_of_selection(explanation),
        *_of_trust(model),
        *_of_masks(explanation, float(getattr(model, "threshold", 0.5))),
        *_of_columns(columns),
        *_of_stand_ins(explanation, columns),
    ]


def _of_selection(explanation: Explanation) -> list[str]:
    n_features = explanation.shape[1]
    nothing = float((explanation.n_selected == 0).mean())
    everything = float((explanation.n_selected == n_features).mean())
    if nothing >= _NEARLY_ALL:
        return ["The masks collapsed: nothing is selected in nearly every row. Fit again with a smaller penalty."]
    if n_features > 1 and everything >= _NEARLY_ALL:
        return ["The masks saturated: everything is selected in nearly every row. Fit again with a larger penalty."]
    return [f"In {nothing:.1%} of the rows no feature was selected."] if nothing > _SOME else []


def _of_trust(model: Any) -> tuple[str, ...]:
    """Return the warnings of the fit's ``trust_``."""
    trust: Trust | None = getattr(model, "trust_", None)
    return () if trust is None else trust.warnings


def _of_masks(explanation: Explanation, threshold: float) -> list[str]:
    if explanation.importance_kind != "mask":
        return []
    undecided = (np.abs(explanation.importance - threshold) < _UNDECIDED).any(axis=1).mean()
    if undecided <= _TOO_MANY_UNDECIDED:
        return []
    return [
        f"In {undecided:.1%} of the rows at least one mask lies within {_UNDECIDED} of the threshold {threshold:g}: "
        "the selection is uncertain there."
    ]


def _of_columns(columns: Sequence[Column]) -> list[str]:
    constant = [
        column.name
        for column in columns
        if column.span[0] == column.span[2] and column.n_missing in (0, len(column.values))
    ]
    return [f"Constant in these rows: {some(constant)}."] if constant else []


def _of_stand_ins(explanation: Explanation, columns: Sequence[Column]) -> list[str]:
    """Return a warning about pairs of columns of which either could be selected."""
    often = explanation.selected.mean(axis=0)
    numbers = [column for column in columns if column.kind != "category" and not column.n_missing]
    numbers = [column for column in numbers if column.span[0] < column.span[2]]
    numbers = sorted(numbers, key=lambda column: -often[column.feature])[:_COLUMNS_COMPARED]
    if len(numbers) < 2 or len(explanation) < 3:
        return []
    step = max(1, len(explanation) // _ROWS_LOOKED_AT)
    table = np.stack([column.values[::step] for column in numbers])
    with np.errstate(divide="ignore", invalid="ignore"):
        alike = np.abs(np.corrcoef(table)) > _ALIKE
    pairs = [f"{numbers[i].name} and {numbers[j].name}" for i, j in np.argwhere(np.triu(alike, 1))]
    if not pairs:
        return []
    return [
        f"Columns that are nearly the same (correlation above {_ALIKE}): {some(pairs)}. "
        "Of such a pair one may be selected and the other left out."
    ]
