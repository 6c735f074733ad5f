import numpy as np
import pytest

from hideseek import InputError
from hideseek.search.parts import N_FOLDS, folds_of, held_out_rows


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
