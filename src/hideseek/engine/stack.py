"""The stack: K members side by side, the tables they learn from, and what became of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hideseek.engine.draws import Stream, step_keys, uniform
from hideseek.engine.networks import Mlp, split

__all__ = ["Batch", "Data", "History", "Members", "Stack", "initial_stack"]

Batch = tuple[Tensor, Tensor, Tensor | None]
"""x ``(members, columns, rows)``, target ``(members, ..., rows)``, weight ``(members, rows)`` or None."""


@dataclass(frozen=True)
class Data:
    """Tables of equal shape with their targets.

    Attributes:
        X: Standardised features. Shape: ``(tables, rows, columns)``, float32.
        target: Class numbers ``(tables, rows)`` int64, class probabilities ``(tables, rows, classes)``, or values
            ``(tables, rows)`` float32.
        weight: Row weights with mean one, or None. Shape: ``(tables, rows)``.
    """

    X: Tensor
    target: Tensor
    weight: Tensor | None = None

    def to(self, device: torch.device) -> Data:
        """The same tables on another device."""
        weight = None if self.weight is None else self.weight.to(device)
        return Data(self.X.to(device), self.target.to(device), weight)

    def rows(self, index: Tensor) -> Batch:
        """Rows by their number, counted through all tables. Shape: ``index (members, rows)`` -> a batch."""
        shape, flat = index.shape, index.reshape(-1)
        return self._batch(lambda values: values.flatten(0, 1).index_select(0, flat).view(*shape, *values.shape[2:]))

    def tables(self, table: Tensor) -> Batch:
        """All rows of each member's table. Shape: ``table (members,)`` -> a batch."""
        if len(self.X) == 1:
            return self._batch(lambda values: values.expand(len(table), *values.shape[1:]))
        return self._batch(lambda values: values[table])

    def _batch(self, pick: Callable[[Tensor], Tensor]) -> Batch:
        """Features, and class probabilities, come before rows in a batch."""
        weight = None if self.weight is None else pick(self.weight)
        target = pick(self.target)
        if target.dim() == 3:
            target = target.transpose(1, 2).contiguous()
        return pick(self.X).transpose(1, 2).contiguous(), target, weight


@dataclass(frozen=True)
class Members:
    """What tells the members of a stack apart.

    Attributes:
        seeds: Where a member's draws come from. Shape: ``(members,)``, int.
        price: lambda_max / d, what it costs to show one feature of one row. Shape: ``(members,)``.
        visible: The columns a member sees. Shape: ``(members, columns)``, bool.
        table: Which of the tables is its own. Shape: ``(members,)``, int.
    """

    seeds: NDArray[np.int64]
    price: NDArray[np.float64]
    visible: NDArray[np.bool_]
    table: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.seeds)


@dataclass(frozen=True)
class Stack:
    """Hide and Seek of K members: two network shapes, and one row of weights per member.

    Shape: ``parameters (members, hide.n_parameters + seek.n_parameters)``.
    """

    hide: Mlp
    seek: Mlp
    parameters: Tensor

    def layers(self) -> tuple[list[Tensor], list[Tensor]]:
        """Weights of Hide and of Seek, matrix and bias of each layer in turn."""
        views = split(self.parameters, self.hide.shapes + self.seek.shapes)
        return views[: len(self.hide.shapes)], views[len(self.hide.shapes) :]


@dataclass(frozen=True)
class History:
    """The course of training, in up to a hundred records, each the mean over the steps since the last.

    Attributes:
        step: The last step of each record. Shape: ``(records,)``.
        anneal: The share of the final penalty in force at that step. Shape: ``(records,)``.
        prediction_loss: Shape: ``(records, members)``.
        mask_sum: Mean over rows of the sum of a row's mask. Shape: ``(records, members)``.
        validation_loss: Prediction loss on the held-out rows at that step, or None. Shape: ``(records, members)``.
    """

    step: NDArray[np.int64]
    anneal: NDArray[np.float64]
    prediction_loss: NDArray[np.float32]
    mask_sum: NDArray[np.float32]
    validation_loss: NDArray[np.float32] | None


def initial_stack(hide: Mlp, seek: Mlp, members: Members, device: torch.device) -> tuple[Stack, Tensor]:
    """The stack before training, and a 0/1 tensor of the weights that train, of the shape of its parameters."""
    visible = torch.from_numpy(members.visible)
    networks = zip((hide, seek), step_keys(members.seeds, Stream.WEIGHTS, 0, 2), strict=True)
    starts = [network.init(uniform(keys, network.n_parameters), visible) for network, keys in networks]
    parameters, trainable = (torch.cat(parts, dim=1).float().to(device) for parts in zip(*starts, strict=True))
    return Stack(hide, seek, parameters), trainable
