"""One network for a whole range of prices (after Dosovitskiy and Djolonga, 2020, "You only train once").

In training each row of a batch has its own price, drawn log-uniformly. Hide has two outputs for each feature, a and b,
and the mask decreases with the price:

    mask = sigmoid(a - softplus(b + 1) * u)

where u is the position of the price in the range, from -2 at the lowest to 2 at the highest. Seek sees u as well.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log

import torch
from torch import Tensor
from torch.nn.functional import softplus

__all__ = [
    "BISECTIONS",
    "CHEAPEST",
    "DEAREST",
    "FARTHEST_LOGIT",
    "HALF_WIDTH",
    "ab_slopes",
    "entry_log_prices",
    "logits_at",
    "mask_at",
    "masks_of_best",
    "position_of",
    "positions_of",
    "price_at",
]

HALF_WIDTH = 2.0
"""Position of the highest price; the lowest has the negative of it."""

FARTHEST_LOGIT = 20.0
"""Logit of a mask from which training pulls it back. A mask that is one to the last bit has no gradient: no price hides
its feature again, not even where the network has only extended what it learned of other rows."""

CHEAPEST, DEAREST, BISECTIONS = -60.0, 20.0, 30
"""Logarithms of the prices between which an entry is searched (wider than any trained range), and the steps."""


def position_of(price: float, price_range: Tensor) -> Tensor:
    """Return the position u of a price in each member's range. Shape: ``(members, 2)`` -> ``(members,)``."""
    low, high = price_range.unbind(dim=1)
    return (log(price) - low) / (high - low) * (2 * HALF_WIDTH) - HALF_WIDTH


def positions_of(log_prices: Tensor, price_range: Tensor) -> Tensor:
    """Return the positions of prices that differ between rows. Shape: ``(rows,)`` -> ``(members, rows)``."""
    low, high = price_range[:, :1], price_range[:, 1:]
    return (log_prices - low) / (high - low) * (2 * HALF_WIDTH) - HALF_WIDTH


def price_at(share: Tensor, price_range: Tensor) -> Tensor:
    """Return the price at a share of each member's range. Shape: ``share (..., members, rows)`` -> the same."""
    low, high = price_range.unbind(dim=1)
    return torch.exp(low[:, None] + (high - low)[:, None] * share)


def mask_at(output: Tensor, u: Tensor) -> Tensor:
    """Return the masks at a position, or at several; shapes as of ``logits_at``."""
    return torch.sigmoid(logits_at(output, u))


def logits_at(output: Tensor, u: Tensor) -> Tensor:
    """Return the logits of the masks at a position, or at several.

    Shape: ``output (members, 2 * features, rows)``, ``u (..., members, 1 or rows)`` ->
    ``(..., members, features, rows)``.
    """
    a, b = output.chunk(2, dim=1)
    return a - softplus(b + 1) * u.unsqueeze(-2)


def ab_slopes(logit_slope: Tensor, output: Tensor, u: Tensor, out: Tensor) -> None:
    """Fill ``out`` with the gradient by Hide's outputs, given that by the logits. Shape: ``out``, as ``output``."""
    a_slope, b_slope = out.chunk(2, dim=1)
    a_slope.copy_(logit_slope)
    torch.mul(torch.sigmoid(output[:, logit_slope.shape[1] :] + 1), logit_slope, out=b_slope)
    b_slope *= -u[:, None]


def entry_log_prices(output: Tensor, price_range: Tensor, mean: Callable[[Tensor], Tensor], threshold: float) -> Tensor:
    """Return the logarithm of the highest price at which each feature is still selected.

    The mean mask of the members falls with the price, so there is one such price; it is found by bisection.

    Args:
        output: Hide's output. Shape: ``(members, 2 * features, rows)``.
        price_range: Shape: ``(members, 2)``.
        mean: Averages over members. Shape: ``(members, features, rows)`` -> ``(features, rows)``.
        threshold: A feature is selected where the mean mask is greater.

    Shape: ``(features, rows)``.
    """
    a, b = output.chunk(2, dim=1)
    slope = softplus(b + 1)
    low, high = (end[:, None, None] for end in price_range.unbind(dim=1))
    scale = 2 * HALF_WIDTH / (high - low)
    bottom, top = torch.full_like(a[0], CHEAPEST), torch.full_like(a[0], DEAREST)
    for _ in range(BISECTIONS):
        middle = (bottom + top) / 2
        selected = mean(torch.sigmoid(a - slope * ((middle - low) * scale - HALF_WIDTH))) > threshold
        bottom, top = torch.where(selected, middle, bottom), torch.where(selected, top, middle)
    return bottom


def masks_of_best(
    output: Tensor,
    price_range: Tensor,
    mean: Callable[[Tensor], Tensor],
    threshold: float,
    n_features: int,
    entered: Tensor,
) -> Tensor:
    """Return the members' masks at a price of each row at which so many features are selected.

    Features that enter at one price, as on tables without noise, are ranked by their mean mask at the highest price of
    training; the masks of those beyond ``n_features`` are then lowered to the threshold.

    Shape: ``entered``, the result of ``entry_log_prices``, ``(features, rows)``; the result
    ``(members, features, rows)``.
    """
    at_highest = mean(mask_at(output, torch.full((len(output), 1), HALF_WIDTH).to(output)))
    ties = at_highest.argsort(dim=0, descending=True, stable=True)
    order = ties.gather(0, entered.gather(0, ties).argsort(dim=0, descending=True, stable=True))
    k = min(n_features, len(entered))
    last, next_ = (entered.gather(0, order[i : i + 1])[0] for i in (k - 1, min(k, len(entered) - 1)))
    found = mask_at(output, positions_of((last + next_) / 2 if k < len(entered) else last - 1.0, price_range))
    wanted = torch.zeros_like(entered, dtype=torch.bool).scatter_(0, order[:k], True)
    selected = mean(found.clone()) > threshold  # the mean is taken in place
    lowered = torch.where(selected & ~wanted, found.clamp(max=threshold), found)
    return torch.where(wanted & ~selected, lowered.clamp(min=threshold + 1e-6), lowered)
