import numpy as np
import pytest
import torch

from hideseek.engine.draws import Stream, step_keys
from hideseek.engine.groups import Groups
from hideseek.engine.pools import POOL_ROWS, draw_noise, draw_pool, draw_pools
from hideseek.engine.strata import STRATA, stratified

KEYS = step_keys(np.array([3]), Stream.POOL, 1, 3)


def test_every_block_of_a_pool_has_one_value_from_every_sixteenth():
    values = torch.rand(POOL_ROWS, 5, generator=torch.Generator().manual_seed(0))
    (pool,) = stratified(values[None], KEYS)
    assert torch.equal(pool.sort(dim=0).values, values.sort(dim=0).values), "the same values in another order"
    stratum = pool.argsort(dim=0).argsort(dim=0) // (POOL_ROWS // STRATA)
    for block in stratum.split(STRATA):
        assert (block.sort(dim=0).values == torch.arange(STRATA)[:, None]).all()


def test_features_of_a_stratified_pool_stay_independent():
    (pool,) = stratified(torch.randn(1, POOL_ROWS, 40, generator=torch.Generator().manual_seed(0)), KEYS)
    first = torch.corrcoef(pool[:STRATA].T).fill_diagonal_(0)
    assert abs(first.mean()) < 0.05
    assert first.abs().max() < 0.9


def test_columns_of_one_feature_stay_together_in_a_stratified_pool():
    level = torch.arange(POOL_ROWS) % 4
    values = torch.cat([torch.eye(4)[level], torch.randn(POOL_ROWS, 1, generator=torch.Generator().manual_seed(0))], 1)
    (pool,) = stratified(values[None], KEYS, Groups.from_widths([4, 1]))
    assert (pool[:, :4].sum(dim=1) == 1).all()
    assert (pool[:STRATA, :4].sum(dim=0) == STRATA / 4).all(), "a category is drawn as often as it occurs"


@pytest.mark.parametrize("widths", [None, [2, 1, 3]])
def test_pools_of_many_tables_are_those_of_each_alone(widths):
    X = torch.randn(3, 500, 6, generator=torch.Generator().manual_seed(2)).round(decimals=1)
    groups, seeds = Groups.from_widths(widths), [5, 0, 5]
    for pool, seed, table in zip(draw_pools(seeds, X, groups), seeds, X, strict=True):
        assert torch.equal(pool, draw_pool(seed, table, groups))
    noise = draw_noise(seeds, 6)
    assert torch.equal(noise[0], noise[2])
    assert torch.equal(noise[1], draw_noise([0], 6)[0])


def test_few_rows_of_a_pool_stand_for_the_column():
    X = torch.randn(5000, 30, generator=torch.Generator().manual_seed(1))
    for rows in (draw_pool(0, X), draw_noise([0], 30)[0]):
        assert rows[:STRATA].mean(dim=0).abs().mean() < 0.08, "independent draws: 0.2"
