"""A path of penalties: what each costs in prediction, what it selects, and which one to take."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hideseek.errors import InputError
from hideseek.frames import FrameLibrary, make_frame

__all__ = ["Floats", "PenaltyPath"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PenaltyPath:
    """How well the features that each penalty selects predict rows that were not learned from.

    Losses are those of predictions from the selected features alone: everything else is drawn anew. Each row is
    predicted by members that have not learned from it. One entry per penalty, from the smallest to the largest.

    Attributes:
        penalty: lambda_max.
        loss: Mean prediction loss.
        standard_error: Of the loss.
        excess: Loss minus that of the best penalty.
        excess_error: Standard error of that difference, row by row: much smaller than that of the loss.
        score: AUROC for classes, R squared for values.
        score_name: "auroc" or "r2".
        n_selected: Mean number of selected features of a row.
        null_loss: The loss of a prediction that knows no feature.
        chosen: The position of the penalty that was chosen.
        disagreement: Features of a row that one of two members selects and the other does not, on average over rows
            and pairs of members; None for models of older versions.
        default: The position that the fit chose; ``chosen`` is another one after ``at``. None for models of older
            versions.

    Example:
        >>> from hideseek import HideSeekClassifier
        >>> from hideseek.datasets import make_syn
        >>> data = make_syn("Syn1", n_samples=2000, random_state=0)
        >>> model = HideSeekClassifier("fast", random_state=0).fit(data.X, data.y)
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
    disagreement: Floats | None = None
    default: int | None = None

    def __len__(self) -> int:
        return len(self.penalty)

    def columns(self) -> dict[str, Floats]:
        """Return the table, column by column."""
        return {
            "penalty": self.penalty,
            "loss": self.loss,
            "standard_error": self.standard_error,
            "excess": self.excess,
            "excess_error": self.excess_error,
            self.score_name: self.score,
            "n_selected": self.n_selected,
            **({} if self.disagreement is None else {"disagreement": self.disagreement}),
        }

    def to_frame(self, library: FrameLibrary = "pandas") -> Any:
        """Return the table as a frame, one line per penalty."""
        return make_frame(self.columns(), library)

    def __repr__(self) -> str:
        columns = self.columns()
        lines = ["  ".join(f"{name:>14}" for name in columns)]
        for i, row in enumerate(zip(*columns.values(), strict=True)):
            lines.append("  ".join(f"{value:14.4g}" for value in row) + (" <- chosen" if i == self.chosen else ""))
        return "\n".join(lines)

    def at_next_lower(self) -> PenaltyPath:
        """Return the path as if the penalty below the chosen one had been chosen."""
        return replace(self, chosen=self.chosen - 1, default=self.chosen - 1)

    # -- a sparser or a fuller answer ---------------------------------------------------------------------------

    def nearest(self, penalty: float) -> int:
        """Return the position of the penalty of the path that is nearest, in ratio."""
        return int(np.argmin(np.abs(np.log(self.penalty / penalty))))

    def with_features(self, n_features: float) -> int:
        """Return the position with the smallest loss among those that select at most this many features on average."""
        few = np.flatnonzero(self.n_selected <= n_features)
        if not len(few):
            raise InputError(
                f"n_features={n_features}: no penalty of the path selects so few; "
                f"the fewest are {self.n_selected.min():.2f} a row, on average"
            )
        return int(few[np.argmin(self.loss[few])])

    def within_loss(self, share: float) -> int:
        """Return the position of the largest penalty that loses at most this share of what the best explains."""
        explained = max(self.null_loss - float(self.loss.min()), 0.0)
        return int(np.flatnonzero(self.excess <= share * explained)[-1])

    def within_score(self, difference: float) -> int:
        """Return the position of the largest penalty whose AUROC or R squared is at most this far below the best."""
        if not np.isfinite(self.score).any():
            raise InputError(f"score_within: the rows that judged allow no {self.score_name}; ask for loss_within")
        return int(np.flatnonzero(self.score >= np.nanmax(self.score) - difference)[-1])
