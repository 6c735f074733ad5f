"""Syn1 to Syn6: six problems from the literature with known relevant features for every row."""

from __future__ import annotations

import numpy as np

from hideseek.datasets._dataset import Dataset
from hideseek.datasets._draws import check_arguments, correlated_normal, draw_labels
from hideseek.datasets.truth import SWITCH, falling_probability, syn_name, syn_truth
from hideseek.validation import check_parameters, number
from hideseek.wording import column_names

__all__ = ["make_syn", "make_syn_regression"]


def make_syn(
    name: str,
    n_samples: int = 10_000,
    n_features: int = 11,
    rho: float = 0.0,
    random_state: int = 0,
) -> Dataset:
    """Draw one of Syn1 to Syn6, with the relevant features of every row.

    Features are standard normal, every pair with correlation ``rho``. With

    - ``U1 = x1 x2``,
    - ``U2 = x3^2 + x4^2 + x5^2 + x6^2 - 4``,
    - ``U3 = -10 sin(0.2 x7) + |x8| + x9 + exp(-x10) - 2.4``,

    the label is one with probability 1 / (1 + exp(U)). U is U1, U2, U3 in Syn1 to Syn3. In Syn4 to Syn6 it is U1, U1,
    U2 if x11 < 0, else U2, U3, U3. The relevant features are those of the U of the row and, in Syn4 to Syn6, x11.
    Columns from x12 on are noise.

    Args:
        name: "Syn1" to "Syn6", in any case.
        n_samples: Rows.
        n_features: Columns, at least 11.
        rho: Correlation of every pair of columns, from 0 to below 1.
        random_state: Seed. The same seed gives the same rows.

    Example:
        >>> from hideseek.datasets import make_syn
        >>> data = make_syn("Syn4", n_samples=1000, n_features=100)
        >>> data.X.shape, data.feature_names[10]
        ((1000, 100), 'x11')
        >>> sorted(set(data.relevant.sum(axis=1).tolist()))
        [3, 5]
    """
    name = syn_name("make_syn", name)
    check_arguments("make_syn", n_samples, n_features, rho, random_state, fewest_features=SWITCH + 1)
    rng = np.random.default_rng(random_state)
    X = correlated_normal(rng, n_samples, n_features, rho)
    U, relevant = syn_truth(name, X)
    probability = falling_probability(U)
    return Dataset(name, X, draw_labels(rng, probability), tuple(column_names(None, n_features)), relevant, probability)


def make_syn_regression(
    name: str,
    n_samples: int = 10_000,
    n_features: int = 11,
    rho: float = 0.0,
    noise: float = 1.0,
    random_state: int = 0,
) -> Dataset:
    """Draw the regression version of one of Syn1 to Syn6: y = U + noise * e, with e standard normal.

    Features, U and the relevant features are those of :func:`make_syn`; ``probability`` is None. No prediction has a
    mean squared error below ``noise ** 2``.

    Args:
        name: "Syn1" to "Syn6", in any case.
        n_samples: Rows.
        n_features: Columns, at least 11.
        rho: Correlation of every pair of columns, from 0 to below 1.
        noise: Standard deviation of the noise.
        random_state: Seed.

    Example:
        >>> from hideseek.datasets import make_syn_regression
        >>> data = make_syn_regression("Syn1", n_samples=50, noise=0.0)
        >>> bool((data.y == data.X[:, 0] * data.X[:, 1]).all())
        True
    """
    name = syn_name("make_syn_regression", name)
    check_arguments("make_syn_regression", n_samples, n_features, rho, random_state, fewest_features=SWITCH + 1)
    check_parameters(
        "make_syn_regression", {"noise": noise}, {"noise": number("a number of at least 0", lambda v: v >= 0)}
    )
    rng = np.random.default_rng(random_state)
    X = correlated_normal(rng, n_samples, n_features, rho)
    U, relevant = syn_truth(name, X)
    return Dataset(
        f"{name} regression",
        X,
        U + noise * rng.standard_normal(n_samples),
        tuple(column_names(None, n_features)),
        relevant,
    )
