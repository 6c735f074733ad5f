"""Describe what a saved model contains of its training data; docs/privacy.md has the details."""

from __future__ import annotations

from typing import Any

__all__ = ["held_of_training"]

_POOLS = {
    "values": "{} values of each feature, drawn from the rows independently for each feature",
    "means": "{} values of each feature, each the mean of 16 drawn from the rows",
    "noise": "mean and dependence of the columns, in the knockoffs or the conditional law",
}


def held_of_training(model: Any) -> list[str]:
    """Return one phrase for each kind of training data in the model."""
    held = ["mean and standard deviation of each column"]
    if not hasattr(model, "learned_"):  # a baseline method
        return held
    ensemble = model.learned_.ensemble
    held.append(_POOLS[model.pool_].format(len(ensemble.pool)))
    if ensemble.scaler.ramps is not None:
        n_columns = len(set(ensemble.scaler.ramps.column.tolist()))
        held.append(f"minimum, quartiles and maximum of {n_columns} columns")
    if ensemble.scaler.cuts is not None:
        held.append(f"cuts: {len(ensemble.scaler.cuts)}, each the middle of two neighbouring values of a column")
    if hasattr(model, "encoder_"):
        n_levels = sum(len(code.levels) for code in model.encoder_.codes)
        held.append(f"the median or most frequent value of each column, and {n_levels} levels of categories")
    return held
