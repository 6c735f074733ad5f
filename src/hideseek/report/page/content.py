"""Everything a page says, gathered before any of it is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hideseek.errors import InputError
from hideseek.explanation import Explanation
from hideseek.report.page.columns import Categories, Column, columns_of
from hideseek.report.page.findings import findings_of
from hideseek.report.page.model import obstacle
from hideseek.report.page.quality import check_actual, quality_of
from hideseek.report.page.sampling import rows_shown
from hideseek.report.page.subgroups import Subgroup, subgroups_of

__all__ = ["Content", "gather"]

_MOST_CELLS = 500_000
"""Rows times features that a page holds one by one: about four megabytes of it."""
_ALL_FEATURES = 500
"""Tables up to this width are held whole; of wider ones only the features that matter most."""
_FEATURES_OF_MANY = 200
_FEWEST_ROWS = 100


@dataclass(frozen=True)
class Content:
    """What a page says.

    Attributes:
        explanation: Of all rows.
        title: The page's.
        model: What made the explanation, where known.
        obstacle: Why the model cannot run in the page; None: it can.
        columns: The explained table; empty where the explanation has no data.
        ranked: Positions of the features, most important first.
        ranking: As ``Explanation.mean_importance``, a column by name.
        group: The subgroup of each row, from 0.
        subgroups: What there is to say about each.
        rows: Positions of the rows that can be looked at one by one.
        features: Positions of the features that can be looked at in those rows.
        actual: The true labels, where known.
        quality: Names and figures.
        findings: What to know before trusting it.
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
    features: NDArray[np.intp]
    actual: NDArray[Any] | None
    quality: Mapping[str, str]
    findings: Sequence[str]


def gather(
    explanation: Explanation,
    *,
    title: str | None,
    model: Any,
    y: ArrayLike | None,
    quality: Mapping[str, float | str] | None,
    categories: Categories | None,
    max_rows: int,
) -> Content:
    """Look at the explanation from all sides."""
    if 0 in explanation.shape:
        raise InputError(
            f"an explanation of {explanation.shape[0]} rows and {explanation.shape[1]} features: no report"
        )
    model = explanation.model if model is None else model
    columns = columns_of(explanation, categories, getattr(model, "encoder_", None))
    ranked, ranking = explanation._ranking()
    group, subgroups = subgroups_of(explanation, columns)
    actual = check_actual(explanation, model, y)
    n_features = explanation.shape[1]
    features = np.sort(ranked[: n_features if n_features <= _ALL_FEATURES else _FEATURES_OF_MANY])
    n_most = min(max_rows, max(_FEWEST_ROWS, _MOST_CELLS // len(features)))
    return Content(
        explanation,
        title or "Which features decided, row by row",
        model,
        obstacle(explanation, model),
        columns,
        ranked,
        ranking,
        group,
        subgroups,
        rows_shown(group, _score(explanation), n_most),
        features,
        actual,
        quality_of(explanation, model, actual, quality),
        findings_of(explanation, columns, model),
    )


def _score(explanation: Explanation) -> NDArray[np.floating] | None:
    """What rows are extreme in: how sure the prediction is, or the predicted value."""
    return explanation.prediction if explanation.probability is None else explanation.probability
