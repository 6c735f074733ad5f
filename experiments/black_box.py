"""Black boxes: how much of a model's answer our features keep, beside SHAP's, LIME's and random ones, as many per row.

Run it with ``python -m experiments.black_box``; the tables go to ``experiments/results/black_box``. Three models, on
Syn4 and on the credit data: a random forest, XGBoost, and a pipeline with a one-hot step that takes a frame. Fidelity
is that of ``hideseek.metrics.compare_fidelity``, on rows that no method has seen. SHAP looks into the two models made
of trees and asks the pipeline, by permutations; LIME asks all of them. Rows asked and seconds are for all test rows:
ours are those of a fit and one explanation, the others' what the judged rows took, times as many as there are.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

import lime.lime_tabular
import numpy as np
import pandas as pd
import shap
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder
from xgboost import XGBClassifier

from experiments.experiment import RESULTS
from hideseek import BlackBoxExplainer
from hideseek.benchmark.layout import Table
from hideseek.benchmark.origin import commit, now
from hideseek.datasets import load_credit, make_syn
from hideseek.files import write_atomically
from hideseek.metrics import selection_scores, top_k

CATEGORIES = ["SEX", "EDUCATION", "MARRIAGE"]
SHAP_BACKGROUND, SHAP_PERMUTATIONS, LIME_SAMPLES = 100, 10, 5000
SCORES = ("agreement", "kl", "r2", "f1", "n_selected", "rows_asked", "seconds", "ratio")


@dataclass(frozen=True)
class Problem:
    """A frame to learn from, rows to be judged on, and which of their features decide, where that is known."""

    train: pd.DataFrame
    y: NDArray[np.int64]
    test: pd.DataFrame
    judged: NDArray[np.intp]
    relevant: NDArray[np.bool_] | None
    one_hot: tuple[str, Any, list[str]]


class Counted:
    """The probability of the second class, and how many rows it was asked about."""

    def __init__(self, model: Any, columns: pd.Index) -> None:
        self.model, self.columns, self.n_rows = model, columns, 0

    def both(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of both classes."""
        self.n_rows += len(X)
        return self.model.predict_proba(pd.DataFrame(X, columns=self.columns))

    def second(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of the second alone."""
        return self.both(X)[:, 1]


def syn4(seed: int, n_rows: int) -> Problem:
    train, test = make_syn("Syn4", random_state=seed), make_syn("Syn4", random_state=seed + 1)
    frames = [pd.DataFrame(part.X, columns=part.feature_names) for part in (train, test)]
    bins = KBinsDiscretizer(6, encode="onehot-dense", quantile_method="averaged_inverted_cdf")
    return Problem(frames[0], train.y, frames[1], np.arange(n_rows), test.relevant, ("bins", bins, ["x11"]))


def credit(seed: int, n_rows: int) -> Problem:
    train, _, test = load_credit(standardize=False, as_frame=True)
    judged = np.random.default_rng(seed).permutation(len(test.X))[:n_rows]
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return Problem(train.X, train.y.to_numpy(), test.X, judged, None, ("one-hot", one_hot, CATEGORIES))


PROBLEMS: dict[str, Callable[[int, int], Problem]] = {"Syn4": syn4, "credit": credit}


def models(problem: Problem, seed: int) -> Iterator[tuple[str, Any]]:
    yield "forest", RandomForestClassifier(100, max_depth=10, min_samples_leaf=5, random_state=seed)
    yield "xgboost", XGBClassifier(n_estimators=100, max_depth=5, learning_rate=0.1, random_state=seed)
    columns = ColumnTransformer([problem.one_hot], remainder="passthrough")
    yield "pipeline", make_pipeline(columns, HistGradientBoostingClassifier(random_state=seed))


def shap_values(
    kind: str, asked: Counted, problem: Problem, judged: NDArray[np.intp], seed: int
) -> NDArray[np.float64]:
    rows = problem.test.iloc[judged].to_numpy()
    if kind != "pipeline":
        values = np.asarray(shap.TreeExplainer(asked.model).shap_values(rows))
        return values if values.ndim == 2 else values[:, :, 1]
    background = problem.train.sample(SHAP_BACKGROUND, random_state=seed).to_numpy()
    explainer = shap.explainers.Permutation(asked.second, shap.maskers.Independent(background), seed=seed)
    evaluations = SHAP_PERMUTATIONS * (2 * rows.shape[1] + 1)
    return np.asarray(explainer(rows, max_evals=evaluations, silent=True).values)


def lime_weights(asked: Counted, problem: Problem, size: NDArray[np.int64], seed: int) -> NDArray[np.float64]:
    """LIME is told how many features each row is to have, and which columns are categories."""
    train, rows = problem.train.to_numpy(), problem.test.iloc[problem.judged].to_numpy()
    categories = [j for j, name in enumerate(problem.train.columns) if name in CATEGORIES]
    explainer = lime.lime_tabular.LimeTabularExplainer(train, categorical_features=categories, random_state=seed)
    weights = np.zeros(rows.shape)
    for row, k, out in zip(rows, size, weights, strict=True):
        if k > 0:
            explained = explainer.explain_instance(
                row, asked.both, top_labels=1, num_features=int(k), num_samples=LIME_SAMPLES
            )
            for feature, weight in explained.local_exp[explained.top_labels[0]]:
                out[feature] = weight
    return weights


def compared(kind: str, model: Any, problem: Problem, preset: str, seed: int) -> dict[str, dict[str, float]]:
    """By method: how true its features are to the model, what they cost, and, where it is known, F1."""
    share = len(problem.test) / len(problem.judged)
    start = time.perf_counter()
    ours = BlackBoxExplainer(model, preset, validation_fraction=0.0, random_state=seed).fit(problem.train)
    selected = ours.select(problem.test)[problem.judged]
    lines = {"hideseek": {"seconds": time.perf_counter() - start, "rows_asked": ours.n_rows_asked_}}
    size, importances = selected.sum(axis=1), {}
    shap_values(kind, Counted(model, problem.train.columns), problem, problem.judged[:2], seed)  # it compiles parts
    for method in ("shap", "lime"):
        asked, start = Counted(model, problem.train.columns), time.perf_counter()
        if method == "shap":
            importances[method] = shap_values(kind, asked, problem, problem.judged, seed)
        else:
            importances[method] = lime_weights(asked, problem, size, seed)
        lines[method] = {"seconds": share * (time.perf_counter() - start), "rows_asked": round(share * asked.n_rows)}
    chosen = {name: top_k(np.abs(values), size) for name, values in importances.items()} | {"hideseek": selected}
    rows = problem.test.iloc[problem.judged]
    for name, kept in ours.fidelity(rows, importances, n_draws=30).items():
        line = lines.setdefault({"selected": "hideseek"}.get(name, name), {})
        line |= kept._asdict()
    for name, mask in chosen.items():
        lines[name] |= {
            "n_selected": float(size.mean()),
            "ratio": lines[name]["seconds"] / lines["hideseek"]["seconds"],
        }
        if problem.relevant is not None:
            lines[name]["f1"] = selection_scores(mask, problem.relevant[problem.judged]).f1
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=200, help="test rows that are judged")
    parser.add_argument("--preset", default="balanced")
    arguments = parser.parse_args()
    runs, made_by = [], commit()
    for dataset, make in PROBLEMS.items():
        for seed in range(arguments.seeds):
            problem = make(seed, arguments.rows)
            for kind, model in models(problem, seed):
                model.fit(problem.train, problem.y)
                for method, line in compared(kind, model, problem, arguments.preset, seed).items():
                    runs.append({"dataset": dataset, "model": kind, "method": method, "seed": seed, **line})
                    print(
                        *(f"{value:.4g}" if isinstance(value, float) else value for value in runs[-1].values()),
                        flush=True,
                    )
    keys = list(dict.fromkeys((run["dataset"], run["model"], run["method"]) for run in runs))
    lines = []
    for key in keys:
        own = [run for run in runs if (run["dataset"], run["model"], run["method"]) == key]
        scores = {score: median(run[score] for run in own) for score in SCORES if score in own[0]}
        lines.append(dict(zip(("dataset", "model", "method"), key, strict=True)) | scores)
    table = Table(("dataset", "model", "method", *SCORES), lines)
    folder = RESULTS / "black_box"
    folder.mkdir(parents=True, exist_ok=True)
    Table(("dataset", "model", "method", "seed", *SCORES), runs).to_csv(folder / "runs.csv")
    origin = f"\nMedians of seeds 0 to {arguments.seeds - 1}, {arguments.rows} rows each; {made_by}, {now()}.\n"
    write_atomically(folder / "README.md", (table.to_markdown() + origin).encode())
    print(table)


if __name__ == "__main__":
    main()
