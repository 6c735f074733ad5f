"""The wider networks of the baseline methods, with the defaults of Keras, in which they were published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from hideseek.engine.networks import split

__all__ = ["Dense"]

_MOMENTUM = 0.99
_VARIANCE_FLOOR = 1e-3
_ACTIVATIONS = {"relu": torch.relu, "selu": torch.selu}


@dataclass(frozen=True)
class Dense:
    """The shape of a stack of fully connected networks, with optional batch normalisation after each hidden layer.

    As in Keras: Glorot-uniform matrices and zero biases to start with; batch normalisation after the activation, with
    momentum 0.99 and 1e-3 added to the variance. Data pass through as ``(members, features, rows)``.
    """

    sizes: tuple[int, ...]
    activation: str = "relu"
    batch_norm: bool = False

    @cached_property
    def shapes(self) -> list[tuple[int, int]]:
        """Return the shapes of each layer's matrix and bias and, with batch normalisation, of its scale and shift."""
        shapes = []
        last = len(self.sizes) - 2
        for i, (inputs, outputs) in enumerate(zip(self.sizes[:-1], self.sizes[1:], strict=True)):
            shapes += [(outputs, inputs), (outputs, 1)]
            if self.batch_norm and i < last:
                shapes += [(outputs, 1), (outputs, 1)]
        return shapes

    @cached_property
    def n_parameters(self) -> int:
        """Return the number of weights of one member."""
        return sum(rows * columns for rows, columns in self.shapes)

    @property
    def n_statistics(self) -> int:
        """Return the number of running means and variances of one member."""
        return 2 * sum(self.sizes[1:-1]) if self.batch_norm else 0

    def init(self, uniform: Tensor) -> tuple[Tensor, Tensor]:
        """Return the initial weights and running statistics. Shape: ``uniform (members, n_parameters)``, in (0, 1)."""
        parameters = torch.zeros_like(uniform)
        draws = split(2 * uniform - 1, self.shapes)
        for i, weights in enumerate(split(parameters, self.shapes)):
            if weights.shape[2] > 1 or i % self._per_layer == 0:
                weights.copy_(draws[i] * (6 / sum(self.shapes[i])) ** 0.5)
            elif i % self._per_layer == 2:
                weights.fill_(1.0)
        statistics = torch.zeros(len(uniform), self.n_statistics, dtype=uniform.dtype)
        for _, variance in self._moments(statistics):
            variance.fill_(1.0)
        return parameters, statistics

    def kernel_penalty(self, weights: Sequence[Tensor], *, last: bool = True) -> Tensor:
        """Return the sum of the squares of all matrices, or of all but the last. Shape: ``(members,)``."""
        kernels = weights[:: self._per_layer][: None if last else -1]
        return torch.stack([kernel.square().sum(dim=(1, 2)) for kernel in kernels]).sum(dim=0)

    def forward(self, weights: Sequence[Tensor], x: Tensor, statistics: Tensor, *, training: bool = False) -> Tensor:
        """Return the networks' outputs. Shape: ``x (members, sizes[0], rows)`` -> ``(members, sizes[-1], rows)``.

        In training, batches are normalised with their own moments, which also update ``statistics``; otherwise
        ``statistics`` are used.
        """
        moments = self._moments(statistics)
        for i in range(len(self.sizes) - 1):
            kernel, bias, *normalisation = weights[i * self._per_layer : (i + 1) * self._per_layer]
            x = torch.baddbmm(bias, kernel, x)
            if i == len(self.sizes) - 2:
                break
            x = _ACTIVATIONS[self.activation](x)
            if normalisation:
                scale, shift = normalisation
                mean, variance = moments[i]
                if training:
                    batch_variance, batch_mean = torch.var_mean(x, dim=2, correction=0, keepdim=True)
                    with torch.no_grad():
                        mean.lerp_(batch_mean, 1 - _MOMENTUM)
                        variance.lerp_(batch_variance, 1 - _MOMENTUM)
                    mean, variance = batch_mean, batch_variance
                x = torch.addcmul(shift, x - mean, scale * (variance + _VARIANCE_FLOOR).rsqrt())
        return x

    @property
    def _per_layer(self) -> int:
        return 4 if self.batch_norm else 2

    def _moments(self, statistics: Tensor) -> list[tuple[Tensor, Tensor]]:
        """Return views of the running mean and variance of each hidden layer.

        Shape of each: ``(members, width, 1)``.
        """
        if not self.batch_norm:
            return []
        views = split(statistics, [(width, 1) for width in self.sizes[1:-1] for _ in range(2)])
        return list(zip(views[0::2], views[1::2], strict=True))
