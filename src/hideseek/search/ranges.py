"""Training for ranges of prices, and the choice of the range that does best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hideseek.engine.ensemble import Ensemble
from hideseek.engine.teams import Team, TrainedTeam
from hideseek.search.choice import Judged, best_range, judge
from hideseek.search.parts import LearnedFrom

__all__ = ["Found", "Search", "train_ranges"]

_AT_ONCE = 16
"""Tables that are judged at once. What held-out rows say of all of their ranges is in memory together."""

Train = Callable[[Sequence[Team]], list[TrainedTeam]]


@dataclass(frozen=True)
class Search:
    """One table, and the ranges of prices to choose from.

    Attributes:
        ranges: A team for each range, with all of its members.
        table: What they learn from.
        as_ensemble: Makes an ensemble of a trained team.
    """

    ranges: Sequence[Team]
    table: LearnedFrom
    as_ensemble: Callable[[TrainedTeam], Ensemble]


@dataclass(frozen=True)
class Found:
    """The range that does best on a table: its members, the ensemble they are, and what held-out rows say of it."""

    team: TrainedTeam
    ensemble: Ensemble
    judged: Judged


def train_ranges(train: Train, searches: Sequence[Search], *, loss: str, threshold: float) -> list[Found]:
    """Train the members of every range of all tables at once, and choose a range for each table.

    Args:
        train: Trains teams.
        searches: The tables.
        loss: "cross_entropy" or "squared_error".
        threshold: A feature is selected where its mean mask is greater.
    """
    trained, found = iter(train([team for search in searches for team in search.ranges])), []
    for some in (searches[start : start + _AT_ONCE] for start in range(0, len(searches), _AT_ONCE)):
        of_ranges = [(search, next(trained)) for search in some for _ in search.ranges]
        candidates = iter(_found(of_ranges, loss, threshold))
        for search in some:
            own = [next(candidates) for _ in search.ranges]
            found.append(own[best_range([candidate.judged for candidate in own])])
    return found


def _found(trained: Sequence[tuple[Search, TrainedTeam]], loss: str, threshold: float) -> list[Found]:
    """Return the trained teams as ensembles, with what held-out rows say of them."""
    ensembles = [search.as_ensemble(team) for search, team in trained]
    judged = judge(ensembles, [search.table for search, _ in trained], loss=loss, threshold=threshold)
    teams = [team for _, team in trained]
    return [Found(*each) for each in zip(teams, ensembles, judged, strict=True)]
