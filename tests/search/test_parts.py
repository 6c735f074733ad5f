import numpy as np
import pytest

from hideseek import InputError
from hideseek.search.parts import N_FOLDS, Part, folds_of, held_out_rows


def test_held_out_rows_are_a_share_of_each_class():
    rare = (np.arange(2000) % 100 == 0).astype(np.int64)
    kept, out = held_out_rows(rare, 0.25, seed=0)
    assert len(out) == 500
    assert rare[out].sum() == 5
    assert sorted([*kept, *out]) == list(range(2000))


def test_a_fraction_that_leaves_no_rows_is_an_error():
    with pytest.raises(InputError, match=r"validation_fraction=0\.9"):
        held_out_rows(np.zeros(2), 0.9, seed=0)


def test_folds_are_of_equal_size_with_a_share_of_each_class():
    target = (np.arange(203) % 10 == 0).astype(np.int64)
    fold = folds_of(target, seed=0)
    assert np.bincount(fold + 1).tolist() == [3] + [40] * N_FOLDS
    for number in range(N_FOLDS):
        assert 3 <= target[fold == number].sum() <= 5


def test_a_table_of_few_rows_has_no_folds():
    assert folds_of(np.zeros(19), seed=0) is None
    assert folds_of(np.zeros(20), seed=0) is not None


def test_correlations_are_those_of_numpy_and_0_with_a_constant_column():
    X = np.random.default_rng(0).normal(size=(400, 4)) @ np.random.default_rng(1).normal(size=(4, 4))
    X[:, 2] = 7.0
    varies = [0, 1, 3]
    part = Part(1e150 * X, np.zeros(400), None)
    np.testing.assert_allclose(
        part.correlations()[np.ix_(varies, varies)], np.abs(np.corrcoef(X[:, varies].T)), atol=1e-12
    )
    assert (part.correlations()[2] == 0).all()
    np.testing.assert_allclose(part.correlations(slice(1, 3)), part.correlations()[1:3], atol=1e-12)
    np.testing.assert_allclose(
        part.correlations(np.array([3]), np.array([0, 1])), part.correlations()[3:, :2], atol=1e-12
    )
