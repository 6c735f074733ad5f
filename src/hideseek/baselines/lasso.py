"""LASSO: logistic regression with an L1 penalty, with one ranking of the features for all rows."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from hideseek.baselines._base import N_SELECTED, SEED, Baseline
from hideseek.validation import number

__all__ = ["LassoImportance"]


class LassoImportance(Baseline):
    """The k features with the largest coefficients of an L1-penalised logistic regression, the same for every row.

    Columns are standardised first, so that coefficients can be compared. With more than two classes, there is one
    regression for each class against the rest, and a feature's importance is the mean of its absolute coefficients.

    Args:
        k: Number of features to select.
        C: Inverse of the penalty's strength.
        random_state: Seed of the order in which the solver visits the columns.

    Attributes:
        classes_: The labels, sorted.
        model_: The fitted regressions, on standardised columns.
        scaler_: The scaler of the columns.

    Example:
        >>> from hideseek.baselines import LassoImportance
        >>> from hideseek.datasets import make_syn
        >>> data = make_syn("Syn3", n_samples=1000)
        >>> lasso = LassoImportance(k=2).fit(data.X, data.y)
        >>> lasso.explain(data.X[:1]).selected.nonzero()[1].tolist()
        [6, 9]
    """

    citation = "R. Tibshirani, Regression shrinkage and selection via the lasso, J. R. Stat. Soc. B 58, 1996"
    importance_kind = "absolute coefficient"
    _rules: ClassVar = {
        "k": N_SELECTED,
        "C": number("a number greater than 0", lambda value: value > 0),
        "random_state": SEED,
    }

    def __init__(
        self, k: int, *, C: float = 1.0, random_state: int | np.random.RandomState | np.random.Generator | None = None
    ) -> None:
        self.k = k
        self.C = C
        self.random_state = random_state

    def _fit(self, table: NDArray[np.floating], target: NDArray[np.int64]) -> None:
        self.scaler_ = self._scaler(table)
        one = LogisticRegression(C=self.C, solver="liblinear", random_state=self._seed(), **_l1())
        self.model_ = OneVsRestClassifier(one).fit(self.scaler_.transform(table), target)

    def _importance(self, table: NDArray[np.floating]) -> NDArray[np.floating]:
        coefficients = np.abs([one.coef_[0] for one in self.model_.estimators_]).mean(axis=0)
        return np.tile(coefficients, (len(table), 1))

    def _probabilities(self, table: NDArray[np.floating]) -> NDArray[np.floating]:
        return np.asarray(self.model_.predict_proba(self.scaler_.transform(table)))


def _l1() -> dict[str, Any]:
    """Return the L1 penalty in the form of the installed scikit-learn: ``penalty`` before 1.8, ``l1_ratio`` since."""
    by_name = LogisticRegression().get_params().get("penalty") == "l2"
    return {"penalty": "l1"} if by_name else {"l1_ratio": 1.0}
