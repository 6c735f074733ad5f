import numpy as np
import torch

from hideseek.engine.draws import Stream, step_keys
from hideseek.engine.replacement import Marginal


def draws(X: torch.Tensor, table: list[int], rows: int) -> torch.Tensor:
    keys = step_keys(np.arange(len(table)), Stream.REPLACEMENT, 0, 1)[0]
    return Marginal(X, torch.tensor(table)).draw(keys, torch.empty(len(table), X.shape[1], rows))


def test_a_value_comes_from_its_own_column_of_its_members_table():
    X = torch.arange(2 * 3 * 50).view(2, 3, 50).float()  # tables, columns, rows: every value names its place
    got = draws(X, [1, 0, 1], 400)
    assert got.shape == (3, 3, 400)
    for member, table in enumerate([1, 0, 1]):
        for column in range(3):
            assert set(got[member, column].tolist()) <= set(X[table, column].tolist())


def test_draws_keep_the_marginals_and_break_the_dependence():
    x = torch.randn(1, 1, 5000)
    X = torch.cat((x, x, 2 * x + 1), dim=1)
    got = draws(X, [0], 100_000)[0].double()
    torch.testing.assert_close(got.mean(dim=1), X[0].mean(dim=1).double(), atol=0.03, rtol=0)
    torch.testing.assert_close(got.std(dim=1), X[0].std(dim=1).double(), atol=0.03, rtol=0)
    correlation = np.corrcoef(got.numpy())
    assert np.abs(correlation - np.eye(3)).max() < 5 / np.sqrt(100_000)
