"""The ranking over all rows."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from hideseek.explanation import Explanation
from hideseek.report.figures.axes import feature_lines, plain_frame, title_with_counts
from hideseek.report.figures.colours import first, foreground
from hideseek.report.figures.features import check_rows, kind, mean_and_error, span

__all__ = ["bar"]


def bar(explanation: Explanation, *, max_features: int, ax: Axes | None) -> Axes:
    """Draw a bar for the mean importance of each feature, with its standard error if there are at least two rows."""
    check_rows(explanation)
    mean, error = mean_and_error(explanation)
    ax, features = feature_lines(list(explanation.feature_names), mean, max_features, ax)
    known = bool(np.isfinite(error[features]).any())
    ax.barh(
        range(len(features)),
        mean[features],
        xerr=np.nan_to_num(error[features]) if known else None,
        height=0.7,
        color=first(ax),
        error_kw={"ecolor": foreground(), "elinewidth": 1, "capsize": 2},
    )
    ax.set_xlim(0, None if mean.any() else span(explanation)[1])
    plain_frame(ax, x=f"{kind(explanation, mean=True)}{', with standard error' if known else ''}")
    title_with_counts(ax, rows=(len(explanation), len(explanation)), features=(len(features), len(mean)))
    return ax
