"""Training for ranges of prices: some members of every range, then the others of the range that does best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hideseek.engine.ensemble import Ensemble
from hideseek.engine.teams import Team, TrainedTeam
from hideseek.search.choice import Judged, best_range, judge
from hideseek.search.parts import Part

__all__ = ["Found", "Search", "train_ranges"]

Train = Callable[[Sequence[Team]], list[TrainedTeam]]


@dataclass(frozen=True)
class Search:
    """One table, and the ranges of prices to choose from.

    Attributes:
        ranges: A team for each range, with all of its members.
        part: The rows that they learn from.
        fold: The fold of each row; None: no rows are left out.
        as_ensemble: Makes an ensemble of a trained team.
        threshold: A feature is selected where its mean mask is greater.
    """

    ranges: Sequence[Team]
    part: Part
    fold: NDArray[np.int64] | None
    as_ensemble: Callable[[TrainedTeam], Ensemble]
    threshold: float


@dataclass(frozen=True)
class Found:
    """The range that does best on a table: its members, the ensemble they are, and what held-out rows say of it."""

    team: TrainedTeam
    ensemble: Ensemble
    judged: Judged


def train_ranges(train: Train, searches: Sequence[Search], n_scouts: int, loss: str) -> list[Found]:
    """Train ``n_scouts`` members of every range, choose a range for each table, and train its other members.

    All members of all tables train at once, in each of the two turns.
    """
    scouts = iter(train([replace(team, n_members=n_scouts) for search in searches for team in search.ranges]))
    chosen, found = [], []
    for search in searches:
        candidates = [_found(search, next(scouts), loss) for _ in search.ranges]
        chosen.append(best_range([candidate.judged for candidate in candidates]))
        found.append(candidates[chosen[-1]])
    others = [
        replace(team, first=n_scouts, n_members=team.n_members - n_scouts)
        for team in (search.ranges[best] for search, best in zip(searches, chosen, strict=True))
    ]
    if not all(team.n_members for team in others):
        return found
    return [
        _found(search, first.team.joined(team), loss)
        for search, first, team in zip(searches, found, train(others), strict=True)
    ]


def _found(search: Search, team: TrainedTeam, loss: str) -> Found:
    ensemble = search.as_ensemble(team)
    return Found(team, ensemble, judge(ensemble, search.part, search.fold, loss=loss, threshold=search.threshold))
