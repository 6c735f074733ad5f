"""A fitted model as one ONNX file: raw columns in; masks, selection and prediction out.

The graph is made from the description of the model (``hideseek.export.description``), of standard operators alone.
Columns are standardised in double precision, the networks run in single precision, as in Python.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from hideseek._version import __version__
from hideseek.engine.scaling import FARTHEST
from hideseek.errors import InputError
from hideseek.export._graph import Graph
from hideseek.export._networks import Layers, Networks
from hideseek.export._raw_columns import RawColumns, encode
from hideseek.export.description import describe, kept_columns, kept_features
from hideseek.extras import import_extra

if TYPE_CHECKING:
    from hideseek.estimators import BaseHideSeek

__all__ = ["INPUT_TYPES", "OPSET", "onnx_bytes"]

OPSET, _IR_VERSION = 19, 9
"""The operators of ONNX 1.14 (2023), the first with a comparison of text."""

INPUT_TYPES = ("float64", "float32")
"""What the numbers of the input "X" may be."""


def onnx_bytes(model: BaseHideSeek, input_type: str) -> bytes:
    """Return the content of the ONNX file of a fitted model; the same bytes for the same model."""
    onnx = import_extra("onnx", "onnx", "to_onnx needs onnx")
    _check_exportable(model)
    raw, graph = RawColumns.of(model.encoder_), Graph(onnx)
    rows, n_features, n_classes = "rows", len(model._names()), len(getattr(model, "classes_", ()))
    inputs = [
        graph.tensor(name, dtype, (rows, len(columns)))
        for name, dtype, columns in (("X", input_type, raw.numbers), ("X_text", object, raw.texts))
        if columns
    ]
    described = describe(model)
    _Writer(graph, described, Networks.of(described)).write(raw, kept_columns(model), kept_features(model), n_features)
    value = ("value", np.float64, (rows,))
    answer = ("probability", np.float32, (rows, n_classes)) if described["output"]["kind"] == "softmax" else value
    cells = (rows, n_features)
    outputs = [graph.tensor(*each) for each in (("mask", np.float32, cells), ("selected", np.bool_, cells), answer)]
    file = onnx.helper.make_model(
        graph.built("hideseek", inputs, outputs),
        opset_imports=[onnx.helper.make_opsetid("", OPSET)],
        ir_version=_IR_VERSION,
        producer_name="hideseek",
        producer_version=__version__,
    )
    onnx.helper.set_model_props(file, _properties(model, raw, described))
    onnx.checker.check_model(file)
    return bytes(file.SerializeToString(deterministic=True))


def _check_exportable(model: BaseHideSeek) -> None:
    """Raise an InputError where standard operators cannot do what the model does."""
    ensemble = model.learned_.ensemble
    if ensemble.draws_given_row:
        raise InputError(
            "to_onnx cannot export a model that draws hidden values given the row "
            f'(replacement={model.recipe_.replacement!r}); fit with replacement="marginal"'
        )
    if ensemble.n_features is not None:
        raise InputError(
            f"to_onnx cannot export a model that selects n_features={ensemble.n_features} in every row; "
            "export the fitted model, or model.at(n_features=...), which selects so many on average"
        )


def _properties(model: BaseHideSeek, raw: RawColumns, described: Mapping[str, Any]) -> dict[str, str]:
    """Return the names of columns, features and classes, as JSON."""
    names = model.encoder_.names
    columns = {"X": [names[k] for k in raw.numbers], "X_text": [names[k] for k in raw.texts]}
    found = {"columns": columns, "features": model._names(), "classes": described["output"].get("classes")}
    return {name: json.dumps(value) for name, value in found.items() if value is not None}


class _Writer:
    """Adds the parts of a model to a graph."""

    def __init__(self, graph: Graph, described: Mapping[str, Any], networks: Networks) -> None:
        self.graph, self.described, self.networks = graph, described, networks

    def write(self, raw: RawColumns, columns: list[int], features: list[int], n_features: int) -> None:
        """Add all of it, from "X" and "X_text" to "mask", "selected" and "probability" or "value".

        Args:
            raw: Which columns are in which input.
            columns: The columns of the table that the networks see.
            features: The features that they see; the masks of the others are 0.
            n_features: How many features there are.
        """
        graph = self.graph
        X = graph.cast("X", np.float64) if raw.numbers else "X"
        x = self.inputs(encode(graph, raw, self.described["encoder"], columns, X))
        own = self.member_masks(x)
        shared = [graph.add("Mul", mask, share) for mask, share in zip(own, self.shares(), strict=True)]
        mean = graph.add("Sum", *shared)
        threshold = graph.constant(self.described["threshold"], np.float32)
        selected = graph.add("Greater", mean, threshold)
        ends = graph.constant([0, 0, 0, 1], np.int64)
        index = np.full(n_features, len(features))
        index[features] = np.arange(len(features))
        where = graph.constant(index, np.int64)
        graph.add("Gather", graph.add("Pad", mean, ends), where, name="mask", axis=1)
        graph.add("Greater", "mask", threshold, name="selected")
        self.answer(self.total(x, [selected] if self.described["shown"] == "selected" else own))

    def inputs(self, matrix: str) -> str:
        """Add what ``Scaler.transform`` does. Shape: ``(rows, columns)`` -> ``(rows, inputs)``, single precision."""
        graph, inputs = self.graph, self.described["inputs"]

        def each(name: str) -> str:
            return graph.constant([[each[name] for each in inputs]], np.float64)

        x = graph.gather(matrix, [each["column"] for each in inputs], axis=1)
        x = graph.add("Div", graph.add("Sub", x, each("center")), each("scale"))
        x = graph.clip(x, -FARTHEST, FARTHEST, np.float64)
        constant = [each["constant"] for each in inputs]
        if any(constant):
            x = graph.add("Where", graph.constant([constant], np.bool_), graph.constant(0, np.float64), x)
        if any("cuts" in each for each in inputs):
            x = self.away_from_cuts(x)
        if any("ramp" in each for each in inputs):
            x = self.with_ramps(x)
        return graph.cast(x, np.float32)

    def away_from_cuts(self, x: str) -> str:
        """Move values away from the cuts of their columns; each turn takes one cut of every column."""
        graph, inputs = self.graph, self.described["inputs"]
        moved = x
        for turn in range(max(len(each.get("cuts", ())) for each in inputs)):
            cuts = [each["cuts"][turn] if turn < len(each.get("cuts", ())) else None for each in inputs]
            at, margin = (np.array([[0.0 if cut is None else cut[name] for cut in cuts]]) for name in ("at", "margin"))
            above = graph.add("GreaterOrEqual", x, graph.constant(at, np.float64))
            up = graph.add("Max", moved, graph.constant(at + margin, np.float64))
            down = graph.add("Min", moved, graph.constant(at - margin, np.float64))
            has_cut = graph.constant([[cut is not None for cut in cuts]], np.bool_)
            moved = graph.add("Where", has_cut, graph.add("Where", above, up, down), moved)
        return moved

    def with_ramps(self, x: str) -> str:
        """Replace the inputs that are ramps by their values."""
        graph, inputs = self.graph, self.described["inputs"]
        straight = {"low": 0.0, "high": 1.0, "center": 0.0, "scale": 1.0}
        ramps = [each.get("ramp", straight) for each in inputs]
        low, high, center, scale = (np.array([[ramp[name] for ramp in ramps]]) for name in straight)
        height = graph.add("Sub", x, graph.constant(low, np.float64))
        height = graph.clip(graph.add("Div", height, graph.constant(high - low, np.float64)), 0, 1, np.float64)
        height = graph.add("Sub", height, graph.constant(center, np.float64))
        height = graph.add("Div", height, graph.constant(scale, np.float64))
        return graph.add("Where", graph.constant([["ramp" in each for each in inputs]], np.bool_), height, x)

    def forward(self, graph: Graph, layers: Layers, number: int, x: str) -> str:
        """Run one of the networks: as products of two matrices, with which runtimes are quicker than with stacks.

        Shape: ``(rows, inputs)`` -> ``(rows, outputs)``.
        """
        for depth, (matrix, bias) in enumerate(layers):
            weights = [self.graph.constant(part, np.float32) for part in (matrix[number], bias[number, 0])]
            x = graph.add("Gemm", graph.add("Relu", x) if depth else x, *weights)
        return x

    def member_masks(self, x: str) -> list[str]:
        """Add Hide of every member. Shape: ``(rows, inputs)`` -> ``(rows, features)`` each."""
        graph, u, hide = self.graph, self.networks.u, self.networks.hide
        outputs = [self.forward(graph, hide, number, x) for number in range(len(self.described["members"]))]
        if u is None:
            return [graph.add("Sigmoid", output) for output in outputs]
        n_features = len(self.described["members"][0]["visible"])
        bounds = [graph.constant([place], np.int64) for place in (0, n_features, 2 * n_features)]
        axis, one = graph.constant([1], np.int64), graph.constant(1, np.float32)
        masks = []
        for output, position in zip(outputs, u, strict=True):
            a, b = (graph.add("Slice", output, start, end, axis) for start, end in pairwise(bounds))
            slope = graph.add("Softplus", graph.add("Add", b, one))
            fall = graph.add("Mul", slope, graph.constant(position, np.float32))
            masks.append(graph.add("Sigmoid", graph.add("Sub", a, fall)))
        return masks

    def shares(self) -> list[str]:
        """Add the share of each member in the mean mask. Shape: ``(1, features)`` each."""
        visible = np.array([member["visible"] for member in self.described["members"]], dtype=np.float32)
        return [self.graph.constant(share[None], np.float32) for share in visible / visible.sum(axis=0).clip(min=1)]

    def total(self, x: str, shown: list[str]) -> str:
        """Add the Seeks: the sum of their answers over Seeks and draws.

        Args:
            x: The inputs. Shape: ``(rows, inputs)``.
            shown: The selection, the same for all members, or the mask of each. Shape: ``(rows, features)`` each.

        Shape: ``(rows, outputs)``.
        """
        graph, described, seek = self.graph, self.described, self.networks.seek
        n_inputs, n_draws, n_seeks = len(described["inputs"]), described["pool"]["rows"], len(seek[0][0])
        pool = described["weights"][described["pool"]["start"] :][: n_draws * n_inputs].reshape(n_draws, n_inputs)
        whole = described["shown"] == "selected"
        by_input = [graph.gather(each, described["groups"], axis=1) for each in shown]
        body = graph.inner()
        mixed = [body.add("Where", each, x, "drawn") if whole else _share(body, each, x) for each in by_input]
        answers = [self.forward(body, seek, k, mixed[k * len(mixed) // n_seeks]) for k in range(n_seeks)]
        if described["output"]["kind"] == "softmax":
            answers = [body.add("Softmax", answer, axis=1) for answer in answers]
        body.add("Sum", "so_far", *answers, name="so_far_and_this")
        n_outputs = seek[-1][0].shape[2]
        sums = [body.tensor(name, np.float32, ("rows", n_outputs)) for name in ("so_far", "so_far_and_this")]
        each_draw = body.built("one_draw", [sums[0], body.tensor("drawn", np.float32, (n_inputs,))], sums[1:])
        n_rows = graph.add("Shape", x, start=0, end=1)
        shape = graph.add("Concat", n_rows, graph.constant([n_outputs], np.int64), axis=0)
        nothing = graph.add("Expand", graph.constant(0, np.float32), shape)
        return graph.add("Scan", nothing, graph.constant(pool, np.float32), body=each_draw, num_scan_inputs=1)

    def answer(self, total: str) -> None:
        """Add "probability" or "value", from the sum of the answers."""
        graph, output = self.graph, self.described["output"]
        count = graph.constant(self.described["pool"]["rows"] * len(self.networks.seek[0][0]), np.float32)
        if output["kind"] == "softmax":
            graph.add("Div", total, count, name="probability")
            return
        mean = graph.add("Squeeze", graph.add("Div", total, count), graph.constant([1], np.int64))
        value = graph.add("Mul", graph.cast(mean, np.float64), graph.constant(output["scale"], np.float64))
        graph.add("Add", value, graph.constant(output["center"], np.float64), name="value")


def _share(graph: Graph, mask: str, x: str) -> str:
    """Mix a row with a drawn one by the mask: z = m * x + (1 - m) * x_hat (eq. 4)."""
    return graph.add("Add", "drawn", graph.add("Mul", mask, graph.add("Sub", x, "drawn")))
