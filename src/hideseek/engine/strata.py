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
    """Return the pool with each feature's values reordered so that every block of ``STRATA`` rows is representative.

    Args:
        pool: A multiple of ``STRATA`` rows. Shape: ``(rows, columns)``.
        keys: Keys of two steps, for the shuffles. Shape: ``(2, 1, 2)``.
        groups: The columns of each feature, which are reordered together.
    """
    order = _sorted_rows(pool, groups)
    shape = (STRATA, len(pool) // STRATA, order.shape[1])
    within, between = (uniform(key, order.numel()) for key in keys)
    order = order.view(shape).gather(1, within.view(shape).argsort(dim=1)).transpose(0, 1)
    order = order.gather(1, between.view(order.shape).argsort(dim=1)).reshape(len(pool), -1)
    order = order.to(pool.device)
    return pool.gather(0, order if groups is None else groups.to_columns(order))


def _sorted_rows(pool: Tensor, groups: Groups | None) -> Tensor:
    """Return the row order that sorts each feature's values, by its first column first.

    Shape: ``(rows, columns)`` -> ``(rows, features)``, on the CPU.
    """
    values = pool.cpu()
    if groups is None:
        return values.argsort(dim=0, stable=True)
    widths = torch.bincount(groups.feature.cpu()).tolist()
    features = torch.split(values, widths, dim=1)
    return torch.from_numpy(np.stack([np.lexsort(columns.numpy().T[::-1]) for columns in features], axis=1))
