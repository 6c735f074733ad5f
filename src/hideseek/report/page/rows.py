"""The rows that a page shows individually, as JSON; rows.js and heatmap.js read it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hideseek.explanation import Explanation
from hideseek.report.page.content import Content
from hideseek.report.page.packing import pack, pack_shades
from hideseek.report.page.sampling import rows_by_answer
from hideseek.stand_ins import as_good_as

__all__ = ["page_features", "page_rows"]

_LONGEST_SENTENCE = 400
_FEATURES_IN_HEATMAP = 60
_MOST_BARS = 12
_LONGEST_BAR = 0.98
"""Quantile of the effects that sets the length of the bars; larger effects are cut, so that others stay visible."""


def page_features(content: Content) -> dict[str, Any]:
    """Return the names of the features shown, and the order in which the heatmap draws them."""
    place = {int(j): i for i, j in enumerate(content.features)}
    return {
        "names": [content.explanation.feature_names[j] for j in content.features],
        "heatmap": [place[int(j)] for j in content.ranked[:_FEATURES_IN_HEATMAP]],
        "total": content.explanation.shape[1],
        "stand_ins": _stand_ins(content.explanation),
    }


def _stand_ins(explanation: Explanation) -> dict[str, list[str]]:
    """Return, by name of a feature, the columns that would have done as well."""
    found = {name: as_good_as(name, explanation.stand_ins_by_feature) for name in explanation.feature_names}
    return {name: others for name, others in found.items() if others}


def page_rows(content: Content) -> dict[str, Any]:
    """Return labels, sentences, predictions and importances of the rows shown."""
    explanation, rows = content.explanation, content.rows
    ranked = content.ranked[:_FEATURES_IN_HEATMAP]
    order = rows_by_answer(
        content.group[rows], explanation.selected[np.ix_(rows, ranked)], explanation.importance[np.ix_(rows, ranked)]
    )
    part = content.shown
    return {
        "effects": _effects(content, part),  # before the sentences, which use the effects of each row
        "labels": [str(label) for label in explanation.row_labels[rows]],
        "sentences": [_shortened(part.describe(row)) for row in range(len(rows))],
        "prediction": _plain(explanation.prediction, rows),
        "probability": _plain(explanation.probability, rows),
        "actual": _plain(content.actual, rows),
        "selected": explanation.n_selected[rows].tolist(),
        "group": content.group[rows].tolist(),
        "importance": pack_shades(explanation.importance[np.ix_(rows, content.features)], _top(explanation)),
        "order": order.tolist(),
        "weight": pack(content.weight, "f4"),
    }


def _effects(content: Content, part: Explanation) -> dict[str, Any] | None:
    """Return the quantity that the effects change, the size of the longest bar, and each row's effects, sorted."""
    effect = part.effect
    if effect is None:
        return None
    shown = effect[:, content.features]
    rows = []
    for own, selected in zip(shown, part.selected[:, content.features], strict=True):
        chosen = np.flatnonzero(selected)
        largest_first = chosen[np.argsort(-np.abs(own[chosen]), kind="stable")][:_MOST_BARS]
        rows.append([[int(j), float(f"{own[j]:.7g}")] for j in largest_first])
    of = "value" if part.probability is None else "probability"
    sizes = np.abs(effect[part.selected])
    largest = float(np.quantile(sizes, _LONGEST_BAR)) if len(sizes) else 0.0
    return {"of": of, "largest": max(largest, 1e-12), "rows": rows}


def _top(explanation: Explanation) -> float:
    """Return the value of the darkest shade: 1 for masks, the largest value for other methods."""
    return 1.0 if explanation.importance_kind == "mask" else max(float(explanation.importance.max()), 1e-12)


def _plain(values: NDArray[Any] | None, rows: NDArray[np.intp]) -> list[float | str] | None:
    """Return numbers as numbers, so that they sort correctly, and anything else as text."""
    if values is None:
        return None
    picked = values[rows]
    return [float(f"{v:.7g}") for v in picked] if picked.dtype.kind in "iuf" else [str(v) for v in picked]


def _shortened(sentence: str) -> str:
    """Cut a sentence at a comma, so that a row with hundreds of selected features does not fill the page."""
    if len(sentence) <= _LONGEST_SENTENCE:
        return sentence
    return f"{sentence[:_LONGEST_SENTENCE].rpartition(', ')[0]}, ..."
