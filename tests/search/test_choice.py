from dataclasses import replace
from math import log

import numpy as np
import pytest
import torch

from hideseek.engine.objective import row_losses
from hideseek.engine.recipe import LOWEST_PRICE
from hideseek.metrics import auroc
from hideseek.search import choice
from hideseek.search.choice import best_range, choose_price, judge, too_high, usual_price
from hideseek.search.losses import HeldOutRows, areas, loss_of_nothing
from hideseek.search.parts import N_FOLDS, LearnedFrom, Part, folds_of


def test_losses_become_weighted_means_with_their_errors():
    losses = torch.tensor([[[1.0, 2.0, 3.0, 4.0], [1.5, 2.5, 3.5, 4.5]]], dtype=torch.float64)

    def measured(values, weight):
        part = Part(np.zeros((values.shape[2], 1)), np.zeros(values.shape[2]), weight)
        mean, error = HeldOutRows("squared_error", [part], values[..., None]).mean_and_error(values)
        return mean[0], error[0]

    mean, error = measured(losses, None)
    np.testing.assert_allclose(mean, [2.5, 3.0])
    np.testing.assert_allclose(error, np.std([1, 2, 3, 4]) / 2)
    weighted, _ = measured(losses[:, :, :3], np.array([1.0, 2.0, 1.0]))
    np.testing.assert_allclose(weighted, measured(losses[:, :, [0, 1, 1, 2]], None)[0])


def test_losses_of_rows_worked_by_hand():
    output = torch.tensor([[0.25, 0.75], [0.5, 0.5]], dtype=torch.float64)
    np.testing.assert_allclose(row_losses("cross_entropy", output, torch.tensor([1, 0])), -np.log([0.75, 0.5]))
    soft = torch.tensor([[0.5, 0.5], [1.0, 0.0]], dtype=torch.float64)
    expected = [-0.5 * np.log(0.25) - 0.5 * np.log(0.75), -np.log(0.5)]
    np.testing.assert_allclose(row_losses("cross_entropy", output, soft), expected)
    np.testing.assert_allclose(row_losses("squared_error", output[:, :1], torch.tensor([1.25, 0.0])), [1.0, 0.25])


def test_null_loss_is_that_of_the_class_shares_or_of_the_mean():
    table = np.zeros((4, 1))
    classes = Part(table, np.array([0, 0, 0, 1]), None)
    assert loss_of_nothing("cross_entropy", 2, classes) == pytest.approx(-0.75 * np.log(0.75) - 0.25 * np.log(0.25))
    weighted = Part(table, np.array([0, 0, 0, 1]), np.array([1.0, 1.0, 1.0, 3.0]))
    assert loss_of_nothing("cross_entropy", 2, weighted) == pytest.approx(np.log(2))
    assert loss_of_nothing("squared_error", 1, Part(table, np.array([0.0, 0.0, 2.0, 2.0]), None)) == pytest.approx(1.0)


class FakeEnsemble:
    """Predicts with a loss, a disagreement and a number of features that are given for each price."""

    def __init__(self, high, error, differing, n_selected=2):
        self.high, self.error, self.differing, self.n_selected = high, np.asarray(error), differing, n_selected
        self.visible, self.pool, self.asked = np.ones((N_FOLDS, 2)), torch.zeros(4, 2), []


@pytest.fixture
def judged(monkeypatch):
    def answer(question):
        ensemble, x, n_prices = question.ensemble, question.x.numpy(), len(question.prices)
        ensemble.asked.append(question.members.tolist())
        wrong = np.broadcast_to(ensemble.error, n_prices)[:, None, None]
        counts = np.broadcast_to(ensemble.n_selected, n_prices)[:, None]
        shape = n_prices, len(x)
        outputs, counts = np.broadcast_to(x[:, :1] + wrong, (*shape, 1)), np.broadcast_to(counts, shape)
        return torch.tensor(outputs), torch.tensor(counts)

    def differing(question):
        return np.broadcast_to(question.ensemble.differing, len(question.prices))

    monkeypatch.setattr(choice, "price_bounds_of_all", lambda ensembles: [(1e-3, one.high) for one in ensembles])
    monkeypatch.setattr(choice, "disagreements", lambda questions, threshold: [differing(one) for one in questions])
    monkeypatch.setattr(choice, "answers_to", lambda questions, *_, **__: [answer(one) for one in questions])

    def judge_one(ensemble, n_rows=10_000, positions=None):
        X = np.random.default_rng(0).normal(size=(n_rows, 2))
        table = LearnedFrom(Part(X, X[:, 0], None), torch.from_numpy(X), folds_of(X[:, 0], 0))
        return judge([ensemble], [table], loss="squared_error", threshold=0.5, positions=positions)[0]

    return judge_one


def path_of(judged):
    return choose_price(judged, loss="squared_error", n_given=11)


def test_each_fold_is_judged_by_the_members_that_left_it_out(judged):
    one = FakeEnsemble(0.4, 0.1, 0.0)
    judged(one)
    assert one.asked == [[fold] for fold in range(N_FOLDS)]


def test_folds_that_every_member_learned_from_are_not_looked_at(judged):
    two = FakeEnsemble(0.4, 0.1, 0.0)
    two.visible = two.visible[:2]
    assert judged(two).n_rows == 2000
    assert two.asked == [[0], [1]]


def test_the_range_with_the_smaller_loss_is_chosen_near_the_usual_position(judged):
    ranges = [judged(FakeEnsemble(0.05, 0.3, 0.0)), judged(FakeEnsemble(0.4, 0.1, 0.0))]
    assert best_range(ranges) == 1
    path = path_of(ranges[1])
    price = path.penalty[path.chosen] / 11
    position = (np.log(price) - np.log(1e-3)) / (np.log(0.4) - np.log(1e-3))
    assert abs(position - 0.52) < 0.05  # the range is narrower than those that are trained
    assert path.loss[path.chosen] == pytest.approx(0.01)
    assert path.score_name == "r2"


def test_the_usual_position_is_lower_in_a_range_that_ends_earlier():
    found = [
        log(usual_price(LOWEST_PRICE, high, 10_000) / LOWEST_PRICE) / log(high / LOWEST_PRICE)
        for high in (0.05, 0.15, 0.4)
    ]
    assert found == pytest.approx([0.472, 0.498, 0.5215], abs=0.001)
    of_price = usual_price(LOWEST_PRICE, 0.4, 10_000)
    assert usual_price(7 * LOWEST_PRICE, 7 * 0.4, 10_000) == pytest.approx(7 * of_price)  # other units
    assert usual_price(LOWEST_PRICE, 0.4, 300) > of_price, "few rows are learned by heart"


@pytest.mark.parametrize(("agreeing", "chosen"), [(8, 8), (9, 9), (13, 6)])
def test_a_price_at_which_members_agree_is_chosen_if_it_is_not_far_from_the_usual_one(judged, agreeing, chosen):
    differing = np.ones(17)  # of two features
    differing[agreeing] = 0.0
    assert path_of(judged(FakeEnsemble(0.4, 0.1, differing))).chosen == chosen


def test_members_that_disagree_lose_to_members_that_agree(judged):
    assert best_range([judged(FakeEnsemble(0.05, 0.1, 1.2)), judged(FakeEnsemble(0.4, 0.1, 0.0))]) == 1


def test_a_range_counts_by_its_least_loss_not_by_what_dear_prices_lose(judged):
    steep = FakeEnsemble(0.4, np.where(np.arange(17) < 4, 0.1, 0.8), 0.0)
    assert best_range([judged(FakeEnsemble(0.05, 0.2, 0.0)), judged(steep)]) == 1


def test_of_two_prices_that_do_as_well_the_one_with_fewer_features_is_chosen(judged):
    n_selected = np.where(np.arange(17) < 8, 12, 2)
    assert path_of(judged(FakeEnsemble(0.4, 0.1, 0.0))).chosen < 8
    assert path_of(judged(FakeEnsemble(0.4, 0.1, 0.0, n_selected=n_selected))).chosen == 8


def test_a_loss_that_grows_moves_the_choice_the_more_rows_there_are(judged):
    error = np.where(np.arange(17) < 6, 0.0, 0.4)  # cheap prices predict perfectly
    few = path_of(judged(FakeEnsemble(0.4, error, 0.0), n_rows=50)).chosen
    many = path_of(judged(FakeEnsemble(0.4, error, 0.0), n_rows=100_000)).chosen
    assert many == 5
    assert few > many


@pytest.mark.parametrize(
    ("loss", "error", "n_selected", "expected"),
    [
        ((0.00, 0.05), 0.008, (3, 2), True),  # clearly better
        ((0.00, 0.05), 0.012, (3, 2), False),  # by chance, perhaps
        ((0.00, 0.05), 0.008, (20, 2), False),  # not worth so many features
        ((0.05, 0.00), 0.008, (3, 2), False),  # worse
    ],
)
def test_a_price_is_too_high_if_the_next_lower_one_is_clearly_better(
    judged, monkeypatch, loss, error, n_selected, expected
):
    asked, path = [], judged(FakeEnsemble(0.4, 0.1, 0.0))

    def judge_pair(refined, tables, *, loss, threshold, positions):
        asked.extend(positions)
        return [pair]

    pair = replace(
        path,
        positions=path.positions[8:10],
        prices=path.prices[8:10],
        mean_loss=np.array(loss),
        excess_error=np.where(np.argmin(loss) == np.arange(2), 0.0, error),
        n_selected=np.array(n_selected),
        disagreement=np.zeros(2),
    )
    monkeypatch.setattr(choice, "judge", judge_pair)
    assert too_high([9], [None], [None], loss="squared_error", threshold=0.5) == [expected]
    np.testing.assert_array_equal(asked, path.positions[None, 8:10])


def test_an_ensemble_is_judged_at_any_positions_as_along_the_path(judged):
    error, differing = np.linspace(0.1, 0.9, 17), np.linspace(0, 1, 17)
    whole = judged(FakeEnsemble(0.4, error, differing))
    two = judged(FakeEnsemble(0.4, error[8:10], differing[8:10]), positions=[whole.positions[8:10]])
    for name in ("positions", "prices", "mean_loss", "n_selected", "disagreement"):
        np.testing.assert_array_equal(getattr(two, name), getattr(whole, name)[8:10], err_msg=name)


def test_disagreement_counts_relative_to_the_features_selected(judged):
    assert best_range([judged(FakeEnsemble(0.05, 0.1, 1.2, n_selected=1)), judged(FakeEnsemble(0.4, 0.1, 1.2))]) == 1


def test_areas_of_many_curves_are_those_of_each_with_ties():
    rng = np.random.default_rng(0)
    probability, y = rng.integers(0, 20, (4, 300)).astype(np.float32) / 20, rng.integers(0, 2, 300)
    found = areas(torch.from_numpy(probability), torch.from_numpy(y == 1))
    np.testing.assert_allclose(found, [auroc(y, one) for one in probability], rtol=1e-12)
