import numpy as np
import pytest

from hideseek import InputError
from hideseek.search.path import PenaltyPath


def made_path(**changes):
    table = {
        "penalty": [0.1, 0.2, 0.4, 0.8],
        "loss": [0.50, 0.40, 0.41, 0.60],
        "standard_error": [0.01] * 4,
        "excess": [0.10, 0.0, 0.01, 0.20],
        "excess_error": [0.001, 0.0, 0.001, 0.001],
        "score": [0.8, 0.9, 0.89, 0.6],
        "n_selected": [9.0, 4.0, 3.0, 1.0],
    }
    arrays = {name: np.array(values) for name, values in (table | changes).items()}
    return PenaltyPath(**arrays, score_name="auroc", null_loss=0.7, chosen=1)


@pytest.mark.parametrize(
    ("wish", "position"),
    [
        ({"n_features": 3}, 2),
        ({"n_features": 100}, 1),
        ({"loss_within": 0}, 1),
        ({"loss_within": 0.04}, 2),
        ({"loss_within": 0.9}, 3),
        ({"score_within": 0.02}, 2),
        ({"score_within": 0}, 1),
        ({"penalty": 0.5}, 2),
    ],
)
def test_a_wish_finds_its_penalty(wish, position):
    path = made_path()
    choices = {
        "n_features": path.with_features,
        "loss_within": path.within_loss,
        "score_within": path.within_score,
        "penalty": path.nearest,
    }
    ((name, value),) = wish.items()
    assert choices[name](value) == position


def test_too_few_features_are_an_error_that_says_how_few_there_are():
    with pytest.raises(InputError, match=r"n_features=0\.5.*fewest are 1\.00"):
        made_path().with_features(0.5)


def test_scores_that_do_not_exist_are_not_compared():
    with pytest.raises(InputError, match="allow no auroc"):
        made_path(score=[np.nan] * 4).within_score(0.1)
    assert made_path(score=[0.8, np.nan, 0.79, 0.1]).within_score(0.02) == 2
