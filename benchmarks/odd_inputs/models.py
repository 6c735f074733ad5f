"""Odd inputs to estimators, the explainer of black boxes, compared methods, and their files."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

import hideseek
from benchmarks.odd_inputs.case import Case, any_of, each
from benchmarks.odd_inputs.values import FRAME, MIXED, SCALARS, TABLES, TARGETS, WEIGHTS, X, Y
from hideseek import BlackBoxExplainer, HideSeekClassifier, HideSeekError, HideSeekRegressor, baselines

QUICK = {"preset": "fast", "steps": 2, "random_state": 0, "device": "cpu"}


def first_column(rows: Any) -> Any:
    """A black box for every kind of table."""
    n_rows = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    return np.linspace(0, 1, n_rows)


def new(name: str) -> Any:
    """An unfitted method."""
    return {
        "HideSeekClassifier": lambda: HideSeekClassifier(**QUICK),
        "HideSeekRegressor": lambda: HideSeekRegressor(**QUICK),
        "BlackBoxExplainer": lambda: BlackBoxExplainer(first_column, **QUICK),
        "ForestImportance": lambda: baselines.ForestImportance(k=1, n_estimators=2, random_state=0),
        "Invase": lambda: baselines.Invase(random_state=0),
    }[name]()


NAMES = ("HideSeekClassifier", "HideSeekRegressor", "BlackBoxExplainer", "ForestImportance")


@cache
def fitted(name: str, kind: str) -> Any:
    """A method fitted on an array, a frame, or a frame of mixed types."""
    return new(name).fit({"array": X, "frame": FRAME, "mixed": MIXED}[kind], Y)


def fits() -> Iterator[Case]:
    """Odd tables, targets and weights in ``fit``."""
    for name in NAMES:
        yield from each(f"{name}.fit(X)", TABLES, lambda table, name=name: new(name).fit(table, Y).predict(table))
    for name in ("HideSeekClassifier", "HideSeekRegressor", "ForestImportance"):
        yield from each(f"{name}.fit(y)", TARGETS, lambda y, name=name: new(name).fit(X, y))
    for name in ("HideSeekClassifier", "HideSeekRegressor"):
        yield from each(f"{name}.fit(mixed X, y)", TARGETS, lambda y, name=name: new(name).fit(MIXED, y))
        yield from each(f"{name}.fit(sample_weight)", WEIGHTS, lambda w, name=name: new(name).fit(X, Y, w))
    for preset in ("paper", "fast", "balanced", "best"):
        rows = {f"{n} rows": n for n in (1, 2, 3, 4)}
        yield from each(f"preset={preset!r}", rows, lambda n, preset=preset: few_rows(preset, n))


def few_rows(preset: str, n_rows: int) -> Any:
    """A fit on hardly any rows."""
    return HideSeekClassifier(preset, steps=2).fit(X[:n_rows], Y[:n_rows])


def parameters() -> Iterator[Case]:
    """Odd values of every parameter."""
    own = {**SCALARS, "gpu": "gpu", "auto": "auto", "full": "full", "huge": 2**70}
    for name in HideSeekClassifier().get_params():
        values = own if name != "steps" else {given: value for given, value in own.items() if given != "huge"}
        small = {
            given: value for given, value in values.items() if given != "huge" or name in ("random_state", "penalty")
        }
        yield from any_of(
            "HideSeekClassifier", {name: small}, lambda **given: HideSeekClassifier(**{**QUICK, **given}).fit(X, Y)
        )
    yield from any_of(
        "BlackBoxExplainer",
        {"model": {**SCALARS, **MODELS}, "task": SCALARS, "validation_fraction": SCALARS},
        lambda **given: BlackBoxExplainer(**{"model": first_column, **QUICK, **given}).fit(X),
        (HideSeekError, NotFittedError),
    )
    yield from any_of(
        "ForestImportance",
        dict.fromkeys(("k", "n_estimators", "random_state"), SCALARS),
        lambda **given: baselines.ForestImportance(**{"k": 1, "n_estimators": 2, **given}).fit(X, Y),
    )
    yield from each("baselines.get", SCALARS, baselines.get)


MODELS: dict[str, Any] = {
    "unfitted model": LogisticRegression(),
    "torch module": torch.nn.Linear(3, 1),
    "gives None": lambda rows: None,
    "gives text": lambda rows: ["a"] * len(rows),
    "gives NaN": lambda rows: np.full(len(rows), np.nan),
    "gives one row": lambda rows: np.zeros(1),
    "gives a constant": lambda rows: np.ones(len(rows)),
    "gives three dimensions": lambda rows: np.zeros((len(rows), 2, 2)),
    "gives logits": lambda rows: np.full((len(rows), 3), 2.0),
    "gives an object": lambda rows: object(),
}


def ask_fitted(method: str, table: Any) -> Any:
    return getattr(fitted("HideSeekClassifier", "frame"), method)(table)


def answers() -> Iterator[Case]:
    """Odd tables in everything that answers."""
    for kind in ("array", "frame", "mixed"):
        yield from each(f"explain(X), fitted on {kind}", TABLES, lambda t, k=kind: explained(k, t))
    for method in ("predict", "select", "transform", "predict_proba"):
        yield from each(f"{method}(X)", TABLES, partial(ask_fitted, method))
    yield from each("ForestImportance.explain(X)", TABLES, lambda t: fitted("ForestImportance", "frame").explain(t))
    yield from each("fidelity(X)", TABLES, lambda t: fitted("BlackBoxExplainer", "frame").fidelity(t))
    yield from each("score(y)", TARGETS, lambda y: fitted("HideSeekClassifier", "array").score(X, y))
    yield from each("at(n_features)", SCALARS, lambda value: searched().at(n_features=value))
    yield from each("at(penalty)", SCALARS, lambda value: searched().at(penalty=value))
    yield from each("fit_many", SCALARS, lambda value: new("HideSeekClassifier").fit_many(value))
    yield Case("at", "two wishes", lambda: searched().at(n_features=1, penalty=1.0))
    yield Case("at", "no path", lambda: fitted("HideSeekClassifier", "array").at(n_features=1))


def explained(kind: str, table: Any) -> None:
    """Explain, and ask for all that an explanation gives."""
    explanation = fitted("HideSeekClassifier", kind).explain(table)
    explanation.describe(0)
    explanation.to_frame()


@cache
def searched() -> Any:
    """A model with a path of penalties."""
    return HideSeekClassifier(**{**QUICK, "penalty": "auto"}).fit(X, Y)


ANSWERS = ("explain", "select", "predict", "predict_proba", "transform")


def not_fitted() -> Iterator[Case]:
    """Answers of what was never fitted, and unknown keywords."""
    for name in (*NAMES, "Invase"):
        for method in (*ANSWERS, "fidelity", "save", "to_onnx", "at", "score"):
            if hasattr(type(new(name)), method):
                to_file = ("model.file",)
                given = {"score": (X, Y), "save": to_file, "to_onnx": to_file, "at": ()}.get(method, (X,))
                yield Case(f"{name}.{method}", "not fitted", partial(ask, name, method, given), (NotFittedError,))
        yield Case(name, "unknown keyword", lambda name=name: type(new(name))(no_such_thing=1), (TypeError,))
        yield Case(f"{name}.fit", "unknown keyword", lambda n=name: new(n).fit(X, Y, no_such_thing=1), (TypeError,))
        yield Case(f"{name}.set_params", "unknown name", lambda n=name: new(n).set_params(odd=1))


def ask(name: str, method: str, given: tuple[Any, ...]) -> Any:
    """A method of an unfitted estimator."""
    return getattr(new(name), method)(*given)


def model_files(folder: Path) -> Iterator[Case]:
    """Odd paths for models and explanations."""
    (folder / "empty").write_bytes(b"")
    (folder / "text").write_text("no model")
    (folder / "folder").mkdir(exist_ok=True)
    paths: dict[str, Any] = {
        "missing file": folder / "none",
        "folder": folder / "folder",
        "empty file": folder / "empty",
        "text file": folder / "text",
        "missing folder": folder / "none" / "file",
        "under a file": folder / "text" / "file",
        "null character": "a\0b",
        "too long": "a" * 5000,
        "empty path": "",
        **{given: SCALARS[given] for given in ("None", "2.5", "nan", "list", "dict", "object", "class", "array")},
    }
    model = fitted("HideSeekClassifier", "array")
    explanation = model.explain(X)
    yield from each("hideseek.load", paths, hideseek.load)
    yield from each("Explanation.load", paths, hideseek.Explanation.load)
    unwritable = {
        given: path for given, path in paths.items() if given not in ("missing file", "empty file", "text file")
    }
    yield from each("model.save", unwritable, model.save)
    if find_spec("onnx"):
        yield from each("model.to_onnx", unwritable, model.to_onnx)
    yield from each("explanation.save", unwritable, explanation.save)
    yield from each("explanation.report", unwritable, explanation.report)
