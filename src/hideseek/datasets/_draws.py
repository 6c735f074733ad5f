"""Random columns and labels, and argument checks shared by all generators."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hideseek.validation import check_parameters, integer, number

__all__ = ["Floats", "check_arguments", "correlated_normal", "draw_labels"]

Floats = NDArray[np.float64]


def check_arguments(
    owner: str, n_samples: int, n_features: int, rho: float, random_state: int, *, fewest_features: int
) -> None:
    """Check the arguments that all generators share."""
    rules = {
        "n_samples": integer(1),
        "n_features": integer(fewest_features),
        "rho": number("a number from 0 to below 1", lambda value: 0 <= value < 1),
        "random_state": integer(0),
    }
    values = {"n_samples": n_samples, "n_features": n_features, "rho": rho, "random_state": random_state}
    check_parameters(owner, values, rules)


def correlated_normal(rng: np.random.Generator, n_samples: int, n_features: int, rho: float) -> Floats:
    """Draw standard normal columns, each pair with correlation rho: each is a common plus an independent term."""
    X = rng.standard_normal((n_samples, n_features))
    if rho > 0:
        X *= np.sqrt(1 - rho)
        X += np.sqrt(rho) * rng.standard_normal((n_samples, 1))
    return X


def draw_labels(rng: np.random.Generator, probability: Floats) -> NDArray[np.int64]:
    """Return ones with the given probabilities, zeros otherwise."""
    return (rng.random(len(probability)) < probability).astype(np.int64)
