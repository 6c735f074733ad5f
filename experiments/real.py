"""Real labels: what the selected features alone predict, and how far two refits select the same.

Run it with ``python -m experiments.real``; the table goes to ``experiments/results/real``. Six tables, several splits.
Beside the score of the default's selected features stand those of XGBoost and of a linear model on all features.
Stability is the mean Jaccard index of the sets that two fits on bootstrap samples of the training rows select in the
same test rows, beside that of the features with the largest absolute SHAP values of XGBoost on the same samples, as
many in each row.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import shap
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import XGBClassifier, XGBRegressor

from experiments.experiment import RESULTS
from hideseek import HideSeekClassifier, HideSeekRegressor
from hideseek.benchmark.layout import Table
from hideseek.benchmark.origin import commit
from hideseek.datasets import load_california, load_credit
from hideseek.files import write_atomically
from hideseek.metrics import top_k

MOST_TEST_ROWS = 2000
BOOSTED = {"n_estimators": 100, "max_depth": 5, "learning_rate": 0.1, "n_jobs": 1}
COLUMNS = ("table", "rows", "columns", "score of", "selected", "XGBoost, all", "linear, all", "features per row",
           "Jaccard", "Jaccard of SHAP", "seconds of a fit")  # fmt: skip

Arrays = tuple[NDArray[np.float64], NDArray[Any]]


def from_sklearn(name: str) -> Callable[[], Arrays]:
    def load() -> Arrays:
        table = getattr(datasets, f"load_{name}")()
        return table.data, table.target

    return load


def all_rows(load: Callable[..., Any]) -> Callable[[], Arrays]:
    def joined() -> Arrays:
        parts = list(load(standardize=False))
        return np.vstack([part.X for part in parts]), np.concatenate([part.y for part in parts])

    return joined


TABLES: dict[str, Callable[[], Arrays]] = {
    "breast cancer": from_sklearn("breast_cancer"),
    "wine": from_sklearn("wine"),
    "diabetes": from_sklearn("diabetes"),
    "digits": from_sklearn("digits"),
    "credit": all_rows(load_credit),
    "California": all_rows(load_california),
}


class Kind:
    """Models and score for classes or for values."""

    def __init__(self, y: NDArray[Any]) -> None:
        self.is_values = len(np.unique(y)) > 10 or y.dtype.kind == "f"
        self.score_name = "R squared" if self.is_values else "AUROC"

    def ours(self, seed: int) -> Any:
        """Hide&Seek with no argument."""
        return (HideSeekRegressor if self.is_values else HideSeekClassifier)(device="cpu", random_state=seed)

    def boosted(self) -> Any:
        """XGBoost."""
        return (XGBRegressor if self.is_values else XGBClassifier)(**BOOSTED)

    def linear(self) -> Any:
        """Ridge or logistic regression."""
        model = RidgeCV(np.logspace(-3, 3, 7)) if self.is_values else LogisticRegression(max_iter=2000)
        return make_pipeline(StandardScaler(), model)

    def score(self, model: Any, X: NDArray[np.float64], y: NDArray[Any]) -> float:
        """R squared, or the AUROC; of several classes, the mean over each against the rest."""
        if self.is_values:
            return float(r2_score(y, model.predict(X)))
        probability = np.asarray(model.predict_proba(X), dtype=np.float64)
        if probability.shape[1] == 2:
            return float(roc_auc_score(y, probability[:, 1]))
        return float(roc_auc_score(y, probability / probability.sum(axis=1, keepdims=True), multi_class="ovr"))


def shap_sizes(model: Any, X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Absolute SHAP values, of several classes their sum. Shape: ``(rows, features)``."""
    values = np.abs(np.asarray(shap.TreeExplainer(model).shap_values(X)))
    return values if values.ndim == 2 else values.sum(axis=2)


def jaccard(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> float:
    """Shared features over features in either set, as a mean over rows; two empty sets are the same."""
    shared, either = (one & other).sum(axis=1), (one | other).sum(axis=1)
    return float(np.where(either > 0, shared / np.maximum(either, 1), 1.0).mean())


def one_split(X: NDArray[np.float64], y: NDArray[Any], seed: int) -> dict[str, Any]:
    kind = Kind(y)
    rows = train_test_split(X, y, test_size=0.25, random_state=seed, stratify=None if kind.is_values else y)
    train, test, y_train, y_test = rows[0], rows[1][:MOST_TEST_ROWS], rows[2], rows[3][:MOST_TEST_ROWS]
    started = time.process_time()
    ours = kind.ours(seed).fit(train, y_train)
    seconds = time.process_time() - started
    sets, tops = [], []
    draw = np.random.default_rng(seed)
    for i in range(2):
        sample = draw.integers(0, len(train), len(train))
        sets.append(kind.ours(seed + 100 * (i + 1)).fit(train[sample], y_train[sample]).select(test))
        sizes = shap_sizes(kind.boosted().fit(train[sample], y_train[sample]), test)
        tops.append(top_k(sizes, sets[i].sum(axis=1)))
    return {
        "selected": kind.score(ours, test, y_test),
        "XGBoost, all": kind.score(kind.boosted().fit(train, y_train), test, y_test),
        "linear, all": kind.score(kind.linear().fit(train, y_train), test, y_test),
        "features per row": float(ours.select(test).sum(axis=1).mean()),
        "Jaccard": jaccard(*sets),
        "Jaccard of SHAP": jaccard(*tops),
        "seconds of a fit": seconds,
    }


def line_of(name: str, seeds: Sequence[int]) -> dict[str, Any]:
    X, y = TABLES[name]()
    found = [one_split(np.asarray(X, dtype=np.float64), np.asarray(y), seed) for seed in seeds]
    means = {key: round(float(np.mean([each[key] for each in found])), 3) for key in found[0]}
    return {"table": name, "rows": len(X), "columns": X.shape[1], "score of": Kind(y).score_name, **means}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES), metavar="TABLE")
    parser.add_argument("--splits", type=int, default=5)
    arguments = parser.parse_args()
    lines = []
    for name in arguments.tables:
        lines.append(line_of(name, range(arguments.splits)))
        print(Table(COLUMNS, lines[-1:]), flush=True)
    if arguments.tables == list(TABLES):
        table = Table(COLUMNS, lines)
        note = f"\nMeans over {arguments.splits} splits; made by {commit()}.\n"
        write_atomically(RESULTS / "real" / "README.md", (table.to_markdown() + note).encode())


if __name__ == "__main__":
    main()
