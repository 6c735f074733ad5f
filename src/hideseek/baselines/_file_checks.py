"""Rules for the files of baseline methods made of networks."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from hideseek.engine.dense import Dense
from hideseek.engine.networks import split
from hideseek.errors import FileFormatError
from hideseek.persistence import LABELS, Arrays, Description
from hideseek.schema import (
    NAMES,
    ArrayRule,
    Fields,
    Node,
    check_array_names,
    check_shape,
    check_value,
    check_values,
    text,
)
from hideseek.validation import Rule, integer

__all__ = ["check_state"]

_FARTHEST = 1e6
"""Standard deviations at which values are clipped; see ``Scaler``."""

_STEEPEST = 2.0
"""Upper bound of the ratio of an activation to its input."""

_OF_THE_FILE = {
    "device": text(100),  # device of the machine that wrote the file
    "random_state": integer(0, 2**32 - 1).or_none(),
}
_NEWER = ("form",)
"""Parameters that earlier files do not have; they matter only in training."""

_ARRAYS = {
    "parameters": ArrayRule(("f4",), (1, "weights")),
    "statistics": ArrayRule(("f4",), (1, "moments")),
    "center": ArrayRule(("f8",), ("columns",)),
    "scale": ArrayRule(("f8",), ("columns",), low=np.finfo(np.float64).smallest_subnormal),
    "constant": ArrayRule(("b1",), ("columns",)),
}


def check_state(owner: Any, arrays: Arrays, description: Description) -> None:
    """Raise a FileFormatError unless these make a valid method of class ``owner`` with finite answers."""
    parameters: dict[str, Rule | Node] = {**owner._rules, **_OF_THE_FILE}
    optional = {name: parameters.pop(name) for name in _NEWER if name in parameters}
    of_the_method = Fields(parameters, optional)
    fields: dict[str, Rule | Node] = {"parameters": of_the_method, "classes": LABELS, "feature_names": NAMES.or_none()}
    check_value(description, Fields(fields), "description")
    check_array_names(list(arrays), _ARRAYS)
    n_columns = len(arrays["center"]) if arrays["center"].ndim else 0
    if n_columns == 0 or len(description["feature_names"] or arrays["center"]) != n_columns:
        raise FileFormatError(f"array 'center' has {n_columns} entries, which is not a possible number of columns")
    if "k" in parameters:
        check_value(description["parameters"]["k"], integer(1, n_columns), "description.parameters.k")
    shapes = owner(**description["parameters"])._networks(n_columns, len(description["classes"]["values"]))
    sizes = {
        "columns": n_columns,
        "weights": sum(network.n_parameters for network in shapes.values()),
        "moments": sum(network.n_statistics for network in shapes.values()),
    }
    for name, rule in _ARRAYS.items():
        check_shape(name, arrays[name], rule, sizes)
        check_values(name, arrays[name], rule)
    _check_bounds(arrays, list(shapes.values()))


def _check_bounds(arrays: Arrays, networks: list[Dense]) -> None:
    """Raise a FileFormatError if some layer could overflow.

    The bound uses absolute weights: with these, a network has its largest output at its largest input.
    """
    weights, moments = (torch.from_numpy(arrays[name]) for name in ("parameters", "statistics"))
    for network, own, mean_and_variance in zip(
        networks,
        weights.abs().split_with_sizes([network.n_parameters for network in networks], dim=1),
        moments.split_with_sizes([network.n_statistics for network in networks], dim=1),
        strict=True,
    ):
        lowest = mean_and_variance.clone()
        for mean, variance in network._moments(lowest):
            if bool((variance < 0).any()):
                raise FileFormatError("array 'statistics' has variances below 0")
            mean.abs_().neg_()
        x = torch.full((1, network.sizes[0], 1), 2 * _FARTHEST)
        largest = network.forward(split(own, network.shapes), x, lowest).max()
        if not bool(largest * _STEEPEST ** len(network.sizes) < 1e37):
            raise FileFormatError("array 'parameters' has weights so large that answers could be infinite")
