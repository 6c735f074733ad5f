"""What training minimises: the loss of the prediction plus the price of what is shown (eq. 12)."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

__all__ = ["PREDICTION_LOSSES", "PredictionLoss", "annealed", "row_mean"]

PredictionLoss = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
"""``output (members, outputs, rows)``, ``target (members, rows)`` -> the loss of each row, ``(members, rows)``, and its
gradient by the output, ``(members, outputs, rows)``."""


def annealed(step: int, steps: int, power: float) -> float:
    """(t / T)^q (eq. 11): the share of the final penalty in force at step t = 1..T."""
    return float((step / steps) ** power)


def cross_entropy(output: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """-log y_hat[y], the prediction term of eq. 12, for class numbers ``target``; its gradient is y_hat - [y]."""
    log_y_hat = output.log_softmax(dim=1)
    y = target[:, None]
    loss = -log_y_hat.gather(1, y).squeeze(1)
    gradient = log_y_hat.exp_()
    return loss, gradient.scatter_add_(1, y, gradient.new_full((1, 1, 1), -1.0).expand(y.shape))


def soft_cross_entropy(output: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """-sum_c y_c log y_hat_c, as above for class probabilities, ``target (members, classes, rows)``."""
    log_y_hat = output.log_softmax(dim=1)
    loss = -(target * log_y_hat).sum(dim=1)
    return loss, log_y_hat.exp_().mul_(target.sum(dim=1, keepdim=True)).sub_(target)


def squared_error(output: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """(y_hat - y)^2, which takes the place of the cross-entropy in regression."""
    error = output - target[:, None]
    return error.square().squeeze(1), 2 * error


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
