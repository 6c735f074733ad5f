"""How well predictions of held-out rows do: losses row by row, their mean, and the score that people know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hideseek.engine.objective import row_losses
from hideseek.errors import InputError
from hideseek.metrics import auroc
from hideseek.search.parts import Part
from hideseek.search.path import Floats

__all__ = ["HeldOutRows", "areas", "loss_of_nothing", "score"]

_LEAST_PROBABILITY = 1e-7


@dataclass(frozen=True)
class HeldOutRows:
    """Rows of several tables, equally many of each, with what was predicted of them, once or at several prices.

    All is on one device, and what is measured is measured of all tables at once.

    Attributes:
        loss: "cross_entropy" or "squared_error".
        parts: The rows of each table.
        outputs: Probabilities or values. Shape: ``(tables, prices, rows, outputs)``, double.
    """

    loss: str
    parts: Sequence[Part]
    outputs: Tensor

    def losses(self) -> Tensor:
        """Return the loss of every row. Shape: ``(tables, prices, rows)``."""
        target = torch.from_numpy(np.stack([part.target for part in self.parts])).to(self.outputs.device)
        return row_losses(self.loss, self.outputs, target[:, None])

    def mean_and_error(self, losses: Tensor) -> tuple[Floats, Floats]:
        """Return the weighted mean of losses, and its standard error.

        Shape: ``(tables, prices, rows)`` -> ``(tables, prices)`` each.
        """
        weights = [part.weight / part.weight.sum() for part in self.parts if part.weight is not None]
        if weights:
            share = torch.from_numpy(np.stack(weights)).to(losses)[:, None]
        else:
            share = losses.new_full((), 1 / losses.shape[2])
        mean = (losses * share).sum(dim=2)
        error = ((losses - mean[:, :, None]) * share).norm(dim=2)
        return mean.cpu().numpy(), error.cpu().numpy()

    def scores(self) -> Floats:
        """Return AUROC or R squared; of two classes for all tables at once on a GPU. Shape: ``(tables, prices)``."""
        targets = np.stack([part.target for part in self.parts])
        of_two = self.loss != "squared_error" and self.outputs.shape[3] == 2 and targets.ndim == 2
        if self.outputs.device.type == "cpu" or not of_two:
            outputs = self.outputs.cpu().numpy()
            return np.array(
                [[score(self.loss, each, target) for each in own] for own, target in zip(outputs, targets, strict=True)]
            )
        probability = self.outputs[..., 1] / self.outputs.sum(dim=3)
        return areas(probability, torch.from_numpy(targets == 1).to(probability.device)[:, None]).cpu().numpy()


def score(loss: str, output: NDArray[np.floating], target: NDArray[Any]) -> float:
    """Return AUROC, or R squared; NaN where the rows allow none."""
    if loss == "squared_error":
        spread = np.square(target - target.mean()).mean()
        return float(1 - np.square(output[:, 0] - target).mean() / spread) if spread > 0 else float("nan")
    try:
        return auroc(target if target.ndim == 1 else target.argmax(axis=1), _probabilities(output))
    except InputError:
        return float("nan")


def areas(probability: Tensor, positive: Tensor) -> Tensor:
    """Return the area under each ROC curve: pairs in which a positive row scores higher, equal ones by half.

    NaN where all rows are positive, or none. Shape: ``(..., rows)``, ``(..., rows)``, bool -> ``(...)``, double.
    """
    ordered, order = probability.sort(dim=-1)
    is_positive = positive.expand(probability.shape).gather(-1, order)
    n_below = torch.nn.functional.pad((~is_positive).cumsum(dim=-1), (1, 0))
    first, last = (torch.searchsorted(ordered, ordered, right=right) for right in (False, True))
    twice = ((n_below.gather(-1, first) + n_below.gather(-1, last)) * is_positive).sum(dim=-1)
    return twice.double() / (2 * is_positive.sum(dim=-1) * n_below[..., -1])


def _probabilities(output: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return outputs that sum to one in every row; of two classes the second alone, which is faster to rank."""
    if output.shape[1] == 2:
        return np.asarray(output[:, 1] / (output[:, 0] + output[:, 1]))
    return np.asarray(output / output.sum(axis=1, keepdims=True))


def loss_of_nothing(loss: str, n_outputs: int, used: Part) -> float:
    """Return the loss of the best prediction that is the same for every row."""
    weight = np.ones(len(used.target)) if used.weight is None else used.weight
    share = weight / weight.sum()
    if loss == "squared_error":
        return float(share @ np.square(used.target - share @ used.target))
    probability = share @ used.target if used.target.ndim == 2 else np.bincount(used.target, share, minlength=n_outputs)
    return float(-(probability * np.log(np.maximum(probability, _LEAST_PROBABILITY))).sum())
