"""How probable it is that a feature is relevant for its row, told by its mask and by the price that was chosen.

One rule for all tables, fitted to kinds of tables whose truth is known: ``python -m experiments run reliability``, then
``compare reliability``, which prints its factors. It is of the default preset, and to be fitted anew with it.

The price is part of the rule because features with a middling mask were mostly relevant in fits that chose a high
price, which misses a feature now and then, and half of them not in fits that chose a low one, where columns are
correlated. That is a difference between fits: at another price than the chosen one the rule does not hold.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["log_odds_terms", "selection_probability"]

_INTERCEPT, _OF_MASK, _OF_PRICE = -1.82, 2.97, 0.56
_LEAST = 1e-3
"""Masks nearer to 0 or 1 count as that near."""

_LEAST_PROBABILITY = 1e-4
"""No feature is stated to be relevant, or not, with more certainty than this leaves."""


def selection_probability(masks: NDArray[np.floating], price: float, lowest_price: float) -> NDArray[np.float32]:
    """Return the probability that each feature is relevant for its row. Shape: ``(rows, features)`` -> the same.

    Args:
        masks: The mean masks of the ensemble at the price.
        price: The price that held-out rows chose.
        lowest_price: The lowest price that the members were trained on.
    """
    of_mask, of_price = log_odds_terms(masks, price, lowest_price)
    probability = 1 / (1 + np.exp(-(_INTERCEPT + _OF_MASK * of_mask + _OF_PRICE * of_price)))
    return np.clip(probability, _LEAST_PROBABILITY, 1 - _LEAST_PROBABILITY).astype(np.float32)


def log_odds_terms(masks: NDArray[np.floating], price: float, lowest_price: float) -> tuple[NDArray[np.float64], float]:
    """Return what the log-odds are a sum of, but for factors: the log-odds of the masks, and the log of the price."""
    clipped = np.clip(masks.astype(np.float64), _LEAST, 1 - _LEAST)
    return np.log(clipped / (1 - clipped)), float(np.log(price / lowest_price))
