"""Random forest: one ranking of the features, the same for every row."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier

from hideseek.baselines._base import N_SELECTED, SEED, Baseline
from hideseek.validation import integer

__all__ = ["ForestImportance"]


class ForestImportance(Baseline):
    """The k features with the largest Gini importance in a random forest, the same for every row.

    Args:
        k: Number of features to select.
        n_estimators: Number of trees.
        max_depth: Maximum depth of the trees.
        random_state: Random seed; the same seed gives the same result.

    Attributes:
        classes_: The labels, sorted.
        model_: The fitted forest.

    Example:
        >>> from hideseek.baselines import ForestImportance
        >>> from hideseek.datasets import make_syn
        >>> data = make_syn("Syn2", n_samples=1000)
        >>> forest = ForestImportance(k=4, random_state=0).fit(data.X, data.y)
        >>> forest.explain(data.X[:1]).selected.nonzero()[1].tolist()
        [2, 3, 4, 5]
    """

    citation = "L. Breiman, Random forests, Machine Learning 45, 2001"
    importance_kind = "impurity importance"
    _single_precision = True
    _rules: ClassVar = {"k": N_SELECTED, "n_estimators": integer(1), "max_depth": integer(1), "random_state": SEED}

    def __init__(
        self,
        k: int,
        *,
        n_estimators: int = 100,
        max_depth: int = 5,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
    ) -> None:
        self.k = k
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.random_state = random_state

    def _fit(self, table: NDArray[np.floating], target: NDArray[np.int64]) -> None:
        forest = RandomForestClassifier(
            self.n_estimators, criterion="gini", max_depth=self.max_depth, random_state=self._seed()
        )
        self.model_ = forest.fit(table, target)

    def _importance(self, table: NDArray[np.floating]) -> NDArray[np.floating]:
        return np.tile(self.model_.feature_importances_, (len(table), 1))

    def _probabilities(self, table: NDArray[np.floating]) -> NDArray[np.floating]:
        return np.asarray(self.model_.predict_proba(table))
