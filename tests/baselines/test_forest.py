import numpy as np

from hideseek.baselines import ForestImportance


def test_the_published_parameters_reach_scikit_learn():
    X = np.random.default_rng(0).normal(size=(40, 3))
    forest = ForestImportance(k=1, random_state=0).fit(X, X[:, 0] > 0).model_
    assert (forest.criterion, len(forest.estimators_), forest.max_depth) == ("gini", 100, 5)
    assert max(tree.get_depth() for tree in forest.estimators_) <= 5


def test_the_only_feature_that_can_split_has_all_of_the_importance():
    X = np.zeros((40, 3))
    X[:, 1] = np.arange(40)
    explanation = ForestImportance(k=1, random_state=0).fit(X, X[:, 1] >= 20).explain(X)
    np.testing.assert_array_equal(explanation.importance, np.tile([0.0, 1.0, 0.0], (40, 1)))
    np.testing.assert_array_equal(explanation.selected, np.tile([False, True, False], (40, 1)))


def test_every_row_gets_the_forests_ranking():
    X = np.random.default_rng(0).normal(size=(300, 5))
    forest = ForestImportance(k=2, random_state=0).fit(X, X[:, 1] + X[:, 4] > 0)
    explanation = forest.explain(X[:7])
    np.testing.assert_array_equal(explanation.importance, np.tile(forest.model_.feature_importances_, (7, 1)))
    np.testing.assert_array_equal(explanation.selected, np.tile([False, True, False, False, True], (7, 1)))
    np.testing.assert_allclose(explanation.importance.sum(axis=1), 1.0)
