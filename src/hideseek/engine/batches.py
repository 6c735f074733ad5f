"""The rows that the members see at a step."""

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
    """The batches of a few steps, one after the other.

    Attributes:
        x: With a row of ones below. Shape: ``(steps, members, columns + 1, rows)``.
        target: Shape: ``(steps, members, outputs, rows)``.
        weight: Shape: ``(steps, members, rows)``.
        keys: Of the replacements. Shape: ``(steps, members, 2)``.
        price: Of showing one feature of one row, over the rows of a batch. Shape: ``(steps, members, features, 1)``, or
            ``(steps, members, features, rows)`` where each row has its own.
        u: The position of each row's price in the range of prices; None: there is no range.
            Shape: ``(steps, members, rows)``.
    """

    x: Tensor
    target: Tensor
    weight: Tensor | None
    keys: Tensor
    price: Tensor
    u: Tensor | None


class Batches:
    """All rows in order, or rows drawn with replacement, for ``n_ahead`` steps at a time."""

    def __init__(self, problem: Problem, n_ahead: int) -> None:
        self._problem = problem
        self._ahead = torch.arange(n_ahead, device=problem.seeds.device)
        self._price = (problem.price[:, None] * problem.visible)[:, :, None] / problem.batch_size
        self._keys = Keys(problem.seeds, Stream.REPLACEMENT)
        price_range = problem.stack.price_range
        self._prices = None if price_range is None else _DrawnPrices(problem, price_range, n_ahead)
        self._rows = _WholeTables(problem, n_ahead) if problem.full_batch else _DrawnRows(problem, n_ahead)

    def after(self, done: Tensor) -> Window:
        """The next steps, in buffers that are used again. Shape: ``done (1,)``, the number of steps done, int64."""
        steps, recipe = done + self._ahead, self._problem.recipe
        share = annealed(steps + 1, recipe.steps, recipe.anneal_power).float()
        x, target, weight = self._rows.at(steps)
        price, u = self._price, None
        if self._prices is not None:
            price, u = self._prices.at(steps)
        return Window(x, target, weight, self._keys.at(steps), price * share[:, None, None, None], u)


class _DrawnPrices:
    """A price for each row of a batch, drawn evenly in its logarithm from the member's range."""

    def __init__(self, problem: Problem, price_range: Tensor, n_ahead: int) -> None:
        size, device = problem.batch_size, problem.seeds.device
        self._keys = Keys(problem.seeds, Stream.PRICE)
        self._draws = Draws(torch.arange(size, dtype=torch.int32, device=device), n_ahead * len(problem.seeds))
        self._range, self._visible = price_range, problem.visible[:, :, None] / size

    def at(self, steps: Tensor) -> tuple[Tensor, Tensor]:
        """As in ``Window``, before annealing."""
        share = self._draws.uniform(self._keys.at(steps).flatten(0, 1)).float().view(len(steps), len(self._range), -1)
        price = price_at(share, self._range)[:, :, None] * self._visible
        return price, share * (2 * HALF_WIDTH) - HALF_WIDTH


class _WholeTables:
    """Every row of a member's table at every step."""

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

    def at(self, steps: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        """As in ``Window``."""
        return self._x, self._target, self._weight


class _DrawnRows:
    """Rows drawn with replacement, as many from each half where a member has two Seeks."""

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

    def at(self, steps: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        """As in ``Window``."""
        rows = self._drawn(self._keys.at(steps).flatten(0, 1)).view(len(steps), -1, self._x.shape[3])
        torch.add(rows[:, :, None], self._first_cells, out=self._cells)
        torch.index_select(self._data.columns.view(-1), 0, self._cells.view(-1), out=self._values.view(-1))
        self._x[:, :, :-1] = self._values
        rows += self._first_rows
        target = self._picked(self._data.target, rows)
        target = target.transpose(2, 3).contiguous() if target.dim() == 4 else as_outputs(target, self._n_outputs)
        return self._x, target, None if self._data.weight is None else self._picked(self._data.weight, rows)

    def _drawn(self, keys: Tensor) -> Tensor:
        """Numbers of rows within their tables. Shape: ``keys (steps * members, 2)`` -> ``(steps * members, rows)``."""
        if self._own_rows is None:
            return self._draws.integers(keys, self._data.X.shape[1])
        n_members, n_seeks, n_rows = self._own_rows.shape
        places = self._draws.integers(keys, n_rows).view(-1, n_members, n_seeks, self._x.shape[3] // n_seeks)
        return self._own_rows.expand(len(places), -1, -1, -1).gather(3, places)

    def _picked(self, values: Tensor, rows: Tensor) -> Tensor:
        """Shape: ``values (tables, rows, ...)``, ``rows (steps, members, rows)`` -> ``(steps, members, rows, ...)``."""
        return values.flatten(0, 1).index_select(0, rows.view(-1)).view(*rows.shape, *values.shape[2:])


def own_rows(problem: Problem) -> Tensor:
    """Return the rows that belong to each of a member's Seeks, by its seed, without the fold that it leaves out.

    Shape: ``(members, n_seeks, rows // n_seeks)``, int64.
    """
    n_seeks = problem.stack.n_seeks
    n_rows = problem.n_learned // n_seeks * n_seeks
    keys = Keys(problem.seeds, Stream.HALVES).at(torch.zeros(1, dtype=torch.int64, device=problem.seeds.device))[0]
    scores = words(keys, problem.data.X.shape[1]).long()
    if problem.fold is not None and problem.data.fold is not None:
        scores[problem.data.fold[problem.table] == problem.fold[:, None]] = 2**32  # behind all others
    order = scores.argsort(dim=1, stable=True)
    return torch.unflatten(order[:, :n_rows], 1, (n_seeks, -1))
