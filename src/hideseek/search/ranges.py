"""Training for ranges of prices, the choice of the range that does best, and the search for cuts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hideseek.engine.ensemble import Ensemble
from hideseek.engine.teams import Team, TrainedTeam
from hideseek.search.choice import Judged, best_range, judge
from hideseek.search.cuts import cut
from hideseek.search.moves import Case
from hideseek.search.parts import LearnedFrom

__all__ = ["Found", "Search", "train_ranges"]

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
    """The range that does best on a table: its members, the ensemble they are, and what held-out rows say of it.

    ``table`` is what the members learned from, with its rows moved away from the cuts that were found.
    """

    team: TrainedTeam
    ensemble: Ensemble
    table: LearnedFrom
    judged: Judged


def train_ranges(
    train: Train, searches: Sequence[Search], *, loss: str, threshold: float, with_cuts: bool
) -> list[Found]:
    """Train the members of every range of all tables at once, and choose a range for each table.

    Args:
        train: Trains teams.
        searches: The tables; their rows are moved in place where cuts are found.
        loss: "cross_entropy" or "squared_error".
        threshold: A feature is selected where its mean mask is greater.
        with_cuts: Whether to look for cuts.
    """
    trained = iter(train([team for search in searches for team in search.ranges]))
    best = _best_ranges([(search, [next(trained) for _ in search.ranges]) for search in searches], loss, threshold)
    cases = Case.of_all([ensemble for _, ensemble in best], [search.table for search in searches])
    if with_cuts:
        cases = cut(cases, loss=loss, threshold=threshold)
    judged = judge([case.ensemble for case in cases], [case.table for case in cases], loss=loss, threshold=threshold)
    teams = [team for team, _ in best]
    return [Found(team, case.ensemble, case.table, own) for team, case, own in zip(teams, cases, judged, strict=True)]


def _best_ranges(
    trained: Sequence[tuple[Search, Sequence[TrainedTeam]]], loss: str, threshold: float
) -> list[tuple[TrainedTeam, Ensemble]]:
    """Return the range of each table that has learned best; held-out rows are asked where there are several."""
    candidates = [[search.as_ensemble(team) for team in teams] for search, teams in trained]
    several = [
        (each, search.table)
        for own, (search, _) in zip(candidates, trained, strict=True)
        if len(own) > 1
        for each in own
    ]
    judged = iter(judge(*zip(*several, strict=True), loss=loss, threshold=threshold) if several else ())
    best = [best_range([next(judged) for _ in own]) if len(own) > 1 else 0 for own in candidates]
    return [(teams[i], own[i]) for i, own, (_, teams) in zip(best, candidates, trained, strict=True)]
