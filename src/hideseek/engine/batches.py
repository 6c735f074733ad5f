"""The rows of each training step."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from hideseek.engine.draws import Draws, Keys, Stream, words
from hideseek.engine.objective import annealed, as_outputs
from hideseek.engine.path import HALF_WIDTH, price_at
from hideseek.engine.steps import Problem

__all__ = ["Batches", "Window", "own_rows"]


class Window(NamedTuple):
    """The batches of several consecutive steps.

    Attributes:
        x: Inputs, followed by a row of ones. Shape: ``(steps, members, columns + 1, rows)``.
        target: Shape: ``(steps, members, outputs, rows)``.
        weight: Shape: ``(steps, members, rows)``.
        keys: Random keys of the replacement draws. Shape: ``(steps, members, 2)``.
        price: Price of showing one feature of one row, divided by the batch size. Shape: ``(steps, members, features,
            1)``, or ``(steps, members, features, rows)`` where each row has its own.
        u: The position of each row's price in the range of prices; None: there is no range.
            Shape: ``(steps, members, rows)``.
        selected: The features that are shown, 0 or 1; None: Hide decides. Shape: ``(steps, members, features, rows)``.
    """

    x: Tensor
    target: Tensor
    weight: Tensor | None
    keys: Tensor
    price: Tensor
    u: Tensor | None
    selected: Tensor | None


_Picked = tuple[Tensor, Tensor, Tensor | None, Tensor | None]


class Batches:
    """Provides the batches of ``n_ahead`` steps at a time: all rows in order, or rows drawn with replacement."""

    def __init__(self, problem: Problem, n_ahead: int) -> None:
        self._problem = problem
        self._ahead = torch.arange(n_ahead, device=problem.seeds.device)
        self._price = (problem.price[:, None] * problem.visible)[:, :, None] / problem.batch_size
        self._keys = Keys(problem.seeds, Stream.REPLACEMENT)
        price_range = problem.stack.price_range
        self._prices = None if price_range is None else _DrawnPrices(problem, price_range, n_ahead)
        self._rows = _WholeTables(problem, n_ahead) if problem.full_batch else _DrawnRows(problem, n_ahead)

    def after(self, done: Tensor) -> Window:
        """Return the batches of the steps after ``done``, in reused buffers.

        Shape: ``done (1,)``, number of steps done, int64.
        """
        steps, recipe = done + self._ahead, self._problem.recipe
        share = annealed(steps + 1, recipe.steps, recipe.anneal_power).float()
        x, target, weight, selected = self._rows.at(steps)
        price, u = self._price, None
        if self._prices is not None:
            price, u = self._prices.at(steps)
        return Window(x, target, weight, self._keys.at(steps), price * share[:, None, None, None], u, selected)


class _DrawnPrices:
    """Draws a price for each row of a batch, log-uniformly from the member's price range."""

    def __init__(self, problem: Problem, price_range: Tensor, n_ahead: int) -> None:
        size, device = problem.batch_size, problem.seeds.device
        self._keys = Keys(problem.seeds, Stream.PRICE)
        self._draws = Draws(torch.arange(size, dtype=torch.int32, device=device), n_ahead * len(problem.seeds))
        self._range, self._visible = price_range, problem.visible[:, :, None] / size

    def at(self, steps: Tensor) -> tuple[Tensor, Tensor]:
        """Return ``price`` and ``u`` of ``Window``, the price before annealing."""
        share = self._draws.uniform(self._keys.at(steps).flatten(0, 1)).float().view(len(steps), len(self._range), -1)
        price = price_at(share, self._range)[:, :, None] * self._visible
        return price, share * (2 * HALF_WIDTH) - HALF_WIDTH


class _WholeTables:
    """Provides every row of a member's table at every step."""

    def __init__(self, problem: Problem, n_ahead: int) -> None:
        data, n_members = problem.data, len(problem.seeds)
        if problem.stack.n_seeks > 1 or problem.fold is not None:
            x, target, weight = data.rows(own_rows(problem).flatten(1) + (problem.table * data.X.shape[1])[:, None])
        else:
            x, target, weight = data.tables(problem.table if len(data.X) > 1 else problem.table[:1])
        x = torch.cat((x, torch.ones_like(x[:, :1])), dim=1)
        target = target if target.dim() == 3 else as_outputs(target, problem.stack.seek.sizes[-1])
        self._x, self._target = (part.expand(n_ahead, n_members, *part.shape[1:]) for part in (x, target))
        self._weight = None if weight is None else weight.expand(n_ahead, n_members, -1)

    def at(self, steps: Tensor) -> _Picked:
        """Return ``x``, ``target``, ``weight`` and ``selected`` of ``Window``; settled sets are for drawn rows."""
        return self._x, self._target, self._weight, None


class _DrawnRows:
    """Draws rows with replacement; for members with two Seeks, equally many from each Seek's half."""

    def __init__(self, problem: Problem, n_ahead: int) -> None:
        size, data, device = problem.batch_size, problem.data, problem.seeds.device
        n_members, n_rows, n_columns = len(problem.seeds), *data.X.shape[1:]
        self._data, self._n_outputs = data, problem.stack.seek.sizes[-1]
        self._keys = Keys(problem.seeds, Stream.BATCH)
        self._draws = Draws(torch.arange(size, dtype=torch.int32, device=device), n_ahead * n_members)
        shared_out = problem.stack.n_seeks > 1 or problem.fold is not None
        self._own_rows = own_rows(problem) if shared_out else None
        self._first_rows = (problem.table * n_rows)[:, None]
        first_cells = problem.table[:, None] * n_columns + torch.arange(n_columns, device=device)
        self._first_cells = (first_cells * n_rows)[:, :, None]
        self._cells = torch.empty(n_ahead, n_members, n_columns, size, dtype=torch.int64, device=device)
        self._values = torch.empty_like(self._cells, dtype=data.X.dtype)
        self._x = data.X.new_ones(n_ahead, n_members, n_columns + 1, size)

    def at(self, steps: Tensor) -> _Picked:
        """Return ``x``, ``target``, ``weight`` and ``selected`` of ``Window``."""
        rows = self._drawn(self._keys.at(steps).flatten(0, 1)).view(len(steps), -1, self._x.shape[3])
        torch.add(rows[:, :, None], self._first_cells, out=self._cells)
        torch.index_select(self._data.columns.view(-1), 0, self._cells.view(-1), out=self._values.view(-1))
        self._x[:, :, :-1] = self._values
        rows += self._first_rows
        target = self._picked(self._data.target, rows)
        target = target.transpose(2, 3).contiguous() if target.dim() == 4 else as_outputs(target, self._n_outputs)
        weight = None if self._data.weight is None else self._picked(self._data.weight, rows)
        if self._data.selected is None:
            return self._x, target, weight, None
        return self._x, target, weight, self._picked(self._data.selected, rows).transpose(2, 3).float()

    def _drawn(self, keys: Tensor) -> Tensor:
        """Draw row numbers within the tables. Shape: ``keys (steps * members, 2)`` -> ``(steps * members, rows)``."""
        if self._own_rows is None:
            return self._draws.integers(keys, self._data.X.shape[1])
        n_members, n_seeks, n_rows = self._own_rows.shape
        places = self._draws.integers(keys, n_rows).view(-1, n_members, n_seeks, self._x.shape[3] // n_seeks)
        return self._own_rows.expand(len(places), -1, -1, -1).gather(3, places)

    def _picked(self, values: Tensor, rows: Tensor) -> Tensor:
        """Pick rows.

        Shape: ``(tables, rows, ...)``, ``rows (steps, members, rows)`` -> ``(steps, members, rows, ...)``.
        """
        return values.flatten(0, 1).index_select(0, rows.view(-1)).view(*rows.shape, *values.shape[2:])


def own_rows(problem: Problem) -> Tensor:
    """Return the rows assigned to each Seek of a member, by the member's seed, without the fold that it leaves out.

    Shape: ``(members, n_seeks, rows // n_seeks)``, int64.
    """
    n_seeks = problem.stack.n_seeks
    n_rows = problem.n_learned // n_seeks * n_seeks
    keys = Keys(problem.seeds, Stream.HALVES).at(torch.zeros(1, dtype=torch.int64, device=problem.seeds.device))[0]
    scores = words(keys, problem.data.X.shape[1]).long()
    if problem.fold is not None and problem.data.fold is not None:
        scores[problem.data.fold[problem.table] == problem.fold[:, None]] = 2**32  # sort after all other rows
    order = scores.argsort(dim=1, stable=True)
    return torch.unflatten(order[:, :n_rows], 1, (n_seeks, -1))
