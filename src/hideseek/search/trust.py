"""How far to believe a fit, told by rows that the answering members did not learn from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, Self

from hideseek.markup import Markup, element, inline_bar, table

__all__ = ["NO_ROWS", "Trust"]

NO_ROWS = (
    "No rows were held out in the fit, so it is not known how well it does on others: "
    'pass validation_fraction=0.1, or any preset but "paper" and at least 20 rows.'
)

_FEW_ROWS = 200
_WORSE = 0.1
"""The share of what all features explain that the selected ones may miss."""

_EXPLAINED = 0.02
"""The share of the loss without features that the selected ones explain at least."""

_ERRORS = 2.0
_AGREEMENT, _BY_HEART = 0.7, 0.1
_SUFFICIENT = 0.8


@dataclass(frozen=True, repr=False)
class Trust:
    """How well a fit does on rows that the answering members did not learn from.

    Each row is answered by the members that left it out, which select its features as the whole ensemble would. All of
    them together answer at least as well as these figures say. A figure that cannot be measured is None.

    Attributes:
        score_name: "auroc" or "r2".
        n_rows: Rows that were looked at.
        n_features: Features that can be selected.
        n_selected: Selected features, mean over rows.
        score_selected: AUROC or R squared of predictions from the selected features; everything else is drawn anew.
        score_all: The same with every feature shown, by the networks as they answer at their lowest price.
        score_none: The same of the best prediction that knows no feature: 0.5 or 0.
        loss_selected: Mean prediction loss of the selected features: cross-entropy in nats, or squared error in units
            of the target's variance.
        loss_all: The same of all features.
        loss_none: The same of the best prediction that knows no feature.
        difference_error: Standard error of ``loss_selected - loss_all``, row by row.
        sufficient: Share of the rows whose selected features suffice: the prediction from them is close to that from
            all features. Close: no probability of a class differs by more than 0.1, or the value by at most 0.2
            standard deviations of the target.
        agreement: How alike the sets are that two members select for a row that both or neither have learned from:
            shared features over features in either set, mean over pairs of members and rows; 1: the same sets.
        agreement_held_out: The same for pairs of members from different folds, of which one has learned from the row
            and the other has not. Clearly below ``agreement``: what is selected was learned by heart.
        warnings: What to keep in mind, in sentences.

    Example:
        >>> from hideseek import HideSeekClassifier
        >>> from hideseek.datasets import make_syn
        >>> data = make_syn("Syn1", n_samples=2000, random_state=0)
        >>> model = HideSeekClassifier("fast", random_state=0).fit(data.X, data.y)
        >>> model.trust_.n_rows
        2000
        >>> model.trust_.score_none
        0.5
    """

    score_name: str
    n_rows: int
    n_features: int
    n_selected: float | None = None
    score_selected: float | None = None
    score_all: float | None = None
    score_none: float | None = None
    loss_selected: float | None = None
    loss_all: float | None = None
    loss_none: float | None = None
    difference_error: float | None = None
    sufficient: float | None = None
    agreement: float | None = None
    agreement_held_out: float | None = None
    warnings: tuple[str, ...] = ()

    @property
    def score_title(self) -> str:
        """The name of the score in text: "AUROC" or "R²"."""
        return {"auroc": "AUROC", "r2": "R²"}[self.score_name]

    def to_dict(self) -> dict[str, Any]:
        """Return all figures by name, and the warnings, as JSON has them."""
        return {**self.figures(), "warnings": list(self.warnings)}

    def figures(self) -> dict[str, Any]:
        """Return all figures by name, from which ``Trust(**figures).with_warnings()`` is the same again."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "warnings"}

    def _shares(self) -> dict[str, str]:
        found = {
            "Rows whose selected features suffice": _written(self.sufficient, ".0%"),
            "Agreement of two members on a row": _written(self.agreement, ".2f"),
            "Agreement with members that left the row out": _written(self.agreement_held_out, ".2f"),
        }
        return {name: text for name, text in found.items() if text}

    def __repr__(self) -> str:
        if not self.n_rows:
            return f"Trust: {NO_ROWS}"
        lines = [
            f"Trust: {self.n_rows:,} rows, each answered by members that have not learned from it",
            f"{'':17}{'features':>10}{self.score_name:>8}{'loss':>9}",
        ]
        for name, n_shown, score, loss in (
            ("selected features", self.n_selected, self.score_selected, self.loss_selected),
            ("all features", float(self.n_features), self.score_all, self.loss_all),
            ("no feature", 0.0, self.score_none, self.loss_none),
        ):
            figures = _written(n_shown, ".2f"), _written(score, ".3f"), _written(loss, ".4f")
            lines.append("{:17}{:>10}{:>8}{:>9}".format(name, *figures))
        lines += [f"{name:44}  {text}" for name, text in self._shares().items()]
        return "\n  ".join([*lines, *(f"! {warning}" for warning in self.warnings)])

    def _repr_html_(self) -> str:
        """Return the figures as a small table with bars, for notebooks."""
        if not self.n_rows:
            return element("p", NO_ROWS)
        lines: list[list[object]] = [
            [name, n_shown, inline_bar(score or 0.0), _written(score, ".3f"), _written(loss, ".4f")]
            for name, n_shown, score, loss in (
                ("selected features", _written(self.n_selected, ".2f"), self.score_selected, self.loss_selected),
                ("all features", self.n_features, self.score_all, self.loss_all),
                ("no feature", 0, self.score_none, self.loss_none),
            )
        ]
        caption = f"Trust: {self.n_rows:,} rows, each answered by members that have not learned from it"
        head = ["Predictions from", "#Features", "", f"#{self.score_title}", "#Loss"]
        shares = element("p", "; ".join(f"{name}: {text}" for name, text in self._shares().items()))
        warnings = element("ul", *(element("li", warning) for warning in self.warnings)) if self.warnings else Markup()
        return Markup(table(caption, head, lines) + shares + warnings)

    def with_warnings(self) -> Self:
        """Return the same figures with what there is to say about them."""
        found = [*self._of_rows(), *self._of_predictions(), *self._of_sets()] if self.n_rows else [NO_ROWS]
        return replace(self, warnings=tuple(found))

    def _of_rows(self) -> Iterator[str]:
        if self.n_rows < _FEW_ROWS:
            yield f"Only {self.n_rows} rows were held out: these figures may be far off."

    def _of_predictions(self) -> Iterator[str]:
        if self.loss_selected is None or self.loss_all is None or self.loss_none is None:
            return
        missed, explained = self.loss_selected - self.loss_all, self.loss_none - self.loss_all
        if self.loss_none - self.loss_selected < _EXPLAINED * self.loss_none:
            yield "The selected features predict hardly better than no feature: what they say may be chance."
        if missed > max(_WORSE * explained, _ERRORS * (self.difference_error or 0.0)):
            yield (
                f"The selected features predict clearly worse than all features: loss {self.loss_selected:.4f} against "
                f"{self.loss_all:.4f}. A smaller penalty selects more."
            )
        if missed > 0 and self.sufficient is not None and self.sufficient < _SUFFICIENT:
            yield (
                f"In {1 - self.sufficient:.0%} of the rows the selected features give a prediction that is not close "
                "to that of all features."
            )

    def _of_sets(self) -> Iterator[str]:
        if self.agreement is None or self.agreement_held_out is None:
            return
        if self.agreement < _AGREEMENT:
            yield (
                f"The members select different features (agreement {self.agreement:.2f}): do not lean on a single row; "
                "selection_probability tells which of its features are in dispute."
            )
        if self.agreement - self.agreement_held_out > _BY_HEART:
            yield (
                f"Members that have not learned from a row select other features for it (agreement "
                f"{self.agreement_held_out:.2f} against {self.agreement:.2f}): rows are learned by heart."
            )


def _written(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)
