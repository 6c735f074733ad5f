"""The content of a page, gathered before any HTML is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hideseek.errors import InputError
from hideseek.explanation import Explanation
from hideseek.ranking import ranking
from hideseek.report.agreement import check_same_rows
from hideseek.report.page.columns import Categories, Column, columns_of
from hideseek.report.page.directions import Directions, directions_of
from hideseek.report.page.findings import findings_of
from hideseek.report.page.model import obstacle
from hideseek.report.page.quality import check_actual, quality_of
from hideseek.report.page.sampling import row_weights, rows_shown
from hideseek.report.page.subgroups import Subgroup, subgroups_of
from hideseek.wording import did_you_mean, some

__all__ = ["Content", "gather"]

_MOST_CELLS = 500_000
"""Rows times features that a page holds individually: about four megabytes."""
_ALL_FEATURES = 500
"""Tables up to this width are held completely; of wider ones only the most important features."""
_FEATURES_OF_MANY = 200
_FEWEST_ROWS = 100


@dataclass(frozen=True)
class Content:
    """The content of a page.

    Attributes:
        explanation: The explanation of all rows.
        title: The title of the page.
        model: The model that made the explanation, if known.
        obstacle: Why the model cannot run in the page; None: it can.
        columns: The explained table; empty if the explanation has no data.
        ranked: Positions of the features, most important first.
        ranking: The columns of ``Explanation.mean_importance``, by name.
        group: The subgroup of each row, from 0.
        subgroups: The description of each subgroup.
        rows: Positions of the rows that the page shows individually.
        weight: How many of all rows each of them stands for.
        shown: The explanation of those rows.
        features: Positions of the features that it shows in those rows.
        actual: The true labels, if known.
        quality: Quality figures by name.
        findings: Warnings about the explanation.
        directions: What the features do to the predictions, one entry or one per class; empty if not known.
        protected: Positions of the features that the user marked as protected.
        other: Another explanation of the same rows, to compare with.
    """

    explanation: Explanation
    title: str
    model: Any
    obstacle: str | None
    columns: Sequence[Column]
    ranked: NDArray[np.intp]
    ranking: Mapping[str, NDArray[Any]]
    group: NDArray[np.int64]
    subgroups: Sequence[Subgroup]
    rows: NDArray[np.intp]
    weight: NDArray[np.float64]
    shown: Explanation
    features: NDArray[np.intp]
    actual: NDArray[Any] | None
    quality: Mapping[str, str]
    findings: Sequence[str]
    directions: Sequence[Directions]
    protected: Sequence[int]
    other: Explanation | None


def gather(
    explanation: Explanation,
    *,
    title: str | None,
    model: Any,
    y: ArrayLike | None,
    quality: Mapping[str, float | str] | None,
    categories: Categories | None,
    protected: Sequence[str],
    other: Explanation | None,
    max_rows: int,
) -> Content:
    """Compute the content of a page."""
    if 0 in explanation.shape:
        raise InputError(
            f"an explanation of {explanation.shape[0]} rows and {explanation.shape[1]} features has nothing to report"
        )
    model = explanation.model if model is None else model
    columns = columns_of(explanation, categories, getattr(model, "encoder_", None))
    ranked, figures = ranking(explanation.importance, explanation.selected, explanation.feature_names)
    group, subgroups = subgroups_of(explanation, columns)
    actual = check_actual(explanation, model, y)
    marked = _positions(explanation, protected)
    if other is not None:
        check_same_rows(explanation, other)
    n_features = explanation.shape[1]
    features = ranked[: n_features if n_features <= _ALL_FEATURES else _FEATURES_OF_MANY]
    features = np.union1d(features, np.array(marked, dtype=np.intp))
    n_most = min(max_rows, max(_FEWEST_ROWS, _MOST_CELLS // len(features)))
    score = _score(explanation)
    rows = rows_shown(group, score, n_most)
    weight, shown = row_weights(rows, group, score, n_most), explanation[rows]
    return Content(
        explanation=explanation,
        title=title or _title(explanation),
        model=model,
        obstacle=obstacle(explanation, model),
        columns=columns,
        ranked=ranked,
        ranking=figures,
        group=group,
        subgroups=subgroups,
        rows=rows,
        weight=weight,
        shown=shown,
        features=features,
        actual=actual,
        quality=quality_of(explanation, model, actual, quality),
        findings=findings_of(explanation, columns, model),
        directions=directions_of(shown, weight, columns, rows),
        protected=marked,
        other=other,
    )


def _title(explanation: Explanation) -> str:
    name = explanation.target_name
    return "Which features decided, row by row" if name is None else f"What decides {name}?"


def _positions(explanation: Explanation, protected: Sequence[str]) -> list[int]:
    names = list(explanation.feature_names)
    unknown = [f"{name!r}{did_you_mean(name, names)}" for name in protected if name not in names]
    if unknown:
        raise InputError(f"protected must name features of the explanation; it has {some(unknown)}")
    return [names.index(name) for name in dict.fromkeys(protected)]


def _score(explanation: Explanation) -> NDArray[np.floating] | None:
    """Return the score by which rows are extreme: the probability of the prediction, or the predicted value."""
    return explanation.prediction if explanation.probability is None else explanation.probability
