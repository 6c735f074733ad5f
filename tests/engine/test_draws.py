import numpy as np
import pytest
import torch

from hideseek.engine.draws import Stream, batch_cells, draw_columns, integers, member_seeds, step_keys, uniform, words
from hideseek.errors import InputError

SEEDS = np.array([3, 1, 4, 1, 5])


def reference_word(key: tuple[int, int], cell: int) -> int:
    """The mixer in plain integers, as its docstring describes it."""
    x = (cell + key[0]) % 2**32
    x ^= x >> 16
    x = x * 0x7FEB352D % 2**32
    x ^= key[1] % 2**32
    x ^= x >> 15
    x = x * 0x846CA68B % 2**32
    return x ^ (x >> 16)


def test_words_equal_the_mixer_in_plain_integers():
    keys = step_keys(SEEDS, Stream.BATCH, 7, 8)[0]
    got = words(keys, 50).numpy().astype(np.int64) % 2**32
    expected = [[reference_word((int(a), int(b)), cell) for cell in range(50)] for a, b in keys]
    np.testing.assert_array_equal(got, expected)


def test_a_member_draws_the_same_alone_and_in_a_stack():
    together = integers(step_keys(SEEDS, Stream.REPLACEMENT, 0, 3)[2], 100, 1000)
    alone = integers(step_keys(SEEDS[2:3], Stream.REPLACEMENT, 2, 3)[0], 100, 1000)
    assert torch.equal(together[2], alone[0])
    assert torch.equal(together[1], together[3]), "the same seed gives the same draws"


def test_steps_streams_and_seeds_give_different_draws():
    kinds = [(seed, stream, step) for seed in (1, 2) for stream in (Stream.BATCH, Stream.POOL) for step in (0, 1)]
    draws = [words(step_keys(np.array([seed]), stream, step, step + 1)[0], 1000) for seed, stream, step in kinds]
    for i, first in enumerate(draws):
        for second in draws[:i]:
            assert (first == second).float().mean() < 0.01


def test_integers_are_uniform_and_independent_of_their_neighbours():
    n, high = 200_000, 10
    draws = integers(step_keys(np.array([0]), Stream.REPLACEMENT, 0, 1)[0], n, high)[0].numpy()
    pairs = np.bincount(draws[:-1] * high + draws[1:], minlength=high**2)
    expected = (n - 1) / high**2
    chi_square = ((pairs - expected) ** 2 / expected).sum()
    assert abs(chi_square - 99) < 6 * np.sqrt(2 * 99), "chi-square of 100 cells"
    assert draws.min() == 0
    assert draws.max() == high - 1


def test_uniform_has_the_moments_of_its_law():
    draws = uniform(step_keys(np.arange(20), Stream.WEIGHTS, 0, 1)[0], 10_000)
    assert draws.min() > 0
    assert draws.max() < 1
    assert abs(draws.mean() - 0.5) < 5 / np.sqrt(12 * draws.numel())
    assert abs(draws.var() - 1 / 12) < 0.001


def test_the_first_members_do_not_depend_on_how_many_follow():
    np.testing.assert_array_equal(member_seeds(9, 3), member_seeds(9, 10)[:3])
    assert len(set(member_seeds(9, 100)) | set(member_seeds(10, 100))) == 200


def test_every_member_sees_its_share_and_every_column_is_seen():
    seen = draw_columns(member_seeds(0, 10), 11, 0.9)
    assert seen.sum(axis=1).tolist() == [10] * 10
    for seed in range(50):
        narrow = draw_columns(member_seeds(seed, 2), 10, 0.5)
        assert narrow.sum(axis=1).tolist() == [5, 5]
        assert narrow.any(axis=0).all()


def test_a_share_that_cannot_cover_the_columns_is_refused():
    with pytest.raises(InputError, match="at least 5 members"):
        draw_columns(member_seeds(0, 2), 10, 0.2)


@pytest.mark.parametrize(("n_rows", "n_parts"), [(12, 1), (12, 2), (6, 1), (6, 2)])
def test_cells_of_a_batch_are_numbered_feature_by_feature(n_rows, n_parts):
    whole = torch.arange(5 * 12).view(5, n_parts, 12 // n_parts)
    cells = batch_cells(5, 12, n_rows, n_parts, torch.device("cpu"))
    assert cells.tolist() == whole[:, :, : n_rows // n_parts].flatten().tolist()


def test_cells_of_a_million_rows_and_thousands_of_columns_are_distinct():
    cells = batch_cells(4000, 1_000_000, 4, 2, torch.device("cpu"))
    assert cells.dtype == torch.int32
    assert len(cells.unique()) == 4000 * 4
    assert int(cells[-1]) % 2**32 == 3999 * 1_000_000 + 500_001
