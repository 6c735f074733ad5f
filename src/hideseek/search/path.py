"""A path of penalties: what each costs in prediction, what it selects, and which one to take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hideseek.errors import InputError
from hideseek.frames import FrameLibrary, make_frame

__all__ = ["PRICES", "PenaltyPath"]

PRICES = tuple(float(price) for price in np.geomspace(0.002, 0.13, 11))
"""What showing one feature of one row may cost, in units of the prediction loss."""

LEAST_SHARE = 0.01
"""What a selected feature has to be worth: its share of all that the best penalty explains, null loss minus loss."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PenaltyPath:
    """How well the features that each penalty selects predict rows that were not learned from.

    Losses are those of the ensemble's averaged prediction when the selected features are shown whole and the others
    are drawn anew. One entry per penalty, from the smallest to the largest. All penalties are judged by some of the
    rows, and the three that do best there by all of them; what is known of the others is their distance to those three
    on the rows they share.

    Attributes:
        penalty: lambda_max.
        loss: Mean prediction loss on the judging rows.
        standard_error: Of the loss.
        excess: Loss minus that of the best penalty.
        excess_error: Standard error of that difference, row by row: much smaller than that of the loss.
        score: AUROC for classes, R squared for values.
        score_name: "auroc" or "r2".
        n_selected: Mean number of selected features of a row.
        null_loss: The loss of a prediction that knows no feature.
        chosen: The position of the penalty that was chosen, of the three that all rows judged.

    Example:
        >>> from hideseek import HideSeekClassifier
        >>> from hideseek.datasets import make_syn
        >>> data = make_syn("Syn1", n_samples=2000, random_state=0)
        >>> model = HideSeekClassifier("fast", penalty="auto", random_state=0).fit(data.X, data.y)
        >>> len(model.path_)
        11
        >>> bool(model.path_.penalty[model.path_.chosen] == model.penalty_)
        True
    """

    penalty: Floats
    loss: Floats
    standard_error: Floats
    excess: Floats
    excess_error: Floats
    score: Floats
    score_name: str
    n_selected: Floats
    null_loss: float
    chosen: int

    def __len__(self) -> int:
        return len(self.penalty)

    def columns(self) -> dict[str, Floats]:
        """The table, column by column."""
        return {
            "penalty": self.penalty,
            "loss": self.loss,
            "standard_error": self.standard_error,
            "excess": self.excess,
            "excess_error": self.excess_error,
            self.score_name: self.score,
            "n_selected": self.n_selected,
        }

    def to_frame(self, library: FrameLibrary = "pandas") -> Any:
        """The table as a frame, one line per penalty."""
        return make_frame(self.columns(), library)

    def __repr__(self) -> str:
        columns = self.columns()
        lines = ["  ".join(f"{name:>14}" for name in columns)]
        for i, row in enumerate(zip(*columns.values(), strict=True)):
            lines.append("  ".join(f"{value:14.4g}" for value in row) + (" <- chosen" if i == self.chosen else ""))
        return "\n".join(lines)

    def finalists(self, count: int) -> list[int]:
        """The positions that are worth judging further, from the best on."""
        order = np.argsort(_cost(self.loss, self.n_selected, self.null_loss), kind="stable")
        return [int(position) for position in order[:count]]

    # -- a sparser or a fuller answer ---------------------------------------------------------------------------

    def nearest(self, penalty: float) -> int:
        """The position of the penalty of the path that is nearest, in ratio."""
        return int(np.argmin(np.abs(np.log(self.penalty / penalty))))

    def with_features(self, n_features: float) -> int:
        """The position with the smallest loss among those that select at most this many features on average."""
        few = np.flatnonzero(self.n_selected <= n_features)
        if not len(few):
            raise InputError(
                f"n_features={n_features}: no penalty of the path selects so few; "
                f"the fewest are {self.n_selected.min():.2f} a row, on average"
            )
        return int(few[np.argmin(self.loss[few])])

    def within_loss(self, share: float) -> int:
        """The position of the largest penalty that loses at most this share of what the best explains."""
        explained = max(self.null_loss - float(self.loss.min()), 0.0)
        return int(np.flatnonzero(self.excess <= share * explained)[-1])

    def within_score(self, difference: float) -> int:
        """The position of the largest penalty whose AUROC or R squared is at most this far below the best one's."""
        if not np.isfinite(self.score).any():
            raise InputError(f"score_within: the rows that judged allow no {self.score_name}; ask for loss_within")
        return int(np.flatnonzero(self.score >= np.nanmax(self.score) - difference)[-1])


def judged_path(
    penalties: Sequence[float],
    losses: Floats,
    weight: Floats | None,
    *,
    score: Sequence[float],
    score_name: str,
    n_selected: Sequence[float],
    null_loss: float,
) -> PenaltyPath:
    """The path that these losses make, and the choice among the penalties that every row judged.

    Shape: ``losses (penalties, rows)``, not a number where a row did not judge; ``weight (rows,)``.
    """
    judged = ~np.isnan(losses).any(axis=1)
    reference = losses[reference_of(losses, weight)]
    reference_loss, _ = _mean_and_error(reference, weight)
    loss = np.array([reference_loss + _mean_and_error(own - reference, weight)[0] for own in losses])
    best = losses[int(np.argmin(loss))]
    cost = _cost(loss, np.asarray(n_selected), null_loss)
    return PenaltyPath(
        np.asarray(penalties, dtype=np.float64),
        loss,
        np.array([_mean_and_error(own, weight)[1] for own in losses]),
        loss - loss.min(),
        np.array([_mean_and_error(own - best, weight)[1] for own in losses]),
        np.asarray(score, dtype=np.float64),
        score_name,
        np.asarray(n_selected, dtype=np.float64),
        float(null_loss),
        int(np.argmin(np.where(judged, cost, np.inf))),
    )


def reference_of(losses: Floats, weight: Floats | None) -> int:
    """The penalty that the others are compared with: of those that every row judged, the one with the smallest loss.

    Shape: ``losses (penalties, rows)``, not a number where a row did not judge.
    """
    return int(np.argmin([np.inf if np.isnan(own).any() else _mean_and_error(own, weight)[0] for own in losses]))


def _cost(loss: Floats, n_selected: Floats, null_loss: float) -> Floats:
    """What is least at the penalty to choose.

    The smallest loss alone would choose too small a penalty wherever every feature helps a little, and a tolerance on
    the loss one too large where many features are lost for little. So every selected feature has to be worth its keep:
    ``LEAST_SHARE`` of what the best penalty explains.
    """
    explained = max(null_loss - float(loss.min()), 0.0)
    return np.asarray(loss + LEAST_SHARE * explained * n_selected)


def _mean_and_error(values: Floats, weight: Floats | None) -> tuple[float, float]:
    """The weighted mean over the rows that have a value, and its standard error."""
    given = ~np.isnan(values)
    share = given / given.sum() if weight is None else np.where(given, weight, 0) / weight[given].sum()
    values = np.where(given, values, 0.0)
    mean = float(values @ share)
    return mean, float(np.sqrt(np.square((values - mean) * share).sum()))
