"""The training objective: the prediction loss plus the price of the shown features (eq. 12)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

__all__ = [
    "PREDICTION_LOSSES",
    "PredictionLoss",
    "annealed",
    "as_outputs",
    "cooled",
    "row_losses",
    "row_mean",
    "row_sum",
]

PredictionLoss = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
"""(output, target) -> (loss, gradient by the output), all ``(members, outputs, rows)``; the loss of a row is the sum
over its outputs."""

_LEAST_PROBABILITY = 1e-7
_LAST_RATE = 0.02
"""Share of the learning rate in the last step of a cooldown."""


def as_outputs(target: Tensor, n_outputs: int) -> Tensor:
    """Return the target in the shape of Seek's output: class numbers become indicators, values one output.

    Shape: ``(..., rows)`` int64 -> ``(..., n_outputs, rows)``; ``(..., rows)`` -> ``(..., 1, rows)``.
    """
    if target.dtype != torch.int64:
        return target.unsqueeze(-2)
    zeros = torch.zeros(*target.shape[:-1], n_outputs, target.shape[-1], device=target.device)
    return zeros.scatter_(-2, target.unsqueeze(-2), 1.0)


def annealed(step: Tensor, steps: int, power: float) -> Tensor:
    """Return (t / T)^q (eq. 11), the share of the final penalty at step t = 1..T. Shape: as ``step``, float64."""
    return (step.double() / steps) ** power


def cooled(step: Tensor, steps: int, cooldown: float) -> Tensor:
    """Return the share of the learning rate at step t = 1..T: it falls linearly over the last ``cooldown * T`` steps.

    Shape: as ``step``, float64.
    """
    if cooldown == 0:
        return torch.ones_like(step, dtype=torch.float64)
    left = (steps - step.double()) / (cooldown * steps)
    return (_LAST_RATE + (1 - _LAST_RATE) * left).clamp(max=1)


def cross_entropy(output: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Return -sum_c y_c log y_hat_c, the prediction term of eq.

    12, and its gradient; y: indicators or probabilities.
    """
    log_y_hat = output.log_softmax(dim=1)
    return -(target * log_y_hat), log_y_hat.exp_().sub_(target)


def squared_error(output: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Return (y_hat - y)^2, which replaces the cross-entropy in regression, and its gradient."""
    error = output - target
    return error.square(), 2 * error


PREDICTION_LOSSES: dict[str, PredictionLoss] = {"cross_entropy": cross_entropy, "squared_error": squared_error}


def row_sum(values: Tensor, weight: Tensor | None) -> Tensor:
    """Return the weighted sum over rows.

    Shape: ``values (members, features, rows)``, ``weight (members, rows)`` -> ``(members, features)``.
    """
    return values.sum(dim=2) if weight is None else (values * weight[:, None]).sum(dim=2)


def row_mean(values: Tensor, weight: Tensor | None) -> Tensor:
    """Return the weighted mean over the rows of a batch; weights average one over the training rows.

    Shape: as ``row_sum``.
    """
    return row_sum(values, weight) / values.shape[2]


def row_losses(loss: str, output: Tensor, target: Tensor) -> Tensor:
    """Return the loss of every row, given predicted probabilities or values.

    Shape: ``output (..., rows, outputs)``, ``target (..., rows)``, class numbers or values, or ``(..., rows, classes)``
    of probabilities -> ``(..., rows)``.
    """
    if loss == "squared_error":
        return (output[..., 0] - target).square()
    logarithm = output.clamp(min=_LEAST_PROBABILITY).log()
    if target.is_floating_point():
        return -(target * logarithm).sum(dim=-1)
    return -logarithm.gather(-1, target.expand(output.shape[:-1])[..., None])[..., 0]
