"""Stacks of small fully connected networks whose weights live side by side in one tensor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

__all__ = ["Mlp", "Pass", "split"]


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
        pairs = zip(self.sizes[:-1], self.sizes[1:], strict=True)
        return [shape for inputs, outputs in pairs for shape in ((outputs, inputs), (outputs, 1))]

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


class Pass:
    """One network at one batch size, forward and back, in buffers that are made once.

    Backpropagation by hand: for networks this small, recording the operations costs as much as running them.

    Args:
        layers: The weights, matrix and bias of each layer in turn: views that the optimiser changes in place.
        gradients: Views of the same shapes, which ``backward`` fills.
        n_rows: Rows of a batch.
    """

    def __init__(self, layers: Sequence[Tensor], gradients: Sequence[Tensor], n_rows: int) -> None:
        self._weights, self._biases = layers[0::2], layers[1::2]
        self._weight_gradients, self._bias_gradients = gradients[0::2], gradients[1::2]
        self._values = [bias.new_empty(len(bias), bias.shape[1], n_rows) for bias in self._biases]
        self._slopes = [torch.empty_like(values) for values in self._values]
        self._x: Tensor

    @property
    def slope(self) -> Tensor:
        """Where the gradient of the loss by the output belongs before ``backward``. Shape: as the output."""
        return self._slopes[-1]

    def forward(self, x: Tensor) -> Tensor:
        """Shape: ``(members, inputs, rows)`` -> ``(members, outputs, rows)``, in a buffer that is used again."""
        self._x = x
        for i, values in enumerate(self._values):
            x = torch.baddbmm(self._biases[i], self._weights[i], x if i == 0 else torch.relu_(x), out=values)
        return x

    def backward(self, x_slope: Tensor | None = None) -> None:
        """Fill the gradients of the weights from ``slope`` and, where a tensor is given for it, that of the input."""
        for i in reversed(range(len(self._values))):
            slope = self._slopes[i]
            _outer_into(self._weight_gradients[i], slope, self._values[i - 1] if i > 0 else self._x)
            torch.sum(slope, dim=2, keepdim=True, out=self._bias_gradients[i])
            below = self._slopes[i - 1] if i > 0 else x_slope
            if below is not None:
                torch.bmm(self._weights[i].transpose(1, 2), slope, out=below)
            if i > 0:
                torch.ops.aten.threshold_backward.grad_input(below, self._values[i - 1], 0, grad_input=below)


def _outer_into(out: Tensor, slope: Tensor, x: Tensor) -> None:
    """Sum over rows of slope times x. Shape: ``(members, outputs, rows)``, ``(members, inputs, rows)`` -> ``out``.

    The longer side of ``out`` comes last in the product, for the same reason that rows come last everywhere.
    """
    if x.shape[1] < slope.shape[1]:
        out.copy_(torch.bmm(x, slope.transpose(1, 2)).transpose(1, 2))
    else:
        torch.bmm(slope, x.transpose(1, 2), out=out)
