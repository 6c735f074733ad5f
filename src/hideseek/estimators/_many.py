"""Many problems at once: what ``fit_many`` takes, which problems can share a stack, and work on each of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar

from sklearn.base import clone

from hideseek.engine.device import for_each_table, resolve_device
from hideseek.errors import InputError
from hideseek.warn import held_back, warn_caller

__all__ = ["Problem", "check_one_stack", "for_each_problem", "models_for"]

Problem = tuple[Any, Any, int, Mapping[str, Any]]
"""X, y, the seed, and the parameters that differ from those of the method that fits it."""

_Model = TypeVar("_Model")
_Result = TypeVar("_Result")


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


def for_each_problem(work: Callable[..., _Result], device: str, *cases: Sequence[Any]) -> list[_Result]:
    """Return the result of each case, as ``map`` does, on the threads of ``for_each_table``; warn in their order."""

    def quietly(case: tuple[Any, ...]) -> tuple[_Result, list[tuple[str, type[Warning]]]]:
        with held_back() as warnings:
            return work(*case), warnings

    results = []
    for result, warnings in for_each_table(quietly, list(zip(*cases, strict=True)), resolve_device(device)):
        for message, category in warnings:
            warn_caller(message, category)
        results.append(result)
    return results
