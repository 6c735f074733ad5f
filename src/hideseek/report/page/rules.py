"""What sets some rows apart from the others, in words: a path through a shallow decision tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import matthews_corrcoef
from sklearn.tree import DecisionTreeClassifier

from hideseek.report.page.columns import Column
from hideseek.wording import listed

__all__ = ["Condition", "Rule", "rule_for"]

_DEPTHS = (1, 2, 3)
_WORTH_A_CONDITION = 0.03
"""What one condition more has to add to a rule's correlation."""
_WORTH_SAYING = 0.4
"""Correlation on new rows below which a rule says too little."""
_FEW_VALUES = 50
_MOST_CATEGORIES = 20


@dataclass(frozen=True)
class Condition:
    """What a rule asks of one column; where the bound is not a number, whether its value is missing."""

    column: int
    relation: str
    bound: float
    text: str

    def holds(self, columns: Sequence[Column], rows: NDArray[np.intp]) -> NDArray[np.bool_]:
        """For each of these rows, whether it does."""
        values = columns[self.column].values[rows]
        if np.isnan(self.bound):
            return np.asarray(np.isnan(values) == (self.relation == "is"))
        relations = {"<": np.less, "≥": np.greater_equal, "≤": np.less_equal, "is": np.equal, "is not": np.not_equal}
        return np.asarray(relations[self.relation](values, self.bound))


@dataclass(frozen=True)
class Rule:
    """Conditions that hold together, and how well they tell the rows, measured on rows the tree has not seen.

    Attributes:
        conditions: All of them hold.
        covered: The share of the rows meant for which they hold.
        pure: The share of the rows for which they hold that are meant.
        accuracy: The share of all rows that are told rightly.
        correlation: Between "it holds" and "is meant": unlike the accuracy it is 0 for a rule that only knows how many
            rows are meant.
    """

    conditions: tuple[Condition, ...]
    covered: float
    pure: float
    accuracy: float
    correlation: float

    def __str__(self) -> str:
        return listed(condition.text for condition in self.conditions)


def rule_for(meant: NDArray[np.bool_], columns: Sequence[Column], rows: NDArray[np.intp]) -> Rule | None:
    """The shortest rule that tells the rows meant from the others; None where no short rule does.

    Args:
        meant: Whether each of ``rows`` is. Shape: ``(len(rows),)``.
        columns: Of the whole table.
        rows: The rows to look at, in any order; one half makes the rule, the other measures it.
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
    """None: where the column is cut; a number: whether it is that category; not a number: whether it is missing."""
    missing = (np.nan,) if column.n_missing else ()
    if column.kind == "boolean":
        return (1.0, *missing)
    return (*tuple(column.categories)[:_MOST_CATEGORIES], *missing) if column.kind == "category" else (None, *missing)


def _input(column: Column, value: float | None, rows: NDArray[np.intp]) -> NDArray[np.floating]:
    values = column.values[rows]
    if value is None:  # a tree would send the missing to a side of its own choice, which no rule in words could say
        return np.where(np.isnan(values), column.span[1], values)
    return np.asarray(np.isnan(values) if np.isnan(value) else values == value, dtype=np.float64)


Path = tuple[tuple[int, bool, float], ...]
"""Input, whether the branch of the smaller values is taken, and the cut."""


def _paths(tree: Any) -> list[Path]:
    """The way from the root to each leaf."""
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
    """A path in words; of several cuts of a column on one side, the last is the tightest."""
    last = {(number, smaller): cut for number, smaller, cut in path}
    return tuple(
        _condition(inputs[number], smaller, cut, columns[inputs[number][0]]) for (number, smaller), cut in last.items()
    )


def _condition(which: tuple[int, float | None], smaller: bool, cut: float, column: Column) -> Condition:
    j, category = which
    low, _, high = column.span
    few = column.kind == "ordered" or (column.kind == "whole number" and high - low <= _FEW_VALUES)
    if category is not None:
        relation, bound = "is not" if smaller else "is", category
        said = "missing" if np.isnan(category) else column.said(category)
    elif few:
        relation, bound = ("≤", float(floor(cut))) if smaller else ("≥", float(floor(cut) + 1))
        said = column.said(bound)
    else:
        whole_days = column.kind == "date" and column.is_whole
        is_time = column.kind in ("date", "duration")
        bound = float(ceil(cut)) if whole_days else _rounded(cut, float(np.nanstd(column.values)))
        relation, said = (
            "<" if smaller else "≥",
            column.said(bound) if is_time else f"{bound:,.10g}",
        )
    return Condition(j, relation, bound, f"{column.name} {relation} {said}")


def _rounded(cut: float, deviation: float) -> float:
    """As few digits as tell it to about a twentieth of the column's deviation."""
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
        correlation=float(matthews_corrcoef(meant, holds)),
    )
