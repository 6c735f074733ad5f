import numpy as np
import pytest
import xgboost

from hideseek import InputError
from hideseek.baselines import ShapExplainer

COEFFICIENTS = np.array([0.05, -0.1, 0.0, 0.02])


def additive(X):
    """The probabilities of two classes, linear in every feature."""
    p = 0.5 + X[:, : len(COEFFICIENTS)] @ COEFFICIENTS
    return np.column_stack([1 - p, p])


def table(n_features=4, n_rows=60):
    X = np.random.default_rng(0).uniform(-1, 1, size=(n_rows, n_features))
    return X, np.arange(n_rows) % 2


@pytest.mark.parametrize(("n_features", "depth", "colsample"), [(11, 5, 0.9), (99, 5, 0.9), (100, 7, 1.0)])
def test_the_published_parameters_reach_xgboost(n_features, depth, colsample):
    booster = ShapExplainer(k=1, random_state=0).fit(*table(n_features)).model_.get_params()
    assert booster["max_depth"] == depth
    assert booster["learning_rate"] == 0.1
    assert booster["colsample_bytree"] == colsample
    assert booster["n_estimators"] == 100


def test_given_parameters_reach_xgboost():
    explainer = ShapExplainer(k=1, depth=2, eta=0.03, colsample=0.8, rounds=7, random_state=0).fit(*table())
    booster = explainer.model_.get_params()
    assert (booster["max_depth"], booster["learning_rate"], booster["colsample_bytree"]) == (2, 0.03, 0.8)
    assert explainer.model_.get_booster().num_boosted_rounds() == 7


def test_one_stump_worked_by_hand():
    # Four rows each side; gradients of 1/2 and curvatures of 1/4 make leaves of -+ 2 / (1 + lambda) with lambda = 1.
    # The two leaves weigh the same, so the expected margin is 0 and the split column's value is the leaf, times eta.
    X = np.repeat([[-1.0, 0.0], [1.0, 0.0]], 4, axis=0)
    y = np.repeat([0, 1], 4)
    explainer = ShapExplainer(k=1, depth=1, eta=0.5, colsample=1.0, rounds=1).fit(X, y)
    np.testing.assert_allclose(explainer.explain(X).importance, np.tile([0.5, 0.0], (8, 1)), atol=1e-6)
    np.testing.assert_allclose(explainer.predict_proba(X)[-1, 1], 1 / (1 + np.exp(-0.5)), rtol=1e-6)


def test_several_classes_count_by_the_mean_of_their_absolute_values():
    X, _ = table()
    y = np.digitize(X[:, 0] + X[:, 3], [-0.4, 0.4])
    explainer = ShapExplainer(k=2, rounds=5, random_state=0).fit(X, y)
    # Tree SHAP as XGBoost itself computes it, with the bias in the last column.
    values = explainer.model_.get_booster().predict(xgboost.DMatrix(X), pred_contribs=True)[:, :, :-1]
    assert values.shape == (len(X), 3, 4)
    np.testing.assert_allclose(explainer.explain(X).importance, np.abs(values).mean(axis=1), atol=1e-5)


def test_the_kernel_finds_the_values_of_an_additive_model():
    X, y = table()
    explainer = ShapExplainer(k=2, mode="kernel", predict_fn=additive, background=20, random_state=0).fit(X, y)
    explanation = explainer.explain(X[:5])
    expected = np.abs(COEFFICIENTS * (X[:5] - explainer.background_.mean(axis=0)))
    np.testing.assert_allclose(explanation.importance, expected, atol=1e-9)
    np.testing.assert_array_equal(explainer.predict_proba(X), additive(X))
    assert explainer.background_.shape == (20, 4)


def test_without_a_function_the_kernel_explains_the_booster():
    X, y = table()
    y = (X[:, 2] > 0).astype(int)
    explainer = ShapExplainer(k=1, mode="kernel", background=10, rounds=5, random_state=0).fit(X, y)
    assert explainer.select(X[:3])[:, 2].all()


def test_the_kernels_draws_follow_the_seed_and_leave_numpys_alone():
    def tangled(X):
        p = 1 / (1 + np.exp(-np.prod(X + 1, axis=1)))
        return np.column_stack([1 - p, p])

    X, y = table(n_features=15)  # more coalitions than are enumerated
    explainer = ShapExplainer(k=1, mode="kernel", predict_fn=tangled, background=3, random_state=0).fit(X, y)
    first = explainer.explain(X[:1]).importance
    np.random.rand()  # another place in numpy's draws
    before = np.random.get_state()
    np.testing.assert_array_equal(explainer.explain(X[:1]).importance, first)
    after = np.random.get_state()
    np.testing.assert_array_equal(after[1], before[1])
    assert after[2:] == before[2:]
    explainer.seed_ += 1
    assert (explainer.explain(X[:1]).importance != first).any()


def test_a_function_for_trees_is_refused():
    with pytest.raises(InputError, match="mode='kernel'"):
        ShapExplainer(k=1, predict_fn=additive).fit(*table())


def test_a_function_that_gives_no_probabilities_is_refused_in_fit():
    with pytest.raises(InputError, match=r"shape \(1, 2\); it returned shape \(1,\)"):
        ShapExplainer(k=1, mode="kernel", predict_fn=lambda X: X[:, 0]).fit(*table())
