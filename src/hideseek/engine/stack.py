"""The stack: K members trained together, the tables they learn from, and their training history."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise
from math import prod

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hideseek.engine.draws import Stream, step_keys, uniform
from hideseek.engine.groups import Groups
from hideseek.engine.networks import Mlp, split
from hideseek.engine.path import HALF_WIDTH

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
        fold: The fold of each row, for members that leave one out; None: there are none. All folds of all tables have
            the same number of rows; -1 is a row of no fold. Shape: ``(tables, rows)``, int64.
        selected: 1 where a feature of a row is shown and 0 where it is hidden, if that is settled and only Seeks learn;
            None: Hide decides. Shape: ``(tables, rows, features)``, uint8.
    """

    X: Tensor
    target: Tensor
    weight: Tensor | None = None
    fold: Tensor | None = None
    selected: Tensor | None = None

    @cached_property
    def columns(self) -> Tensor:
        """Return the features with columns before rows. Shape: ``(tables, columns, rows)``, contiguous."""
        return self.X.transpose(1, 2).contiguous()

    def to(self, device: torch.device) -> Data:
        """Return the same tables on another device."""
        others = (None if part is None else part.to(device) for part in (self.weight, self.fold, self.selected))
        return Data(self.X.to(device), self.target.to(device), *others)

    def of(self, tables: NDArray[np.int64]) -> Data:
        """Return some of the tables."""
        others = (None if part is None else part[tables] for part in (self.weight, self.fold, self.selected))
        return Data(self.X[tables], self.target[tables], *others)

    def rows(self, index: Tensor) -> Batch:
        """Return rows by number, counted across all tables. Shape: ``index (members, rows)`` -> a batch."""
        shape, flat = index.shape, index.reshape(-1)
        return self._batch(lambda values: values.flatten(0, 1).index_select(0, flat).view(*shape, *values.shape[2:]))

    def tables(self, table: Tensor) -> Batch:
        """Return all rows of each member's table. Shape: ``table (members,)`` -> a batch."""
        if len(self.X) == 1:
            return self._batch(lambda values: values.expand(len(table), *values.shape[1:]))
        return self._batch(lambda values: values[table])

    def _batch(self, pick: Callable[[Tensor], Tensor]) -> Batch:
        """Apply ``pick`` to all tensors; features and class probabilities come before rows in a batch."""
        weight = None if self.weight is None else pick(self.weight)
        target = pick(self.target)
        if target.dim() == 3:
            target = target.transpose(1, 2).contiguous()
        return pick(self.X).transpose(1, 2).contiguous(), target, weight


@dataclass(frozen=True)
class Members:
    """The settings in which the members of a stack differ.

    Attributes:
        seeds: Seed of each member's draws. Shape: ``(members,)``, int.
        price: lambda_max / d, the price of showing one feature of one row. Shape: ``(members,)``.
        visible: The features a member sees. Shape: ``(members, features)``, bool.
        table: Index of each member's table. Shape: ``(members,)``, int.
        lowest_price: Lower end of the range of prices that a member is trained on; ``price`` is the upper end.
            None: members are trained at one price. Shape: ``(members,)``.
        fold: The fold that a member does not learn from; None: there are no folds. Shape: ``(members,)``, int.
    """

    seeds: NDArray[np.int64]
    price: NDArray[np.float64]
    visible: NDArray[np.bool_]
    table: NDArray[np.int64]
    lowest_price: NDArray[np.float64] | None = None
    fold: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.seeds)

    def part(self, members: slice) -> Members:
        """Return some of the members."""
        return Members(
            self.seeds[members],
            self.price[members],
            self.visible[members],
            self.table[members],
            None if self.lowest_price is None else self.lowest_price[members],
            None if self.fold is None else self.fold[members],
        )

    @property
    def price_range(self) -> Tensor | None:
        """Return the logarithms of the lowest and the highest price. Shape: ``(members, 2)``, float32."""
        if self.lowest_price is None:
            return None
        return torch.from_numpy(np.log(np.stack((self.lowest_price, self.price), axis=1))).float()


@dataclass(frozen=True)
class Stack:
    """Hide and Seek of K members: two network shapes, and the weights of all in one flat tensor.

    The weights are stored layer by layer, each with the matrices of all members, ``(members, outputs, inputs + 1)``,
    and the bias as their last column, so that the tensors used in training and optimisation are contiguous. Where a
    member has two Seeks, these are adjacent, as if they were members. Shape: ``parameters (members * (hide.n_parameters
    + n_seeks * seek.n_parameters),)``.

    Hide has one output per feature; ``groups`` gives the columns of each feature, None means one column each.

    A stack with a ``price_range`` can be evaluated at every price in it (see ``engine.path``): Hide has two outputs for
    each feature, and Seek one more input, the position of the price in the range. Shape: ``price_range (members, 2)``.
    """

    hide: Mlp
    seek: Mlp
    parameters: Tensor
    n_seeks: int = 1
    groups: Groups | None = None
    price_range: Tensor | None = None

    @classmethod
    def from_members(
        cls,
        hide: Mlp,
        seek: Mlp,
        weights: Tensor,
        groups: Groups | None = None,
        price_range: Tensor | None = None,
    ) -> Stack:
        """Return the stack of these members.

        Shape: ``weights (members, weights of Hide and of each Seek)``, those of a network ordered as in ``Mlp``.
        """
        n_seeks = (weights.shape[1] - hide.n_parameters) // seek.n_parameters
        own, others = weights.split_with_sizes([hide.n_parameters, n_seeks * seek.n_parameters], dim=1)
        parts = split(own, hide.shapes) + split(others.reshape(-1, seek.n_parameters), seek.shapes)
        pairs = zip(parts[0::2], parts[1::2], strict=True)
        flat = torch.cat([torch.cat(pair, dim=2).flatten() for pair in pairs])
        return cls(hide, seek, flat, n_seeks, groups, price_range)

    @property
    def n_members(self) -> int:
        """Return the number of members, K."""
        return self.parameters.numel() // (self.hide.n_parameters + self.n_seeks * self.seek.n_parameters)

    def matrices(self, flat: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        """Return views of Hide's and Seek's matrices in the weights, or in a tensor of that shape such as the gradient.

        Shape of each: ``(members, outputs, inputs + 1)``, Seek's ``(members * n_seeks, outputs, inputs + 1)``.
        """
        networks = ((self.hide, self.n_members), (self.seek, self.n_members * self.n_seeks))
        shapes = [(count, b, a + 1) for network, count in networks for a, b in pairwise(network.sizes)]
        parts = flat.split_with_sizes([prod(shape) for shape in shapes])
        views = [part.view(shape) for part, shape in zip(parts, shapes, strict=True)]
        n_hide = len(self.hide.sizes) - 1
        return views[:n_hide], views[n_hide:]

    def layers(self) -> tuple[list[Tensor], list[Tensor]]:
        """Return the weights of Hide and of Seek, matrix and bias of each layer in turn, as ``Mlp.forward`` takes."""
        hide, seek = (
            [part for matrix in network for part in (matrix[:, :, :-1], matrix[:, :, -1:])]
            for network in self.matrices(self.parameters)
        )
        return hide, seek

    def by_column(self, mask: Tensor) -> Tensor:
        """Return the mask of each column, given that of its feature. Shape: features along axis 1 -> columns."""
        return mask if self.groups is None else self.groups.to_columns(mask)

    def by_member(self) -> Tensor:
        """Return a copy of the weights with one row per member, as ``from_members`` takes them."""
        networks = (torch.cat([part.flatten(1) for part in network], dim=1) for network in self.layers())
        return torch.cat([network.view(self.n_members, -1) for network in networks], dim=1)

    def of(self, members: Tensor) -> Stack:
        """Return the stack of some of the members. Shape: ``(members,)``, int64."""
        seeks = (members[:, None] * self.n_seeks + torch.arange(self.n_seeks, device=members.device)).flatten()
        return self._copy(members, seeks)

    def part(self, members: slice) -> Stack:
        """Return the stack of adjacent members; faster than ``of``."""
        return self._copy(members, slice(members.start * self.n_seeks, members.stop * self.n_seeks))

    def _copy(self, members: Tensor | slice, seeks: Tensor | slice) -> Stack:
        price_range = None if self.price_range is None else self.price_range[members].clone()
        hide, seek = self.matrices(self.parameters)
        parts = [matrix[members].flatten() for matrix in hide] + [matrix[seeks].flatten() for matrix in seek]
        return replace(self, parameters=torch.cat(parts), price_range=price_range)

    @staticmethod
    def of_all(stacks: Sequence[Stack]) -> Stack:
        """Return the members of all stacks, which have the same shapes, one stack after the other."""
        first = stacks[0]
        if len(stacks) == 1:
            return first
        ranges = [stack.price_range for stack in stacks if stack.price_range is not None]
        by_layer = zip(*(chain(*stack.matrices(stack.parameters)) for stack in stacks), strict=True)
        parameters = torch.cat([matrix.flatten() for layer in by_layer for matrix in layer])
        return replace(first, parameters=parameters, price_range=torch.cat(ranges) if ranges else None)

    def joined(self, other: Stack) -> Stack:
        """Return the stack of these members followed by those of another stack of the same shape."""
        return Stack.of_all((self, other))

    def seek_at(self, u: Tensor | None) -> list[Tensor]:
        """Return Seek's layers, as ``Mlp.forward`` takes them, with the input u absorbed into the bias.

        Shape: ``u (members,)``, the position of each member's price in its range; None: there is no range.
        """
        _, seek = self.layers()
        if u is None:
            return seek
        first, bias = seek[0], seek[1]
        u = u.clamp(-HALF_WIDTH, HALF_WIDTH).repeat_interleave(self.n_seeks)
        return [first[:, :, :-1], torch.addcmul(bias, first[:, :, -1:], u[:, None, None]), *seek[2:]]

    def seek_outputs(self, seek: Sequence[Tensor], z: Tensor) -> Tensor:
        """Return each Seek's output for its member's rows, or for rows that all Seeks share.

        Shape: ``z (members or 1, columns, rows)`` -> ``(Seeks, outputs, rows)``.
        """
        if len(z) == 1:
            return self.seek.forward(seek, z.expand(len(seek[0]), -1, -1))
        return self.seek.forward(seek, z if self.n_seeks == 1 else z.repeat_interleave(self.n_seeks, dim=0))


@dataclass(frozen=True)
class History:
    """The training history in up to a hundred records, each the mean over the steps since the last.

    Attributes:
        step: The last step of each record. Shape: ``(records,)``.
        anneal: The share of the final penalty at that step. Shape: ``(records,)``.
        prediction_loss: Shape: ``(records, members)``.
        mask_sum: Mean over rows of the sum of a row's mask. Shape: ``(records, members)``.
        validation_loss: Prediction loss on the held-out rows at that step, or None. Shape: ``(records, members)``.
    """

    step: NDArray[np.int64]
    anneal: NDArray[np.float64]
    prediction_loss: NDArray[np.float32]
    mask_sum: NDArray[np.float32]
    validation_loss: NDArray[np.float32] | None

    def joined(self, other: History) -> History:
        """Return the history of these members followed by those of another history of the same length."""
        held_out = None
        if self.validation_loss is not None and other.validation_loss is not None:
            held_out = np.hstack((self.validation_loss, other.validation_loss))
        return replace(
            self,
            prediction_loss=np.hstack((self.prediction_loss, other.prediction_loss)),
            mask_sum=np.hstack((self.mask_sum, other.mask_sum)),
            validation_loss=held_out,
        )


def initial_stack(
    hide: Mlp, seek: Mlp, members: Members, device: torch.device, n_seeks: int = 1, groups: Groups | None = None
) -> tuple[Stack, Tensor | None]:
    """Return the stack before training, and a 0/1 tensor of the trainable weights; None: all are trainable."""
    visible = torch.from_numpy(members.visible).to(device)
    if groups is not None:
        visible = groups.to_columns(visible)
    price_range = members.price_range
    extra = visible.new_ones(len(members), 0 if price_range is None else 1)
    all_keys = step_keys(members.seeds, Stream.WEIGHTS, 0, 1 + n_seeks).to(device)
    networks = zip((hide, *[seek] * n_seeks), all_keys, strict=True)
    starts = [
        network.init(
            uniform(keys, network.n_parameters), visible if network is hide else torch.hstack((visible, extra))
        )
        for network, keys in networks
    ]
    price_range = None if price_range is None else price_range.to(device)
    stack, trainable = (
        Stack.from_members(hide, seek, torch.cat(parts, dim=1).float(), groups, price_range)
        for parts in zip(*starts, strict=True)
    )
    return stack, None if members.visible.all() else trainable.parameters
