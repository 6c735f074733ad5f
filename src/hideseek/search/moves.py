"""Rows of a table that are moved along a column: who is asked about them, and what they lose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hideseek.engine.along import price_bounds_of_all
from hideseek.engine.cuts import Cuts
from hideseek.engine.ensemble import Ensemble
from hideseek.engine.questions import Question
from hideseek.engine.versions import Versions, gains_of_versions
from hideseek.search.choice import usual_price
from hideseek.search.parts import LearnedFrom
from hideseek.search.path import Floats

__all__ = ["Case", "Trial", "gains_of", "with_values"]

_TINY = 1e-30


@dataclass(frozen=True)
class Case:
    """An ensemble that is asked for cuts, what it learned from, and the price at which it is asked."""

    ensemble: Ensemble
    table: LearnedFrom
    price: float

    @classmethod
    def of_all(cls, ensembles: Sequence[Ensemble], tables: Sequence[LearnedFrom]) -> list[Case]:
        """Return a case for each ensemble, at the usual price of its range."""
        bounds = price_bounds_of_all(ensembles)
        prices = [usual_price(*own, len(table.x)) for own, table in zip(bounds, tables, strict=True)]
        return [cls(*each) for each in zip(ensembles, tables, prices, strict=True)]

    @property
    def cuts(self) -> Cuts:
        """The cuts that were found until now."""
        return self.ensemble.scaler.cuts or Cuts.none()

    def values(self, column: int) -> Floats:
        """Return a column of all rows, standardised. Shape: ``(rows,)``."""
        return self._column(column).cpu().numpy()

    def _column(self, column: int) -> Tensor:
        return self.table.x[:, self.ensemble.scaler.places(column).start].double()

    def with_cut(self, column: int, at: float, margin: float) -> Case:
        """Return the case with one more cut; the rows of the table are moved in place."""
        ensemble, scaler = self.ensemble.with_cuts(self.cuts.plus(column, at, margin)), self.ensemble.scaler
        moved = scaler.only(column).inputs(Cuts.none().plus(0, at, margin).apart(self._column(column)[:, None]))
        self.table.x[:, scaler.places(column)] = moved.float()
        return Case(ensemble, replace(self.table), self.price)


class Trial(NamedTuple):
    """Rows of a case, by number and as the networks see them, that some of the members are asked about."""

    case: Case
    rows: NDArray[np.intp]
    x: Tensor
    members: NDArray[np.intp]


def with_values(x: Tensor, z: Tensor, cases: Sequence[Case], columns: Sequence[int]) -> Tensor:
    """Return inputs of tables of one shape with other values of one column of each.

    Shape: ``x (tables, inputs, rows)``, ``z (tables, rows)`` -> as ``x``.
    """
    moved, places = x.clone(), [cases[0].ensemble.scaler.places(column) for column in columns]
    if all(place.stop == place.start + 1 for place in places):  # all at once
        moved[torch.arange(len(x)), torch.tensor([place.start for place in places])] = z
        return moved
    for own, values, case, column in zip(moved, z, cases, columns, strict=True):
        scaler = case.ensemble.scaler
        own[scaler.places(column)] = scaler.only(column).inputs(values.double()[:, None]).t().float()
    return moved


def gains_of(
    trials: Sequence[Trial], versions: Versions, n_cases: int, n_draws: int, *, loss: str, threshold: float
) -> Tensor:
    """Return what the rows of each case gain by each version, in nats and times their weights.

    Args:
        trials: Equally many rows each, and equally many trials of each case, one case after the other.
        versions: Makes other versions of the rows.
        n_cases: How many cases there are.
        n_draws: Number of pool rows that a prediction is averaged over.
        loss: "cross_entropy" or "squared_error".
        threshold: A feature is selected where its mean mask is greater.

    Shape: ``(cases, versions, rows of all its trials)``, double.
    """
    used = [trial.case.table.part.targets(trial.rows) for trial in trials]
    questions = [Question(trial.case.ensemble, trial.members, trial.x, [trial.case.price]) for trial in trials]
    targets = [torch.from_numpy(part.target) for part in used]
    as_is, gains = gains_of_versions(questions, targets, versions, n_draws, loss=loss, threshold=threshold)
    weights = [torch.from_numpy(part.weight) for part in used if part.weight is not None]
    if weights:
        gains *= torch.stack(weights).to(gains.device)[:, None]
    gains = gains.view(n_cases, -1, *gains.shape[1:]).transpose(1, 2).flatten(2).double()
    if loss == "squared_error":  # errors count as those of normal noise
        gains *= 0.5 / as_is.view(n_cases, -1).mean(dim=1).clamp(min=_TINY)[:, None, None]
    return gains
