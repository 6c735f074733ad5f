from types import SimpleNamespace

import numpy as np
import pytest

from hideseek.engine.recipe import PRESETS
from hideseek.engine.teams import Team
from hideseek.search import moves, ranges
from hideseek.search.ranges import Search, train_ranges

VARIES = np.ones(2, dtype=bool)


@pytest.fixture
def calls(monkeypatch):
    """What was trained in each call. The range up to 0.15 does best."""
    made = []

    def train(teams):
        made.append([(team.price, team.n_members) for team in teams])
        return teams

    monkeypatch.setattr(ranges, "judge", lambda teams, *rest, **options: [abs(team.price - 0.15) for team in teams])
    monkeypatch.setattr(moves, "price_bounds_of_all", lambda ensembles: [(1e-3, team.price) for team in ensembles])
    monkeypatch.setattr(ranges, "best_range", lambda judged: int(np.argmin(judged)))
    return made, train


def search(n_members):
    teams = [Team(0, price, 0, VARIES, n_members) for price in (0.05, 0.15, 0.4)]
    return Search(teams, SimpleNamespace(x=np.zeros((50, 2))), lambda team: team)


SETTINGS = {"loss": "cross_entropy", "threshold": 0.5, "with_cuts": False}


def test_the_best_range_of_each_table_is_taken_of_all_that_train_at_once(calls):
    made, train = calls
    found = train_ranges(train, [search(5), search(3)], **SETTINGS)
    assert made == [[(price, n_members) for n_members in (5, 3) for price in (0.05, 0.15, 0.4)]]
    assert [(answer.team.price, answer.team.n_members) for answer in found] == [(0.15, 5), (0.15, 3)]
    assert [answer.judged for answer in found] == [0, 0]


@pytest.mark.parametrize(
    ("n_rows", "n_features", "members"),
    [(300, 11, 10), (4000, 11, 8), (10_000, 11, 8), (10_001, 11, 6), (300, 33, 10), (20_000, 33, 8)],
)
def test_short_and_wide_tables_have_more_members(n_rows, n_features, members):
    assert PRESETS["balanced"].for_table(n_rows, n_features).n_members == members
    assert [PRESETS[name].for_table(n_rows, n_features).n_members for name in ("fast", "best", "paper")] == [5, 10, 1]
