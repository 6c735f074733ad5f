"""Stacks of small fully connected networks whose weights live side by side in one tensor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

__all__ = ["Mlp", "split"]


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
