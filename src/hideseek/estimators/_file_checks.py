"""Whether the parts of an estimator's file belong together, told before anything is built from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from hideseek.engine.cuts import Cuts
from hideseek.engine.networks import Mlp
from hideseek.errors import FileFormatError
from hideseek.estimators._file_schema import FARTHEST, TABLE, description_rules, ensemble_rules
from hideseek.estimators._search_state import with_prefix
from hideseek.estimators._weight_bounds import largest_output
from hideseek.persistence import Arrays, Description
from hideseek.schema import ArrayRule, check_array_names, check_shape, check_value, check_values
from hideseek.tabular import TableEncoder
from hideseek.validation import Rule

__all__ = ["check_state"]

_NEWER = ("path.disagreement",)
"""Arrays that files of older versions lack."""

_NARROWEST = 0.01
"""The logarithm of the highest price over the lowest."""

_LARGEST_VALUE = 1e37
"""What a network may give at most, in single precision."""


def check_state(owner: Any, arrays: Arrays, description: Description) -> None:
    """Raise a FileFormatError unless ``restore_state`` can make a model of class ``owner`` whose answers are finite."""
    check_value(description, description_rules(owner, description), "description")
    sizes = _check_table(arrays, description)
    hide, seek = _check_networks(description, sizes)
    has_candidates = any(name.startswith("candidate.") for name in arrays)  # files of older versions have
    candidates = [f"candidate.{i}." for i in range(sizes.get("path", 0))] if has_candidates else []
    n_layers = sum(name.startswith("knockoffs.") for name in arrays) // 2
    replacement = description["recipe"]["replacement"]
    ensemble = ensemble_rules(replacement, sizes["inputs"], n_layers)
    rules = {prefix + name: rule for prefix in ("", *candidates) for name, rule in ensemble.items()}
    check_array_names(arrays, {**TABLE, **rules})
    farthest = max(FARTHEST, 1 / arrays["ramps.scale"].min()) if "ramps.scale" in arrays else FARTHEST
    limit = _largest_output_allowed(description)
    for prefix in ("", *candidates):  # members, rows of the pool and records may differ between ensembles
        own = with_prefix(arrays, prefix)
        _check_arrays(own, ensemble, dict(sizes), prefix)
        _check_draws(own, description, prefix)
        _check_prices(own, description)
        if not largest_output(own, hide, seek, replacement, farthest) < limit:
            raise FileFormatError(f"array '{prefix}parameters' has weights so large that answers could be infinite")


def _check_arrays(arrays: Arrays, rules: Mapping[str, ArrayRule], sizes: dict[str, int], prefix: str = "") -> None:
    """Check the arrays that are there; ``sizes`` takes up the lengths that they show."""
    for name, rule in rules.items():
        if name in arrays:
            check_shape(prefix + name, arrays[name], rule, sizes)
            check_values(prefix + name, arrays[name], rule)
    empty = [name for name, size in sizes.items() if size == 0]
    if empty:
        raise FileFormatError(f"it has arrays without {empty[0]}")


def _check_table(arrays: Arrays, description: Description) -> dict[str, int]:
    """Check what all ensembles share, and return the lengths that are known from it."""
    encoder, sizes = description.get("encoder"), _features(arrays, description)
    was_screened = "kept" in arrays and "copies" not in arrays
    for prefix, needed in (("screening.", was_screened), ("ramps.", False), ("cuts.", False), ("path.", False)):
        own = {name: rule for name, rule in TABLE.items() if name.startswith(prefix)}
        if needed or any(name in arrays for name in own):
            present = [name for name in own if name in arrays]
            check_array_names(present, {name: replace(rule, optional=name in _NEWER) for name, rule in own.items()})
    before = {name: rule for name, rule in TABLE.items() if name.startswith(("kept", "copies", "screening."))}
    _check_arrays(arrays, before, sizes)
    _check_screening(arrays, sizes["features"])
    if encoder is not None:
        widths = np.array(TableEncoder.from_json(encoder).widths)
        sizes["columns"] = int(widths[arrays["kept"]].sum() if "kept" in arrays else widths.sum())
    else:
        sizes["columns"] = sizes["kept"]
    _check_arrays(arrays, TABLE, sizes)
    _check_ramps(arrays, sizes["columns"])
    _check_cuts(arrays, sizes["columns"])
    _check_path(arrays, description.get("search", {}))
    return {**sizes, "inputs": sizes["columns"] + sizes.get("ramps", 0)}


def _features(arrays: Arrays, description: Description) -> dict[str, int]:
    """Return how many features there are and, where none was dropped, how many are kept."""
    encoder, names = description.get("encoder"), description["feature_names"]
    n_columns = description.get("n_features", description["hide"][0])
    columns = {"feature_names": names, "encoder.columns": None if encoder is None else encoder["columns"]}
    for name, listed in columns.items():
        if listed is not None and len(listed) != n_columns:
            raise FileFormatError(f"description.{name} has {len(listed)} entries; expected {n_columns}")
    n_features = n_columns if encoder is None else len(encoder["features"])
    return {"features": n_features} if "kept" in arrays else {"features": n_features, "kept": n_features}


def _check_screening(arrays: Arrays, n_features: int) -> None:
    for name in ("screening.others", "copies"):
        if name in arrays and arrays[name].max() >= n_features:
            raise FileFormatError(f"array {name!r} has numbers of features that are not there")
    if "kept" not in arrays:
        return
    copies = arrays["copies"][:, 0] if "copies" in arrays else np.empty(0, dtype=np.int64)
    n_listed = len(arrays["kept"]) + len(copies)  # a file can state any number of features: memory is asked for fewer
    expected = arrays.get("screening.kept", np.ones(min(n_features, n_listed), dtype=bool)).copy()
    if len(expected) == n_features:
        expected[copies] = False
        if np.array_equal(arrays["kept"], np.flatnonzero(expected)):
            return
    raise FileFormatError("array 'kept' does not have the features of 'screening.kept' that are no 'copies'")


def _check_cuts(arrays: Arrays, n_columns: int) -> None:
    if "cuts.column" not in arrays:
        return
    cuts = Cuts(*(arrays[f"cuts.{name}"] for name in ("column", "at", "margin")))
    if cuts.column.max() >= n_columns or not cuts.are_apart:
        raise FileFormatError("the arrays 'cuts' are no cuts of columns whose margins are apart")


def _check_ramps(arrays: Arrays, n_columns: int) -> None:
    if "ramps.column" not in arrays:
        return
    column, length = arrays["ramps.column"], arrays["ramps.high"] - arrays["ramps.low"]
    if column.max() >= n_columns or (np.diff(column) < 0).any() or not (length > 0).all():
        raise FileFormatError("the arrays 'ramps' are no pieces of columns in their order")


def _check_path(arrays: Arrays, search: Mapping[str, Any]) -> None:
    if "path.penalty" not in arrays:
        if search:
            raise FileFormatError("description.search is about a path, and no array 'path.penalty' is there")
        return
    missing = {"score_name", "null_loss", "chosen"} - set(search)
    farthest = max(search.get("chosen", 0), search.get("default", 0))
    if missing or farthest >= len(arrays["path.penalty"]) or arrays["path.excess"].min() > 0:
        raise FileFormatError("description.search does not belong to the arrays 'path'")


def _check_networks(description: Description, sizes: dict[str, int]) -> tuple[Mlp, Mlp]:
    """Return the shapes of Hide and Seek, and add the number of a member's weights to ``sizes``."""
    target, hidden = description["target"], description["recipe"]["hidden_layers"]
    n_outputs = len(target["classes"]["values"]) if "classes" in target else 1
    more = 1 if description["recipe"].get("highest_prices") else 0
    for name, expected in (
        ("hide", [sizes["inputs"], *hidden, sizes["kept"] * (1 + more)]),
        ("seek", [sizes["inputs"] + more, *hidden, n_outputs]),
    ):
        check_value(description[name], Rule(f"{expected}", expected.__eq__), f"description.{name}")
    hide, seek = Mlp(tuple(description["hide"])), Mlp(tuple(description["seek"]))
    n_seeks = 2 if description["recipe"].get("cross_fit", False) else 1
    sizes["weights"] = hide.n_parameters + n_seeks * seek.n_parameters
    return hide, seek


def _check_draws(arrays: Arrays, description: Description, prefix: str) -> None:
    n_draws = description["parameters"].get("prediction_draws", 1)
    if len(arrays["pool"]) < n_draws:
        raise FileFormatError(f"array '{prefix}pool' has {len(arrays['pool'])} rows; prediction_draws is {n_draws}")


def _check_prices(arrays: Arrays, description: Description) -> None:
    """Check that an ensemble that answers for a range of prices has one, and a price to answer at."""
    answers_for_range, price_range = bool(description["recipe"].get("highest_prices")), arrays.get("price_range")
    if answers_for_range != (price_range is not None) or answers_for_range != (description.get("price") is not None):
        raise FileFormatError("description.recipe.highest_prices, description.price and 'price_range' do not agree")
    if price_range is not None and not (price_range[:, 1] - price_range[:, 0] > _NARROWEST).all():
        raise FileFormatError("array 'price_range' has ranges whose ends are not in order")


def _largest_output_allowed(description: Description) -> float:
    """Return what the networks may give at most, so that no prediction is infinite."""
    target = description["target"]
    return min(_LARGEST_VALUE, (1e308 - abs(target["center"])) / target["scale"] if "scale" in target else inf)
