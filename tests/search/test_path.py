from types import SimpleNamespace

import numpy as np
import pytest

from hideseek import InputError
from hideseek.search.candidates import _Contest, _null_loss, _row_losses
from hideseek.search.parts import Part
from hideseek.search.path import PRICES, PenaltyPath, judged_path


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


def test_the_prices_cover_the_papers():
    assert len(PRICES) == 11
    assert PRICES[0] == pytest.approx(0.002)
    assert PRICES[-1] == pytest.approx(0.13)
    assert min(abs(np.log(np.array(PRICES) / (0.3 / 11)))) < 0.2


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


def test_losses_become_means_with_paired_errors():
    losses = np.array([[1.0, 2.0, 3.0, 4.0], [1.5, 2.5, 3.5, 4.5], [2.0, 2.0, 3.0, 5.0]])
    path = judged_path(
        [0.1, 0.2, 0.4], losses, None, score=[0, 0, 0], score_name="r2", n_selected=[3, 2, 1], null_loss=9.0
    )
    np.testing.assert_allclose(path.loss, [2.5, 3.0, 3.0])
    np.testing.assert_allclose(path.excess, [0, 0.5, 0.5])
    np.testing.assert_allclose(path.excess_error, [0, 0, 0.25])
    np.testing.assert_allclose(path.standard_error[0], np.std([1, 2, 3, 4]) / 2)


def test_a_penalty_that_few_rows_judged_is_known_by_its_distance_to_one_that_all_judged():
    nan = np.nan
    losses = np.array([[1.0, 2.0, nan, nan], [1.5, 2.0, 8.0, 9.0], [2.0, 2.5, 8.0, 9.5], [3.0, 9.0, nan, nan]])
    path = judged_path(
        [1, 2, 3, 4], losses, None, score=[0] * 4, score_name="r2", n_selected=[9, 3, 2, 1], null_loss=20.0
    )
    np.testing.assert_allclose(path.loss, [5.125 - 0.25, 5.125, 5.5, 5.125 + 4.25])
    np.testing.assert_allclose(path.excess, path.loss - path.loss[0])
    np.testing.assert_allclose(path.excess_error[1], np.std([0.5, 0]) / np.sqrt(2), err_msg="on the rows they share")
    assert path.chosen == 1
    cheap = judged_path(
        [1, 2, 3, 4], losses, None, score=[0] * 4, score_name="r2", n_selected=[0, 3, 2, 1], null_loss=20.0
    )
    assert cheap.chosen == 1, "all rows have to have judged what is chosen"
    assert path.finalists(3) == [1, 2, 0]


def test_a_row_of_weight_two_counts_as_two_rows():
    losses = np.array([[1.0, 2.0, 4.0], [2.0, 2.0, 3.0]])
    one = judged_path([1, 2], losses, np.array([1.0, 2.0, 1.0]), **NOTHING)
    two = judged_path([1, 2], losses[:, [0, 1, 1, 2]], None, **NOTHING)
    np.testing.assert_allclose(one.loss, two.loss)
    np.testing.assert_allclose(one.excess, two.excess)


NOTHING = {"score": [0, 0], "score_name": "r2", "n_selected": [1, 1], "null_loss": 5.0}


def test_losses_of_rows_worked_by_hand():
    output = np.array([[0.25, 0.75], [0.5, 0.5]])
    np.testing.assert_allclose(_row_losses("cross_entropy", output, np.array([1, 0])), -np.log([0.75, 0.5]))
    soft = np.array([[0.5, 0.5], [1.0, 0.0]])
    expected = [-0.5 * np.log(0.25) - 0.5 * np.log(0.75), -np.log(0.5)]
    np.testing.assert_allclose(_row_losses("cross_entropy", output, soft), expected)
    np.testing.assert_allclose(_row_losses("squared_error", output[:, :1], np.array([1.25, 0.0])), [1.0, 0.25])


def test_no_feature_predicts_the_share_of_each_class_or_the_mean():
    table = np.zeros((4, 1))
    classes = Part(table, np.array([0, 0, 0, 1]), None)
    assert _null_loss("cross_entropy", 2, classes) == pytest.approx(-0.75 * np.log(0.75) - 0.25 * np.log(0.25))
    weighted = Part(table, np.array([0, 0, 0, 1]), np.array([1.0, 1.0, 1.0, 3.0]))
    assert _null_loss("cross_entropy", 2, weighted) == pytest.approx(np.log(2))
    assert _null_loss("squared_error", 1, Part(table, np.array([0.0, 0.0, 2.0, 2.0]), None)) == pytest.approx(1.0)


def test_the_score_of_a_penalty_that_few_rows_judged_is_its_distance_to_one_that_all_judged():
    target = np.array([-1.0, 1.0, -1.0, 1.0])  # the first two rows judge all
    trained = [
        [SimpleNamespace(verdict=SimpleNamespace(output=np.array(part)[:, None])) for part in parts]
        for parts in ([[-0.5, 0.5]], [[-1.0, 1.0], [0.0, 0.0]])
    ]
    splits = [(None, np.arange(400)), (None, np.arange(400))]
    contest = _Contest(SimpleNamespace(loss="squared_error", splits=splits), [0.1, 0.2])
    contest.trained = trained
    assert contest._scores(1, target) == pytest.approx([0.5 + 0.75 - 1, 0.5])


def chosen(losses, n_selected, null_loss):
    rows = np.repeat(np.array(losses)[:, None], 4, axis=1)
    path = judged_path(
        np.arange(1, len(losses) + 1),
        rows,
        None,
        score=losses,
        score_name="r2",
        n_selected=n_selected,
        null_loss=null_loss,
    )
    return path.chosen


def test_a_feature_has_to_be_worth_a_hundredth_of_what_is_explained():
    assert chosen([0.500, 0.504, 0.8], [3, 2, 0], null_loss=1.0) == 1, "the third feature explains 0.004 of 0.5"
    assert chosen([0.500, 0.506, 0.8], [3, 2, 0], null_loss=1.0) == 0
    assert chosen([0.500, 0.506, 0.8], [3, 1, 0], null_loss=1.0) == 1, "two features for the same"
    assert chosen([5.0, 5.06, 8.0], [3, 2, 0], null_loss=10.0) == 0, "the unit of the loss has no say"


def test_where_nothing_is_explained_the_smallest_loss_is_chosen():
    assert chosen([0.9, 0.8, 0.7], [3, 2, 1], null_loss=0.6) == 2
