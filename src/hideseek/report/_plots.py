"""``explanation.plot``: the figures of an explanation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hideseek.explanation import Explanation

__all__ = ["ExplanationPlots"]


class ExplanationPlots:
    """Figures of an explanation: ``explanation.plot.bar()``, or ``explanation.plot()`` for the heatmap.

    Each method takes ``ax``, the matplotlib Axes to draw on (default: a new figure with the width of a journal column),
    and returns the Axes. Of many features the most important are drawn, at most ``max_features`` and as many as fit on
    the given Axes; the title gives the numbers of rows and features.

    Example:
        >>> from hideseek import Explanation
        >>> explanation = Explanation([[0.9, 0.1], [0.7, 0.2]], [[True, False]] * 2, feature_names=["age", "sex"])
        >>> ax = explanation.plot.bar()
        >>> ax.get_xlabel(), [label.get_text() for label in ax.get_yticklabels()]
        ('mean mask, with standard error', ['age', 'sex'])
    """

    def __init__(self, explanation: Explanation) -> None:
        self._explanation = explanation

    def __call__(self, *, max_rows: int = 300, max_features: int = 20, ax: Axes | None = None) -> Axes:
        """Draw the heatmap."""
        return self.heatmap(max_rows=max_rows, max_features=max_features, ax=ax)

    def heatmap(self, *, max_rows: int = 300, max_features: int = 20, ax: Axes | None = None) -> Axes:
        """Draw the importance of every feature in every row as colour, with similar selections adjacent.

        Args:
            max_rows: Largest number of rows; of more rows, a random sample (always the same) is drawn.
            max_features: Largest number of features.
            ax: The Axes to draw on.
        """
        from hideseek.report.figures.heatmap import heatmap

        return heatmap(self._explanation, max_rows=max_rows, max_features=max_features, ax=ax)

    def bar(self, *, max_features: int = 20, ax: Axes | None = None) -> Axes:
        """Draw the ranking over all rows: mean (absolute, if some are negative) importance with its standard error.

        Args:
            max_features: Largest number of features.
            ax: The Axes to draw on.
        """
        from hideseek.report.figures.bar import bar

        return bar(self._explanation, max_features=max_features, ax=ax)

    def beeswarm(
        self,
        *,
        values: str | None = None,
        of: Any = None,
        max_rows: int = 1000,
        max_features: int = 20,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw every row as a dot at its effect or importance, coloured by the feature's value; categories are grey.

        Args:
            values: "effect": the effect of each selected feature on the prediction; a row that does not select a
                feature has no dot there. "importance": the mask. None: effects if they are known.
            of: The class whose probability the effects are on. If not given, the second of two classes; of more
                classes, the one predicted for each row.
            max_rows: Largest number of rows; of more rows, a random sample (always the same) is drawn.
            max_features: Largest number of features.
            ax: The Axes to draw on.
        """
        from hideseek.report.figures.beeswarm import beeswarm

        return beeswarm(self._explanation, values=values, of=of, max_rows=max_rows, max_features=max_features, ax=ax)

    def histograms(
        self,
        *,
        relevant: ArrayLike | None = None,
        order: str = "importance",
        max_features: int = 20,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw the distribution of each feature's importance over the rows: histogram and density; high peaks are cut.

        Args:
            relevant: The truly relevant features, if known: rows in which a feature is relevant are drawn above a line,
                the others below it. Shape: ``(rows, features)``, bool.
            order: "importance", or "table" for the order of the columns.
            max_features: Largest number of features.
            ax: The Axes to draw on.
        """
        from hideseek.report.figures.histograms import histograms

        return histograms(self._explanation, relevant=relevant, order=order, max_features=max_features, ax=ax)

    def row(
        self, row: int, *, values: str | None = None, of: Any = None, max_features: int = 10, ax: Axes | None = None
    ) -> Axes:
        """Draw one row: the effects of its selected features on the prediction, with their values.

        Args:
            row: Its position.
            values: "effect": bars to the right raise the prediction, bars to the left lower it. "importance": the masks
                of all features, the selected ones in colour. None: effects if they are known.
            of: The class whose probability the effects are on; the predicted one if not given.
            max_features: Largest number of features.
            ax: The Axes to draw on.
        """
        from hideseek.report.figures.row import row as draw

        return draw(self._explanation, row, values=values, of=of, max_features=max_features, ax=ax)

    def waterfall(self, row: int, *, max_features: int = 10, ax: Axes | None = None) -> Axes:
        """Draw one row as bars that lead from the prediction without each selected feature to the prediction.

        Every bar ends at the line of the prediction. Unlike in SHAP's picture of this name, bars do not add up: each
        is the effect of hiding one feature while the others are shown.

        Args:
            row: Its position.
            max_features: Largest number of features, those with the largest effects.
            ax: The Axes to draw on.
        """
        from hideseek.report.figures.row import waterfall

        return waterfall(self._explanation, row, max_features=max_features, ax=ax)

    def path(self, row: int, *, max_features: int = 20, ax: Axes | None = None) -> Axes:
        """Draw the features of one row as they enter with falling price, and the predictions.

        Each bar begins at the feature's entry price: the features selected at a price are those with a bar there. Needs
        a model trained for a range of penalties: any preset except "paper".

        Args:
            row: Its position.
            max_features: Largest number of features, those that enter first.
            ax: The Axes to draw on.
        """
        from hideseek.report.figures.entering import entering

        return entering(self._explanation, row, max_features=max_features, ax=ax)

    def n_selected(self, *, ax: Axes | None = None) -> Axes:
        """Draw the share of the rows for each number of selected features."""
        from hideseek.report.figures.n_selected import n_selected

        return n_selected(self._explanation, ax=ax)

    def image(
        self,
        row: int,
        *,
        shape: tuple[int, int] = (28, 28),
        patch_size: int = 3,
        n_patches: int = 4,
        pixels: ArrayLike | None = None,
        overlay: bool = True,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw a row of pixels as an image, with importance as colour and the most important patches outlined.

        Args:
            row: Its position.
            shape: Height and width of the image.
            patch_size: Side of a patch, in pixels.
            n_patches: Number of patches; 0: none.
            pixels: The grey values to draw instead of the explained values, such as the image before it was
                standardised. Shape: ``(features,)``.
            overlay: Whether to draw the importance of single pixels.
            ax: The Axes to draw on.
        """
        from hideseek.report.figures.image import image

        return image(
            self._explanation,
            row,
            shape=shape,
            patch_size=patch_size,
            n_patches=n_patches,
            pixels=pixels,
            overlay=overlay,
            ax=ax,
        )

    def compare(
        self,
        other: Explanation,
        *,
        labels: tuple[str, str] | None = None,
        max_features: int = 20,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw, for each feature, the share of rows in which both methods, or only one of them, select it.

        Args:
            other: The other method's explanation of the same rows.
            labels: Names of the two methods; their ``importance_kind`` if not given.
            max_features: Largest number of features.
            ax: The Axes to draw on.
        """
        from hideseek.report.figures.compare import compare

        return compare(self._explanation, other, labels=labels, max_features=max_features, ax=ax)
