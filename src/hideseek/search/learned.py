"""All that a fit learns of a table, beside its encoding and the meaning of its target."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hideseek.engine.draws import columns_given
from hideseek.engine.ensemble import Ensemble, Kept
from hideseek.engine.recipe import Recipe
from hideseek.search.path import PenaltyPath
from hideseek.search.screening import Screening
from hideseek.search.trust import Trust
from hideseek.stand_ins import StandIn

__all__ = ["Learned"]


@dataclass(frozen=True)
class Learned:
    """What a fitted model knows. An estimator shows each of these but the first as an attribute, ``path_`` and so on.

    Attributes:
        ensemble: The trained networks, at the price at which they answer.
        recipe: How they were trained.
        penalty: The penalty that they answer at.
        history: The course of training, by name.
        n_features: Features that were given, screened ones and copies among them.
        pool: What the replacement rows are made of.
        path: What each penalty costs and selects, where they answer for a range.
        screening: Where features were screened, what speaks for each and which were kept.
        copies: Features that repeat another one and were left out, each with that other one, by number.
        stand_ins: For features by name, those that could take their place.
        trust: How far to believe this fit.
        feature_importances: The mean mask of each feature; in a fitted estimator that of each column.
    """

    ensemble: Ensemble
    recipe: Recipe
    penalty: float
    history: dict[str, NDArray[Any]]
    n_features: int
    pool: str = "values"
    path: PenaltyPath | None = None
    screening: Screening | None = None
    copies: dict[int, int] | None = None
    stand_ins: dict[str, tuple[StandIn, ...]] | None = None
    trust: Trust | None = None
    feature_importances: NDArray[np.float64] | None = None

    @property
    def range_path(self) -> PenaltyPath | None:
        """The path of a model that answers for every price of a range; models of older versions have others."""
        return None if self.ensemble.stack.price_range is None else self.path

    @property
    def n_given(self) -> int:
        """Features that a price is multiplied with to make a penalty."""
        return columns_given(self.n_features, self.recipe.column_fraction)

    @property
    def default_price(self) -> float | None:
        """The price of showing one feature that held-out rows chose, whatever was asked for since."""
        path = self.path
        if path is None:
            return None
        return float(path.penalty[path.chosen if path.default is None else path.default]) / self.n_given

    def at(self, path: PenaltyPath, penalty: float) -> Learned:
        """Return the same at another penalty. What was measured at the penalty of the fit is not known there."""
        ensemble = replace(self.ensemble, price=penalty / self.n_given)
        return replace(self, ensemble=ensemble, penalty=penalty, path=path, feature_importances=None, trust=None)

    def with_n_features(self, n_features: int, threshold: float) -> Learned:
        """Return the same with so many features selected in every row."""
        return replace(self, ensemble=replace(self.ensemble, n_features=n_features, threshold=threshold), trust=None)

    def with_kept(self, kept: Kept | None) -> Learned:
        """Return the same for a table with features that were dropped, of which nothing is shown; None: none were."""
        if kept is None or self.feature_importances is None:
            return replace(self, ensemble=replace(self.ensemble, kept=kept))
        importances = np.zeros(kept.n_features)
        importances[kept.features] = self.feature_importances
        return replace(self, ensemble=replace(self.ensemble, kept=kept), feature_importances=importances)

    def with_pool(self, kind: str, n_rows: int) -> Learned:
        """Return the same with no more of the training rows in its pool than that."""
        pool = "noise" if self.ensemble.draws_given_row else kind
        return replace(self, ensemble=self.ensemble.with_pool(kind, n_rows), pool=pool)
