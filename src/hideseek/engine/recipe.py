"""Every choice that training makes, and the named sets of choices."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["PRESETS", "PRICE_PER_FEATURE", "Recipe"]

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
        anneal_power: q in lambda_t = (t / T)^q * lambda_max (eq. 11).
        n_members: Models trained side by side, whose masks and probabilities are averaged.
        kept_fraction: Share of the members that answer: those with the smallest loss at the end of training. Now and
            then a member misses a feature, and its loss shows it.
        column_fraction: Share of the columns that each member sees.
        replacement: How a hidden value is drawn: "marginal", "gaussian_knockoff" or "deep_knockoff".
        cross_fit: Whether a member has two Seeks, each of which learns from half of the rows, while Hide learns through
            the Seek that has not learned from the row.
        ramps: Whether a column of an odd shape is seen in pieces as well.
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

    @property
    def n_seeks(self) -> int:
        """Seeks of a member."""
        return 2 if self.cross_fit else 1


PRESETS = {
    "paper": Recipe(),
    "fast": Recipe(steps=400, batch_size=500, learning_rate=3e-3, ramps=True),
    "balanced": Recipe(steps=1000, batch_size=96, learning_rate=4e-3, n_members=10, kept_fraction=2 / 3, ramps=True),
    "best": Recipe(
        hidden_layers=(64, 64),
        steps=4000,
        batch_size=96,
        learning_rate=4e-3,
        weight_decay=0.025,
        n_members=10,
        kept_fraction=2 / 3,
        cross_fit=True,
        ramps=True,
    ),
}
"""Recipes by name. Only "paper" is the published method."""
