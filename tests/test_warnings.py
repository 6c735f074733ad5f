"""Warnings point at the line of the caller, whichever method gives them."""

import warnings
from inspect import currentframe

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from hideseek import BlackBoxExplainer, HideSeekClassifier, HideSeekRegressor, HideSeekWarning, baselines
from hideseek.benchmark import Config, run

# the fits here are too short for masks to settle
pytestmark = pytest.mark.filterwarnings("ignore::hideseek.errors.MaskWarning")

QUICK = {"preset": "fast", "steps": 2, "random_state": 0}


@pytest.fixture(scope="module")
def table():
    X = np.random.default_rng(0).normal(size=(60, 3))
    return pd.DataFrame(X, columns=list("abc")), X[:, 0] > 0


@pytest.fixture(scope="module")
def fitted(table):
    frame, y = table
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        box = LogisticRegression().fit(frame, y)
        return {
            "classifier": HideSeekClassifier(**QUICK).fit(frame, y),
            "regressor": HideSeekRegressor(**QUICK).fit(frame, frame["a"]),
            "black box": BlackBoxExplainer(box, **QUICK).fit(frame),
            "baseline": baselines.ForestImportance(k=1).fit(frame, y),
            "pipeline": make_pipeline(HideSeekClassifier(**QUICK)).fit(frame, y),
        }


def lines_of(caught):
    return {(warning.filename, warning.lineno) for warning in caught if issubclass(warning.category, HideSeekWarning)}


@pytest.mark.parametrize(
    ("name", "method"),
    [
        *((name, method) for name in ("classifier", "regressor", "black box") for method in ("explain", "select")),
        *((name, method) for name in ("classifier", "regressor", "black box") for method in ("predict", "transform")),
        ("classifier", "predict_proba"),
        ("black box", "predict_proba"),
        ("black box", "fidelity"),
        ("baseline", "explain"),
        ("baseline", "select"),
        ("baseline", "predict"),
        ("pipeline", "predict"),
        ("pipeline", "transform"),
    ],
)
def test_a_warning_on_new_rows_points_at_the_caller(table, fitted, name, method):
    rows = table[0].assign(more=1)
    ask = getattr(fitted[name], method)
    line = currentframe().f_lineno + 2
    with pytest.warns(HideSeekWarning) as caught:
        ask(rows)
    assert lines_of(caught) == {(__file__, line)}


def test_a_warning_in_score_points_at_the_caller(table, fitted):
    line = currentframe().f_lineno + 2
    with pytest.warns(HideSeekWarning) as caught:
        fitted["classifier"].score(table[0].assign(more=1), table[1])
    assert lines_of(caught) == {(__file__, line)}


@pytest.mark.parametrize("constant", [1.0, "text"], ids=["numbers", "mixed"])
@pytest.mark.parametrize("name", ["classifier", "regressor", "black box", "pipeline", "fit_many"])
def test_a_warning_in_fit_points_at_the_caller(table, name, constant):
    frame, y = table
    frame, target = frame.assign(same=constant), y * 1.0
    fit = {
        "classifier": HideSeekClassifier(**QUICK).fit,
        "regressor": HideSeekRegressor(**QUICK).fit,
        "black box": BlackBoxExplainer(lambda rows: np.asarray(rows["a"]), **QUICK).fit,
        "pipeline": make_pipeline(HideSeekClassifier(**QUICK)).fit,
        "fit_many": lambda X, y: HideSeekClassifier(**QUICK).fit_many([(X, y, 0, {})]),
    }[name]
    line = currentframe().f_lineno + 2
    with pytest.warns(HideSeekWarning, match="constant columns") as caught:
        fit(frame, target)
    lines = lines_of(caught)
    if name == "fit_many":  # called by the function above
        line = fit.__code__.co_firstlineno
    assert lines == {(__file__, line)}


def test_a_warning_of_a_benchmark_points_at_the_caller(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 2))
    config = Config({"forest": {"parameters": {"k": 1, "n_estimators": 2}}}, {"mine": (X, np.zeros(40))})
    line = currentframe().f_lineno + 2
    with pytest.warns(HideSeekWarning, match="jobs failed") as caught:
        run(config, tmp_path)
    assert lines_of(caught) == {(__file__, line)}
