"""The last part of training: Seeks learn to predict from the features that their ensemble selects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from hideseek.engine.draws import member_seeds
from hideseek.engine.ensemble import Ensemble
from hideseek.engine.knockoffs import Knockoffs
from hideseek.engine.path import position_of
from hideseek.engine.recipe import Recipe
from hideseek.engine.refining import Seeks, refine
from hideseek.engine.stack import Stack
from hideseek.search.parts import N_FOLDS, as_tables
from hideseek.search.problem import Problem

__all__ = ["refined"]

_MOST_ROWS = 100_000
"""Rows of a table from which Seeks learn here: more than they draw in a thousand steps."""


def refined(
    ensembles: Sequence[Ensemble],
    problems: Sequence[Problem],
    folds: Sequence[NDArray[np.int64] | None],
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
        problems: What each of them has learned from.
        folds: The fold of each row of each problem; None: no rows are left out.
        recipe: How to train.
        loss: "cross_entropy" or "squared_error".
        threshold: A feature is selected where its mean mask is greater.
        knockoffs: Those of the tables; None: hidden values are drawn from the marginals.
    """
    first, device = ensembles[0], ensembles[0].pool.device
    n_tables, n_members, n_seeks = len(ensembles), first.stack.n_members, first.stack.n_seeks
    parts, selected = [], []
    for ensemble, problem, fold in zip(ensembles, problems, folds, strict=True):
        rows = _some_rows(len(problem.train.target), fold)
        own = problem.train.rows(rows)
        parts.append(own.standardised(problem.scaler, None if fold is None else fold[rows]))
        selected.append(torch.from_numpy(ensemble.masks(own.table) > threshold).to(torch.uint8))
    data = replace(as_tables(parts), selected=torch.stack(selected)).to(device)
    seeds = [member_seeds(each.seed, n_members * (1 + n_seeks))[n_members:] for each in problems]
    table = torch.arange(n_tables, device=device).repeat_interleave(n_members)
    seeks = Seeks(
        Stack.from_members(
            first.stack.hide,
            first.stack.seek,
            torch.cat([each.stack.by_member() for each in ensembles]),
            first.stack.groups,
            torch.cat([each.price_range for each in ensembles]),
        ),
        torch.cat([position_of(_price(each), each.price_range) for each in ensembles]),
        torch.from_numpy(np.concatenate(seeds)).to(device),
        table,
        torch.cat([each.visible for each in ensembles]),
        None if folds[0] is None else (torch.arange(n_members, device=device) % N_FOLDS).repeat(n_tables),
    )
    replacement = None if knockoffs is None else knockoffs.of(table.repeat_interleave(n_seeks))
    stack = refine(recipe, data, seeks, loss=loss, replacement=replacement)
    own_members = torch.arange(n_tables * n_members, device=device).view(n_tables, n_members)
    return [replace(each, stack=stack.of(own)) for each, own in zip(ensembles, own_members, strict=True)]


def _price(ensemble: Ensemble) -> float:
    if ensemble.price is None:
        raise ValueError("the ensemble has no price")
    return ensemble.price


def _some_rows(n_rows: int, fold: NDArray[np.int64] | None) -> NDArray[np.intp]:
    """Return up to ``_MOST_ROWS`` rows, equally many of each fold."""
    if n_rows <= _MOST_ROWS:
        return np.arange(n_rows)
    if fold is None:
        return np.arange(_MOST_ROWS)
    own = [np.flatnonzero(fold == number)[: _MOST_ROWS // N_FOLDS] for number in range(N_FOLDS)]
    return np.sort(np.concatenate(own))
