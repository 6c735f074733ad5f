"""A fitted model as plain values, for everything that runs it without this library.

The page's model.js and the graph of an ONNX file are made from it. It keeps apart what may differ between models:

- ``encoder``: how the columns of the table become those of a matrix, and which are one feature.
- ``inputs``: what the networks see, the columns of that matrix and ramps of them, each standardised; where a column has
  ``cuts``, its values are moved away from them first.
- ``groups``: for each input, the number of its mask, which is that of its feature.
- ``members``: for each, the masks it gives (``visible``), the layers of its Hide, and of each of its Seeks, whose
  answers are averaged; and the logarithms of the lowest and highest price for which it answers (``range``), null where
  it answers for one.
- ``price``: at which the members answer, where they answer for a range.
- ``pool``: the rows that stand in for what is hidden.
- ``shown``, ``threshold``: what the Seeks see: the features whose mean mask is greater, or a share of each by the mask.
- ``output``: from the mean output to an answer.

Matrices are not in place but in ``weights``, one array of single precision, where they begin at ``start``. All else is
JSON.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from hideseek.cells import named_answer
from hideseek.engine.scaling import Scaler
from hideseek.tabular import TableEncoder

if TYPE_CHECKING:
    from hideseek.estimators import BaseHideSeek

__all__ = ["describe", "kept_columns", "kept_encoder", "kept_features"]


def kept_features(model: BaseHideSeek) -> list[int]:
    """Return the numbers of the features that the networks see: all, or those that screening left."""
    kept = model.learned_.ensemble.kept
    return list(range(len(model._names()))) if kept is None else [int(j) for j in kept.features]


def kept_columns(model: BaseHideSeek) -> list[int]:
    """Return the numbers of the table columns that these features are made of, in the order of ``kept_encoder``."""
    return sorted(k for j in kept_features(model) for k in model.encoder_.features[j].columns)


def kept_encoder(model: BaseHideSeek) -> TableEncoder:
    """Return the encoder of the features that the networks see."""
    return model.encoder_.of(kept_features(model))


def describe(model: BaseHideSeek) -> dict[str, Any]:
    """Return all that is needed to give the masks and predictions of this fitted model."""
    ensemble, encoder, store = model.learned_.ensemble, kept_encoder(model), _Store()
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
        "weights": store.all(),
    }


def _inputs(scaler: Scaler) -> list[dict[str, Any]]:
    """Return the columns of the matrix, each followed by its ramps."""
    parts = zip(scaler.center.tolist(), scaler.scale.tolist(), scaler.constant.tolist(), strict=True)
    inputs: list[dict[str, Any]] = [
        {"column": j, "center": center, "scale": scale, "constant": constant}
        for j, (center, scale, constant) in enumerate(parts)
    ]
    if scaler.cuts is not None:
        cuts = scaler.cuts
        for j, at, margin in zip(cuts.column.tolist(), cuts.at.tolist(), cuts.margin.tolist(), strict=True):
            inputs[j].setdefault("cuts", []).append({"at": at, "margin": margin})
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
    """Arrays one behind the other."""

    def __init__(self) -> None:
        self._parts: list[NDArray[np.float32]] = []
        self._size = 0

    def add(self, values: Tensor) -> int:
        """Append the values, and say where they begin."""
        self._parts.append(values.detach().cpu().numpy().astype(np.float32).reshape(-1))
        self._size += self._parts[-1].size
        return self._size - self._parts[-1].size

    def network(self, layers: list[Tensor], member: int) -> list[dict[str, int]]:
        """Return the layers of one member: a matrix ``(outputs, inputs)`` and, behind it, the bias."""
        described = []
        for matrix, bias in zip(layers[0::2], layers[1::2], strict=True):
            start = self.add(matrix[member])
            self.add(bias[member])
            described.append({"inputs": matrix.shape[2], "outputs": matrix.shape[1], "start": start})
        return described

    def all(self) -> NDArray[np.float32]:
        """Return all values in one array."""
        return np.concatenate(self._parts)
