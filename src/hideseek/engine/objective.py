"""What training minimises: the loss of the prediction plus the price of what is shown (eq. 12)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

__all__ = ["PREDICTION_LOSSES", "PredictionLoss", "annealed", "as_outputs", "row_mean", "row_sum"]

PredictionLoss = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
"""Output and target -> the loss and its gradient by the output, all ``(members, outputs, rows)``; the loss of a row is
the sum over its outputs."""


def as_outputs(target: Tensor, n_outputs: int) -> Tensor:
    """A target in the shape of Seek's output: class numbers become indicators, values become one output.

    Shape: ``(..., rows)`` int64 -> ``(..., n_outputs, rows)``; ``(..., rows)`` -> ``(..., 1, rows)``.
    """
    if target.dtype != torch.int64:
        return target.unsqueeze(-2)
    zeros = torch.zeros(*target.shape[:-1], n_outputs, target.shape[-1], device=target.device)
    return zeros.scatter_(-2, target.unsqueeze(-2), 1.0)


def annealed(step: Tensor, steps: int, power: float) -> Tensor:
    """(t / T)^q (eq. 11): the share of the final penalty in force at step t = 1..T. Shape: as ``step``, float64."""
    return (step.double() / steps) ** power


def cross_entropy(output: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """-sum_c y_c log y_hat_c, the prediction term of eq. 12, for indicators or probabilities y of the classes."""
    log_y_hat = output.log_softmax(dim=1)
    return -(target * log_y_hat), log_y_hat.exp_().sub_(target)


def squared_error(output: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """(y_hat - y)^2, which takes the place of the cross-entropy in regression."""
    error = output - target
    return error.square(), 2 * error


PREDICTION_LOSSES: dict[str, PredictionLoss] = {"cross_entropy": cross_entropy, "squared_error": squared_error}


def row_sum(values: Tensor, weight: Tensor | None) -> Tensor:
    """Sum over rows, each counted with its weight.

    Shape: ``values (members, features, rows)``, ``weight (members, rows)`` -> ``(members, features)``.
    """
    return values.sum(dim=2) if weight is None else (values * weight[:, None]).sum(dim=2)


def row_mean(values: Tensor, weight: Tensor | None) -> Tensor:
    """Mean over the rows of a batch; weights have mean one over all training rows. Shape: as ``row_sum``."""
    return row_sum(values, weight) / values.shape[2]
