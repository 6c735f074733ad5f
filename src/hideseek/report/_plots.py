"""``explanation.plot``: what can be drawn of an explanation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hideseek.explanation import Explanation

__all__ = ["ExplanationPlots"]


class ExplanationPlots:
    """Pictures of an explanation: ``explanation.plot.bar()``, or ``explanation.plot()`` for the heatmap.

    Each takes ``ax``, the matplotlib Axes to draw on; without it a new figure of a journal column's width is made. Each
    returns the Axes. Where there are many features, the most important are drawn, as many as ``max_features`` allows
    and as the given Axes have room for, and the title says how many that is.

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
        """The heatmap."""
        return self.heatmap(max_rows=max_rows, max_features=max_features, ax=ax)

    def heatmap(self, *, max_rows: int = 300, max_features: int = 20, ax: Axes | None = None) -> Axes:
        """Importance of every feature in every row as colour, rows with like selections side by side.

        Args:
            max_rows: Of more rows, so many are drawn at random (always the same ones), and the title says so.
            max_features: How many features at most.
            ax: Where to draw.
        """
        from hideseek.report.figures.heatmap import heatmap

        return heatmap(self._explanation, max_rows=max_rows, max_features=max_features, ax=ax)

    def bar(self, *, max_features: int = 20, ax: Axes | None = None) -> Axes:
        """The ranking over all rows: mean (absolute, if some are negative) importance with its standard error.

        Args:
            max_features: How many features at most.
            ax: Where to draw.
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
        """Every row as a dot at its effect or importance, coloured by the feature's value; categories are grey.

        Args:
            values: "effect": what each selected feature adds to the prediction, or takes from it; a row that does not
                select a feature has no dot there. "importance": the mask. None: effects where they are known.
            of: The class whose probability the effects are on. If not given, the second of two classes; of more
                classes, the one predicted for each row.
            max_rows: Of more rows, so many are drawn at random (always the same ones), and the title says so.
            max_features: How many features at most.
            ax: Where to draw.
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
        """The distribution of each feature's importance over the rows: histogram and density; high peaks are cut.

        Args:
            relevant: Which features truly matter, where that is known: those rows are drawn above a line, the others
                below it. Shape: ``(rows, features)``, bool.
            order: "importance", or "table" for the order of the columns.
            max_features: How many features at most.
            ax: Where to draw.
        """
        from hideseek.report.figures.histograms import histograms

        return histograms(self._explanation, relevant=relevant, order=order, max_features=max_features, ax=ax)

    def row(
        self, row: int, *, values: str | None = None, of: Any = None, max_features: int = 10, ax: Axes | None = None
    ) -> Axes:
        """One row's answer: what its selected features add to the prediction, or take from it, with their values.

        Args:
            row: Its position.
            values: "effect": bars to the right raise the prediction, bars to the left lower it. "importance": the masks
                of all features, the selected ones in colour. None: effects where they are known.
            of: The class whose probability the effects are on; the predicted one if not given.
            max_features: How many features at most.
            ax: Where to draw.
        """
        from hideseek.report.figures.row import row as draw

        return draw(self._explanation, row, values=values, of=of, max_features=max_features, ax=ax)

    def path(self, row: int, *, max_features: int = 20, ax: Axes | None = None) -> Axes:
        """One row's features, entering as the price of showing a feature falls, and what is then predicted.

        Each bar begins at the feature's entry price: at any price, the features with a bar there are those selected.
        Needs a model that answers for a range of penalties: one of any preset but "paper".

        Args:
            row: Its position.
            max_features: How many features at most, those that enter first.
            ax: Where to draw.
        """
        from hideseek.report.figures.entering import entering

        return entering(self._explanation, row, max_features=max_features, ax=ax)

    def n_selected(self, *, ax: Axes | None = None) -> Axes:
        """How many features are selected in a row: the share of the rows for each number."""
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
        """A row of pixels as an image, with importance as colour over it and the most important patches outlined.

        Args:
            row: Its position.
            shape: Height and width of the image.
            patch_size: Side of a patch, in pixels.
            n_patches: How many patches; 0: none.
            pixels: What to draw in grey, if not the values that were explained: the image before it was standardised,
                for example. Shape: ``(features,)``.
            overlay: Whether to draw the importance of single pixels.
            ax: Where to draw.
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
        """Where another method agrees: for each feature the share of rows in which both, or only one, select it.

        Args:
            other: The other method's explanation of the same rows.
            labels: What the two methods are called; by their ``importance_kind`` if not given.
            max_features: How many features at most.
            ax: Where to draw.
        """
        from hideseek.report.figures.compare import compare

        return compare(self._explanation, other, labels=labels, max_features=max_features, ax=ax)
