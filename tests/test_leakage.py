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


@pytest.fixture
def exact(leakage):
    from experiments import leakage_exact

    return leakage_exact


@pytest.mark.parametrize("dependence", [0.0, 0.6])
def test_among_all_selectors_only_ablation_rewards_a_message_in_the_mask(exact, dependence):
    """Both scenarios of Jethani et al. and the direct switch, by enumeration."""
    for problem in exact.problems(dependence):
        ablation, marginal, conditional = exact.facts(problem)
        assert ablation["gained by leaking"] > 0.009, problem.name
        assert ablation["named, proxy"] < ablation["named, intended"] - 0.4
        for line in (marginal, conditional):
            assert line["gained by leaking"] == 0, problem.name
            assert line["named, proxy"] == pytest.approx(line["named, intended"])


def test_conditional_draws_are_rows_of_the_table_and_marginal_draws_are_not(exact):
    """Appendix A.3: for a fixed set P(Z) = P(X) under conditional draws, even if columns depend on each other."""
    _, marginal, conditional = exact.facts(exact.problems(0.6)[0])
    assert conditional["z from x, fixed sets"] == pytest.approx(0, abs=1e-12)
    # Columns agree with probability (1 + 0.36) / 2 = 0.68, independent draws of both with 0.5.
    assert marginal["z from x, fixed sets"] == pytest.approx(0.18)


def test_losses_of_a_direct_switch_are_those_worked_out_by_hand(exact):
    problem = exact.problems(0.0)[1]
    entropy = -0.9 * log(0.9) - 0.1 * log(0.1)
    first = tuple(1 for _ in problem.rows)
    assert exact.intended_loss(problem, first, price=0.02) == pytest.approx(entropy + 0.02)
    only_where_one = tuple(int(row[0]) for row in problem.rows)
    assert exact.proxy_loss(problem, only_where_one, "ablation", price=0.02) == pytest.approx(entropy + 0.01)
    # Half of the rows hide x1 and show a draw: z1 = 1 in 3 of 4 rows, of which two thirds have x1 = 1.
    chance = (2 * 0.9 + 0.1) / 3
    mixed = -chance * log(chance) - (1 - chance) * log(1 - chance)
    assert exact.proxy_loss(problem, only_where_one, "marginal", price=0.02) == pytest.approx(
        0.75 * mixed + 0.25 * entropy + 0.01
    )
