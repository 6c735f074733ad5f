"""Rules of the parameters that all estimators share, and the recipe that they resolve to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import ceil
from numbers import Integral
from typing import Any

import numpy as np
import torch
from sklearn.utils import check_random_state

from hideseek.engine.pools import POOL_ROWS, POOLS
from hideseek.engine.recipe import PRESETS, Recipe
from hideseek.engine.replacement import CONDITIONAL, REPLACEMENTS
from hideseek.errors import InputError
from hideseek.search.trimming import worth_screening
from hideseek.tabular import is_grouping
from hideseek.validation import Rule, choice, integer, number

__all__ = [
    "RULES",
    "RULES_WHEN_ANSWERING",
    "SHOWN",
    "draw_seed",
    "given_penalty",
    "resolve_recipe",
    "resolve_screening",
]


def _is_widths(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(integer(1).accepts(width) for width in value)


def _is_device(value: Any) -> bool:
    if not isinstance(value, str | torch.device | int):
        return False
    if value == "auto":
        return True
    try:
        device = torch.device(value)
    except (RuntimeError, TypeError, ValueError, OverflowError):
        return False
    return device.type == "cpu" or (device.type == "cuda" and (device.index or 0) < torch.cuda.device_count())


def _is_seed(value: Any) -> bool:
    if isinstance(value, Integral):
        return 0 <= int(value) < 2**32
    return value is None or isinstance(value, np.random.RandomState | np.random.Generator)


def draw_seed(random_state: int | np.random.RandomState | np.random.Generator | None) -> int:
    """Return one whole number drawn from ``random_state``; the same number for the same seed."""
    most = np.iinfo(np.int32).max
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(most))
    return int(check_random_state(random_state).randint(most))


_share = number("a number in (0, 1]", lambda value: 0 < value <= 1)
_positive = number("a number greater than 0", lambda value: value > 0)

SHOWN = choice("selected", "mask").or_none()
"""What a prediction is made from."""

RULES: dict[str, Rule] = {
    "preset": choice(*PRESETS),
    "penalty": (number("a number of at least 0", lambda value: value >= 0) | choice("auto")).or_none(),
    "n_members": integer(1).or_none(),
    "kept_fraction": _share.or_none(),
    "column_fraction": _share.or_none(),
    "groups": Rule("a dict from a feature's name to a list of its columns", is_grouping).or_none(),
    "replacement": choice(*REPLACEMENTS).or_none(),
    "cross_fit": Rule("True or False", lambda value: isinstance(value, bool)).or_none(),
    "hidden_layers": Rule("a tuple of whole numbers of at least 1", _is_widths).or_none(),
    "anneal_power": number("a number of at least 0", lambda value: value >= 0).or_none(),
    "steps": integer(1).or_none(),
    "epochs": _positive.or_none(),
    "batch_size": (integer(1) | choice("full")).or_none(),
    "learning_rate": _positive.or_none(),
    "weight_decay": number("a number of at least 0", lambda value: value >= 0).or_none(),
    "ramps": Rule("True or False", lambda value: isinstance(value, bool)).or_none(),
    "cuts": Rule("True or False", lambda value: isinstance(value, bool)).or_none(),
    "screening": (choice("auto") | Rule("True or False", lambda value: isinstance(value, bool)) | integer(1)).or_none(),
    "threshold": number("a number in [0, 1)", lambda value: 0 <= value < 1),
    "prediction_draws": integer(1, POOL_ROWS),
    "pool": choice(*POOLS),
    "pool_rows": integer(1, POOL_ROWS),
    "validation_fraction": number("a number in [0, 1)", lambda value: 0 <= value < 1),
    "device": Rule(
        "'auto', 'cpu' or a CUDA device that is present", _is_device, ("auto", "cpu", "cuda"), {"gpu": "cuda"}
    ),
    "verbose": Rule("True or False", lambda value: isinstance(value, bool | np.bool_ | Integral)),
    "random_state": Rule("a whole number in [0, 2**32), None, a numpy Generator or a numpy RandomState", _is_seed),
}

RULES_WHEN_ANSWERING = {name: RULES[name] for name in ("threshold", "prediction_draws")}
"""Parameters that may be changed after a fit."""


def resolve_recipe(parameters: Mapping[str, Any], n_rows: int, n_features: int) -> Recipe:
    """Return the preset's recipe with the parameters that were given in place of its own."""
    preset = PRESETS[parameters["preset"]]
    if parameters["penalty"] == "auto" and not preset.highest_prices:
        raise InputError(
            f'penalty="auto" needs a preset that answers for a range of penalties; preset={parameters["preset"]!r} '
            "answers for one: give a number, or use another preset"
        )
    names = ("n_members", "kept_fraction", "column_fraction", "replacement", "anneal_power", "steps")
    changes: dict[str, Any] = {
        name: parameters[name]
        for name in (*names, "learning_rate", "weight_decay", "cross_fit", "ramps", "cuts")
        if parameters[name] is not None
    }
    if parameters["hidden_layers"] is not None:
        changes["hidden_layers"] = tuple(int(width) for width in parameters["hidden_layers"])
    if parameters["batch_size"] is not None:
        changes["batch_size"] = None if parameters["batch_size"] == "full" else int(parameters["batch_size"])
    recipe = replace(preset.for_table(n_rows, n_features), **changes)
    if recipe.replacement == CONDITIONAL and recipe.highest_prices:
        raise InputError(
            f'replacement="conditional" needs preset="paper", which answers for one penalty; '
            f'preset={parameters["preset"]!r} came: use preset="paper", or another replacement'
        )
    if recipe.replacement != "marginal":  # what is drawn for a ramp, or close to a cut, would be no value it can have
        for name in ("ramps", "cuts"):
            if parameters[name]:
                raise InputError(f'{name}=True needs replacement="marginal"; replacement={recipe.replacement!r} came')
        recipe = replace(recipe, ramps=False, cuts=False)
    if parameters["cuts"] and not recipe.highest_prices:
        raise InputError(
            f"cuts=True needs a preset that answers for a range of penalties, not preset={parameters['preset']!r}; "
            'use "balanced", "fast" or "best"'
        )
    if parameters["epochs"] is None:
        return recipe
    if parameters["steps"] is not None:
        raise InputError("steps and epochs both say how long to train; give one of them")
    batches = n_rows / min(recipe.batch_size or n_rows, n_rows)
    return replace(recipe, steps=ceil(parameters["epochs"] * batches))


def given_penalty(parameters: Mapping[str, Any]) -> float | None:
    """Return the penalty that was asked for; None: it is chosen, or the paper's price."""
    penalty = parameters["penalty"]
    return None if penalty is None or penalty == "auto" else float(penalty)


def resolve_screening(parameters: Mapping[str, Any], n_rows: int, n_features: int) -> int:
    """Return how many features screening may leave; 0: there is no screening."""
    screening = parameters["screening"]
    if screening is None:
        screening = "auto" if PRESETS[parameters["preset"]].highest_prices else False
    if screening == "auto":
        screening = worth_screening(n_rows, n_features)
    return (n_features if screening else 0) if isinstance(screening, bool) else min(int(screening), n_features)
