"""Selections and predictions of an ensemble at several prices of its range."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

import numpy as np
import torch
from numpy.typing import NDArray

from hideseek.engine.ensemble import Ensemble
from hideseek.engine.hideseek import mix
from hideseek.engine.path import mask_at, position_of

__all__ = ["answers_along", "answers_from", "price_bounds", "votes_along"]


def answers_along(
    ensemble: Ensemble,
    X: NDArray[np.floating],
    prices: Sequence[float],
    n_draws: int,
    *,
    softmax: bool,
    threshold: float,
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Return the predictions from the selected features, and the selections, at each price.

    Shape: ``X (rows, columns)``, raw -> ``(prices, rows, outputs)``, ``(prices, rows, features)``.
    """
    stack, price_range = ensemble.stack, ensemble.price_range
    with torch.inference_mode():
        x = ensemble.standardised(X)
        output = stack.hide.forward(stack.layers()[0], x)
        given_x = None if ensemble.knockoffs is None else ensemble.knockoffs.given(x[:1])
        answers, selections = [], []
        for price in prices:
            u = position_of(price, price_range)
            selected = ensemble.mean(mask_at(output, u[:, None])) > threshold
            shown, seek = stack.by_column(selected.float()[None]), stack.seek_at(u)
            total = torch.zeros((), device=x.device)
            for row in ensemble.pool[:n_draws, None, :, None]:
                y_hat = stack.seek_outputs(seek, mix(shown, x[:1], row if given_x is None else given_x(row)))
                total = total + (y_hat.softmax(dim=1) if softmax else y_hat).mean(dim=0)
            answers.append((total / n_draws).t()[: len(X)])
            selections.append(selected.t()[: len(X)])
        return torch.stack(answers).cpu().numpy(), torch.stack(selections).cpu().numpy()


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
    price_range = ensemble.price_range
    with torch.inference_mode():
        output = ensemble.stack.hide.forward(ensemble.stack.layers()[0], ensemble.standardised(X))
        positions = [position_of(price, price_range)[:, None] for price in prices]
        votes = [ensemble.mean((mask_at(output, u) > threshold).float()).t()[: len(X)] for u in positions]
        return torch.stack(votes).cpu().numpy()


def price_bounds(ensemble: Ensemble) -> tuple[float, float]:
    """Return the lowest and the highest price that a member was trained on."""
    price_range = ensemble.price_range
    return exp(float(price_range[:, 0].min())), exp(float(price_range[:, 1].max()))
