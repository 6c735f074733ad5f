"""The last part of training: Seeks learn to predict from the features that their ensemble selects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from hideseek.engine.draws import member_seeds
from hideseek.engine.ensemble import Ensemble
from hideseek.engine.knockoffs import Knockoffs
from hideseek.engine.path import position_of
from hideseek.engine.recipe import Recipe
from hideseek.engine.refining import Seeks, refine
from hideseek.engine.stack import Data, Stack
from hideseek.search.parts import N_FOLDS

__all__ = ["refined"]

_MOST_ROWS = 100_000
"""Rows of a table from which Seeks learn here: about as many as they draw in all steps."""


def refined(
    ensembles: Sequence[Ensemble],
    data: Data,
    seeds: Sequence[int],
    *,
    recipe: Recipe,
    loss: str,
    threshold: float,
    knockoffs: Knockoffs | None,
) -> list[Ensemble]:
    """Return the ensembles with Seeks that have learned from the selected features, all of them at once.

    Until then a Seek has learned from half of its member's rows, for the sake of Hide, and from masks between 0 and 1.

    Args:
        ensembles: All of one shape, at the prices at which they answer; member i leaves out fold i modulo ``N_FOLDS``.
        data: The tables that they have learned from, in order.
        seeds: Of their draws.
        recipe: How to train.
        loss: "cross_entropy" or "squared_error".
        threshold: A feature is selected where its mean mask is greater.
        knockoffs: Those of the tables; None: hidden values are drawn from the marginals.
    """
    data, device = _some_rows(data), ensembles[0].pool.device
    selected = [each.masks(x) > threshold for each, x in zip(ensembles, data.X, strict=True)]
    stack = Stack.of_all([each.stack for each in ensembles])
    n_tables, n_members = len(ensembles), ensembles[0].stack.n_members
    own_seeds = [member_seeds(seed, n_members * (1 + stack.n_seeks))[n_members:] for seed in seeds]
    table = torch.arange(n_tables, device=device).repeat_interleave(n_members)
    seeks = Seeks(
        stack,
        torch.cat([_position(each) for each in ensembles]),
        torch.from_numpy(np.concatenate(own_seeds)).to(device),
        table,
        torch.cat([each.visible for each in ensembles]),
        None if data.fold is None else (torch.arange(n_members, device=device) % N_FOLDS).repeat(n_tables),
    )
    with_sets = replace(data, selected=torch.from_numpy(np.stack(selected)).to(torch.uint8))
    replacement = None if knockoffs is None else knockoffs.of(table.repeat_interleave(stack.n_seeks))
    stack = refine(recipe, with_sets.to(device), seeks, loss=loss, replacement=replacement)
    bounds = range(0, n_tables * n_members, n_members)
    parts = [stack.part(slice(start, start + n_members)) for start in bounds]
    return [replace(each, stack=part) for each, part in zip(ensembles, parts, strict=True)]


def _position(ensemble: Ensemble) -> Tensor:
    if ensemble.price is None:
        raise ValueError("the ensemble has no price")
    return position_of(ensemble.price, ensemble.price_range)


def _some_rows(data: Data) -> Data:
    """Return up to ``_MOST_ROWS`` rows of each table, equally many of each fold."""
    if data.X.shape[1] <= _MOST_ROWS:
        return data
    most = torch.arange(_MOST_ROWS).expand(len(data.X), -1)
    if data.fold is not None:
        by_fold = data.fold.remainder(N_FOLDS + 1).argsort(dim=1, stable=True)  # rows of no fold are the last
        starts = torch.arange(N_FOLDS)[:, None] * (data.fold[0] == 0).sum()
        most = by_fold[:, (starts + torch.arange(_MOST_ROWS // N_FOLDS)).flatten()]
    tables = torch.arange(len(data.X))[:, None]
    weight, fold = (None if part is None else part[tables, most] for part in (data.weight, data.fold))
    return Data(data.X[tables, most], data.target[tables, most], weight, fold)
