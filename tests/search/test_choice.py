import numpy as np
import pytest

from hideseek.search import choice
from hideseek.search.choice import _mean_and_error, _null_loss, choose_price, row_losses
from hideseek.search.parts import N_FOLDS, Part, folds_of


def test_losses_become_weighted_means_with_their_errors():
    losses = np.array([[1.0, 2.0, 3.0, 4.0], [1.5, 2.5, 3.5, 4.5]])
    mean, error = _mean_and_error(losses, None)
    np.testing.assert_allclose(mean, [2.5, 3.0])
    np.testing.assert_allclose(error, np.std([1, 2, 3, 4]) / 2)
    weighted, _ = _mean_and_error(losses[:, :3], np.array([1.0, 2.0, 1.0]))
    np.testing.assert_allclose(weighted, _mean_and_error(losses[:, [0, 1, 1, 2]], None)[0])


def test_losses_of_rows_worked_by_hand():
    output = np.array([[0.25, 0.75], [0.5, 0.5]])
    np.testing.assert_allclose(row_losses("cross_entropy", output, np.array([1, 0])), -np.log([0.75, 0.5]))
    soft = np.array([[0.5, 0.5], [1.0, 0.0]])
    expected = [-0.5 * np.log(0.25) - 0.5 * np.log(0.75), -np.log(0.5)]
    np.testing.assert_allclose(row_losses("cross_entropy", output, soft), expected)
    np.testing.assert_allclose(row_losses("squared_error", output[:, :1], np.array([1.25, 0.0])), [1.0, 0.25])


def test_null_loss_is_that_of_the_class_shares_or_of_the_mean():
    table = np.zeros((4, 1))
    classes = Part(table, np.array([0, 0, 0, 1]), None)
    assert _null_loss("cross_entropy", 2, classes) == pytest.approx(-0.75 * np.log(0.75) - 0.25 * np.log(0.25))
    weighted = Part(table, np.array([0, 0, 0, 1]), np.array([1.0, 1.0, 1.0, 3.0]))
    assert _null_loss("cross_entropy", 2, weighted) == pytest.approx(np.log(2))
    assert _null_loss("squared_error", 1, Part(table, np.array([0.0, 0.0, 2.0, 2.0]), None)) == pytest.approx(1.0)


class FakeEnsemble:
    """Predicts with a loss, disagreement and number of features that are given for each price."""

    def __init__(self, high, error, votes):
        self.high, self.error, self.votes = high, np.asarray(error), votes
        self.visible, self.pool, self.asked = np.ones((N_FOLDS, 2)), np.zeros((4, 2)), []
        self.price = None

    def members(self, index):
        self.asked.append(index.tolist())
        return self


@pytest.fixture
def chosen(monkeypatch):
    monkeypatch.setattr(choice, "price_bounds", lambda ensemble: (1e-3, ensemble.high))
    monkeypatch.setattr(
        choice, "replace", lambda given, **changes: (given, changes["price"]) if "price" in changes else given
    )
    monkeypatch.setattr(
        choice, "votes_along", lambda ensemble, X, prices, threshold: np.full((len(prices), len(X), 2), ensemble.votes)
    )

    def answers(ensemble, X, prices, n_draws, *, softmax, threshold):
        wrong = np.broadcast_to(ensemble.error, len(prices))[:, None, None]
        return np.broadcast_to(X[:, :1] + wrong, (len(prices), len(X), 1)), np.ones((len(prices), len(X), 2), bool)

    monkeypatch.setattr(choice, "answers_along", answers)

    def choose(candidates, n_rows=10_000, **options):
        X = np.random.default_rng(0).normal(size=(n_rows, 2))
        part, fold = Part(X, X[:, 0], None), folds_of(X[:, 0], 0)
        return choose_price(candidates, part, fold, loss="squared_error", threshold=0.5, n_given=11, **options)

    return choose


def test_each_fold_is_judged_by_the_members_that_left_it_out(chosen):
    one = FakeEnsemble(0.4, 0.1, 0.0)
    chosen([one])
    assert one.asked == [[fold] for fold in range(N_FOLDS)]


def test_the_ensemble_with_the_smaller_loss_is_chosen_near_the_usual_position(chosen):
    best, (ensemble, price), path = chosen([FakeEnsemble(0.05, 0.3, 0.0), FakeEnsemble(0.4, 0.1, 0.0)])
    assert best == 1
    assert ensemble.high == 0.4
    position = (np.log(price) - np.log(1e-3)) / (np.log(0.4) - np.log(1e-3))
    assert abs(position - 0.55) < 0.05
    assert path.penalty[path.chosen] == pytest.approx(price * 11)
    assert path.loss[path.chosen] == pytest.approx(0.01)
    assert path.score_name == "r2"


def test_members_that_disagree_lose_to_members_that_agree(chosen):
    best, _, path = chosen([FakeEnsemble(0.05, 0.1, 0.5), FakeEnsemble(0.4, 0.1, 1.0)])
    assert best == 1
    assert path.disagreement[path.chosen] == 0


def test_a_loss_that_grows_moves_the_choice_the_more_rows_there_are(chosen):
    error = np.where(np.arange(17) < 6, 0.0, 0.4)  # cheap prices predict perfectly
    few = chosen([FakeEnsemble(0.4, error, 0.0)], n_rows=50)[2].chosen
    many = chosen([FakeEnsemble(0.4, error, 0.0)], n_rows=100_000)[2].chosen
    assert many == 5
    assert few > many


def test_a_given_price_is_answered_at(chosen):
    _, (_, price), _ = chosen([FakeEnsemble(0.4, 0.1, 0.0)], price=0.123)
    assert price == 0.123
