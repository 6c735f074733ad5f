"""The conditional replacement of tables: which kind suits them, and which tables have none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hideseek.engine.conditional import Conditional, DiscreteConditional, GaussianConditional
from hideseek.engine.groups import Groups
from hideseek.errors import InputError
from hideseek.search.problem import Problem
from hideseek.wording import some

__all__ = ["MOST_COLUMNS", "MOST_ROWS", "MOST_VALUES", "fit_conditional"]

MOST_VALUES = 16
"""A feature with more distinct values is a number; others are categories."""

MOST_ROWS = 1024
"""Distinct rows of a table of categories: every row is compared with all of them in every step."""

MOST_COLUMNS = 32
"""Columns of a table of numbers: the time of a step grows with their third power."""

_INSTEAD = 'use replacement="marginal" or "gaussian_knockoff"'


def fit_conditional(problems: Sequence[Problem], X: Tensor) -> Conditional:
    """Fit the conditional replacement of tables that train as one stack.

    Tables of numbers get the Gaussian law, tables of categories the training rows themselves.

    Shape: ``X (tables, columns, rows)``, standardised.

    Raises:
        InputError: A table has both numbers and categories, or is too large.
    """
    kinds = {_is_discrete(problem, table) for problem, table in zip(problems, X, strict=True)}
    if len(kinds) == 2:
        raise InputError(
            'replacement="conditional" fits tables of numbers or tables of categories in one call, and both came; '
            "call fit_many for each kind"
        )
    if kinds == {True}:
        return DiscreteConditional.fit(X, Groups.from_widths(problems[0].input_widths, X.device))
    return GaussianConditional.fit(X)


def _is_discrete(problem: Problem, X: Tensor) -> bool:
    """Return whether all features are categories. Shape: ``X (columns, rows)``."""
    n_values = np.array([torch.unique(X[own], dim=1).shape[1] for own in problem.columns])
    varies, few = n_values > 1, n_values <= MOST_VALUES
    if few.all():
        n_distinct = torch.unique(X, dim=1).shape[1]
        if n_distinct > MOST_ROWS:
            raise InputError(
                'replacement="conditional" compares every row with all distinct rows of a table of categories: it '
                f"takes at most {MOST_ROWS}, and {n_distinct} came. Leave out features, merge categories, or {_INSTEAD}"
            )
        return True
    widths = np.array(problem.widths or (1,) * len(n_values))
    others = varies & (few | (widths > 1))
    if others.any():
        raise InputError(
            'replacement="conditional" needs features that are all numbers of one column each, or all categories of at '
            f"most {MOST_VALUES} values; here {_named(problem, others)} are no numbers of one column each, and "
            f"{_named(problem, ~few)} have more values. Leave one kind out, fill missing values, or use "
            'replacement="marginal"'
        )
    if len(n_values) > MOST_COLUMNS:
        raise InputError(
            f'replacement="conditional" takes at most {MOST_COLUMNS} columns of numbers; {len(n_values)} came. '
            f"Leave out columns, pass screening={MOST_COLUMNS}, or {_INSTEAD}"
        )
    return False


def _named(problem: Problem, features: NDArray[np.bool_]) -> str:
    return some([repr(problem.names[j]) for j, chosen in zip(problem.known, features, strict=True) if chosen])
