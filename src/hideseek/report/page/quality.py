"""The quality of the predictions, as far as it is known."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import accuracy_score, r2_score, root_mean_squared_error

from hideseek.errors import InputError
from hideseek.explanation import Explanation
from hideseek.metrics import Fidelity, auroc
from hideseek.targets import readable_target
from hideseek.wording import some

__all__ = ["check_actual", "fidelity_of", "quality_of"]

_IMITATION = {
    "seek": "the imitation's answers",
    "selected": "the model's, with only the selected features real",
    "random": "the model's, with as many random features real",
}


def check_actual(explanation: Explanation, model: Any, y: ArrayLike | None) -> NDArray[Any] | None:
    """Return the true labels as a column that matches the explanation and the model, or None if not given."""
    if y is None:
        return None
    actual = np.asarray(readable_target(y, numeric=False))
    if actual.shape != (len(explanation),):
        raise InputError(f"y has the shape {actual.shape}; expected one label for each of {len(explanation)} rows")
    unknown = sorted(
        {str(label) for label in actual.tolist()} - {str(label) for label in _classes(model, actual).tolist()}
    )
    if unknown:
        raise InputError(f"y has labels that the model was not fitted on: {some(unknown)}; pass labels as in fit")
    return actual


def _classes(model: Any, otherwise: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(getattr(model, "classes_", otherwise))


def quality_of(
    explanation: Explanation, model: Any, actual: NDArray[Any] | None, given: Mapping[str, float | str] | None
) -> dict[str, str]:
    """Return figures by name: those given, those of rows with known labels, and the loss on rows held out."""
    figures = {str(name): _written(value) for name, value in (given or {}).items()}
    whose = " of the imitation" if hasattr(model, "fidelity_") else ""
    if actual is not None and explanation.prediction is not None:
        measured = _of_values if explanation.probability is None else _of_classes
        for name, value in measured(explanation, model, actual).items():
            figures[f"{name}{whose} on the {len(actual):,} rows explained"] = _written(value)
    history = getattr(model, "history_", {})
    if "validation_loss" in history:
        figures["Loss on rows held out of the fit, mean over members"] = _written(history["validation_loss"][-1].mean())
    return figures


def fidelity_of(model: Any) -> list[list[object]]:
    """Return table lines of a black box's fidelity: what is compared, agreement, divergence and R²; else none."""
    found: Mapping[str, Fidelity] = getattr(model, "fidelity_", None) or {}
    return [
        [
            _IMITATION.get(name, name),
            "" if np.isnan(part.agreement) else f"{part.agreement:.1f} %",
            "" if np.isnan(part.kl) else f"{part.kl:.4f}",
            "" if np.isnan(part.r2) else f"{part.r2:.3f}",
        ]
        for name, part in found.items()
    ]


def _of_classes(explanation: Explanation, model: Any, actual: NDArray[Any]) -> dict[str, float]:
    predicted, probability = np.asarray(explanation.prediction).astype(str), np.asarray(explanation.probability)
    figures = {"Accuracy": float(accuracy_score(actual.astype(str), predicted))}
    classes = _classes(model, np.unique(actual))
    if len(classes) == 2:
        of_each: Any = np.where(predicted == str(classes[1]), probability, 1 - probability)
    elif explanation.answers.inputs is not None and hasattr(model, "_probabilities"):
        of_each = model._probabilities(explanation.answers.inputs)
    else:
        return figures
    with suppress(InputError):  # undefined if a class does not occur among these rows
        figures["AUROC"] = auroc(actual, of_each)
    return figures


def _of_values(explanation: Explanation, model: Any, actual: NDArray[Any]) -> dict[str, float]:
    predicted = np.asarray(explanation.prediction)
    return {
        "R²": float(r2_score(actual, predicted)),
        "Root mean squared error": float(root_mean_squared_error(actual, predicted)),
    }


def _written(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return f"{value:.4f}" if 1e-3 <= abs(value) < 1e3 else f"{value:.4g}"
