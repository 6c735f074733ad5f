"""Tables with bars: the ranking over all rows, and the numbers of selected features."""

from __future__ import annotations

import numpy as np

from hideseek.cells import format_value
from hideseek.explanation import Explanation
from hideseek.markup import Markup, element, table
from hideseek.report.page.content import Content
from hideseek.stand_ins import as_good_as

__all__ = ["numbers_selected", "ranking"]

_RANKED_AT_ONCE = 20
_MOST_RANKED = 500
_MOST_BARS = 20


def ranking(content: Content) -> Markup:
    """Return the mean importance over all rows as bars with error bars; further features are shown on demand."""
    ranking, found = content.ranking, next(iter(content.directions), None)
    top = max(float(np.max(ranking["importance"] + np.nan_to_num(ranking["standard_error"]))), 1e-12)
    rows: list[list[object]] = []
    columns = (ranking[name][:_MOST_RANKED] for name in ("feature", "importance", "standard_error", "selected"))
    for j, name, mean, error, selected in zip(content.ranked[:_MOST_RANKED], *columns, strict=True):
        spread = Markup() if np.isnan(error) else element("span", f" ± {_figure(error, top)}", class_="spread")
        bar = _bar(mean / top, np.nan_to_num(error) / top)
        effect = () if found is None else (_size(content, found.size[j]) if selected else "",)
        figures = (Markup(_figure(mean, top) + spread), f"{selected:.0%}", *effect)
        rows.append([_named(content.explanation, name), bar, *figures])
    head = ["Feature", "", f"#Mean {content.explanation.importance_kind}", "#Selected in"]
    lead = (
        f"The mean over all rows of each feature's {content.explanation.importance_kind}; the dark line spans one "
        "standard error to each side. A feature with a small mean may still decide a few rows alone."
    )
    if found is not None:
        head.append("#Effect")
        lead += f" Effect: by how much it changes {found.what} on average, up or down, where it is selected."
    parts = [
        element("p", lead),
        table("Features by mean importance, with standard errors", head, rows[:_RANKED_AT_ONCE]),
    ]
    if len(rows) > _RANKED_AT_ONCE:
        rest = rows[_RANKED_AT_ONCE:]
        parts.append(
            element("details", element("summary", f"{len(rest)} more features"), table("Further features", head, rest))
        )
    if len(ranking["feature"]) > _MOST_RANKED:
        n_more = len(ranking["feature"]) - _MOST_RANKED
        parts.append(element("p", f"{n_more:,} features that matter less are left out.", class_="quiet"))
    return Markup("".join(parts))


def _named(explanation: Explanation, name: str) -> Markup:
    """Return a feature's name, with the column that would have done as well if there is one."""
    found = as_good_as(name, explanation.stand_ins_by_feature)
    note = element("span", f"{found[0]} would have done as well", class_="stand-in") if found else Markup()
    return Markup(element("span", name) + note)


def _size(content: Content, size: float) -> str:
    """Return the size of an effect, with as many digits as predictions have."""
    return format_value(size) if content.explanation.probability is None else f"{size:.2f}"


def _figure(value: float, top: float) -> str:
    """Return the value with three decimals if the largest number has a suitable size."""
    return f"{value:.3f}" if 0.1 <= top < 1e4 else f"{value:.3g}"


def _bar(share: float, error: float = 0.0) -> Markup:
    """Return a bar on a scale from 0 to 1, with an error bar."""
    width = 100 * min(1.0, max(0.0, share))
    parts = [element("rect", x=0, y=2, width=f"{width:.2f}", height=8)]
    if error > 0:
        low, high = 100 * max(0.0, share - error), 100 * min(1.0, share + error)
        parts.append(element("line", x1=f"{low:.2f}", x2=f"{high:.2f}", y1=6, y2=6))
    return element("svg", *parts, viewBox="0 0 100 12", preserveAspectRatio="none", class_="bar", aria_hidden="true")


def numbers_selected(content: Content) -> Markup:
    """Return how many rows select each number of features."""
    counts = np.bincount(content.explanation.n_selected)
    first, last = int(np.flatnonzero(counts)[0]), len(counts) - 1
    step = -(-(last - first + 1) // _MOST_BARS)
    bins = [
        (low, min(low + step - 1, last), int(counts[low : low + step].sum())) for low in range(first, last + 1, step)
    ]
    most = max(n for _, _, n in bins)
    rows: list[list[object]] = [
        [f"{low}" if low == high else f"{low} to {high}", _bar(n / most), f"{n:,}", f"{n / counts.sum():.1%}"]
        for low, high, n in bins
    ]
    return table("Features selected per row", ["Selected", "", "#Rows", "#Share"], rows)
