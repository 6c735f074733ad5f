"""Adam over one flat tensor of weights."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["Adam"]


class Adam:
    """Adam (Kingma and Ba, 2015) without weight decay, in place, for all members of a stack at once.

    It equals ``torch.optim.Adam`` to rounding. The whole stack is one tensor, so a step is seven operations; for
    networks this small the bookkeeping of the general class costs more than the arithmetic.
    """

    def __init__(
        self, parameters: Tensor, learning_rate: float, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8
    ) -> None:
        self._parameters = parameters.detach()  # the same memory, out of the graph's sight
        self._learning_rate, self._beta1, self._beta2, self._epsilon = learning_rate, beta1, beta2, epsilon
        self._mean = torch.zeros_like(self._parameters)
        self._square = torch.zeros_like(self._parameters)
        self._scale = torch.empty_like(self._parameters)
        self._t = 0

    def step(self, gradient: Tensor) -> None:
        """Move the weights against the gradient."""
        self._t += 1
        self._mean.lerp_(gradient, 1 - self._beta1)
        self._square.mul_(self._beta2).addcmul_(gradient, gradient, value=1 - self._beta2)
        torch.sqrt(self._square, out=self._scale)
        self._scale.mul_((1 - self._beta2**self._t) ** -0.5).add_(self._epsilon)
        rate = self._learning_rate / (1 - self._beta1**self._t)
        self._parameters.addcdiv_(self._mean, self._scale, value=-rate)
