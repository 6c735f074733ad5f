import warnings

import numpy as np
import pytest

from hideseek.baselines import LassoImportance


@pytest.mark.parametrize("C", [1.0, 0.1])
def test_one_balanced_feature_worked_by_hand(C):
    # x is -1 or 1, and the label agrees with it in 80 of 100 rows, evenly. The slope of |w| + C sum log(1 + e^-ywx)
    # is zero where sigmoid(w) = 0.8 - 1 / (100 C); there is nothing left for the intercept.
    x = np.repeat([-1.0, 1.0], 50)
    y = np.where(np.tile(np.repeat([True, False], [40, 10]), 2), x, -x)
    share = 0.8 - 1 / (100 * C)
    lasso = LassoImportance(k=1, C=C).fit(x[:, None], y)
    np.testing.assert_allclose(lasso.explain(x[:3, None]).importance, np.log(share / (1 - share)), rtol=1e-3)
    np.testing.assert_allclose(lasso.predict_proba([[1.0]])[0, 1], share, rtol=1e-3)


def test_the_published_parameters_reach_scikit_learn_without_a_warning():
    X = np.random.default_rng(0).normal(size=(200, 6))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lasso = LassoImportance(k=1).fit(X, X[:, 2] > 0)
    (one,) = lasso.model_.estimators_
    assert (one.solver, one.C) == ("liblinear", 1.0)
    assert lasso.select(X[:2]).nonzero()[1].tolist() == [2, 2]
    sparse = LassoImportance(k=1, C=0.05).fit(X, X[:, 2] > 0).explain(X[:1]).importance
    assert np.flatnonzero(sparse).tolist() == [2]  # exact zeros are L1's; L2 has none


def test_the_unit_of_a_column_does_not_matter():
    X = np.random.default_rng(0).normal(size=(200, 3))
    y = X @ [1.0, 0.5, 0.0] > 0
    importance = LassoImportance(k=1, random_state=0).fit(X, y).explain(X[:1]).importance
    other = X * [1000.0, 0.001, 1.0] + [5.0, 0.0, -3.0]
    np.testing.assert_allclose(
        LassoImportance(k=1, random_state=0).fit(other, y).explain(other[:1]).importance, importance, rtol=1e-3
    )


def test_several_classes_count_by_the_mean_of_their_absolute_coefficients():
    X = np.random.default_rng(0).normal(size=(300, 3))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    importance = LassoImportance(k=1, random_state=0).fit(X, y).explain(X[:1]).importance
    against_rest = [LassoImportance(k=1, random_state=0).fit(X, y == c).explain(X[:1]).importance for c in range(3)]
    np.testing.assert_allclose(importance, np.mean(against_rest, axis=0), rtol=1e-2, atol=1e-3)
