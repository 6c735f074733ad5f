"""An explanation as a small HTML table, for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from hideseek.cells import format_value

if TYPE_CHECKING:
    from hideseek.explanation import Explanation

__all__ = ["html_table"]

_ROWS = 8


def html_table(explanation: Explanation) -> str:
    """Return the first rows: each cell has its value and is shaded by importance, selected ones are bold."""
    head = "".join(f"<th>{escape(name)}</th>" for name in explanation.feature_names)
    highest = max(float(np.abs(explanation.importance).max(initial=0.0)), 1e-12)
    body = "".join(_row(explanation, i, highest) for i in range(min(len(explanation), _ROWS)))
    more = f"<p>{len(explanation) - _ROWS:,} more rows</p>" if len(explanation) > _ROWS else ""
    caption = f"<caption>{escape(repr(explanation).splitlines()[0])}; bold: selected</caption>"
    return f"<table>{caption}<tr><th></th>{head}</tr>{body}</table>{more}"


def _row(explanation: Explanation, i: int, highest: float) -> str:
    cells = "".join(_cell(explanation, i, j, highest) for j in range(len(explanation.feature_names)))
    return f"<tr><th>{escape(str(explanation.row_labels[i]))}</th>{cells}</tr>"


def _cell(explanation: Explanation, i: int, j: int, highest: float) -> str:
    importance = float(explanation.importance[i, j])
    text = f"{importance:.2f}" if explanation.data is None else format_value(explanation.data[i, j])
    weight = "bold" if explanation.selected[i, j] else "normal"
    shade = f"rgba(0,114,178,{0.6 * abs(importance) / highest:.2f})"
    style = f"background:{shade};font-weight:{weight};text-align:right"
    return f'<td style="{style}" title="importance {importance:.3f}">{escape(text)}</td>'
