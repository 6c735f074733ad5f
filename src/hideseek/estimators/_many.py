"""Many problems at once: what ``fit_many`` takes, and which problems can share a stack."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeVar

from sklearn.base import clone

from hideseek.errors import InputError

__all__ = ["Problem", "check_one_stack", "models_for"]

Problem = tuple[Any, Any, int, Mapping[str, Any]]
"""X, y, the seed, and the parameters that differ from those of the method that fits it."""

_Model = TypeVar("_Model")


def models_for(method: _Model, problems: Sequence[Problem]) -> list[_Model]:
    """Return one unfitted copy of the method for each problem, with the problem's seed and parameters."""
    good = isinstance(problems, Sequence) and all(
        isinstance(problem, list | tuple) and len(problem) == 4 and isinstance(problem[3], Mapping)
        for problem in problems
    )
    if not good:
        raise InputError("problems must be a list of (X, y, seed, parameters), the last of them a dict")
    return [clone(method).set_params(**{**parameters, "random_state": seed}) for _, _, seed, parameters in problems]


def check_one_stack(models: Sequence[Any], shapes: Sequence[Hashable]) -> None:
    """Raise an InputError unless the tables are of one shape and the parameters differ in the penalty alone."""
    n_shapes = len(set(shapes))
    settings = {str({**model.get_params(), "penalty": None, "random_state": None}) for model in models}
    if n_shapes != 1 or len(settings) != 1:
        raise InputError(
            "problems must have tables of one shape, as many classes, and parameters that differ in the penalty "
            f"alone; {n_shapes} shapes and {len(settings)} sets of parameters came: call fit_many for each"
        )
