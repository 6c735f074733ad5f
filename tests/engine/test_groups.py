import numpy as np
import pytest
import torch

from hideseek.engine import eager
from hideseek.engine.draws import Stream, member_seeds, step_keys
from hideseek.engine.ensemble import Ensemble
from hideseek.engine.groups import Groups
from hideseek.engine.pools import POOL_ROWS, draw_pool
from hideseek.engine.recipe import Recipe
from hideseek.engine.replacement import Marginal
from hideseek.engine.scaling import Scaler
from hideseek.engine.stack import Data, Members, Stack
from hideseek.engine.training import train

CPU = torch.device("cpu")
WIDTHS = (1, 3, 2)
FEATURE = [0, 1, 1, 1, 2, 2]


def test_features_of_one_column_each_need_no_groups():
    assert Groups.from_widths(None) is None
    assert Groups.from_widths([1, 1, 1]) is None
    groups = Groups.from_widths(WIDTHS)
    assert groups.feature.tolist() == FEATURE
    assert groups.n_features == 3


def rows_of(values: torch.Tensor, n_rows: int) -> torch.Tensor:
    """The row each value comes from, where every value is its place in a table of columns one after the other."""
    return values.long() % n_rows


def test_columns_of_a_feature_are_drawn_from_one_row_and_features_apart():
    X = torch.arange(2 * 6 * 50).view(2, 6, 50).float()
    keys = step_keys(np.arange(3), Stream.REPLACEMENT, 0, 1)[0]
    got = Marginal(X, torch.tensor([1, 0, 1]), Groups.from_widths(WIDTHS)).draw(keys, torch.empty(3, 6, 400))
    table = torch.tensor([1, 0, 1])[:, None, None]
    assert torch.equal(got.long() // 50, (torch.arange(6)[:, None] + 6 * table).expand(3, 6, 400)), "its own column"
    rows = rows_of(got, 50)
    assert (rows[:, 1] == rows[:, 2]).all()
    assert (rows[:, 4] == rows[:, 5]).all()
    assert (rows[:, 0] == rows[:, 1]).float().mean() < 0.1
    assert (rows[:, 1] == rows[:, 4]).float().mean() < 0.1


def test_the_pool_draws_whole_features():
    X = torch.arange(6 * 50).view(6, 50).t().float()
    rows = rows_of(draw_pool(0, X, Groups.from_widths(WIDTHS)), 50)
    assert rows.shape == (POOL_ROWS, 6)
    assert (rows[:, 1] == rows[:, 3]).all()
    assert (rows[:, 0] == rows[:, 1]).float().mean() < 0.1


@pytest.fixture(scope="module")
def raw() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(1000, 6))


def trained(raw: np.ndarray, batch_size: int | None = 100, device: torch.device = CPU) -> Ensemble:
    scaler, groups = Scaler.fit(raw), Groups.from_widths(WIDTHS, device)
    X = torch.from_numpy(scaler.transform(raw))
    visible = np.array([[True, True, False], [True, True, True]])
    members = Members(member_seeds(0, 2), np.full(2, 0.02), visible, np.zeros(2, dtype=int))
    stack, history = train(
        Recipe(steps=300 if batch_size else 15, batch_size=batch_size, learning_rate=1e-2),
        Data(X[None], (X[:, 1] * X[:, 3] > 0).long()[None]),
        members,
        loss="cross_entropy",
        n_outputs=2,
        device=device,
        groups=groups,
    )
    assert (history.mask_sum <= visible.sum(axis=1)).all(), "features are counted, not columns"
    return Ensemble(stack, torch.from_numpy(visible).to(device), draw_pool(0, X.to(device), groups), scaler)


def test_a_feature_that_two_of_its_columns_decide_is_found_and_unseen_ones_do_not_count(raw):
    ensemble = trained(raw)
    masks = ensemble.masks(raw)
    assert masks.shape == (1000, 3)
    assert (masks[:, 1] > 0.5).mean() > 0.95
    assert (masks[:, [0, 2]] < 0.5).mean() > 0.95
    moved = raw.copy()
    moved[:, 4:] += 100  # the first member was not given them
    first = Stack.from_members(ensemble.stack.hide, ensemble.stack.seek, ensemble.stack.by_member()[:1])
    layers, standardised = first.layers()[0], [ensemble.scaler.transform(each) for each in (raw, moved)]
    a, b = (first.hide.forward(layers, torch.from_numpy(each).t()[None]) for each in standardised)
    torch.testing.assert_close(a, b)
    accuracy = (ensemble.outputs(raw, 16, softmax=True).argmax(axis=1) == (raw[:, 1] * raw[:, 3] > 0)).mean()
    assert accuracy > 0.9


def test_a_step_in_parts_is_the_step(raw, monkeypatch):
    whole = trained(raw, batch_size=None).stack.parameters
    monkeypatch.setitem(eager._SHARD_CELLS, "cpu", 32 * 300)
    torch.testing.assert_close(trained(raw, batch_size=None).stack.parameters, whole, atol=1e-3, rtol=0)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_learns_the_same(raw):
    got = trained(raw, device=torch.device("cuda")).masks(raw)
    assert (np.abs(got - trained(raw).masks(raw)) < 0.05).mean() > 0.99
