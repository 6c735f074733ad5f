"""Adam over one flat tensor of weights."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["Adam"]


class Adam:
    """Adam (Kingma and Ba, 2015), in place, for all members of a stack at once.

    It equals ``torch.optim.AdamW``, whose kernel it calls: one pass over one tensor. For networks this small the
    bookkeeping of the general class costs more than the arithmetic. The count of steps lies beside the weights, so
    that a step can be recorded on a GPU and replayed.

    Args:
        parameters: The weights.
        learning_rate: How far a step goes.
        weight_decay: Each step also takes this share, times the learning rate, of every weight (Loshchilov and Hutter,
            2019).
        beta1: How long the mean of the gradients remembers.
        beta2: How long the mean of their squares does.
        epsilon: Added to the root of that mean.
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
        self._parameters = parameters.detach()  # the same memory, out of the graph's sight
        self._mean = torch.zeros_like(self._parameters)
        self._square = torch.zeros_like(self._parameters)
        self._t = torch.zeros((), device=parameters.device)
        self._learning_rate, self._weight_decay = learning_rate, weight_decay
        self.beta1, self.beta2, self.epsilon = beta1, beta2, epsilon

    def step(self, gradient: Tensor, *, share: float = 1.0) -> None:
        """Move the weights against the gradient, with this share of the learning rate."""
        self._t += 1
        torch._fused_adamw_(
            [self._parameters],
            [gradient],
            [self._mean],
            [self._square],
            [],
            [self._t],
            lr=share * self._learning_rate,
            beta1=self.beta1,
            beta2=self.beta2,
            eps=self.epsilon,
            weight_decay=self._weight_decay,
            amsgrad=False,
            maximize=False,
        )
