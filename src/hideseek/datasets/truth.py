"""The function U, the relevant features and the label probability of Syn1 to Syn6."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hideseek.datasets._draws import Floats
from hideseek.validation import check_parameters, choice

__all__ = ["SWITCH", "falling_probability", "syn_name", "syn_truth"]

SWITCH = 10
"""Index of the column that switches in Syn4 to Syn6: x11."""


def _u1(x1: Floats, x2: Floats) -> Floats:
    return x1 * x2


def _u2(x3: Floats, x4: Floats, x5: Floats, x6: Floats) -> Floats:
    return x3**2 + x4**2 + x5**2 + x6**2 - 4


def _u3(x7: Floats, x8: Floats, x9: Floats, x10: Floats) -> Floats:
    return -10 * np.sin(0.2 * x7) + np.abs(x8) + x9 + np.exp(-x10) - 2.4


_Branch = tuple[Callable[..., Floats], slice]
_U1: _Branch = (_u1, slice(0, 2))
_U2: _Branch = (_u2, slice(2, 6))
_U3: _Branch = (_u3, slice(6, 10))
_BRANCHES = {
    "Syn1": (_U1,),
    "Syn2": (_U2,),
    "Syn3": (_U3,),
    "Syn4": (_U1, _U2),
    "Syn5": (_U1, _U3),
    "Syn6": (_U2, _U3),
}
"""U and the columns it depends on: one for all rows, or one below the switch and one from it on."""


def syn_name(owner: str, name: str) -> str:
    """Return the name as the paper writes it, or raise an InputError."""
    written = name.capitalize() if isinstance(name, str) else name
    check_parameters(owner, {"name": written}, {"name": choice(*_BRANCHES)})
    return written


def syn_truth(name: str, X: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Return U and the relevant features of every row, from the first eleven columns of X."""
    relevant = np.zeros(X.shape, dtype=bool)
    branches = _BRANCHES[name]
    values = [u(*X[:, columns].T) for u, columns in branches]
    if len(branches) == 1:
        relevant[:, branches[0][1]] = True
        return values[0], relevant
    below = X[:, SWITCH] < 0
    relevant[:, SWITCH] = True
    for (_, columns), rows in zip(branches, (below, ~below), strict=True):
        relevant[:, columns] = rows[:, None]
    return np.where(below, *values), relevant


def falling_probability(U: Floats) -> Floats:
    """Return 1 / (1 + exp(U)), for U of any size and without overflow."""
    return np.exp(-np.logaddexp(0.0, U))
