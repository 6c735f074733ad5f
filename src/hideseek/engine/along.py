"""Selections and predictions of an ensemble at several prices of its range."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hideseek.engine.ensemble import Ensemble
from hideseek.engine.hideseek import mix
from hideseek.engine.networks import Mlp
from hideseek.engine.path import HALF_WIDTH, mask_at, position_of, positions_of
from hideseek.engine.stack import Stack

__all__ = ["answers_along", "answers_from", "price_bounds", "votes_along"]

_CELLS = {"cpu": 2**18, "cuda": 2**26}
"""Cells of the widest layer that are computed at a time: on a CPU as many as its cache holds."""


def answers_along(
    ensemble: Ensemble,
    X: NDArray[np.floating],
    prices: Sequence[float],
    n_draws: int,
    *,
    softmax: bool,
    threshold: float,
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return the predictions from the selected features, and the number of these, at each price.

    Shape: ``X (rows, columns)``, raw -> ``(prices, rows, outputs)``, ``(prices, rows)``.
    """
    stack, x = ensemble.stack, ensemble.standardised(X)
    with torch.inference_mode():
        output = stack.hide.forward(stack.layers()[0], x)
        given_x = None if ensemble.knockoffs is None else ensemble.knockoffs.given(x[:1])
        pool = ensemble.pool[:n_draws, None, :, None]
        x_hat = torch.stack([(row if given_x is None else given_x(row))[0] for row in pool], dim=1)
        cells = n_draws * x.shape[2] * len(x) * stack.n_seeks * max(stack.seek.sizes)
        answers, n_selected = [], []
        for u in _positions(ensemble, prices, cells):
            selected = ensemble.mean(mask_at(output, u[:, :, None])) > threshold
            shown = stack.by_column(selected.float()).transpose(0, 1)
            y_hat = _seek_outputs(stack, mix(shown[:, :, None], x[0, :, None, None], x_hat[:, None]), u)
            answers.append((y_hat.softmax(dim=1) if softmax else y_hat).mean(dim=(0, 3)).permute(1, 2, 0))
            n_selected.append(selected.sum(dim=1))
        all_answers, counts = (torch.cat(parts)[:, : len(X)].cpu().numpy() for parts in (answers, n_selected))
        return all_answers, counts


def _positions(ensemble: Ensemble, prices: Sequence[float], cells: int) -> list[Tensor]:
    """Return the positions of the prices, as many at a time as memory allows for ``cells`` each.

    Shape of each: ``(prices, members)``.
    """
    price_range = ensemble.price_range
    log_prices = torch.tensor(prices, dtype=torch.float64).log().float().to(price_range.device)
    u, at_once = positions_of(log_prices, price_range).t(), max(1, _CELLS[price_range.device.type] // cells)
    return [u[start : start + at_once] for start in range(0, len(u), at_once)]


def _seek_outputs(stack: Stack, z: Tensor, u: Tensor) -> Tensor:
    """Return each Seek's output for rows that all Seeks share, at several prices.

    Shape: ``z (columns, prices, draws, rows)``, ``u (prices, members)`` -> ``(Seeks, outputs, prices, draws, rows)``.
    """
    first, bias, *others = stack.layers()[1]
    u = u.clamp(-HALF_WIDTH, HALF_WIDTH).t().repeat_interleave(stack.n_seeks, dim=0)
    at_price = torch.addcmul(bias, first[:, :, -1:], u[:, None])
    values = at_price[:, :, :, None].repeat(1, 1, 1, z[0, 0].numel()).flatten(2)
    values.baddbmm_(first[:, :, :-1], z.flatten(1).expand(len(first), -1, -1))
    return torch.unflatten(Mlp(stack.seek.sizes[1:]).forward(others, values.relu_()), 2, z.shape[1:])


def answers_from(
    ensemble: Ensemble, tables: Sequence[NDArray[np.floating]], shown: NDArray[np.bool_], *, softmax: bool
) -> NDArray[np.float32]:
    """Return the predictions from given features at the ensemble's price, averaged over one draw for each table.

    Args:
        ensemble: Predicts at its ``price``.
        tables: The raw rows of each draw; hidden features are replaced from the pool. Shape of each:
            ``(rows, columns)``.
        shown: The features that every member is shown. Shape: ``(rows, features)``.
        softmax: Whether to average probabilities instead of logits.

    Shape: ``(rows, outputs)``.
    """
    stack = ensemble.stack
    u = None if ensemble.price is None else position_of(ensemble.price, ensemble.price_range)
    seek, pool = stack.seek_at(u), ensemble.pool
    with torch.inference_mode():
        total = torch.zeros((), device=pool.device)
        for draw, X in enumerate(tables):
            x = ensemble.standardised(X)[:1]
            mask = torch.zeros(1, shown.shape[1], x.shape[2], device=pool.device)
            mask[0, :, : len(shown)] = torch.from_numpy(shown.T).to(pool.device)
            row = pool[draw % len(pool)][None, :, None]
            x_hat = row if ensemble.knockoffs is None else ensemble.knockoffs.given(x)(row)
            y_hat = stack.seek_outputs(seek, mix(stack.by_column(mask), x, x_hat))
            total = total + (y_hat.softmax(dim=1) if softmax else y_hat).mean(dim=0)
        return (total / len(tables)).t()[: len(shown)].cpu().numpy()


def votes_along(
    ensemble: Ensemble, X: NDArray[np.floating], prices: Sequence[float], threshold: float
) -> NDArray[np.float32]:
    """Return the share of the members that select each feature at each price. Shape: ``(prices, rows, features)``."""
    with torch.inference_mode():
        output = ensemble.stack.hide.forward(ensemble.stack.layers()[0], ensemble.standardised(X))
        positions = _positions(ensemble, prices, output.numel())
        votes = [ensemble.mean((mask_at(output, u[:, :, None]) > threshold).float()) for u in positions]
        return torch.cat(votes).transpose(1, 2).cpu().numpy()[:, : len(X)]


def price_bounds(ensemble: Ensemble) -> tuple[float, float]:
    """Return the lowest and the highest price that a member was trained on."""
    price_range = ensemble.price_range
    return exp(float(price_range[:, 0].min())), exp(float(price_range[:, 1].max()))
