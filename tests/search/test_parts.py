import numpy as np
import pytest

from hideseek import InputError
from hideseek.search.parts import held_out_rows, judging_splits


def test_held_out_rows_are_a_share_of_each_class():
    rare = (np.arange(2000) % 100 == 0).astype(np.int64)
    kept, out = held_out_rows(rare, 0.25, seed=0)
    assert len(out) == 500
    assert rare[out].sum() == 5
    assert sorted([*kept, *out]) == list(range(2000))


def test_a_fraction_that_leaves_no_rows_is_an_error():
    with pytest.raises(InputError, match=r"validation_fraction=0\.9"):
        held_out_rows(np.zeros(2), 0.9, seed=0)


@pytest.mark.parametrize(("n_rows", "n_judges"), [(1000, 200), (10_000, 2000), (100_000, 5000)])
def test_a_fifth_of_a_long_table_judges_and_never_more_than_five_thousand(n_rows, n_judges):
    ((kept, out),) = judging_splits(np.zeros(n_rows, dtype=np.float32), 0, seed=0)
    assert len(out) == n_judges
    assert len(kept) == n_rows - n_judges
    assert not set(kept) & set(out)


def test_every_row_of_a_short_table_judges_once_and_tables_are_of_one_shape():
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
