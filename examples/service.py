"""A web service that predicts one row and says why: `python examples/service.py MODEL.safetensors`.

Needs `pip install fastapi uvicorn`. POST a JSON object of the model's columns to /explain:

    curl -s localhost:8000/explain -H 'Content-Type: application/json' -d '{"x1": 0.5, "x2": -1.2}'

A row that cannot be answered gets status 422 and a reason; a missing value is null. /docs describes the service.
"""

from __future__ import annotations

import sys
import warnings
from typing import Annotated, Any

from fastapi import Body, FastAPI, HTTPException
from pydantic import BaseModel

import hideseek
from hideseek import HideSeekWarning, InputError


class Feature(BaseModel):
    """One selected feature of the row."""

    name: str
    value: Any
    importance: float
    effect: float | None


class Answer(BaseModel):
    """What the model says of one row."""

    prediction: Any
    probability: float | None
    features: list[Feature]
    sentence: str
    warnings: list[str]


def create_app(model: Any) -> FastAPI:
    """Return the service for a fitted model."""
    app, columns = FastAPI(title="hideseek"), model.feature_names_in_.tolist()

    @app.get("/columns")
    def names() -> list[str]:
        """Return the columns that a row must have."""
        return columns

    @app.post("/explain")
    async def explain(row: Annotated[dict[str, Any], Body()]) -> Answer:
        """Predict a row, with the features that decided."""
        unknown = [name for name in row if name not in columns]
        if unknown:
            raise HTTPException(422, f"unknown columns: {', '.join(unknown)}; expected {', '.join(columns)}")
        # Warnings are of the whole process: rows are answered one after another, in the thread of the service.
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", HideSeekWarning)
            try:
                return answer(model.explain(row), caught)
            except InputError as error:
                raise HTTPException(422, str(error)) from error

    return app


def answer(explanation: Any, caught: list[warnings.WarningMessage]) -> Answer:
    """Return the first row of an explanation as plain values."""
    prediction, probability, effect = explanation.prediction, explanation.probability, explanation.effect
    order = (-explanation.importance[0]).argsort(kind="stable")
    features = [
        Feature(
            name=explanation.feature_names[j],
            value=plain(explanation.data[0, j]),
            importance=float(explanation.importance[0, j]),
            effect=None if effect is None else float(effect[0, j]),
        )
        for j in order
        if explanation.selected[0, j]
    ]
    return Answer(
        prediction=plain(prediction[0]),
        probability=None if probability is None else float(probability[0]),
        features=features,
        sentence=explanation.describe(0),
        warnings=[str(warning.message) for warning in caught if issubclass(warning.category, HideSeekWarning)],
    )


def plain(value: Any) -> Any:
    """Return a value of numpy as one that JSON has: text for dates, None for NaN."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float) and value != value:
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)


if __name__ == "__main__":
    import uvicorn

    uvicorn.run(create_app(hideseek.load(sys.argv[1])))
