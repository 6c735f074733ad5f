"""Stacks of small fully connected networks whose weights share one tensor."""

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
    """The shape of a fully connected network with ReLU between its layers, without the weights.

    A member's weights are one row of a ``(members, n_parameters)`` tensor: for each layer its matrix
    ``(outputs, inputs)`` and then its bias. One such row holds everything that is optimised.

    Data have features before rows, ``(members, features, rows)``: there are always many rows, while a matrix product
    whose last axis is a few features runs at a fraction of a CPU's speed.
    """

    sizes: tuple[int, ...]

    @cached_property
    def shapes(self) -> list[tuple[int, int]]:
        """Return the shapes of each layer's matrix and bias in turn, as ``(rows, columns)``."""
        return [shape for inputs, outputs in pairwise(self.sizes) for shape in ((outputs, inputs), (outputs, 1))]

    @cached_property
    def n_parameters(self) -> int:
        """Return the number of weights of one member."""
        return sum(rows * columns for rows, columns in self.shapes)

    def forward(self, layers: Sequence[Tensor], x: Tensor) -> Tensor:
        """Return the networks' outputs. Shape: ``x (members, sizes[0], rows)`` -> ``(members, sizes[-1], rows)``."""
        x = torch.baddbmm(layers[1], layers[0], x)
        for i in range(2, len(layers), 2):
            x = torch.baddbmm(layers[i + 1], layers[i], torch.relu_(x))
        return x

    def init(self, uniform: Tensor, visible: Tensor) -> tuple[Tensor, Tensor]:
        """Return initial weights as PyTorch's default for linear layers: U(-b, b), b = 1 / sqrt(number of inputs).

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
            n_inputs = visible.sum(dim=1) if i < 2 else torch.tensor([self.sizes[i // 2]], device=uniform.device)
            weights /= n_inputs.clamp(min=1).sqrt()[:, None, None]
        for tensor in (parameters, trainable):
            split(tensor, self.shapes)[0].mul_(visible[:, None, :])
        return parameters, trainable


def split(parameters: Tensor, shapes: Sequence[tuple[int, int]]) -> list[Tensor]:
    """Return views of the matrices and biases.

    Shape: ``(members, n_parameters)`` -> each ``(members, rows, columns)``.
    """
    parts = torch.split_with_sizes(parameters, [rows * columns for rows, columns in shapes], dim=1)
    return [part.view(len(part), *shape) for part, shape in zip(parts, shapes, strict=True)]


_LONG_SUM = 4096
_PIECES = 64


class Layer(NamedTuple):
    """One layer of some members, with its gradient.

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
        """Return the layer with this matrix, and the tensor its gradient is written to."""
        return cls(matrix, matrix[:, :, :-1].transpose(1, 2), gradient)


class Pass:
    """Forward and backward pass of one network at one batch size, in preallocated buffers.

    The gradient is computed by hand: for networks this small, autograd takes as long as the arithmetic. The bias is a
    column of the matrix, so the input of each layer ends with a row of ones.

    Args:
        sizes: As in ``Mlp``.
        like: A tensor with the type and device of the weights.
        n_members: Number of members.
        n_rows: Rows of a batch.
        n_own: The weights learn from the first ``n_own`` rows, and the gradient of x is that of the other rows;
            None: both use all rows.
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
        """Return the buffer for the gradient by the output, to be filled before ``backward``. Shape: as the output."""
        return self._slopes[-1]

    def forward(self, layers: Sequence[Layer], x: Tensor) -> Tensor:
        """Return the output, in a reused buffer.

        Shape: ``(members, inputs + 1, rows)`` -> ``(members, outputs, rows)``.
        """
        for i, values in enumerate(self._values):
            sums = torch.bmm(layers[i].matrix, x, out=self._slopes[i])  # used as scratch until ``backward`` fills it
            torch.clamp_min(sums, 0, out=self._without_ones[i])
            x = values
        return torch.bmm(layers[-1].matrix, x, out=self.output)

    def backward(self, layers: Sequence[Layer], x: Tensor, x_slope: Tensor | None = None, *, add: bool) -> None:
        """Fill the gradients of the weights from ``slope``, or add to them, and fill ``x_slope`` if it is given.

        ``layers`` and ``x`` are those of the last ``forward``; of ``x`` the rows that the weights learn from.
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
        """Sum slope times layer input over rows; the input is x, or the values of the layer below.

        The longer side of the matrix is the last axis of the product, which is faster (see ``Mlp``). In a batched
        product a GPU uses few processors per matrix, so long sums are cut into pieces.
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
