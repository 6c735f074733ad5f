"""Features that are dropped before training: those that screening speaks against, and those that repeat another one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from hideseek.search.copies import copies_among, copies_of_levels
from hideseek.search.problem import Problem
from hideseek.search.screening import Screening, residuals_of, screen

__all__ = ["Trimmed", "trim", "worth_screening"]

_FEWEST_FEATURES = 8
"""Features that screening leaves at least: the networks tell noise from a weak effect better than it does."""

_NARROW, _ROWS_PER_FEATURE = 16, 500
"""A table of so few features, with so many rows for each, is learned as well with all of them."""


class Trimmed(NamedTuple):
    """What is left of a problem, and why; None: it was not looked at."""

    problem: Problem
    screening: Screening | None
    copies: dict[int, int] | None


def worth_screening(n_rows: int, n_features: int) -> bool:
    """Return whether a table is learned better without the features that mean nothing: many, or few rows for each."""
    return n_features > _FEWEST_FEATURES and (n_features > _NARROW or n_rows < _ROWS_PER_FEATURE * n_features)


def trim(problem: Problem, most: int, *, find_copies: bool, device: torch.device | None = None) -> Trimmed:
    """Drop the features that are not worth training on.

    Args:
        problem: With all features.
        most: Features that screening may leave; 0: there is no screening.
        find_copies: Whether to look for features that repeat another one.
        device: Where to screen; the CPU if not given.
    """
    residuals = residuals_of(problem.train.target, problem.n_outputs, problem.train.relative_weight())
    left, screening, copies = problem, None, None
    if most:
        screening = _screened(problem, residuals, most, device)
        left = _of_features(problem, np.flatnonzero(screening.kept))
    if find_copies:
        copies, known = _copies(left, residuals), np.array(left.known)
        copies = {int(known[j]): int(known[other]) for j, other in copies.items()}
        left = _of_features(problem, np.setdiff1d(known, list(copies)))
    return Trimmed(left, screening, copies)


def _of_features(problem: Problem, features: NDArray[np.intp]) -> Problem:
    return problem if len(features) == problem.n_features else problem.of_features(features)


def _screened(problem: Problem, residuals: NDArray[np.float32], most: int, device: torch.device | None) -> Screening:
    train, fewest = problem.train, min(most, _FEWEST_FEATURES)
    return screen(
        train.table, problem.scaler, residuals, widths=problem.widths, fewest=fewest, most=most, device=device
    )


def _copies(problem: Problem, residuals: NDArray[np.float32]) -> dict[int, int]:
    """Return the features that repeat another one, each with that other one."""
    widths = np.ones(problem.n_features, dtype=int) if problem.widths is None else np.array(problem.widths)
    first, single = np.cumsum(widths) - widths, np.flatnonzero(widths == 1)
    found = copies_among(problem.train, problem.scaler, residuals, first[single])
    feature_of = dict(zip(first[single].tolist(), single.tolist(), strict=True))
    numbers = {feature_of[column]: feature_of[other] for column, other in found.items()}
    return numbers | copies_of_levels(problem.train.table, problem.columns, np.flatnonzero(widths > 1).tolist())
