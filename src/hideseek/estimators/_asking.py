"""A model of any make as one function: from a table of the caller's kind to what the model says of its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor

from hideseek.errors import InputError
from hideseek.metrics.answers import as_answers

__all__ = ["BlackBox"]

Ask = Callable[[Any], Any]


class BlackBox:
    """A model that can be asked about rows, and how often it was.

    Args:
        model: An object with ``predict_proba`` or ``predict``, a torch module, an XGBoost booster or a function.
        task: "classification", "regression", or "auto": as the model says, or else as its first answers look.

    Attributes:
        task: As given until the first answers; then what they are.
        n_calls: How often the model was called.
        n_rows: About how many rows in all.
    """

    def __init__(self, model: Any, task: str) -> None:
        self._ask, self.task = _way_to_ask(model, task)
        self._classes = getattr(model, "classes_", None)
        self._source = f"the model ({type(model).__name__})"
        self.n_calls = self.n_rows = 0

    def __call__(self, X: Any) -> NDArray[np.float64]:
        """Return class probabilities, ``(rows, classes)``, or values, ``(rows,)``; all answers are of one kind."""
        n_rows = len(X)
        self.n_calls, self.n_rows = self.n_calls + 1, self.n_rows + n_rows
        try:
            raw = self._ask(X)
        except Exception as error:
            error.add_note(f"hideseek had asked {self._source} about {n_rows} rows")
            raise
        answers = as_answers(raw, n_rows, self.task, source=self._source)
        self.task = "regression" if answers.ndim == 1 else "classification"
        return answers

    def classes(self, n_classes: int) -> NDArray[Any]:
        """Return the model's own labels, or 0, 1, ..."""
        known = self._classes is not None and len(self._classes) == n_classes
        return np.asarray(self._classes) if known else np.arange(n_classes)


def _way_to_ask(model: Any, task: str) -> tuple[Ask, str]:
    """Return the function to call, and the task as far as the model tells it."""
    if model is None or isinstance(model, type):
        came = "None" if model is None else f"the class {model.__name__}"
        raise InputError(f"model must be a fitted model or a function, and {came} came; pass the object itself")
    if isinstance(model, torch.nn.Module):
        return lambda X: _ask_module(model, X), task
    if _is_booster(model):
        matrix = import_module("xgboost").DMatrix
        return lambda X: model.predict(matrix(X, enable_categorical=True)), task
    if task != "regression" and hasattr(model, "predict_proba"):
        return model.predict_proba, "classification"
    is_estimator = hasattr(model, "__sklearn_tags__")
    if task != "regression" and is_estimator and is_classifier(model):  # it knows labels alone
        return lambda X: np.asarray(model.predict(X))[:, None] == model.classes_, "classification"
    if hasattr(model, "predict"):
        return model.predict, "regression" if task == "auto" and is_estimator and is_regressor(model) else task
    if callable(model):
        return model, task
    raise InputError(
        f"model has neither predict_proba nor predict and is no function: {type(model).__name__}; "
        "pass a fitted model, or a function from rows to probabilities or values"
    )


def _is_booster(model: Any) -> bool:
    """Whether it is XGBoost's own kind of model, told without loading XGBoost."""
    return type(model).__name__ == "Booster" and type(model).__module__.startswith("xgboost")


def _ask_module(module: torch.nn.Module, X: Any) -> torch.Tensor:
    like = next((weight for weight in module.parameters() if weight.is_floating_point()), torch.zeros(()))
    rows = X if isinstance(X, torch.Tensor) else torch.from_numpy(np.array(X, dtype=np.float64))
    with _in_evaluation(module), torch.no_grad():
        answers: torch.Tensor = module(rows.to(like.device, like.dtype))
    return answers


@contextmanager
def _in_evaluation(module: torch.nn.Module) -> Iterator[None]:
    """Switch dropout and the like off, and restore every module's mode afterwards."""
    before = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for part, training in before:
            part.training = training
