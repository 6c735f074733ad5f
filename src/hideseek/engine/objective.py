"""What training minimises: the loss of the prediction plus the price of what is shown."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

__all__ = ["PREDICTION_LOSSES", "PredictionLoss", "annealed", "mix", "parsimony", "row_mean"]

PredictionLoss = Callable[[Tensor, Tensor], Tensor]
"""``output (members, outputs, rows)``, ``target (members, rows)`` -> the loss of each row, ``(members, rows)``."""


def mix(mask: Tensor, x: Tensor, x_hat: Tensor) -> Tensor:
    """Show a share of each feature and draw the rest anew: z = m * x + (1 - m) * x_hat (eq. 4)."""
    return torch.lerp(x_hat, x, mask)


def annealed(step: int, steps: int, power: float) -> float:
    """(t / T)^q (eq. 11): the share of the final penalty in force at step t = 1..T."""
    return float((step / steps) ** power)


def cross_entropy(output: Tensor, target: Tensor) -> Tensor:
    """-log y_hat[y], the prediction term of eq. 12, for class numbers ``target``."""
    return -output.log_softmax(dim=1).gather(1, target[:, None]).squeeze(1)


def soft_cross_entropy(output: Tensor, target: Tensor) -> Tensor:
    """-sum_c y_c log y_hat_c, as above for class probabilities, ``target (members, classes, rows)``."""
    return -(target * output.log_softmax(dim=1)).sum(dim=1)


def squared_error(output: Tensor, target: Tensor) -> Tensor:
    """(y - y_hat)^2, which takes the place of the cross-entropy in regression."""
    return (output.squeeze(1) - target).square()


PREDICTION_LOSSES: dict[str, PredictionLoss] = {
    "cross_entropy": cross_entropy,
    "soft_cross_entropy": soft_cross_entropy,
    "squared_error": squared_error,
}


def row_mean(values: Tensor, weight: Tensor | None) -> Tensor:
    """Mean over the rows of a batch; weights have mean one over all training rows.

    Shape: ``values (members, ..., rows)``, ``weight (members, rows)`` -> ``(members, ...)``.
    """
    if weight is not None:
        values = values * weight.reshape(len(weight), *(1,) * (values.dim() - 2), -1)
    return values.mean(dim=-1)


def parsimony(mask: Tensor, visible: Tensor, weight: Tensor | None) -> Tensor:
    """||m||_1 over the columns a member sees, mean over rows; its price is lambda_t / d (eq. 12).

    Shape: ``mask (members, columns, rows)``, ``visible (members, columns)`` -> ``(members,)``.
    """
    return (row_mean(mask, weight) * visible).sum(dim=1)
