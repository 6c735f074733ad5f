"""Problems with a switch: a feature whose interval decides which other features matter."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from hideseek.datasets._dataset import Dataset
from hideseek.datasets._draws import Floats, check_arguments, correlated_normal, draw_labels
from hideseek.datasets.truth import falling_probability
from hideseek.extras import import_extra
from hideseek.validation import check_parameters, integer
from hideseek.wording import column_names

__all__ = ["make_cafe", "make_ice_cream", "make_multiclass", "make_switch"]

_DRINKS = ("coffee", "hot_chocolate", "iced_coffee", "iced_tea")
_DEGREES = 8.0
"""Standard deviation of the temperature."""


def make_cafe(
    n_samples: int = 10_000, n_features: int = 11, rho: float = 0.0, random_state: int = 0, *, as_frame: bool = False
) -> Dataset:
    """Draw the cafe: a switch between two sets of features of different size that share one.

    The temperature is normal around 20 degrees with deviation 8; sales are in standard deviations from their mean. The
    label says whether the day was profitable, with log-odds 2 (coffee + hot chocolate) below 20 degrees and
    2 (coffee + iced coffee + iced tea) from 20 degrees on. The relevant features are those drinks and the temperature.

    Args:
        n_samples: Rows.
        n_features: Columns, at least 5: temperature, the four drinks, then noise.
        rho: Correlation of every pair of columns, from 0 to below 1.
        random_state: Seed.
        as_frame: Return X as a pandas frame and y as a series with the name "profit".

    Example:
        >>> from hideseek.datasets import make_cafe
        >>> data = make_cafe(n_samples=100)
        >>> data.feature_names[:5]
        ('temperature', 'coffee', 'hot_chocolate', 'iced_coffee', 'iced_tea')
        >>> warm = data.X[:, 0] >= 20
        >>> data.relevant[warm][0, :5].tolist()
        [True, True, False, True, True]
    """
    check_arguments("make_cafe", n_samples, n_features, rho, random_state, fewest_features=1 + len(_DRINKS))
    rng = np.random.default_rng(random_state)
    X = correlated_normal(rng, n_samples, n_features, rho)
    X[:, 0] = 20 + _DEGREES * X[:, 0]
    warm = X[:, 0] >= 20
    relevant = np.zeros(X.shape, dtype=bool)
    relevant[:, :2] = True
    relevant[:, 2] = ~warm
    relevant[:, 3:5] = warm[:, None]
    probability = falling_probability(-2 * (X * relevant)[:, 1:].sum(axis=1))
    names = ("temperature", *_DRINKS, *column_names(None, n_features)[5:])
    y = draw_labels(rng, probability)
    if as_frame:
        pd = import_extra("pandas", "data", "as_frame=True needs pandas")
        X, y = pd.DataFrame(X, columns=list(names)), pd.Series(y, name="profit")
    return Dataset("cafe", X, y, names, relevant, probability)


def make_ice_cream(n_samples: int = 10_000, n_features: int = 11, rho: float = 0.0, random_state: int = 0) -> Dataset:
    """Draw the ice cream stall: a switch that decides the label directly.

    Ice cream is sold (label one) on days of 25 degrees and more and never on others; the temperature is normal around
    25 degrees with deviation 8, and the only relevant feature of every row.

    Args:
        n_samples: Rows.
        n_features: Columns, at least 1: temperature, then noise.
        rho: Correlation of every pair of columns, from 0 to below 1.
        random_state: Seed.

    Example:
        >>> from hideseek.datasets import make_ice_cream
        >>> data = make_ice_cream(n_samples=100)
        >>> bool((data.y == (data.X[:, 0] >= 25)).all())
        True
    """
    check_arguments("make_ice_cream", n_samples, n_features, rho, random_state, fewest_features=1)
    X = correlated_normal(np.random.default_rng(random_state), n_samples, n_features, rho)
    X[:, 0] = 25 + _DEGREES * X[:, 0]
    sold = X[:, 0] >= 25
    relevant = np.zeros(X.shape, dtype=bool)
    relevant[:, 0] = True
    names = ("temperature", *column_names(None, n_features)[1:])
    return Dataset("ice cream", X, sold.astype(np.int64), names, relevant, sold.astype(np.float64))


def _product(a: Floats, b: Floats) -> Floats:
    return 3 * a * b


def _ring(a: Floats, b: Floats) -> Floats:
    return 2 * (a**2 + b**2 - 2)


def _difference(a: Floats, b: Floats) -> Floats:
    return 3 * (a - b)


_FORMS = (_product, _ring, _difference)


def make_switch(
    n_cells: int = 3,
    n_samples: int = 10_000,
    n_features: int = 11,
    rho: float = 0.0,
    random_state: int = 0,
) -> Dataset:
    """Draw a switch with any number of equally likely cells, each with two features of its own.

    With two features a, b for each cell, in order, U is 3ab in the first cell, 2 (a^2 + b^2 - 2) in the second,
    3 (a - b) in the third, and so on in turn; the label is one with probability 1 / (1 + exp(U)). The switch is the
    column after those of the cells, standard normal and cut at its quantiles. The relevant features are the two of the
    cell and the switch.

    Args:
        n_cells: Cells, at least 2.
        n_samples: Rows.
        n_features: Columns, at least ``2 * n_cells + 1``; those beyond are noise.
        rho: Correlation of every pair of columns, from 0 to below 1.
        random_state: Seed.

    Example:
        >>> from hideseek.datasets import make_switch
        >>> data = make_switch(n_cells=4, n_samples=100)
        >>> data.relevant.sum(axis=1).tolist() == [3] * 100
        True
        >>> bool(data.relevant[:, 8].all())
        True
    """
    check_parameters("make_switch", {"n_cells": n_cells}, {"n_cells": integer(2)})
    check_arguments("make_switch", n_samples, n_features, rho, random_state, fewest_features=2 * n_cells + 1)
    rng = np.random.default_rng(random_state)
    X = correlated_normal(rng, n_samples, n_features, rho)
    switch = 2 * n_cells
    cell = np.searchsorted(NormalDist().quantiles(n_cells), X[:, switch], side="right")
    U = np.empty(n_samples)
    relevant = np.zeros(X.shape, dtype=bool)
    relevant[:, switch] = True
    for c in range(n_cells):
        rows = cell == c
        U[rows] = _FORMS[c % len(_FORMS)](X[rows, 2 * c], X[rows, 2 * c + 1])
        relevant[rows, 2 * c : 2 * c + 2] = True
    probability = falling_probability(U)
    labels = draw_labels(rng, probability)
    return Dataset(
        f"switch with {n_cells} cells", X, labels, tuple(column_names(None, n_features)), relevant, probability
    )


def make_multiclass(
    n_classes: int = 3,
    n_samples: int = 10_000,
    n_features: int = 11,
    rho: float = 0.0,
    random_state: int = 0,
) -> Dataset:
    """Draw a switch over more than two classes.

    Each class has one feature for either side of the switch, the column after theirs: where the switch is below zero
    the probabilities of the classes are softmax(3 (x1, ..., xC)), elsewhere softmax(3 (x(C+1), ..., x(2C))). The
    relevant features are the C of the side and the switch.

    Args:
        n_classes: Classes C, at least 3.
        n_samples: Rows.
        n_features: Columns, at least ``2 * n_classes + 1``; those beyond are noise.
        rho: Correlation of every pair of columns, from 0 to below 1.
        random_state: Seed.

    Example:
        >>> from hideseek.datasets import make_multiclass
        >>> data = make_multiclass(n_samples=1000)
        >>> sorted(set(data.y.tolist())), data.probability.shape
        ([0, 1, 2], (1000, 3))
    """
    check_parameters("make_multiclass", {"n_classes": n_classes}, {"n_classes": integer(3)})
    check_arguments("make_multiclass", n_samples, n_features, rho, random_state, fewest_features=2 * n_classes + 1)
    rng = np.random.default_rng(random_state)
    X = correlated_normal(rng, n_samples, n_features, rho)
    switch = 2 * n_classes
    below = (X[:, switch] < 0)[:, None]
    relevant = np.zeros(X.shape, dtype=bool)
    relevant[:, :n_classes] = below
    relevant[:, n_classes:switch] = ~below
    relevant[:, switch] = True
    scores = 3 * np.where(below, X[:, :n_classes], X[:, n_classes:switch])
    probability = np.exp(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))
    # The class with the largest score plus Gumbel noise is a draw from the softmax of the scores.
    labels = np.argmax(scores + rng.gumbel(size=scores.shape), axis=1)
    return Dataset(f"{n_classes} classes", X, labels, tuple(column_names(None, n_features)), relevant, probability)
