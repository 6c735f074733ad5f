"""A fitted estimator as arrays and JSON, and back."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from hideseek.engine.conditional import DiscreteConditional, GaussianConditional
from hideseek.engine.cuts import Cuts
from hideseek.engine.device import resolve_device
from hideseek.engine.ensemble import Ensemble, Kept
from hideseek.engine.groups import Groups
from hideseek.engine.knockoffs import Knockoffs
from hideseek.engine.networks import Mlp
from hideseek.engine.ramps import Ramps
from hideseek.engine.recipe import Recipe
from hideseek.engine.replacement import CONDITIONAL, KNOCKOFFS
from hideseek.engine.scaling import Scaler
from hideseek.engine.stack import Stack
from hideseek.errors import InputError
from hideseek.estimators._fitted_files import FittedFiles
from hideseek.estimators._parameters import RULES
from hideseek.estimators._search_state import (
    search_from,
    stand_ins_from,
    state_of_search,
    state_of_stand_ins,
    with_prefix,
)
from hideseek.persistence import Arrays, Description
from hideseek.search import Trust
from hideseek.search.learned import Learned
from hideseek.tables import names_of_fit
from hideseek.tabular import TableEncoder

__all__ = ["parameters_from", "restore_state", "state_of"]

_RAMPS = ("column", "low", "high", "center", "scale")
_CUTS = ("column", "at", "margin")


def state_of(model: Any) -> tuple[Arrays, Description]:
    """Return what explaining and predicting need, and the record of the fit."""
    learned: Learned = model.learned_
    ensemble = learned.ensemble
    if isinstance(ensemble.conditional, DiscreteConditional):
        raise InputError(
            'save cannot write a model that was fitted with replacement="conditional" on a table of categories: it '
            "draws from complete training rows, which files do not contain; pickle the model where these may be seen, "
            'or fit with replacement="marginal"'
        )
    arrays = {
        **_arrays_of(ensemble, learned.history),
        "center": ensemble.scaler.center,
        "scale": ensemble.scaler.scale,
        "constant": ensemble.scaler.constant,
    }
    if ensemble.scaler.ramps is not None:
        arrays |= {f"ramps.{name}": getattr(ensemble.scaler.ramps, name) for name in _RAMPS}
    if ensemble.scaler.cuts is not None:
        arrays |= {f"cuts.{name}": getattr(ensemble.scaler.cuts, name) for name in _CUTS}
    if model.encoder_.is_plain:
        arrays["fill"] = model.encoder_.fills
    if learned.feature_importances is not None:
        arrays["feature_importances"] = learned.feature_importances
    if ensemble.kept is not None:
        arrays["kept"] = ensemble.kept.features
    names = getattr(model, "feature_names_in_", None)
    searched_arrays, searched = state_of_search(learned)
    description = {
        "parameters": _parameters_of(model),
        "hide": list(ensemble.stack.hide.sizes),
        "seek": list(ensemble.stack.seek.sizes),
        "recipe": asdict(learned.recipe),
        "penalty": learned.penalty,
        "price": ensemble.price,
        "n_features": model.n_features_in_,
        "feature_names": None if names is None else [str(name) for name in names],
        "target": model._target_state(),
        "encoder": None if model.encoder_.is_plain else model.encoder_.to_json(),
        "pool": learned.pool,
        "target_name": model.target_name_,
        "search": searched,
        "trust": None if learned.trust is None else learned.trust.figures(),
        "stand_ins": state_of_stand_ins(learned),
        "fitted_files": asdict(model.fitted_files_) if hasattr(model, "fitted_files_") else None,
    }
    return {**arrays, **searched_arrays}, description


def _arrays_of(ensemble: Ensemble, history: Arrays) -> dict[str, NDArray[Any]]:
    """Return the arrays of the networks and the history."""
    knockoffs, conditional = (
        () if fitted is None else fitted.tensors for fitted in (ensemble.knockoffs, ensemble.conditional)
    )
    price_range = ensemble.stack.price_range
    return {
        "parameters": ensemble.stack.by_member().cpu().numpy(),
        **({} if price_range is None else {"price_range": price_range.cpu().numpy()}),
        "visible": ensemble.visible.cpu().numpy(),
        "pool": ensemble.pool.cpu().numpy(),
        **{f"history.{name}": values for name, values in history.items()},
        **{f"knockoffs.{i}": tensor.cpu().numpy() for i, tensor in enumerate(knockoffs)},
        **{f"conditional.{i}": tensor.cpu().numpy() for i, tensor in enumerate(conditional)},
    }


def restore_state(model: Any, arrays: Arrays, description: Description) -> None:
    """Make an unfitted ``model`` what it was when ``state_of`` saw it."""
    device = resolve_device(model.device if RULES["device"].accepts(model.device) else "auto")
    hide, seek = Mlp(tuple(description["hide"])), Mlp(tuple(description["seek"]))
    model.n_features_in_ = description.get("n_features", description["hide"][0])
    if description["feature_names"] is not None:
        model.feature_names_in_ = np.array(description["feature_names"], dtype=object)
    model.encoder_ = _encoder_from(names_of_fit(model), arrays, description)
    model.target_name_ = description.get("target_name")
    widths = model.encoder_.widths
    kept = Kept.of(arrays["kept"], widths) if "kept" in arrays else None
    own = with_prefix(arrays, "ramps.")
    ramps = Ramps(**own, n_columns=len(arrays["center"])) if own else None
    cuts = Cuts(**own) if (own := with_prefix(arrays, "cuts.")) else None
    scaler = Scaler(arrays["center"], arrays["scale"], arrays["constant"], ramps, cuts)
    seen = scaler.widths(widths if kept is None else [widths[j] for j in kept.features])
    groups = Groups.from_widths(seen, device)
    recipe = description["recipe"]

    names = ("parameters", "visible", "pool", "price_range")
    tensors = {name: torch.from_numpy(arrays[name]).to(device) for name in names if name in arrays}
    stack = Stack.from_members(hide, seek, tensors["parameters"], groups, tensors.get("price_range"))
    knockoffs = _knockoffs_from(arrays, recipe["replacement"], device)
    ensemble = Ensemble(
        stack,
        tensors["visible"],
        tensors["pool"],
        scaler,
        knockoffs,
        kept,
        description.get("price"),
        conditional=_conditional_from(arrays, recipe["replacement"], device),
    )
    trust = description.get("trust")
    model.learned_ = Learned(
        ensemble,
        _recipe_from(recipe),
        description["penalty"],
        with_prefix(arrays, "history."),
        len(model._names()),
        pool=description.get("pool", "noise" if ensemble.draws_given_row else "values"),
        stand_ins=stand_ins_from(description.get("stand_ins")),
        trust=None if trust is None else Trust(**trust).with_warnings(),
        feature_importances=arrays.get("feature_importances"),
        **search_from(arrays, description.get("search", {}), answers_for_range=bool(recipe.get("highest_prices", ()))),
    )
    model._set_target_state(description["target"])
    files = description.get("fitted_files")
    if files is not None:
        counts = files["class_counts"]
        model.fitted_files_ = FittedFiles(**{**files, "class_counts": None if counts is None else tuple(counts)})


def _recipe_from(recipe: Description) -> Recipe:
    values = dict(recipe)
    values["hidden_layers"] = tuple(recipe["hidden_layers"])
    values["highest_prices"] = tuple(recipe.get("highest_prices", ()))
    values.pop("n_scouts", None)  # of older files
    return Recipe(**values)


def _encoder_from(names: list[str], arrays: Arrays, description: Description) -> TableEncoder:
    """Return the encoder of the fit; older files of numbers alone know the means, of the columns that were kept."""
    if description.get("encoder") is not None:
        return TableEncoder.from_json(description["encoder"])
    fill = arrays.get("fill")
    if fill is None:
        fill = np.zeros(len(names))
        fill[arrays.get("kept", np.arange(len(names)))] = arrays["center"]
    return TableEncoder.of_numbers(names, fill)


def _knockoffs_from(arrays: Arrays, replacement: str, device: torch.device) -> Knockoffs | None:
    if replacement not in KNOCKOFFS:
        return None
    n_tensors = sum(name.startswith("knockoffs.") for name in arrays)
    return KNOCKOFFS[replacement](*(torch.from_numpy(arrays[f"knockoffs.{i}"]).to(device) for i in range(n_tensors)))


def _conditional_from(arrays: Arrays, replacement: str, device: torch.device) -> GaussianConditional | None:
    if replacement != CONDITIONAL:
        return None
    return GaussianConditional(*(torch.from_numpy(arrays[f"conditional.{i}"]).to(device) for i in range(3)))


def _parameters_of(model: Any) -> dict[str, Any]:
    """Return the constructor's arguments as JSON."""
    parameters: dict[str, Any] = model.get_params(deep=False)
    if isinstance(parameters["random_state"], np.random.RandomState | np.random.Generator):
        parameters["random_state"] = None  # a generator has moved on; what it gave is in the weights
    if "model" in parameters:
        parameters["model"] = None  # a black box is not ours to write
    if isinstance(parameters.get("class_weight"), dict):  # JSON keys are strings; labels need not be
        parameters["class_weight"] = [[_plain(k), _plain(v)] for k, v in parameters["class_weight"].items()]
    if parameters["groups"] is not None:
        parameters["groups"] = {name: [_plain(column) for column in cs] for name, cs in parameters["groups"].items()}
    parameters["device"] = str(parameters["device"])
    return {name: _plain(value) for name, value in parameters.items()}


def parameters_from(description: Description) -> dict[str, Any]:
    """Return the constructor's arguments from JSON."""
    parameters = dict(description["parameters"])
    if parameters["hidden_layers"] is not None:
        parameters["hidden_layers"] = tuple(parameters["hidden_layers"])
    if isinstance(parameters.get("class_weight"), list):
        parameters["class_weight"] = dict(parameters["class_weight"])
    return parameters


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
