"""Mixed-type tables with known relevant features: a category decides which numbers matter."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hideseek.datasets._dataset import Dataset
from hideseek.datasets._draws import check_arguments, correlated_normal, draw_labels
from hideseek.datasets.truth import SWITCH, falling_probability, syn_name, syn_truth
from hideseek.frames import make_frame
from hideseek.validation import check_parameters, choice, number

__all__ = ["make_mixed"]

_PROBLEMS = ("Syn4", "Syn5", "Syn6")
_REGIONS = {"north": -1.0, "east": 1.0, "south": -1.0, "west": 1.0}
"""The texts that replace the switch x11, each with a value of x11 of the same effect."""

_COLOURS = ("red", "green", "blue", "yellow", "white")
_SIZES = ("small", "medium", "large")
_FIRST_DAY, _N_DAYS = date(2020, 1, 1), 1000


def make_mixed(
    name: str = "Syn4", n_samples: int = 10_000, missing: float = 0.0, rho: float = 0.0, random_state: int = 0
) -> Dataset:
    """Draw Syn4, Syn5 or Syn6 with a text column as the switch, among columns of other kinds.

    As :func:`make_syn`, but x11 is a region: "north" and "south" act as x11 < 0, "east" and "west" as x11 >= 0.
    The columns colour, size, member and joined, of text, booleans and dates, are noise.

    Cells may be missing completely at random. A missing cell is never relevant. If the region is missing, nothing is
    relevant, since it is unknown which numbers decide. Of the product of x1 and x2, neither is relevant if one is
    missing, since neither carries information without the other.

    Args:
        name: "Syn4", "Syn5" or "Syn6", in any case.
        n_samples: Rows.
        missing: Share of the cells that are missing, from 0 to below 1.
        rho: Correlation of every pair of x1 to x10, from 0 to below 1.
        random_state: Seed.

    Returns:
        A dataset whose X is a pandas frame.

    Example:
        >>> from hideseek.datasets import make_mixed
        >>> data = make_mixed(n_samples=100, missing=0.1)
        >>> data.feature_names[10:]
        ('region', 'colour', 'size', 'member', 'joined')
        >>> sorted(data.X["region"].dropna().unique())
        ['east', 'north', 'south', 'west']
    """
    name = syn_name("make_mixed", name)
    check_arguments("make_mixed", n_samples, SWITCH + 1, rho, random_state, fewest_features=SWITCH + 1)
    share = number("a number from 0 to below 1", lambda value: 0 <= value < 1)
    rules = {"name": choice(*_PROBLEMS), "missing": share}
    check_parameters("make_mixed", {"name": name, "missing": missing}, rules)
    rng = np.random.default_rng(random_state)
    numbers = correlated_normal(rng, n_samples, SWITCH, rho)
    region = rng.choice(list(_REGIONS), n_samples)
    columns = {
        **{f"x{j + 1}": numbers[:, j] for j in range(SWITCH)},
        "region": region,
        "colour": rng.choice(_COLOURS, n_samples),
        "size": rng.choice(_SIZES, n_samples),
        "member": rng.random(n_samples) < 0.5,
        "joined": np.array(
            [_FIRST_DAY + timedelta(int(day)) for day in rng.integers(_N_DAYS, size=n_samples)], "M8[s]"
        ),
    }
    switch = np.array([_REGIONS[each] for each in region])
    U, decides = syn_truth(name, np.column_stack((numbers, switch)))
    relevant = np.zeros((n_samples, len(columns)), dtype=bool)
    relevant[:, : SWITCH + 1] = decides
    probability = falling_probability(U)
    labels = draw_labels(rng, probability)
    gone = rng.random(relevant.shape) < missing
    holed = {title: _with_holes(values, gone[:, j]) for j, (title, values) in enumerate(columns.items())}
    X = make_frame(holed, "pandas")
    return Dataset(f"{name} mixed", X, labels, tuple(columns), relevant & _can_be_seen(relevant, gone), probability)


def _can_be_seen(relevant: NDArray[np.bool_], gone: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the relevant cells whose relevance is not lost through missing cells."""
    seen = ~gone & ~gone[:, SWITCH, None]
    half_a_product = relevant[:, 0] & gone[:, :2].any(axis=1)
    seen[half_a_product, :2] = False
    return seen


def _with_holes(values: NDArray[Any], gone: NDArray[np.bool_]) -> NDArray[Any]:
    if gone.any():
        values = values.copy() if values.dtype.kind in "fM" else values.astype(object)
        values[gone] = None
    return values
