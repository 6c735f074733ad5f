import numpy as np
import pytest

from hideseek import InputError
from hideseek.search.parts import held_out_rows, judging_splits, n_first_splits


def test_held_out_rows_are_a_share_of_each_class():
    rare = (np.arange(2000) % 100 == 0).astype(np.int64)
    kept, out = held_out_rows(rare, 0.25, seed=0)
    assert len(out) == 500
    assert rare[out].sum() == 5
    assert sorted([*kept, *out]) == list(range(2000))


def test_a_fraction_that_leaves_no_rows_is_an_error():
    with pytest.raises(InputError, match=r"validation_fraction=0\.9"):
        held_out_rows(np.zeros(2), 0.9, seed=0)


def test_of_a_very_long_table_five_thousand_rows_judge():
    ((kept, out),) = judging_splits(np.zeros(100_001, dtype=np.float32), 0, seed=0)
    assert len(out) == 5000
    assert len(kept) == 95_001
    assert not set(kept) & set(out)


@pytest.mark.parametrize(("n_rows", "n_first"), [(3, 3), (300, 5), (1000, 2), (1999, 1), (2000, 1), (100_000, 1)])
def test_the_first_splits_have_four_hundred_judges_if_there_are_so_many(n_rows, n_first):
    splits = judging_splits(np.zeros(n_rows), 0, seed=0)
    assert n_first_splits(splits) == n_first


def test_every_row_judges_once_and_tables_are_of_one_shape():
    target = (np.arange(203) % 10 == 0).astype(np.int64)
    splits = judging_splits(target, 0, seed=0)
    assert len(splits) == 5
    assert sorted(np.concatenate([out for _, out in splits])) == list(range(203))
    assert len({len(kept) for kept, _ in splits}) == 1
    for kept, out in splits:
        assert not set(kept) & set(out)
        assert target[out].sum() >= 4, "a share of each class"


def test_a_given_fraction_is_one_split_however_short_the_table():
    ((_, out),) = judging_splits(np.zeros(100), 0.3, seed=0)
    assert len(out) == 30
