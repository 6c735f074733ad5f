"""How well predictions of held-out rows do: losses row by row, their mean, and the score that people know."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hideseek.errors import InputError
from hideseek.metrics import auroc
from hideseek.search.parts import Part
from hideseek.search.path import Floats

__all__ = ["areas", "loss_of_nothing", "mean_and_error", "row_losses", "score", "scores", "weighted_mean"]

_LEAST_PROBABILITY = 1e-7


def row_losses(loss: str, output: NDArray[np.floating], target: NDArray[Any]) -> Floats:
    """Return the prediction loss of every row, in double precision.

    Shape: ``output (..., rows, outputs)``, ``target`` as in ``Data`` -> ``(..., rows)``.
    """
    if loss == "squared_error":
        return np.asarray(np.square(output[..., 0].astype(np.float64) - target))
    if target.ndim == 2:
        return np.asarray(-(target * _logarithm(output)).sum(axis=-1))
    return -_logarithm(output[..., np.arange(len(target)), target])


def _logarithm(probability: NDArray[np.floating]) -> Floats:
    return np.log(np.maximum(probability.astype(np.float64), _LEAST_PROBABILITY))


def score(loss: str, output: NDArray[np.floating], target: NDArray[Any]) -> float:
    """Return AUROC, or R squared; NaN where the rows allow none."""
    if loss == "squared_error":
        spread = np.square(target - target.mean()).mean()
        return float(1 - np.square(output[:, 0] - target).mean() / spread) if spread > 0 else float("nan")
    try:
        return auroc(target if target.ndim == 1 else target.argmax(axis=1), _probabilities(output))
    except InputError:
        return float("nan")


def scores(loss: str, outputs: NDArray[np.floating], target: NDArray[Any], device: torch.device) -> Floats:
    """Return the score of the outputs at each price; of two classes all at once on a GPU.

    Shape: ``(prices, rows, outputs)``, ``target`` as in ``Data`` -> ``(prices,)``.
    """
    of_two = loss != "squared_error" and outputs.shape[2] == 2 and target.ndim == 1 and 0 < target.mean() < 1
    if device.type == "cpu" or not of_two:
        return np.array([score(loss, output, target) for output in outputs])
    probability = torch.from_numpy(np.stack([_probabilities(output) for output in outputs])).to(device)
    return areas(probability, torch.from_numpy(target == 1).to(device)).cpu().numpy()


def areas(probability: Tensor, positive: Tensor) -> Tensor:
    """Return the area under each ROC curve: pairs in which a positive row scores higher, equal ones by half.

    Shape: ``(curves, rows)``, ``(rows,)``, bool -> ``(curves,)``, double.
    """
    above, below = (probability[:, rows].sort(dim=1).values for rows in (positive, ~positive))
    twice = sum(torch.searchsorted(below, above, right=right).sum(dim=1) for right in (False, True))
    return torch.as_tensor(twice).double() / (2 * above.shape[1] * below.shape[1])


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


def mean_and_error(losses: Floats, weight: Floats | None) -> tuple[Floats, Floats]:
    """Return the weighted mean over rows, and its standard error. Shape: ``(prices, rows)`` -> ``(prices,)`` each."""
    share = _share(losses.shape[1], weight)
    mean = losses @ share
    return mean, np.sqrt((np.square((losses - mean[:, None]) * share)).sum(axis=1))


def weighted_mean(losses: Floats, weight: Floats | None) -> Floats:
    """Return the weighted mean over rows. Shape: ``(prices, rows)`` -> ``(prices,)``."""
    return np.asarray(losses @ _share(losses.shape[1], weight))


def _share(n_rows: int, weight: Floats | None) -> Floats:
    return np.full(n_rows, 1 / n_rows) if weight is None else weight / weight.sum()
