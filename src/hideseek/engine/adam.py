"""Adam over one flat tensor of weights."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["Adam"]


class Adam:
    """Adam (Kingma and Ba, 2015), in place, for all members of a stack at once.

    Equal to ``torch.optim.AdamW``, whose kernel it calls in one pass over one tensor. For networks this small, the
    bookkeeping of ``torch.optim`` costs more than the arithmetic. The step count is on the device of the weights, so
    that a step can be recorded as a CUDA graph and replayed.

    Args:
        parameters: The weights.
        learning_rate: The step size.
        weight_decay: Decoupled weight decay (Loshchilov and Hutter, 2019): each step multiplies the weights by
            ``1 - learning_rate * weight_decay``.
        beta1: Decay rate of the running mean of the gradients.
        beta2: Decay rate of the running mean of their squares.
        epsilon: Added to the square root of the mean square.

    Attributes:
        mean: Running mean of the gradients.
        square: Running mean of their squares.
        t: Number of steps so far.
    """

    def __init__(
        self,
        parameters: Tensor,
        learning_rate: float,
        weight_decay: float = 0.0,
        *,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
    ) -> None:
        self._parameters = parameters.detach()  # shares memory, not tracked by autograd
        self.mean = torch.zeros_like(self._parameters)
        self.square = torch.zeros_like(self._parameters)
        self.t = torch.zeros((), device=parameters.device)
        self._learning_rate, self._weight_decay = learning_rate, weight_decay
        self.beta1, self.beta2, self.epsilon = beta1, beta2, epsilon

    def step(self, gradient: Tensor, *, share: float | Tensor = 1.0) -> None:
        """Update the weights against the gradient, with the learning rate multiplied by ``share``."""
        self.t += 1
        torch._fused_adamw_(
            [self._parameters],
            [gradient],
            [self.mean],
            [self.square],
            [],
            [self.t],
            lr=share * self._learning_rate,
            beta1=self.beta1,
            beta2=self.beta2,
            eps=self.epsilon,
            weight_decay=self._weight_decay,
            amsgrad=False,
            maximize=False,
        )
