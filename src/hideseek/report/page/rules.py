"""Describe a group of rows in words, by a path through a shallow decision tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from hideseek.report.page.columns import Column
from hideseek.wording import listed

__all__ = ["Condition", "Rule", "rule_for"]

_DEPTHS = (1, 2, 3)
_WORTH_A_CONDITION = 0.03
"""Increase of a rule's correlation that justifies one more condition."""
_WORTH_SAYING = 0.4
"""Correlation on new rows below which a rule is not shown."""
_FEW_VALUES = 50
_MOST_CATEGORIES = 20


@dataclass(frozen=True)
class Condition:
    """A condition on one column; if the bound is NaN, whether its value is missing."""

    column: int
    relation: str
    bound: float
    text: str

    def holds(self, columns: Sequence[Column], rows: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return whether the condition holds, for each of these rows."""
        values = columns[self.column].values[rows]
        if np.isnan(self.bound):
            return np.asarray(np.isnan(values) == (self.relation == "is"))
        relations = {"<": np.less, "≥": np.greater_equal, "≤": np.less_equal, "is": np.equal, "is not": np.not_equal}
        return np.asarray(relations[self.relation](values, self.bound))


@dataclass(frozen=True)
class Rule:
    """A conjunction of conditions, and how well it describes a group, measured on rows the tree has not seen.

    Attributes:
        conditions: The conditions.
        covered: The share of the group's rows for which they hold (recall).
        pure: The share of the rows for which they hold that are in the group (precision).
        accuracy: The share of all rows that are classified correctly.
        correlation: Between "they hold" and "in the group": unlike the accuracy, it is 0 for a rule that only knows the
            size of the group.
    """

    conditions: tuple[Condition, ...]
    covered: float
    pure: float
    accuracy: float
    correlation: float

    def __str__(self) -> str:
        return listed(condition.text for condition in self.conditions)


def rule_for(meant: NDArray[np.bool_], columns: Sequence[Column], rows: NDArray[np.intp]) -> Rule | None:
    """Return the shortest rule that separates the rows of a group from the others; None if no short rule does.

    Args:
        meant: Whether each of ``rows`` is in the group. Shape: ``(len(rows),)``.
        columns: The columns of the whole table.
        rows: The rows to use, in any order; one half makes the rule, the other measures it.
    """
    learn, measure = np.arange(0, len(rows), 2), np.arange(1, len(rows), 2)
    if not columns or not (0 < meant[learn].sum() < len(learn)) or not meant[measure].any():
        return None
    inputs = [(j, value) for j, column in enumerate(columns) for value in _values_asked_for(column)]
    table = np.stack([_input(columns[j], value, rows) for j, value in inputs], axis=1)
    best: Rule | None = None
    for depth in _DEPTHS:
        tree = DecisionTreeClassifier(
            max_depth=depth, min_samples_leaf=max(2, len(learn) // 100), class_weight="balanced", random_state=0
        ).fit(table[learn], meant[learn])
        for path in _paths(tree.tree_):
            conditions = _conditions(path, inputs, columns)
            rule = _measured(conditions, meant[learn], columns, rows[learn])
            more = _WORTH_A_CONDITION * (len(conditions) - (len(best.conditions) if best else 0))
            if best is None or rule.correlation > best.correlation + more:
                best = rule
    if best is None:
        return None
    best = _measured(best.conditions, meant[measure], columns, rows[measure])
    return best if best.correlation >= _WORTH_SAYING else None


def _values_asked_for(column: Column) -> Sequence[float | None]:
    """Return the tree inputs of a column: None, its values; a number, an indicator of the category; NaN, of missing."""
    missing = (np.nan,) if column.n_missing else ()
    if column.kind == "boolean":
        return (1.0, *missing)
    return (*tuple(column.categories)[:_MOST_CATEGORIES], *missing) if column.kind == "category" else (None, *missing)


def _input(column: Column, value: float | None, rows: NDArray[np.intp]) -> NDArray[np.floating]:
    values = column.values[rows]
    if value is None:  # filled, since a tree would send missing values to either side, which a rule cannot express
        return np.where(np.isnan(values), column.span[1], values)
    return np.asarray(np.isnan(values) if np.isnan(value) else values == value, dtype=np.float64)


Path = tuple[tuple[int, bool, float], ...]
"""Input, whether the branch of the smaller values is taken, and the cut."""


def _paths(tree: Any) -> list[Path]:
    """Return the path from the root to each leaf."""
    paths: list[Path] = []
    waiting: list[tuple[int, Path]] = [(0, ())]
    while waiting:
        node, path = waiting.pop()
        if tree.children_left[node] < 0:
            paths.append(path)
            continue
        step = int(tree.feature[node]), float(tree.threshold[node])
        waiting.append((tree.children_left[node], (*path, (step[0], True, step[1]))))
        waiting.append((tree.children_right[node], (*path, (step[0], False, step[1]))))
    return [path for path in paths if path]


def _conditions(
    path: Path, inputs: Sequence[tuple[int, float | None]], columns: Sequence[Column]
) -> tuple[Condition, ...]:
    """Return a path as conditions; of several cuts of a column on one side, the last is the tightest."""
    last = {(number, smaller): cut for number, smaller, cut in path}
    return tuple(
        _condition(inputs[number], smaller, cut, columns[inputs[number][0]]) for (number, smaller), cut in last.items()
    )


def _condition(which: tuple[int, float | None], smaller: bool, cut: float, column: Column) -> Condition:
    """Return the condition of one branch of the tree: a cut rounded for display, a category, or missing."""
    j, category = which
    low, _, high = column.span
    few = column.kind == "ordered" or (column.kind == "whole number" and high - low <= _FEW_VALUES)
    if category is not None:
        relation, bound = "is not" if smaller else "is", category
        text = "missing" if np.isnan(category) else column.display(category)
    elif few:
        relation, bound = ("≤", float(floor(cut))) if smaller else ("≥", float(floor(cut) + 1))
        text = column.display(bound)
    else:
        whole_days = column.kind == "date" and column.is_whole
        is_time = column.kind in ("date", "duration")
        bound = float(ceil(cut)) if whole_days else _rounded(cut, float(np.nanstd(column.values)))
        relation, text = (
            "<" if smaller else "≥",
            column.display(bound) if is_time else f"{bound:,.10g}",
        )
    return Condition(j, relation, bound, f"{column.name} {relation} {text}")


def _rounded(cut: float, deviation: float) -> float:
    """Return the cut with as few digits as give it to about a twentieth of the column's standard deviation."""
    digits = ceil(-log10(deviation)) + 1 if deviation > 0 and np.isfinite(deviation) else 6
    return round(cut, digits) + 0.0  # no minus zero


def _measured(
    conditions: tuple[Condition, ...], meant: NDArray[np.bool_], columns: Sequence[Column], rows: NDArray[np.intp]
) -> Rule:
    holds = np.all([condition.holds(columns, rows) for condition in conditions], axis=0)
    both = float((holds & meant).sum())
    return Rule(
        conditions,
        covered=both / max(1, meant.sum()),
        pure=both / max(1, holds.sum()),
        accuracy=float((holds == meant).mean()),
        correlation=_correlation(meant, holds),
    )


def _correlation(a: NDArray[np.bool_], b: NDArray[np.bool_]) -> float:
    """Return the correlation of two columns of booleans (Matthews), 0 if one of them is constant."""
    p, q = float(a.mean()), float(b.mean())
    spread = p * (1 - p) * q * (1 - q)
    return (float((a & b).mean()) - p * q) / spread**0.5 if spread > 0 else 0.0
