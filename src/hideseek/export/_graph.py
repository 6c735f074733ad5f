"""Nodes and constants of an ONNX graph, added one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["Graph"]


class Graph:
    """A graph under construction; every tensor is known by its name.

    Attributes:
        nodes: The operators so far, in an order in which they can be run.
        constants: The constants so far, those of inner graphs among them.
    """

    def __init__(self, onnx: Any, outer: Graph | None = None) -> None:
        self._onnx, self._is_inner = onnx, outer is not None
        self._numbers: Iterator[int] = count() if outer is None else outer._numbers
        self.nodes: list[Any] = []
        self.constants: list[Any] = [] if outer is None else outer.constants

    def inner(self) -> Graph:
        """Return an empty graph for the body of a ``Scan``, which may use the tensors of this one."""
        return Graph(self._onnx, self)

    def constant(self, values: ArrayLike, dtype: Any) -> str:
        """Add a constant and return its name."""
        name = f"constant_{next(self._numbers)}"
        self.constants.append(self._onnx.numpy_helper.from_array(np.array(values, dtype=dtype), name))
        return name

    def add(self, operator: str, *inputs: str, name: str | None = None, **attributes: Any) -> str:
        """Add an operator with one output, and return the name of that."""
        output = name or f"{operator}_{next(self._numbers)}"
        self.nodes.append(self._onnx.helper.make_node(operator, inputs, [output], name=output, **attributes))
        return output

    def cast(self, values: str, dtype: Any) -> str:
        """Convert to another type."""
        return self.add("Cast", values, to=self._onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def gather(self, values: str, index: ArrayLike, axis: int) -> str:
        """Pick entries along an axis."""
        return self.add("Gather", values, self.constant(index, np.int64), axis=axis)

    def clip(self, values: str, low: float, high: float, dtype: Any) -> str:
        """Limit numbers of this type to an interval."""
        return self.add("Clip", values, self.constant(low, dtype), self.constant(high, dtype))

    def sum(self, values: str, axis: int, *, keep: bool = False) -> str:
        """Add up along an axis."""
        return self.add("ReduceSum", values, self.constant([axis], np.int64), keepdims=int(keep))

    def tensor(self, name: str, dtype: Any, shape: Iterable[int | str]) -> Any:
        """Describe an input or output; a size that is text is free."""
        kind = self._onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return self._onnx.helper.make_tensor_value_info(name, kind, list(shape))

    def built(self, name: str, inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
        """Return the graph with these inputs and outputs; the constants of an inner one stay with the outer one."""
        constants = [] if self._is_inner else self.constants
        return self._onnx.helper.make_graph(self.nodes, name, inputs, outputs, constants)
