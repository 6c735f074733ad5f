"""A fitted model in MLflow, as a pyfunc: `log(model, rows)`, then `mlflow.pyfunc.load_model(...)`.

Needs `pip install mlflow` (or mlflow-skinny). The loaded model predicts frames; `params={"explain": True}` adds the
probability, the selected features and a sentence for each row:

    loaded = mlflow.pyfunc.load_model(log(model, rows).model_uri)
    loaded.predict(rows)
    loaded.predict(rows, params={"explain": True})

MLflow runs this file again where the model is loaded, so it has to stay one file.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import mlflow
from mlflow.models import infer_signature

from hideseek import Scorer

PREDICTION, EXPLANATION = ("prediction",), ("prediction", "probability", "selected", "sentence")


class HideSeekModel(mlflow.pyfunc.PythonModel):
    """Answers batches of rows with a saved model."""

    def load_context(self, context: Any) -> None:
        """Read the model's file, which is among the artifacts."""
        path = context.artifacts["model"]
        self._predict, self._explain = Scorer(path, PREDICTION), Scorer(path, EXPLANATION)

    def predict(self, context: Any, model_input: Any, params: dict[str, Any] | None = None) -> Any:
        """Return the prediction for each row of a pandas frame, and with ``explain`` the reasons."""
        return (self._explain if (params or {}).get("explain") else self._predict)(model_input)


def log(model: Any, rows: Any, name: str = "hideseek") -> Any:
    """Log a fitted classifier in the current run of MLflow.

    Args:
        model: The model.
        rows: Some rows as a pandas frame, from which MLflow learns the columns.
        name: What the model is called.

    Returns:
        What MLflow says of it; its ``model_uri`` loads it.
    """
    signature = infer_signature(rows, Scorer(model, PREDICTION)(rows), params={"explain": False})
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.safetensors"
        model.save(file)
        return mlflow.pyfunc.log_model(
            name=name,
            python_model=__file__,
            artifacts={"model": str(file)},
            signature=signature,
            pip_requirements=["hideseek[files]", "pandas"],
        )


mlflow.models.set_model(HideSeekModel())
