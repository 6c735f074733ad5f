"""Questions to the members of ensembles, and their answers in batches.

Questions to many ensembles of one shape are answered together, since a GPU takes hardly longer for a hundred small
products than for one. On a CPU each thread answers one at a time, so that the cache holds what is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hideseek.blocks import row_blocks
from hideseek.engine.device import for_each_question
from hideseek.engine.ensemble import FULL_ROWS, Ensemble
from hideseek.engine.hideseek import mix
from hideseek.engine.knockoffs import Knockoffs
from hideseek.engine.native import NativeAnswers, can_answer
from hideseek.engine.networks import Mlp
from hideseek.engine.path import HALF_WIDTH, mask_at, positions_of
from hideseek.engine.stack import Stack

__all__ = ["Batch", "Question", "answered", "can_join"]

_CELLS = {"cpu": 2**18, "cuda": 2**26}
"""Cells of the widest layer that are computed at a time: on a CPU as many as its cache holds."""

_WORTH_JOINING = 8


@dataclass(frozen=True)
class Question:
    """What some members of an ensemble are asked: about which rows, and at which prices.

    Attributes:
        ensemble: Answers for a range of prices.
        members: The members that are asked, by position. Shape: ``(members,)``.
        x: Standardised rows, on any device. Shape: ``(rows, inputs)``.
        prices: Shape: ``(prices,)``.
    """

    ensemble: Ensemble
    members: NDArray[np.intp]
    x: Tensor
    prices: Sequence[float]

    @property
    def shape(self) -> tuple[object, ...]:
        """What questions that are answered together have in common."""
        own, stack = self.ensemble, self.ensemble.stack
        networks = stack.hide.sizes, stack.seek.sizes, stack.n_seeks, id(stack.groups), type(own.knockoffs)
        return *networks, len(own.pool), len(self.members), len(self.x), len(self.prices)

    @property
    def n_mask_cells(self) -> int:
        """Cells of Hide's output for each price."""
        return self.n_padded * self.n_mask_cells_of_row

    @property
    def n_mask_cells_of_row(self) -> int:
        """Cells of Hide's output for a row at one price."""
        return len(self.members) * self.ensemble.stack.hide.sizes[-1]

    def in_blocks(self) -> list[Question]:
        """Return the question in parts of as many rows as are computed at a time, each with the prices of its rows."""
        parts = row_blocks(len(self.x), self.n_mask_cells_of_row, _CELLS[self.ensemble.pool.device.type])
        return [replace(self, x=self.x[part], prices=self.prices[part]) for part in parts]

    def n_seek_cells(self, n_draws: int) -> int:
        """Return the cells of Seek's widest layer for each price."""
        stack = self.ensemble.stack
        return n_draws * self.n_padded * len(self.members) * stack.n_seeks * max(stack.seek.sizes)

    @property
    def n_padded(self) -> int:
        """Rows with those that are added to fill up the last ``FULL_ROWS``."""
        return len(self.x) + -len(self.x) % FULL_ROWS


def can_join(question: Question, n_cells: int) -> bool:
    """Return whether ``_WORTH_JOINING`` questions like this one, of so many cells each, are answered together."""
    return _WORTH_JOINING * n_cells <= _CELLS[question.ensemble.pool.device.type]


def answered(
    questions: Sequence[Question],
    cells: Callable[[Question], int],
    answer: Callable[[Batch, Iterator[Tensor]], tuple[Tensor, ...]],
    *,
    on_device: bool = False,
) -> list[tuple[Any, ...]]:
    """Return the answer to each question; questions of one shape are asked together, as many as memory allows.

    Args:
        questions: To ensembles on one device.
        cells: Returns the cells that a question needs for each price.
        answer: Takes a batch, and the positions of its prices, some at a time: ``(prices, members)``. Returns tensors
            whose first axis is the question.
        on_device: Whether to return tensors on the device; else arrays.
    """
    alike: dict[tuple[object, ...], list[int]] = {}
    for place, question in enumerate(questions):
        alike.setdefault(question.shape, []).append(place)
    together: list[tuple[list[int], _Everyone]] = []
    for places in alike.values():
        first, everyone = questions[places[0]], _Everyone(questions[place].ensemble for place in places)
        at_once = max(1, _CELLS[first.ensemble.pool.device.type] // (cells(first) * len(first.prices)))
        together += [(places[start : start + at_once], everyone) for start in range(0, len(places), at_once)]

    @torch.inference_mode()
    def answers_of(some: tuple[list[int], _Everyone]) -> list[tuple[Any, ...]]:
        places, everyone = some
        batch = Batch([questions[place] for place in places], everyone)
        at_once = max(1, _CELLS[batch.x.device.type] // (cells(batch.questions[0]) * len(places)))
        answers = answer(batch, iter(torch.split(batch.positions(), at_once)))
        return list(zip(*(tensor if on_device else tensor.cpu().numpy() for tensor in answers), strict=True))

    device = questions[0].ensemble.pool.device if questions else torch.device("cpu")
    found = chain.from_iterable(for_each_question(answers_of, together, device))
    own = dict(zip(chain.from_iterable(places for places, _ in together), found, strict=True))
    return [own[place] for place in range(len(questions))]


class _Everyone:
    """The members of several ensembles of one shape, as one stack."""

    def __init__(self, ensembles: Iterable[Ensemble]) -> None:
        different = {id(ensemble): ensemble for ensemble in ensembles}
        starts = np.cumsum([0, *(len(ensemble.visible) for ensemble in different.values())])
        self._start = dict(zip(different, starts.tolist(), strict=False))
        self._stack = Stack.of_all([ensemble.stack for ensemble in different.values()])
        self._visible = torch.cat([ensemble.visible for ensemble in different.values()])

    def asked(self, questions: Sequence[Question]) -> tuple[Stack, Tensor]:
        """Return the members that are asked, question by question, and the features that they see."""
        numbers = np.concatenate([question.members + self._start[id(question.ensemble)] for question in questions])
        members = torch.from_numpy(numbers).to(self._visible.device)
        return self._stack.of(members), self._visible[members]


class Batch:
    """Questions of one shape; the members that are asked are one stack, question by question.

    Attributes:
        questions: The questions.
        n_rows: Rows of a question, without padding.
        x: Shape: ``(questions, inputs, padded rows)``.
    """

    def __init__(self, questions: Sequence[Question], everyone: _Everyone) -> None:
        first = questions[0]
        self.questions, self._shape, self.n_rows = questions, (len(questions), len(first.members)), len(first.x)
        self._device = first.ensemble.pool.device
        self._stack, self._visible = everyone.asked(questions)
        seen = torch.unflatten(self._visible, 0, self._shape).sum(dim=1, keepdim=True).clamp(min=1)
        self._share = (torch.unflatten(self._visible.float(), 0, self._shape) / seen).flatten(0, 1)
        rows = torch.stack([question.x for question in questions]).to(self._device)
        self.x = torch.zeros(len(questions), rows.shape[2], first.n_padded, device=self._device)
        self.x[:, :, : self.n_rows] = rows.transpose(1, 2)

    def positions(self) -> Tensor:
        """Return the positions of the prices in the members' ranges. Shape: ``(prices, members)``."""
        prices = torch.from_numpy(np.array([question.prices for question in self.questions], dtype=np.float64))
        log_prices = prices.log().float().to(self._device).repeat_interleave(self._shape[1], dim=0)
        price_range = self._stack.price_range
        if price_range is None:
            raise ValueError("the members that are asked were trained at one price and have no price range")
        return positions_of(log_prices, price_range).t()

    def hide_output(self, x: Tensor | None = None) -> Tensor:
        """Return Hide's outputs for the rows, or for others of the same questions.

        Shape: ``(questions, inputs, rows)`` -> ``(members, outputs, rows)``.
        """
        x = self.x if x is None else x
        of_members = x[:, None].expand(-1, self._shape[1], -1, -1).reshape(-1, *x.shape[1:])
        return self._stack.hide.forward(self._stack.layers()[0], of_members)

    def mean(self, values: Tensor) -> Tensor:
        """Return the mean over the members of a question that see the feature, in place.

        Shape: ``(prices, members, features, rows)`` -> ``(prices, questions, features, rows)``.
        """
        return torch.unflatten(values.mul_(self._share[:, :, None]), 1, self._shape).sum(dim=2)

    def predictions(
        self, x: Tensor, x_hat: Tensor, positions: Iterable[Tensor], *, softmax: bool, threshold: float
    ) -> tuple[Tensor, Tensor]:
        """Return predictions from the selected features, averaged over Seeks and draws, and the number of features.

        Args:
            x: The rows, or others of the same questions. Shape: ``(questions, inputs, rows)``.
            x_hat: As of ``replacements``.
            positions: The positions of the prices, some at a time. Shape of each: ``(prices, members)``.
            softmax: Whether to average probabilities instead of logits.
            threshold: A feature is selected where the mean mask of the members that are asked is greater.

        Shape: ``(questions, prices, rows, outputs)``, ``(questions, prices, rows)``.
        """
        if self._native is not None:
            return self._native_predictions(self._native, x, x_hat, torch.cat(list(positions)), softmax, threshold)
        output, answers, n_selected = self.hide_output(x), [], []
        for u in positions:
            selected = self.mean(mask_at(output, u[:, :, None])) > threshold
            z = mix(self.by_column(selected)[:, :, :, None], x[:, :, None, None], x_hat)
            y_hat = self.seek_outputs(z, u)
            answers.append((y_hat.softmax(dim=2) if softmax else y_hat).mean(dim=(1, 4)).permute(0, 2, 3, 1))
            n_selected.append(selected.sum(dim=2, dtype=torch.int32).transpose(0, 1))
        return torch.cat(answers, dim=1), torch.cat(n_selected, dim=1)

    @cached_property
    def _native(self) -> list[NativeAnswers] | None:
        """The members that each question asks, where the compiled library can answer for them."""
        if self.questions[0].ensemble.draws_given_row or not can_answer(self._stack):
            return None
        n_members = self._shape[1]
        parts = [slice(start, start + n_members) for start in range(0, len(self._visible), n_members)]
        return [NativeAnswers(self._stack.part(part), self._share[part]) for part in parts]

    def _native_predictions(
        self, native: Sequence[NativeAnswers], x: Tensor, x_hat: Tensor, u: Tensor, softmax: bool, threshold: float
    ) -> tuple[Tensor, Tensor]:
        """Return what ``predictions`` does."""
        answers, n_selected = [], []
        rows, draws = x.transpose(1, 2), x_hat[:, :, 0, :, 0].transpose(1, 2)
        for i, positions in enumerate(torch.unflatten(u, 1, self._shape).unbind(1)):
            for at in positions:
                selected = native[i].masks(rows[i], at) > threshold
                answers.append(torch.from_numpy(native[i].outputs(rows[i], selected, draws[i], at, softmax=softmax)))
                n_selected.append(torch.from_numpy(selected.sum(axis=1, dtype=np.int32)))
        shape = len(native), len(u)
        return torch.unflatten(torch.stack(answers), 0, shape), torch.unflatten(torch.stack(n_selected), 0, shape)

    def by_question(self, values: Tensor) -> Tensor:
        """Return the values of each question, 0 or False for features that a member does not see.

        Shape: ``(members, features, rows)`` -> ``(questions, members, rows, features)``.
        """
        return torch.unflatten(values * self._visible[:, :, None], 0, self._shape).transpose(2, 3)

    def by_column(self, selected: Tensor) -> Tensor:
        """Return 1 for the columns of selected features, else 0.

        Shape: ``(prices, questions, features, rows)``, bool -> ``(questions, columns, prices, rows)``.
        """
        columns = self._stack.by_column(selected.float().flatten(0, 1))
        return torch.unflatten(columns, 0, selected.shape[:2]).permute(1, 2, 0, 3)

    def replacements(self, n_draws: int) -> Tensor:
        """Return the values of hidden columns. Shape: ``(questions, columns, 1, draws, 1 or rows)``."""
        pool = torch.stack([question.ensemble.pool[:n_draws] for question in self.questions]).transpose(1, 2)
        knockoffs = [each.ensemble.knockoffs for each in self.questions if each.ensemble.knockoffs is not None]
        if not knockoffs:
            return pool[:, :, None, :, None]
        given_x = Knockoffs.of_all(knockoffs).given(self.x)
        return torch.stack([given_x(pool[:, :, draw, None]) for draw in range(pool.shape[2])], dim=2)[:, :, None]

    def seek_outputs(self, z: Tensor, u: Tensor) -> Tensor:
        """Return the outputs of each Seek of a question for its rows.

        Shape: ``z (questions, columns, prices, draws, rows)``, ``u (prices, members)`` -> ``(questions, Seeks, outputs,
        prices, draws, rows)``.
        """
        stack, n_questions = self._stack, len(z)
        first, bias, *others = stack.layers()[1]
        u = u.clamp(-HALF_WIDTH, HALF_WIDTH).t().repeat_interleave(stack.n_seeks, dim=0)
        at_price = torch.addcmul(bias, first[:, :, -1:], u[:, None])
        values = at_price[:, :, :, None].repeat(1, 1, 1, z[0, 0, 0].numel()).view(n_questions, -1, z[0, 0].numel())
        # The Seeks of a question see the same rows, so their first layers are one.
        values.baddbmm_(first[:, :, :-1].reshape(n_questions, values.shape[1], -1), z.flatten(2))
        output = values.view(len(first), -1, values.shape[2])
        if others:
            output = Mlp(stack.seek.sizes[1:]).forward(others, output.relu_())
        return output.view(n_questions, -1, output.shape[1], *z.shape[2:])
