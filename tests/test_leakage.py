"""The three facts about the leaking pair of the paper's proof, against values worked out by hand."""

from dataclasses import replace
from math import log
from pathlib import Path

import numpy as np
import pytest

from hideseek.datasets import Dataset

PRICE = 0.3 / 11


@pytest.fixture
def leakage(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent.parent))
    from experiments import leakage

    return leakage


@pytest.fixture(params=["Syn4", "Syn5", "Syn6", "ice cream"])
def problem(request, leakage):
    return leakage.ice_cream(4000) if request.param == "ice cream" else leakage.syn(request.param, 4000)


def test_the_truth_needs_no_more_than_the_relevant_features(problem):
    shown = np.where(problem.data.relevant, problem.data.X, 0.0)
    np.testing.assert_array_equal(problem.truth(shown), problem.data.probability)


def test_with_zeros_the_leaking_pair_wins_by_the_price_of_the_switch_in_the_cell(problem, leakage):
    facts = leakage.facts(problem)
    n_selected = problem.data.relevant.sum(axis=1).mean()
    share = problem.cell_probabilities().max()
    assert facts["zeros: honest"] == pytest.approx(PRICE * n_selected)  # it predicts the truth
    assert facts["zeros: leaking"] == pytest.approx(PRICE * (n_selected - share))  # and so does the leaking one


def test_the_switch_is_missed_as_often_as_the_largest_cell_is_met(problem, leakage):
    facts = leakage.facts(problem)
    assert facts["switch missed, %"] == pytest.approx(facts["largest cell, %"])
    assert facts["largest cell, %"] == pytest.approx(50, abs=3)  # both cells have probability one half


def test_with_draws_from_the_columns_the_leaking_pair_loses(problem, leakage):
    facts = leakage.facts(problem)
    assert facts["marginal: honest"] == pytest.approx(facts["zeros: honest"])
    assert facts["marginal: leaking, best predictor"] > facts["marginal: honest"] + 0.05
    assert facts["marginal: leaking"] > facts["marginal: leaking, best predictor"]


def test_the_largest_of_unequal_cells(leakage):
    """Seven days of ten are cold: the leaking pair never looks at the thermometer on those."""
    cold, warm = 20 - np.arange(700) / 100, 30 + np.arange(300) / 100
    X = np.concatenate((cold, warm))[:, None]
    sold = (X[:, 0] >= 25).astype(float)
    data = Dataset("uneven", X, sold.astype(int), ("temperature",), np.ones(X.shape, dtype=bool), sold)
    facts = leakage.facts(replace(leakage.ice_cream(10), data=data))
    assert (facts["switch missed, %"], facts["largest cell, %"]) == (70, 70)
    assert facts["zeros: leaking"] == pytest.approx(0.3 * PRICE)


def test_the_best_predictor_of_draws_has_the_loss_of_theory(leakage):
    """Cold and warm with probability one half: seen warm, a day is warm with probability 2/3; seen cold, it is cold."""
    facts = leakage.facts(leakage.ice_cream(200_000))
    divergence = log(3) / 4 + log(3 / 2) / 2
    assert facts["marginal: leaking, best predictor"] == pytest.approx(divergence + PRICE / 2, abs=0.01)
    assert facts["marginal: leaking"] == np.inf  # the proof's predictor is certain, and wrong


def test_no_other_predictor_does_better_under_draws(leakage):
    """The closed form against the frequencies of what is seen, in a problem with few values."""
    problem = leakage.ice_cream(100_000)
    cell = int(problem.cell_probabilities().argmax())
    selected = leakage.leaking_selector(problem, cell)
    rows = np.random.default_rng(1).integers(len(problem.data.X), size=problem.data.X.shape)
    z = np.where(selected, problem.data.X, np.take_along_axis(problem.data.X, rows, axis=0))
    predicted = leakage.best_predictor_of_marginals(problem, cell)(z)
    warm = z[:, 0] >= 25
    for seen in (warm, ~warm):
        assert predicted[seen].mean() == pytest.approx(problem.data.y[seen].mean(), abs=0.01)


def test_the_table_has_a_line_for_each_problem(leakage):
    table = leakage.leakage_table(500)
    assert [line["problem"] for line in table] == ["Syn4", "Syn5", "Syn6", "ice cream"]
