"""A table and a target, encoded and ready to train on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hideseek.engine.draws import columns_given
from hideseek.engine.ensemble import Kept
from hideseek.engine.ramps import Ramps
from hideseek.engine.recipe import PRICE_PER_FEATURE
from hideseek.engine.scaling import Scaler
from hideseek.search.parts import Part

__all__ = ["Problem"]


@dataclass(frozen=True)
class Problem:
    """What has to be known of a table before training.

    Attributes:
        train: Rows to learn from.
        held_out: Rows only to look at, or None.
        scaler: What standardises both.
        n_outputs: Outputs of Seek.
        seed: Where all draws come from.
        names: Of all features.
        price_per_feature: The paper's price of showing one feature, in units of this problem's loss.
        penalty: The penalty that was asked for; None: it is chosen, or the paper's.
        widths: Columns of each feature, side by side; None: one each.
        kept: What is left of the caller's features, where some were dropped; None: all.
    """

    train: Part
    held_out: Part | None
    scaler: Scaler
    n_outputs: int
    seed: int
    names: Sequence[str]
    price_per_feature: float = PRICE_PER_FEATURE
    penalty: float | None = None
    widths: tuple[int, ...] | None = None
    kept: Kept | None = None

    @property
    def shape(self) -> tuple[int, int, int, tuple[int, ...] | None]:
        """What the problems of one stack have in common: rows, columns, outputs, inputs of each feature."""
        return (*self.train.table.shape, self.n_outputs, self.input_widths)

    @property
    def input_widths(self) -> tuple[int, ...] | None:
        """What the networks see of each feature: its columns, and their ramps; None: one input each."""
        return self.scaler.widths(self.widths)

    @property
    def n_features(self) -> int:
        """Features that can be shown, of one column or more."""
        return self.train.table.shape[1] if self.widths is None else len(self.widths)

    @property
    def known(self) -> list[int]:
        """The numbers of these features among those of the caller."""
        return list(range(self.n_features)) if self.kept is None else self.kept.features.tolist()

    @property
    def columns(self) -> list[slice]:
        """The columns of each feature."""
        ends = np.cumsum([0, *(self.widths or (1,) * self.n_features)]).tolist()
        return [slice(start, end) for start, end in pairwise(ends)]

    @property
    def varies(self) -> NDArray[np.bool_]:
        """The features with a column that is not constant. Shape: ``(features,)``."""
        return self.by_feature(~self.scaler.constant)

    def by_feature(self, columns: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the features of which any column is true. Shape: ``(columns,)`` -> ``(features,)``."""
        if self.widths is None:
            return columns
        return np.logical_or.reduceat(columns, np.cumsum((0, *self.widths[:-1])))

    def with_ramps(self, ramps: Ramps | None) -> Problem:
        """Return the problem with these pieces of columns seen as well."""
        return replace(self, scaler=replace(self.scaler, ramps=ramps))

    def of_features(self, features: NDArray[np.intp]) -> Problem:
        """Return the problem with some of the features. What a penalty means does not change."""
        widths = self.widths or (1,) * self.n_features
        kept = Kept.of(features, widths)
        return replace(
            self,
            train=self.train.of_columns(kept.columns),
            held_out=None if self.held_out is None else self.held_out.of_columns(kept.columns),
            scaler=self.scaler.of(kept.columns),
            widths=None if self.widths is None else tuple(widths[j] for j in features),
            kept=kept,
        )

    def n_given(self, column_fraction: float) -> int:
        """Return over how many features the paper's mean of the mask runs: all that a member is given.

        Those that are constant count, and those that were dropped.
        """
        return columns_given(len(self.names), column_fraction)
