"""Stacks of small fully connected networks whose weights live side by side in one tensor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import gcd
from typing import NamedTuple

import torch
from torch import Tensor

__all__ = ["Layer", "Mlp", "Pass", "split"]


@dataclass(frozen=True)
class Mlp:
    """The shape of a fully connected network with ReLU between its layers; the weights are kept elsewhere.

    A member's weights are one row of a ``(members, n_parameters)`` tensor: for each layer its matrix
    ``(outputs, inputs)`` and then its bias. One such row holds everything the optimiser moves.

    Data pass through with features before rows, ``(members, features, rows)``: there are always many rows, while a
    matrix product whose last axis is a handful of features runs at a fraction of a CPU's speed.
    """

    sizes: tuple[int, ...]

    @cached_property
    def shapes(self) -> list[tuple[int, int]]:
        """Matrix and bias of each layer in turn, as ``(rows, columns)``."""
        return [shape for inputs, outputs in pairwise(self.sizes) for shape in ((outputs, inputs), (outputs, 1))]

    @cached_property
    def n_parameters(self) -> int:
        """Weights of one member."""
        return sum(rows * columns for rows, columns in self.shapes)

    def forward(self, layers: Sequence[Tensor], x: Tensor) -> Tensor:
        """Shape: ``x (members, sizes[0], rows)`` -> ``(members, sizes[-1], rows)``."""
        x = torch.baddbmm(layers[1], layers[0], x)
        for i in range(2, len(layers), 2):
            x = torch.baddbmm(layers[i + 1], layers[i], torch.relu_(x))
        return x

    def init(self, uniform: Tensor, visible: Tensor) -> tuple[Tensor, Tensor]:
        """PyTorch's default start for linear layers: U(-b, b) with b = 1 / sqrt(number of inputs).

        A member that does not see a column behaves as a network without that input: its first-layer column starts at
        zero, does not train, and does not count among the inputs.

        Args:
            uniform: Draws in (0, 1). Shape: ``(members, n_parameters)``.
            visible: The columns each member sees. Shape: ``(members, sizes[0])``, bool.

        Returns:
            The weights, and a 0/1 tensor of the weights that train, both of the shape of ``uniform``.
        """
        parameters = 2 * uniform - 1
        trainable = torch.ones_like(uniform)
        for i, weights in enumerate(split(parameters, self.shapes)):
            n_inputs = visible.sum(dim=1) if i < 2 else torch.tensor([self.sizes[i // 2]])
            weights /= n_inputs.clamp(min=1).sqrt()[:, None, None]
        for tensor in (parameters, trainable):
            split(tensor, self.shapes)[0].mul_(visible[:, None, :])
        return parameters, trainable


def split(parameters: Tensor, shapes: Sequence[tuple[int, int]]) -> list[Tensor]:
    """Views of the matrices and biases. Shape: ``(members, n_parameters)`` -> each ``(members, rows, columns)``."""
    parts = torch.split_with_sizes(parameters, [rows * columns for rows, columns in shapes], dim=1)
    return [part.view(len(part), *shape) for part, shape in zip(parts, shapes, strict=True)]


_LONG_SUM = 4096
_PIECES = 64


class Layer(NamedTuple):
    """A layer of some members in training.

    Attributes:
        matrix: Weights, and the bias as a last column. Shape: ``(members, outputs, inputs + 1)``.
        back: The weights, transposed. Shape: ``(members, inputs, outputs)``.
        gradient: Shape: as ``matrix``, contiguous.
    """

    matrix: Tensor
    back: Tensor
    gradient: Tensor

    @classmethod
    def of(cls, matrix: Tensor, gradient: Tensor) -> Layer:
        """A layer and where its gradient goes."""
        return cls(matrix, matrix[:, :, :-1].transpose(1, 2), gradient)


class Pass:
    """One network at one batch size, forward and back, in buffers that are made once.

    Backpropagation by hand: for networks this small, recording the operations costs as much as running them, and so
    does each operation more. The bias is a column of the matrix, so that what enters a layer has a row of ones below.

    Args:
        sizes: As in ``Mlp``.
        like: Of the type and device of the weights.
        n_members: Members at work.
        n_rows: Rows of a batch.
        n_own: The weights learn from as many first rows, and the gradient of x is that of the others; None: of all.
    """

    def __init__(
        self, sizes: Sequence[int], like: Tensor, n_members: int, n_rows: int, n_own: int | None = None
    ) -> None:
        self._slopes = [like.new_empty(n_members, size, n_rows) for size in sizes[1:]]
        self.output = torch.empty_like(self._slopes[-1])
        self._values = [like.new_ones(n_members, size + 1, n_rows) for size in sizes[1:-1]]
        self._without_ones = [values[:, :-1] for values in self._values]
        self._passed_on = self._slopes[0][:, :, n_own or 0 :]
        self._own_slopes = [slope[:, :, :n_own] for slope in self._slopes]
        self._own_values = [values[:, :, :n_own] for values in self._values]
        self._slopes_across = [slope.transpose(1, 2) for slope in self._own_slopes]
        self._values_across = [values.transpose(1, 2) for values in self._own_values]
        n_summed = n_own or n_rows
        self._n_pieces = gcd(n_summed, _PIECES) if like.is_cuda and n_members > 1 and n_summed >= _LONG_SUM else 1
        self._products = [like.new_empty(n_members, a + 1, b) for a, b in pairwise(sizes)]

    @property
    def slope(self) -> Tensor:
        """Where the gradient of the loss by the output belongs before ``backward``. Shape: as the output."""
        return self._slopes[-1]

    def forward(self, layers: Sequence[Layer], x: Tensor) -> Tensor:
        """Shape: ``(members, inputs + 1, rows)`` -> ``(members, outputs, rows)``, in a buffer that is used again."""
        for i, values in enumerate(self._values):
            sums = torch.bmm(layers[i].matrix, x, out=self._slopes[i])  # free until ``backward`` needs them
            torch.clamp_min(sums, 0, out=self._without_ones[i])
            x = values
        return torch.bmm(layers[-1].matrix, x, out=self.output)

    def backward(self, layers: Sequence[Layer], x: Tensor, x_slope: Tensor | None = None, *, add: bool) -> None:
        """Fill the gradients of the weights from ``slope``, or add to them; and that of x, if a tensor is given for it.

        ``layers`` are those of the last ``forward``, and so is ``x``, as far as the weights learn from its rows.
        Shape: ``x_slope (members, inputs, rows)``.
        """
        for i in reversed(range(1, len(layers))):
            self._outer(i, layers[i].gradient, x, add)
            below = torch.bmm(layers[i].back, self._slopes[i], out=self._slopes[i - 1])
            torch.ops.aten.threshold_backward.grad_input(below, self._without_ones[i - 1], 0, grad_input=below)
        self._outer(0, layers[0].gradient, x, add)
        if x_slope is not None:
            torch.bmm(layers[0].back, self._passed_on, out=x_slope)

    def _outer(self, i: int, gradient: Tensor, x: Tensor, add: bool) -> None:
        """Sum over rows of slope times what entered the layer: x, or the values of the layer below.

        The longer side of the matrix comes last in the product, for the same reason that rows come last everywhere. Of
        several matrices a GPU gives each to a few of its processors, so that long sums are cut into pieces.
        """
        if self._n_pieces > 1:
            parts = self._own_slopes[i], self._own_values[i - 1] if i > 0 else x
            slopes, entered = (part.reshape(*part.shape[:2], self._n_pieces, -1) for part in parts)
            product = torch.matmul(slopes.transpose(1, 2), entered.permute(0, 2, 3, 1)).sum(dim=1)
            gradient.add_(product) if add else gradient.copy_(product)
        elif i == 0 and x.shape[1] <= gradient.shape[1]:
            product = torch.bmm(x, self._slopes_across[0], out=self._products[0]).transpose(1, 2)
            gradient.add_(product) if add else gradient.copy_(product)
        else:
            entered = self._values_across[i - 1] if i > 0 else x.transpose(1, 2)
            torch.baddbmm(gradient, self._own_slopes[i], entered, beta=float(add), out=gradient)
