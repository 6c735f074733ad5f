import numpy as np
import pytest

from hideseek.datasets import make_syn
from hideseek.engine.recipe import PRESETS
from hideseek.engine.scaling import Scaler
from hideseek.search.dependence import mean_largest_correlation, ranges_worth_training
from hideseek.search.fitting import _ranges
from hideseek.search.parts import Part
from hideseek.search.problem import Problem

RNG = np.random.default_rng(0)


def problem_of(X, widths=None):
    names = [str(j) for j in range(X.shape[1] if widths is None else len(widths))]
    return Problem(Part(X, X[:, 0], None), None, Scaler.fit(X), 1, 0, names, widths=widths)


def test_correlations_worked_by_hand():
    a, b, c = np.linalg.qr(RNG.normal(size=(100, 4)) - RNG.normal(size=4))[0].T[:3]
    a, b, c = (each - each.mean() for each in (a, b, c))
    X = np.column_stack((a, 2 * a + 5, -b, 0.6 * b / np.linalg.norm(b) + 0.8 * c / np.linalg.norm(c), np.ones(100)))
    expected = np.abs(np.corrcoef(X[:, :4].T)) - np.eye(4)
    found = mean_largest_correlation(problem_of(X))
    assert found == pytest.approx(expected.max(axis=0).mean(), abs=1e-6), "the constant column does not count"
    assert mean_largest_correlation(problem_of(X[:, :4], widths=(2, 2))) == pytest.approx(
        expected[:2, 2:].max(), abs=1e-6
    ), "columns of one feature do not stand in for each other"


def test_a_single_feature_has_no_stand_in():
    X = RNG.normal(size=(50, 2))
    assert mean_largest_correlation(problem_of(X, widths=(2,))) == 0


def test_values_of_any_size_are_looked_at():
    X = RNG.normal(size=(500, 1)) + 0.5 * RNG.normal(size=(500, 3))
    assert mean_largest_correlation(problem_of(1e200 * X)) == pytest.approx(0.8, abs=0.05)


@pytest.mark.parametrize(
    ("rho", "n_rows", "ends"),
    [(0.0, 1000, [0.4]), (0.3, 1000, [0.4]), (0.0, 12_000, [0.4]), (0.9, 3999, [0.05, 0.4]), (0.9, 4000, [0.05])],
)
def test_low_prices_are_for_features_that_can_stand_in_for_one_another(rho, n_rows, ends):
    data = make_syn("Syn1", n_rows, rho=rho, random_state=0)
    problem = Problem(Part(data.X, data.y, None), None, Scaler.fit(data.X), 2, 0, data.feature_names)
    assert list(ranges_worth_training(problem, PRESETS["balanced"].highest_prices)) == ends
    assert [team.price for team in _ranges(problem, 0, PRESETS["balanced"], True)] == pytest.approx(ends)
    assert ranges_worth_training(problem, (0.4,)) == (0.4,)
