"""Order the replacement rows so that a few of them represent the whole column.

A prediction averages over the first rows of a pool. If each feature's first 16 values are one from every sixteenth of
its sorted values, a mean over 16 rows is about as exact as one over 64 independent draws (Latin hypercube sampling).
Features stay independent of each other, since each is shuffled by itself.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from hideseek.engine.draws import uniform
from hideseek.engine.groups import Groups

__all__ = ["STRATA", "stratified"]

STRATA = 16
"""Rows of a block, which contains one value of each feature from every sixteenth of the sorted pool."""


def stratified(pool: Tensor, keys: Tensor, groups: Groups | None = None) -> Tensor:
    """Return pools with each feature's values reordered so that every block of ``STRATA`` rows is representative.

    Args:
        pool: A multiple of ``STRATA`` rows of each table. Shape: ``(tables, rows, columns)``.
        keys: Keys of two steps, for the shuffles. Shape: ``(2, tables, 2)``.
        groups: The columns of each feature, which are reordered together.
    """
    order = _sorted_rows(pool, groups)
    n_tables, n_rows, n_features = order.shape
    shape = (n_tables, STRATA, n_rows // STRATA, n_features)
    within, between = (uniform(key, n_rows * n_features) for key in keys.to(pool.device))
    order = order.view(shape).gather(2, within.view(shape).argsort(dim=2)).transpose(1, 2)
    order = order.gather(2, between.view(order.shape).argsort(dim=2)).reshape(n_tables, n_rows, n_features)
    return pool.gather(1, order if groups is None else groups.to_columns(order, dim=2))


def _sorted_rows(pool: Tensor, groups: Groups | None) -> Tensor:
    """Return the row order that sorts each feature's values, by its first column first.

    Shape: ``(tables, rows, columns)`` -> ``(tables, rows, features)``.
    """
    if groups is None:
        return pool.argsort(dim=1, stable=True)
    features = np.split(pool.cpu().numpy(), np.cumsum(torch.bincount(groups.feature.cpu()).numpy())[:-1], axis=2)
    orders = [[np.lexsort(columns.T[::-1]) for columns in tables] for tables in features]
    return torch.from_numpy(np.array(orders).transpose(1, 2, 0)).to(pool.device)
