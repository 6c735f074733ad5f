"""A fitted model as JSON that a page can run; model.js reads it.

The description has these parts:

- ``encoder``: how the columns of the table become those of a matrix, and which are one feature.
- ``inputs``: what the networks see, the columns of that matrix and ramps of them, each standardised.
- ``groups``: for each input, the number of its mask, which is that of its feature.
- ``members``: for each, the masks it gives (``visible``), the layers of its Hide, and of each of its Seeks, whose
  answers are averaged; and the logarithms of the lowest and highest price it was trained on (``range``), null if it was
  trained at one price.
- ``price``: the price of the answers, if the members have a range.
- ``pool``: the replacement rows for hidden features.
- ``shown``, ``threshold``: what the Seeks see: the features whose mean mask is greater, or all features mixed by the
mask. - ``turns``: the number of groups of Seeks that take turns when effects are computed. - ``output``: how the mean
output becomes a prediction.

Matrices are not in the JSON itself but in ``weights``, one array of single precision, where they begin at ``start``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hideseek.cells import named_answer
from hideseek.engine.scaling import Scaler
from hideseek.estimators import BaseHideSeek, turns_of
from hideseek.explanation import Explanation
from hideseek.report.page.packing import pack
from hideseek.tabular import TableEncoder

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["kept_features", "obstacle", "page_encoder", "page_model"]

_MOST_COLUMNS = 500
_MOST_WEIGHTS = 500_000


def obstacle(explanation: Explanation, model: Any) -> str | None:
    """Return why the model cannot run in a page, as a sentence; None if it can."""
    if model is None:
        return "The explanation came without its model (from a file, or made by hand)."
    if not isinstance(model, BaseHideSeek):
        return (
            f"{type(model).__name__} is not a Hide&Seek model: no network gives its importances, so none can run here."
        )
    check_is_fitted(model)
    if explanation.data is None or list(explanation.feature_names) != model._names():
        return "The explanation shows only some of the columns that the model needs."
    ensemble = model.learned_.ensemble
    if ensemble.knockoffs is not None:
        return "The model draws hidden values by knockoffs, given the row, which this page cannot."
    if ensemble.n_features is not None:
        return f"The explanation selects {ensemble.n_features} features in every row, which this page cannot."
    n_columns, n_weights = len(ensemble.scaler.center), ensemble.stack.parameters.numel()
    if n_columns > _MOST_COLUMNS or n_weights > _MOST_WEIGHTS:
        return (
            f"The model is too large to run in a page: {n_columns:,} columns and {n_weights:,} weights; "
            f"{_MOST_COLUMNS:,} and {_MOST_WEIGHTS:,} are the most."
        )
    return None


def kept_features(model: BaseHideSeek) -> list[int]:
    """Return the numbers of the features that the networks see: all, or those that remain after screening."""
    kept = model.learned_.ensemble.kept
    return list(range(len(model._names()))) if kept is None else [int(j) for j in kept.features]


def page_encoder(model: BaseHideSeek) -> TableEncoder:
    """Return the encoder of the features that the networks see."""
    return model.encoder_.of(kept_features(model))


def page_model(model: BaseHideSeek) -> dict[str, Any]:
    """Return what model.js needs to compute the masks and predictions of this fitted model."""
    ensemble, encoder, store = model.learned_.ensemble, page_encoder(model), _Store()
    hide, seek = ensemble.stack.layers()
    visible, n_seeks = ensemble.visible.cpu().numpy(), ensemble.stack.n_seeks
    seen = ensemble.scaler.widths(encoder.widths) or encoder.widths
    ranges = None if ensemble.stack.price_range is None else ensemble.stack.price_range.tolist()
    return {
        "encoder": encoder.to_json(),
        "inputs": _inputs(ensemble.scaler),
        "groups": np.repeat(np.arange(len(seen)), seen).tolist(),
        "members": [
            {
                "visible": visible[k].astype(int).tolist(),
                "range": None if ranges is None else ranges[k],
                "hide": store.network(hide, k),
                "seeks": [store.network(seek, k * n_seeks + i) for i in range(n_seeks)],
            }
            for k in range(len(visible))
        ],
        "pool": {"rows": model.prediction_draws, "start": store.add(ensemble.pool[: model.prediction_draws])},
        "price": ensemble.price,
        "output": _output(model),
        "shown": model._resolve_shown(None),
        "threshold": model.threshold,
        "turns": turns_of(model),
        "weights": pack(store.all(), "f4"),
    }


def _inputs(scaler: Scaler) -> list[dict[str, Any]]:
    """Return the columns of the matrix, each followed by its ramps."""
    parts = zip(scaler.center.tolist(), scaler.scale.tolist(), scaler.constant.tolist(), strict=True)
    inputs: list[dict[str, Any]] = [
        {"column": j, "center": center, "scale": scale, "constant": constant}
        for j, (center, scale, constant) in enumerate(parts)
    ]
    if scaler.ramps is None:
        return inputs
    names = ("low", "high", "center", "scale")
    ramps = zip(*(getattr(scaler.ramps, name).tolist() for name in names), strict=True)
    for j, ramp in zip(scaler.ramps.column, ramps, strict=True):
        inputs.append({**inputs[j], "ramp": dict(zip(names, ramp, strict=True))})
    return [inputs[i] for i in scaler.ramps.order]


def _output(model: Any) -> dict[str, Any]:
    if model._loss == "cross_entropy":
        return {
            "kind": "softmax",
            "classes": [str(label) for label in model.classes_],
            "said": [named_answer(label, model.target_name_) for label in model.classes_.tolist()],
        }
    center, scale = model._units()
    return {"kind": "value", "name": model.target_name_ or "y", "center": center, "scale": scale}


class _Store:
    """Arrays concatenated into one."""

    def __init__(self) -> None:
        self._parts: list[NDArray[np.float32]] = []
        self._size = 0

    def add(self, values: Tensor) -> int:
        """Append the values, and return where they begin."""
        self._parts.append(values.detach().cpu().numpy().astype(np.float32).reshape(-1))
        self._size += self._parts[-1].size
        return self._size - self._parts[-1].size

    def network(self, layers: list[Tensor], member: int) -> list[dict[str, int]]:
        """Return the layers of one member: a matrix ``(outputs, inputs)`` followed by the bias."""
        described = []
        for matrix, bias in zip(layers[0::2], layers[1::2], strict=True):
            start = self.add(matrix[member])
            self.add(bias[member])
            described.append({"inputs": matrix.shape[2], "outputs": matrix.shape[1], "start": start})
        return described

    def all(self) -> NDArray[np.float32]:
        """Return all values in one array."""
        return np.concatenate(self._parts)
