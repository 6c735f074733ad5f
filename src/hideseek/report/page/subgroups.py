"""Groups of rows for which different features were selected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score

from hideseek.explanation import Explanation
from hideseek.report.page.columns import Column
from hideseek.report.page.rules import Rule, rule_for

__all__ = ["Subgroup", "group_rows", "subgroups_of"]

_MOST_GROUPS = 8
_ROWS_LOOKED_AT = 4000
_ROWS_COMPARED = 1500
_COLUMNS_LOOKED_AT = 200
"""Number of most important columns used for groups and rules: of thousands, some separate any rows by chance."""
_SMALLEST_SHARE = 0.02
_APART = 0.25
"""Mean silhouette below which the rows do not form groups."""
_WORTH_A_GROUP = 0.04
"""Increase of the silhouette that justifies one more group."""
_DECIDES = 0.5
"""A feature decides in a group if it is selected in this share of its rows."""


@dataclass(frozen=True)
class Subgroup:
    """Rows for which similar features were selected.

    Attributes:
        number: From 1, the largest group first.
        n_rows: Its size.
        share: Its share of all rows.
        deciding: Positions of the features that decide, most often selected first, with the share of the group's rows.
        rule: A short rule that describes the rows, if there is one.
    """

    number: int
    n_rows: int
    share: float
    deciding: tuple[tuple[int, float], ...]
    rule: Rule | None

    @property
    def name(self) -> str:
        """The name of the group on the page."""
        return f"Group {self.number}"


def subgroups_of(explanation: Explanation, columns: Sequence[Column]) -> tuple[NDArray[np.int64], tuple[Subgroup, ...]]:
    """Return the group of each row, from 0, and the description of each group."""
    group = group_rows(explanation.selected)
    often_first = np.argsort(-explanation.selected.mean(axis=0), kind="stable")
    among = set(often_first[:_COLUMNS_LOOKED_AT].tolist())
    looked_at = [column for column in columns if column.feature in among]
    rows = _some_rows(len(explanation), _ROWS_LOOKED_AT)
    found = []
    for number in range(int(group.max(initial=0)) + 1):
        own = group == number
        often = explanation.selected[own].mean(axis=0)
        order = [j for j in np.argsort(-often, kind="stable") if often[j] >= _DECIDES]
        rule = rule_for(own[rows], looked_at, rows)
        deciding = tuple((int(j), float(often[j])) for j in order)
        found.append(Subgroup(number + 1, int(own.sum()), float(own.mean()), deciding, rule))
    return group, tuple(found)


def group_rows(selected: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the group of each row, from 0, the largest first; all 0 if the selections do not form groups.

    Shape: ``(rows, features)`` -> ``(rows,)``.
    """
    often = selected.mean(axis=0)
    rest = np.minimum(often, 1 - often)  # the share of rows in the minority, selected or not
    differs = [j for j in np.argsort(-rest, kind="stable")[:_COLUMNS_LOOKED_AT] if rest[j] >= _SMALLEST_SHARE]
    rows = _some_rows(len(selected), _ROWS_LOOKED_AT)
    sample = selected[np.ix_(rows, differs)].astype(np.float32)
    n_different = len(np.unique(sample, axis=0))
    best, best_score = None, _APART
    for n_groups in range(2, min(_MOST_GROUPS, n_different, len(sample) - 1) + 1):
        found = KMeans(n_groups, n_init=4, random_state=0).fit(sample)
        if np.bincount(found.labels_, minlength=n_groups).min() < _SMALLEST_SHARE * len(sample):
            continue
        score = silhouette_score(sample, found.labels_, sample_size=min(_ROWS_COMPARED, len(sample)), random_state=0)
        more = 0.0 if best is None else _WORTH_A_GROUP * (n_groups - best.n_clusters)
        if score > best_score + more:
            best, best_score = found, score
    if best is None:
        return np.zeros(len(selected), dtype=np.int64)
    group = best.predict(selected[:, differs].astype(np.float32))
    rank = np.argsort(np.argsort(-np.bincount(group, minlength=best.n_clusters), kind="stable"))
    return np.asarray(rank[group], dtype=np.int64)


def _some_rows(n_rows: int, n_most: int) -> NDArray[np.intp]:
    """Return up to ``n_most`` rows, drawn at random, the same ones each time."""
    return np.random.default_rng(0).permutation(n_rows)[:n_most]
