"""What a model says of the rows of an explanation besides their masks, computed at first access."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hideseek.effects import Effects
from hideseek.errors import FileFormatError

__all__ = ["Answers", "EffectsOf", "OfCells", "Predicted", "Predictor"]


class Predicted(NamedTuple):
    """The prediction of each row, and its probability if the model gives one. Shape: ``(rows,)`` each."""

    label: NDArray[Any]
    probability: NDArray[Any] | None


Predictor = Callable[[NDArray[Any]], tuple[NDArray[Any], NDArray[Any] | None]]
"""Maps rows to the prediction of each row, and its probability if the model gives one."""

OfCells = Callable[[NDArray[Any]], NDArray[Any]]
"""Maps rows to a number for each row and feature."""

EffectsOf = Callable[[NDArray[Any]], Effects]
"""Maps rows to the changes of their predictions when one more feature is hidden."""


class Answers:
    """Predictions, probabilities of selection, entry prices and effects of some rows; None where there are none.

    Args:
        n_features: Features of the model.
        inputs: Rows as the functions take them, with all features. Shape: ``(rows, any)``.
        predictor: Computes ``predicted``.
        relevance: Computes ``selection_probability``.
        entry: Computes ``entry_price``.
        effects: Computes ``effects``.
    """

    def __init__(
        self,
        n_features: int,
        inputs: NDArray[Any] | None = None,
        *,
        predictor: Predictor | None = None,
        relevance: OfCells | None = None,
        entry: OfCells | None = None,
        effects: EffectsOf | None = None,
    ) -> None:
        self.inputs = inputs
        self._functions: dict[str, Callable[[NDArray[Any]], Any] | None] = {
            "predicted": predictor,
            "selection_probability": relevance,
            "entry_price": entry,
            "effects": effects,
        }
        self._known: dict[str, Any] = {}
        self._features = np.arange(n_features)  # of this part, among those of the model

    @property
    def predicted(self) -> Predicted | None:
        """The prediction of each row."""
        found: Predicted | None = self._get("predicted")
        return found

    @property
    def selection_probability(self) -> NDArray[Any] | None:
        """Probability that each feature is relevant for its row. Shape: ``(rows, features)``."""
        found: NDArray[Any] | None = self._get("selection_probability")
        return found

    @property
    def entry_price(self) -> NDArray[Any] | None:
        """The highest price at which each feature is still selected. Shape: ``(rows, features)``."""
        found: NDArray[Any] | None = self._get("entry_price")
        return found

    @property
    def effects(self) -> Effects | None:
        """How the predictions change when one more feature is hidden."""
        found: Effects | None = self._get("effects")
        return found

    def has(self, name: str) -> bool:
        """Return whether an answer is known or can be computed."""
        return name in self._known or (self._functions[name] is not None and self.inputs is not None)

    def _get(self, name: str) -> Any:
        function = self._functions[name]
        if name not in self._known and function is not None and self.inputs is not None:
            answer = Predicted(*function(self.inputs)) if name == "predicted" else function(self.inputs)
            self._known[name] = _part(answer, slice(None), self._features)
        return self._known.get(name)

    def give(self, **known: Any) -> None:
        """Set answers that need not be computed; None: there is no such answer."""
        self._known |= {name: value for name, value in known.items() if value is not None}

    def part(self, rows: Any, features: Any) -> Answers:
        """Return the answers about some rows and features: slices, positions or boolean arrays."""
        part = object.__new__(Answers)
        part.inputs = None if self.inputs is None else self.inputs[rows]
        part._functions = self._functions
        part._known = {name: _part(answer, rows, features) for name, answer in self._known.items()}
        part._features = self._features[features]
        return part

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Compute all answers and return them as arrays by name."""
        label, probability = self.predicted or (None, None)
        arrays = {
            "prediction": label,
            "probability": probability,
            "selection_probability": self.selection_probability,
            "entry_price": self.entry_price,
        }
        found = {name: value for name, value in arrays.items() if value is not None}
        return found if self.effects is None else found | self.effects.to_arrays()

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], shape: tuple[int, int], path: str) -> Answers:
        """Return the answers that ``to_arrays`` described; ``shape`` and ``path`` of the explanation, to check."""
        answers, effects = cls(shape[1]), Effects.from_arrays(arrays)
        if effects is not None and effects.shape != shape:
            raise FileFormatError(f"{path!r} has effects of another shape than its rows: save it again")
        answers.give(
            predicted=Predicted(arrays["prediction"], arrays.get("probability")) if "prediction" in arrays else None,
            selection_probability=arrays.get("selection_probability"),
            entry_price=arrays.get("entry_price"),
            effects=effects,
        )
        return answers


def _part(answer: Any, rows: Any, features: Any) -> Any:
    if isinstance(answer, Predicted):
        return Predicted(answer.label[rows], None if answer.probability is None else answer.probability[rows])
    return answer.part(rows, features) if isinstance(answer, Effects) else answer[rows][:, features]
