"""Every choice that training makes, and the named sets of choices."""

from __future__ import annotations

from dataclasses import dataclass, replace

__all__ = ["LOWEST_PRICE", "PRESETS", "PRICE_PER_FEATURE", "SHORT", "WIDE", "Recipe"]

LOWEST_PRICE = 0.00015
"""The lower end of every range of prices, in units of the prediction loss."""

_LONG, SHORT = 10_000, 4000
"""Rows up to which a table is learned more carefully, and below which it is learned from smaller batches."""

WIDE = 32
"""Features above which a table has more members."""

_MEMBERS, _MEMBERS_OF_SHORT = 8, 10
"""Members for a table that is wide or not long, and for a short one."""

PRICE_PER_FEATURE = 0.3 / 11
"""What showing one feature of one row costs, in units of the prediction loss: the paper's 0.3 at 11 features."""


@dataclass(frozen=True)
class Recipe:
    """How a Hide&Seek model is trained. The defaults are the paper's.

    Attributes:
        hidden_layers: Width of each hidden layer, of Hide and of Seek alike.
        steps: Optimiser steps. With a full batch a step is one of the paper's epochs.
        batch_size: Rows a member sees in a step, drawn with replacement; None: all rows, in order.
        learning_rate: Adam's.
        weight_decay: The share of every weight, times the learning rate, that a step takes away.
        cooldown: Share of the steps, the last ones, over which the learning rate falls.
        refinement: Steps, as a share of ``steps``, in which after training the Seeks alone learn from the features that
            the ensemble selects, each from all rows that its member may learn from.
        logit_pull: Members that answer for a range of prices: how strongly the logits of masks are pulled back from
            beyond ``FARTHEST_LOGIT``.
        anneal_power: q in lambda_t = (t / T)^q * lambda_max (eq. 11).
        n_members: Models trained side by side, whose masks and probabilities are averaged.
        kept_fraction: Share of the members that answer: those with the smallest loss at the end of training. Now and
            then a member misses a feature, and its loss shows it.
        column_fraction: Share of the columns that each member sees.
        replacement: How a hidden value is drawn: "marginal", "gaussian_knockoff", "deep_knockoff",
            "reference_knockoff" or "conditional".
        cross_fit: Whether a member has two Seeks, each of which learns from half of the rows, while Hide learns through
            the Seek that has not learned from the row.
        ramps: Whether a column of an odd shape is seen in pieces as well.
        cuts: Members that answer for a range of prices: whether to look for values at which the answer jumps.
        highest_prices: Ranges of prices, by their upper ends: members answer for all prices in a range, and held-out
            rows choose between ranges and prices. Not all of them are trained on every table: see
            ``search.dependence``. Empty: members answer for one price.
    """

    hidden_layers: tuple[int, ...] = (32, 32)
    steps: int = 500
    batch_size: int | None = None
    learning_rate: float = 1e-3
    anneal_power: float = 2.0
    n_members: int = 1
    kept_fraction: float = 1.0
    column_fraction: float = 1.0
    replacement: str = "marginal"
    cross_fit: bool = False
    weight_decay: float = 0.0
    ramps: bool = False
    cuts: bool = False
    highest_prices: tuple[float, ...] = ()
    cooldown: float = 0.0
    refinement: float = 0.0
    logit_pull: float = 0.0

    def for_table(self, n_rows: int, n_features: int) -> Recipe:
        """Return the recipe for a table of this size: a short one is learned from smaller batches.

        Weights decay more, up to eight times, the fewer rows there are, so that a network learns less by heart. Members
        differ more the fewer rows they learn from, and so there are more of them. Of a wide table screening leaves some
        features that mean nothing, which single members select.
        """
        if not self.highest_prices:
            return self
        n_members, batch_size = self.n_members, self.batch_size
        is_short, is_long = n_rows < SHORT, n_rows > _LONG
        if len(self.highest_prices) > 1 and (n_features > WIDE or not is_long):
            n_members = max(n_members, _MEMBERS_OF_SHORT if is_short else _MEMBERS)
        if is_short and batch_size is not None:
            batch_size = -(-batch_size // 4)
        weight_decay = self.weight_decay * min(max(_LONG / n_rows, 1.0), 8.0)
        return replace(self, n_members=n_members, batch_size=batch_size, weight_decay=weight_decay)

    @property
    def n_seeks(self) -> int:
        """Seeks of a member."""
        return 2 if self.cross_fit else 1


_PATH = Recipe(
    steps=3000,
    batch_size=128,
    learning_rate=5e-3,
    weight_decay=0.025,
    n_members=6,
    cross_fit=True,
    ramps=True,
    cuts=True,
    highest_prices=(0.05, 0.4),
    cooldown=0.3,
    refinement=0.1,
    logit_pull=1e-3,
)

PRESETS = {
    "balanced": _PATH,
    "fast": replace(_PATH, n_members=5, steps=1200, refinement=0.2, highest_prices=(0.4,)),
    "best": replace(_PATH, n_members=10, steps=4500),
    "paper": Recipe(),
}
"""Recipes by name. Only "paper" is the published method."""
