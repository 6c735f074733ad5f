"""An explanation as two small HTML tables, for notebooks: the features selected most often, and the first rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hideseek.cells import format_value
from hideseek.markup import Markup, element, inline_bar, table

if TYPE_CHECKING:
    from hideseek.explanation import Explanation

__all__ = ["html_table"]

_ROWS, _RANKED, _COLUMNS = 8, 6, 12


def html_table(explanation: Explanation) -> str:
    """Return bars for the features selected most often, and the first rows with their values.

    Cells are shaded by importance, selected ones are bold; of many features, those selected most often are shown.
    """
    n_rows, n_features = explanation.shape
    often = explanation.selected.mean(axis=0) if n_rows else np.zeros(n_features)
    order = np.argsort(-often, kind="stable")
    title = element("p", repr(explanation).splitlines()[0])
    if not n_rows:
        return title
    shown = np.sort(order[:_COLUMNS])
    left_out = [
        f"{number - most:,} more {what}"
        for number, most, what in ((n_rows, _ROWS, "rows"), (n_features, _COLUMNS, "features"))
        if number > most
    ]
    more = element("p", ", ".join(left_out)) if left_out else Markup()
    return Markup(title + _ranking(explanation, often, order) + _rows(explanation, shown) + more)


def _ranking(explanation: Explanation, often: NDArray[np.float64], order: NDArray[np.intp]) -> Markup:
    lines: list[list[object]] = [
        [explanation.feature_names[j], inline_bar(often[j]), f"{often[j]:.0%}"] for j in order[:_RANKED] if often[j]
    ]
    if not lines:
        return Markup()
    return table(f"Selected most often, of {len(explanation):,} rows", ["Feature", "", "#Rows"], lines)


def _rows(explanation: Explanation, features: NDArray[np.intp]) -> Markup:
    head = element("tr", element("th"), *(element("th", explanation.feature_names[j]) for j in features))
    highest = max(float(np.abs(explanation.importance).max(initial=0.0)), 1e-12)
    body = [
        element(
            "tr",
            element("th", explanation.row_labels[i]),
            *(_cell(explanation, i, j, highest) for j in features),
        )
        for i in range(min(len(explanation), _ROWS))
    ]
    return element("table", element("caption", "First rows; bold: selected"), head, *body)


def _cell(explanation: Explanation, i: int, j: int, highest: float) -> Markup:
    importance = float(explanation.importance[i, j])
    text = f"{importance:.2f}" if explanation.data is None else format_value(explanation.data[i, j])
    weight = "bold" if explanation.selected[i, j] else "normal"
    shade = f"rgba(0,114,178,{0.6 * abs(importance) / highest:.2f})"
    style = f"background:{shade};font-weight:{weight};text-align:right"
    return element("td", text, style=style, title=f"importance {importance:.3f}")
