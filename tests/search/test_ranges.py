from dataclasses import dataclass, field

import numpy as np
import pytest

from hideseek import HideSeekClassifier
from hideseek.engine.recipe import PRESETS
from hideseek.engine.teams import Team
from hideseek.search import ranges
from hideseek.search.ranges import Search, train_ranges

VARIES = np.ones(2, dtype=bool)


@dataclass(frozen=True)
class FakeTeam:
    """The numbers of its members."""

    price: float
    members: list = field(default_factory=list)

    def joined(self, other):
        return FakeTeam(self.price, self.members + other.members)


@pytest.fixture
def calls(monkeypatch):
    """What was trained in each turn. The range up to 0.15 does best."""
    made = []

    def train(teams):
        made.append([(team.price, team.first, team.n_members) for team in teams])
        return [FakeTeam(team.price, list(range(team.first, team.first + team.n_members))) for team in teams]

    monkeypatch.setattr(ranges, "judge", lambda teams, *rest, **options: [abs(team.price - 0.15) for team in teams])
    monkeypatch.setattr(ranges, "best_range", lambda judged: int(np.argmin(judged)))
    return made, train


def search(n_members):
    teams = [Team(0, price, 0, VARIES, n_members) for price in (0.05, 0.15, 0.4)]
    return Search(teams, None, lambda team: team)


def test_other_members_are_trained_for_the_best_range_alone(calls):
    made, train = calls
    found = train_ranges(train, [search(5), search(5)], 2, loss="cross_entropy", threshold=0.5)
    assert made == [[(price, 0, 2) for price in (0.05, 0.15, 0.4)] * 2, [(0.15, 2, 3)] * 2]
    assert [answer.team.members for answer in found] == [[0, 1, 2, 3, 4]] * 2
    assert [answer.judged for answer in found] == [0, 0]


def test_tables_beyond_those_that_are_judged_at_once_are_judged_too(calls, monkeypatch):
    _, train = calls
    monkeypatch.setattr(ranges, "_AT_ONCE", 2)
    found = train_ranges(train, [search(5)] * 5, 2, loss="cross_entropy", threshold=0.5)
    assert [answer.team.price for answer in found] == [0.15] * 5


def test_there_is_no_second_turn_where_all_members_are_scouts(calls):
    made, train = calls
    found = train_ranges(train, [search(3)], 3, loss="cross_entropy", threshold=0.5)
    assert len(made) == 1
    assert found[0].team.members == [0, 1, 2]


def test_members_of_the_second_turn_are_those_that_one_turn_would_have_trained(switch, monkeypatch):
    X, y = (values[:1000] for values in switch)
    settings = {"steps": 40, "n_members": 3, "random_state": 0}
    # Two ranges, so that there are scouts, and the same ones, so that it does not matter which is chosen.
    monkeypatch.setattr("hideseek.search.fitting.ranges_worth_training", lambda *_: (0.4, 0.4))

    def weights(n_scouts):
        recipe = PRESETS["fast"]
        monkeypatch.setattr(type(recipe), "for_table", lambda own, *size: own)
        monkeypatch.setitem(PRESETS, "fast", type(recipe)(**{**vars(recipe), "n_scouts": n_scouts}))
        return HideSeekClassifier("fast", **settings).fit(X, y)._ensemble.stack.parameters.numpy()

    np.testing.assert_array_equal(weights(1), weights(3))


def test_all_members_are_scouts_up_to_ten_thousand_rows():
    recipe = PRESETS["balanced"]
    assert [recipe.for_table(n_rows, 11).n_scouts for n_rows in (300, 10_000, 10_001)] == [5, 5, 2]


def test_a_wide_table_has_more_members_of_the_chosen_range_alone():
    sizes = [(10_000, 32), (10_000, 33), (20_000, 33)]
    found = [PRESETS["balanced"].for_table(*size) for size in sizes]
    assert [(recipe.n_scouts, recipe.n_members) for recipe in found] == [(5, 5), (5, 8), (2, 8)]
    assert [PRESETS[name].for_table(10_000, 33).n_members for name in ("fast", "best", "paper")] == [5, 10, 1]
