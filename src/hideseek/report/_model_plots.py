"""Figures of a fit: training history, choice of the penalty, screening of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_history", "plot_path", "plot_screening"]


def plot_history(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the training history: loss with and without penalty, held-out loss if there is one, mean mask.

    Lines are means over the members; bands extend from the smallest to the largest member.

    Args:
        model: A fitted estimator, or its ``history_``.
        ax: The matplotlib Axes to draw on; those of a new figure if not given.

    Returns:
        The Axes.

    Example:
        >>> from hideseek import HideSeekClassifier
        >>> from hideseek.datasets import make_syn
        >>> from hideseek.report import plot_history
        >>> data = make_syn("Syn4", n_samples=2000, random_state=0)
        >>> model = HideSeekClassifier("fast", random_state=0).fit(data.X, data.y)
        >>> plot_history(model).get_ylabel()
        'loss'
    """
    from hideseek.report.figures.history import history

    return history(model, ax=ax)


def plot_path(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the held-out loss with its standard error, and the number of selected features, against the penalty.

    Args:
        model: An estimator fitted with ``penalty="auto"``, or its ``path_``: any object with arrays ``penalty``,
            ``loss`` and ``n_selected`` (the mean over rows), one entry for each penalty; optional
            are ``standard_error`` of the loss, ``score`` and its name ``score_name``, and ``chosen``, the position
            of the chosen penalty.
        ax: The matplotlib Axes to draw on; those of a new figure if not given.

    Returns:
        The Axes.

    Example:
        >>> from types import SimpleNamespace
        >>> from hideseek.report import plot_path
        >>> path = SimpleNamespace(penalty=[0.1, 0.3, 1.0], loss=[0.52, 0.5, 0.6], n_selected=[6.0, 3.1, 1.0], chosen=1)
        >>> print(plot_path(path).get_title())
        chosen: 0.3, 3.1 selected per row
        3 penalties
    """
    from hideseek.report.figures.path import path

    return path(model, ax=ax)


def plot_screening(model: Any, *, max_features: int = 20, ax: Axes | None = None) -> Axes:
    """Draw the columns with the best scores in the screening, and the threshold.

    Args:
        model: An estimator fitted with screening, or its ``screening_``: any object with arrays ``score`` and ``kept``,
            one entry for each column, and optionally ``feature_names`` and ``threshold`` (default 1).
        max_features: Largest number of columns to draw.
        ax: The matplotlib Axes to draw on; those of a new figure if not given.

    Returns:
        The Axes.

    Example:
        >>> from types import SimpleNamespace
        >>> from hideseek.report import plot_screening
        >>> found = SimpleNamespace(score=[9.1, 0.7], kept=[True, False], feature_names=["age", "sex"], threshold=4.5)
        >>> plot_screening(found).get_title()
        '1 of 2 columns kept'
    """
    from hideseek.report.figures.screening import screening

    return screening(model, max_features=max_features, ax=ax)
