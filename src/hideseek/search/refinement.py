"""The last part of training: Seeks learn to predict from the features that their ensemble selects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from hideseek.engine.along import price_bounds_of_all, sets_at_own_prices
from hideseek.engine.device import one_thread
from hideseek.engine.draws import member_seeds
from hideseek.engine.ensemble import Ensemble
from hideseek.engine.path import positions_of
from hideseek.engine.questions import Question
from hideseek.engine.recipe import Recipe
from hideseek.engine.refining import Seeks, refine
from hideseek.engine.stack import Data, Stack
from hideseek.search.parts import N_FOLDS

__all__ = ["refined"]

_MOST_ROWS = 100_000
"""Rows of a table from which Seeks learn here: about as many as they draw in all steps."""

_POSITIONS = np.linspace(0, 1, 8)
"""Other prices at which features are shown, as shares of the logarithmic range."""

_ROWS_PER_OTHER = 3
"""Rows at the ensemble's price for each row at another one."""

_ROWS_PER_LENT = 10
"""Rows for each one that is shown the features of another row. What a Seek learns from the choice of the features,
beside their values, does not hold there."""


def refined(
    ensembles: Sequence[Ensemble], data: Data, seeds: Sequence[int], *, recipe: Recipe, loss: str, threshold: float
) -> list[Ensemble]:
    """Return the ensembles with Seeks that have learned from the selected features, all of them at once.

    Until then a Seek has learned from half of its member's rows, for the sake of Hide, and from masks between 0 and 1.
    Most of the rows that it draws here have the sets of the price at which the ensemble answers; some have those of
    other prices, so that it can still be asked at these, and a few have the set of another row.

    Args:
        ensembles: All of one shape, at the prices at which they answer; member i leaves out fold i modulo ``N_FOLDS``.
        data: The tables that they have learned from, in order.
        seeds: Of their draws.
        recipe: How to train.
        loss: "cross_entropy" or "squared_error".
        threshold: A feature is selected where its mean mask is greater.
    """
    device, data = ensembles[0].pool.device, _some_rows(data)
    prices, every = _prices_of_rows(ensembles, data.X.shape[1]), np.arange(ensembles[0].stack.n_members)
    questions = [Question(each, every, *own) for each, *own in zip(ensembles, data.X, prices, strict=True)]
    with one_thread():
        sets = sets_at_own_prices(questions, threshold)
    ranges = torch.stack([each.price_range[0] for each in ensembles])
    positions = positions_of(torch.from_numpy(prices).log().float().to(device), ranges)
    stack = Stack.of_all([each.stack for each in ensembles])
    n_tables, n_members = len(ensembles), ensembles[0].stack.n_members
    own_seeds = np.stack([member_seeds(seed, n_members * (1 + stack.n_seeks) + 1)[n_members:] for seed in seeds])
    for own, ensemble, of_rows, seed in zip(sets, ensembles, prices, own_seeds[:, -1], strict=True):
        _lend(own, np.flatnonzero(of_rows == ensemble.price), int(seed))
    seeks = Seeks(
        stack,
        torch.from_numpy(own_seeds[:, :-1].flatten()).to(device),
        torch.arange(n_tables, device=device).repeat_interleave(n_members),
        torch.cat([each.visible for each in ensembles]),
        None if data.fold is None else (torch.arange(n_members, device=device) % N_FOLDS).repeat(n_tables),
    )
    with_sets = replace(data, selected=torch.from_numpy(np.stack(sets).view(np.uint8))).to(device)
    stack = refine(recipe, with_sets, positions, seeks, loss=loss)
    parts = [stack.part(slice(start, start + n_members)) for start in range(0, n_tables * n_members, n_members)]
    return [replace(each, stack=part) for each, part in zip(ensembles, parts, strict=True)]


def _prices_of_rows(ensembles: Sequence[Ensemble], n_rows: int) -> NDArray[np.float64]:
    """Return a price for each row: that of the ensemble for most of them. Shape: ``(ensembles, rows)``."""
    rows = np.arange(n_rows)
    turn, is_other = rows // (1 + _ROWS_PER_OTHER) % len(_POSITIONS), rows % (1 + _ROWS_PER_OTHER) == 0
    prices = np.empty((len(ensembles), n_rows))
    for own, ensemble, bounds in zip(prices, ensembles, price_bounds_of_all(ensembles), strict=True):
        low, high = np.log(bounds)
        own[:] = np.where(is_other, np.exp(low + (high - low) * _POSITIONS)[turn], ensemble.price)
    return prices


def _lend(sets: NDArray[np.bool_], rows: NDArray[np.intp], seed: int) -> None:
    """Give some of the rows the sets of others of them. Shape: ``sets (rows, features)``."""
    some = np.random.default_rng(seed).permutation(rows)[: len(sets) // _ROWS_PER_LENT]
    sets[some] = sets[np.roll(some, 1)]


def _some_rows(data: Data) -> Data:
    """Return up to ``_MOST_ROWS`` rows of each table, equally many of each fold."""
    if data.X.shape[1] <= _MOST_ROWS:
        return data
    device = data.X.device
    most = torch.arange(_MOST_ROWS, device=device).expand(len(data.X), -1)
    if data.fold is not None:
        by_fold = data.fold.remainder(N_FOLDS + 1).argsort(dim=1, stable=True)  # rows of no fold are the last
        starts = torch.arange(N_FOLDS, device=device)[:, None] * (data.fold[0] == 0).sum()
        most = by_fold[:, (starts + torch.arange(_MOST_ROWS // N_FOLDS, device=device)).flatten()]
    tables = torch.arange(len(data.X), device=device)[:, None]
    weight, fold = (None if part is None else part[tables, most] for part in (data.weight, data.fold))
    return Data(data.X[tables, most], data.target[tables, most], weight, fold)
