"""The selection at every price, as JSON; path.js updates the whole page with it when the slider is moved.

A level is a position of the slider: level 0 is the highest price, with few features, the last one the lowest. One of
them is the price at which the explanation was made.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hideseek.engine.along import price_bounds
from hideseek.estimators import BaseHideSeek
from hideseek.explanation import Explanation
from hideseek.report.page.content import Content
from hideseek.report.page.packing import pack

__all__ = ["page_path"]

_LEVELS = 51
_ROWS_COUNTED, _CELLS_COUNTED = 20_000, 20_000_000
"""Largest number of rows, and of rows times features, for figures over all rows: every price takes time."""
_SHARES = 65535
_ROUNDING = 1e-5
"""Relative tolerance when an entry price, in single precision, is compared with an equal price."""


def page_path(content: Content) -> dict[str, Any]:
    """Return the data of the page's slider; a single level if the model answers at one price, or for a number.

    ``prices``, ``penalties``: by level; ``chosen``: the level of the explanation. ``first``: for each row and feature
    the first level that selects it. ``selected``: for each group, feature and level the share of the rows that select
    it. ``numbers``: for each level how many rows have none, one, two, ... features selected.
    """
    explanation = content.explanation
    prices, penalties, chosen = _levels(content)
    n_levels, n_features = len(prices), explanation.shape[1]
    n_counted = min(_ROWS_COUNTED, max(1, _CELLS_COUNTED // n_features))
    counted = np.arange(0, len(explanation), -(-len(explanation) // n_counted))
    first = _first_levels(explanation[counted], prices, chosen)
    shown = _first_levels(content.shown, prices, chosen)[:, content.features]
    shares = _shares(first[:, content.features], content.group[counted], len(content.subgroups), n_levels)
    return {
        "prices": prices.tolist(),
        "penalties": [float(f"{penalty:.3g}") for penalty in penalties],
        "chosen": chosen,
        "first": pack(shown, "u1"),
        "selected": pack(shares, "u2"),
        "sizes": [subgroup.n_rows for subgroup in content.subgroups],
        "numbers": [np.bincount((first <= level).sum(axis=1)).tolist() for level in range(n_levels)],
    }


def _levels(content: Content) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
    """Return the prices of the levels, descending, their penalties, and the level of the explanation."""
    explanation = content.explanation
    model = explanation.model if isinstance(explanation.model, BaseHideSeek) else content.model
    one = np.zeros(1), np.zeros(1), 0
    if not isinstance(model, BaseHideSeek) or not explanation.answers.has("entry_price"):
        return one
    ensemble = model.learned_.ensemble
    if ensemble.stack.price_range is None or ensemble.price is None or ensemble.n_features is not None:
        return one
    low, high = price_bounds(ensemble)
    prices = np.geomspace(max(high, ensemble.price), min(low, ensemble.price), _LEVELS)
    chosen = int(np.abs(np.log(prices / ensemble.price)).argmin())
    prices[chosen] = ensemble.price
    return prices, prices / ensemble.price * model.penalty_, chosen


def _first_levels(part: Explanation, prices: NDArray[np.float64], chosen: int) -> NDArray[np.uint8]:
    """Return the first level that selects each feature of each row, the number of levels if none does.

    Entry prices are clipped at the highest trained price, and rounded; the chosen level has the explanation's
    selection. Shape: ``(rows, features)``.
    """
    if len(prices) == 1:
        return (~part.selected).astype(np.uint8)
    entry = np.asarray(part.entry_price, dtype=np.float64) * (1 + _ROUNDING)
    first = np.searchsorted(-prices, -entry.reshape(-1)).astype(np.uint8).reshape(entry.shape)
    return np.where(part.selected, np.minimum(first, np.uint8(chosen)), np.maximum(first, np.uint8(chosen + 1)))


def _shares(first: NDArray[np.uint8], group: NDArray[np.int64], n_groups: int, n_levels: int) -> NDArray[np.float64]:
    """Return the share of each group's rows that select a feature. Shape: ``(groups, features, levels)``."""
    shares = np.zeros((n_groups, first.shape[1], n_levels))
    for number in range(n_groups):
        own = first[group == number]
        for level in range(n_levels):
            shares[number, :, level] = (own <= level).mean(axis=0) if len(own) else 0.0
    return np.rint(shares * _SHARES)
