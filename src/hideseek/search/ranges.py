"""Training for ranges of prices: some members of every range, then the others of the range that does best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

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


def train_ranges(
    train: Train, searches: Sequence[Search], n_scouts: int, *, loss: str, threshold: float
) -> list[Found]:
    """Train ``n_scouts`` members of every range, choose a range for each table, and train its other members.

    All members of all tables train at once, in each of the two turns, and are judged at once.

    Args:
        train: Trains teams.
        searches: The tables, with ranges of one shape.
        n_scouts: Members of every range that are trained first.
        loss: "cross_entropy" or "squared_error".
        threshold: A feature is selected where its mean mask is greater.
    """
    scouts = iter(train([replace(team, n_members=n_scouts) for search in searches for team in search.ranges]))
    chosen, found = [], []
    for some in (searches[start : start + _AT_ONCE] for start in range(0, len(searches), _AT_ONCE)):
        of_ranges = [(search, next(scouts)) for search in some for _ in search.ranges]
        candidates = iter(_found(of_ranges, loss, threshold))
        for search in some:
            own = [next(candidates) for _ in search.ranges]
            chosen.append(best_range([candidate.judged for candidate in own]))
            found.append(own[chosen[-1]])
    others = [
        replace(team, first=n_scouts, n_members=team.n_members - n_scouts)
        for team in (search.ranges[best] for search, best in zip(searches, chosen, strict=True))
    ]
    if not all(team.n_members for team in others):
        return found
    joined = [first.team.joined(team) for first, team in zip(found, train(others), strict=True)]
    return _found(list(zip(searches, joined, strict=True)), loss, threshold)


def _found(trained: Sequence[tuple[Search, TrainedTeam]], loss: str, threshold: float) -> list[Found]:
    """Return the trained teams as ensembles, with what held-out rows say of them."""
    ensembles = [search.as_ensemble(team) for search, team in trained]
    judged = judge(ensembles, [search.table for search, _ in trained], loss=loss, threshold=threshold)
    teams = [team for _, team in trained]
    return [Found(*each) for each in zip(teams, ensembles, judged, strict=True)]
