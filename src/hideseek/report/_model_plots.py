"""Pictures of a fit: its course, its choice of the penalty, its screening of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_history", "plot_path", "plot_screening"]


def plot_history(model: Any, *, ax: Axes | None = None) -> Axes:
    """The course of training: loss with and without the penalty, the held-out loss if there is one, the mean mask.

    Lines are means over the members, bands reach from the smallest to the largest of them.

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
    """The penalties that were tried: held-out loss with its standard error, and how many features they select.

    Args:
        model: An estimator fitted with ``penalty="auto"``, or its ``path_``: any object with arrays ``penalty``,
            ``loss`` and ``n_selected`` (the mean over rows), one entry for each penalty; drawn too, where they are
            there: ``standard_error`` of the loss, ``score`` and its name ``score_name``, and ``chosen``, the position
            of the chosen penalty.
        ax: The matplotlib Axes to draw on; those of a new figure if not given.

    Returns:
        The Axes.

    Example:
        >>> from types import SimpleNamespace
        >>> from hideseek.report import plot_path
        >>> path = SimpleNamespace(penalty=[0.1, 0.3, 1.0], loss=[0.52, 0.5, 0.6], n_selected=[6.0, 3.1, 1.0], chosen=1)
        >>> plot_path(path).get_title()
        'chosen: 0.3, 3.1 selected per row'
    """
    from hideseek.report.figures.path import path

    return path(model, ax=ax)


def plot_screening(model: Any, *, max_features: int = 20, ax: Axes | None = None) -> Axes:
    """The columns with the best scores in the screening, and the threshold they had to pass.

    Args:
        model: An estimator fitted with screening, or its ``screening_``: any object with arrays ``score`` and ``kept``,
            one entry for each column, and, where they are not the model's and 1, ``feature_names`` and ``threshold``.
        max_features: How many columns at most.
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
