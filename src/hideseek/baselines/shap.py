"""SHAP: the contribution of each feature to the prediction of a row, by the Shapley value."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from hideseek.baselines._base import N_SELECTED, PREDICT_FN, SEED, Baseline, PredictFn, extra, predicted_by
from hideseek.errors import InputError
from hideseek.validation import choice, integer, number

__all__ = ["ShapExplainer"]

_MANY_FEATURES = 100
_share = number("a number in (0, 1]", lambda value: 0 < value <= 1)


class ShapExplainer(Baseline):
    """The k features with the largest absolute SHAP values in each row, for boosted trees or any model.

    With more than two classes, a feature's importance is the mean of its absolute values over the classes.

    Args:
        k: Number of features to select.
        mode: "tree": exact values for XGBoost, in log-odds. "kernel": values of the probabilities, for any model, by
            querying it with mixtures of the row and background rows; slow.
        depth: Depth of the trees; None: 5, or 7 from 100 features on.
        eta: Learning rate of the boosting.
        colsample: Share of the columns that each tree sees; None: 0.9, or 1 from 100 features on.
        rounds: Number of trees (for each class, if there are more than two).
        predict_fn: For "kernel", the model to explain: a function from an array of rows to the probabilities of the
            sorted labels. None: XGBoost.
        background: For "kernel", the number of training rows that replace hidden features.
        random_state: Random seed; the same seed gives the same result.

    Attributes:
        classes_: The labels, sorted.
        model_: The fitted XGBoost classifier; only without ``predict_fn``.
        background_: The rows that replace hidden features; None with "tree".

    Example:
        >>> from hideseek.baselines import ShapExplainer
        >>> from hideseek.datasets import make_syn
        >>> data = make_syn("Syn4", n_samples=1000)
        >>> explanation = ShapExplainer(k=5, random_state=0).fit(data.X, data.y).explain(data.X[:3])
        >>> explanation.n_selected.tolist(), explanation.importance_kind
        ([5, 5, 5], 'absolute SHAP value')
    """

    citation = (
        "S. M. Lundberg, S.-I. Lee, A unified approach to interpreting model predictions, NeurIPS 2017; "
        "S. M. Lundberg et al., From local explanations to global understanding with explainable AI for trees, "
        "Nature Machine Intelligence 2, 2020"
    )
    importance_kind = "absolute SHAP value"
    _single_precision = True
    _rules: ClassVar = {
        "k": N_SELECTED,
        "mode": choice("tree", "kernel"),
        "depth": integer(1).or_none(),
        "eta": _share,
        "colsample": _share.or_none(),
        "rounds": integer(1),
        "predict_fn": PREDICT_FN,
        "background": integer(1),
        "random_state": SEED,
    }

    def __init__(
        self,
        k: int,
        *,
        mode: str = "tree",
        depth: int | None = None,
        eta: float = 0.1,
        colsample: float | None = None,
        rounds: int = 100,
        predict_fn: PredictFn | None = None,
        background: int = 100,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
    ) -> None:
        self.k = k
        self.mode = mode
        self.depth = depth
        self.eta = eta
        self.colsample = colsample
        self.rounds = rounds
        self.predict_fn = predict_fn
        self.background = background
        self.random_state = random_state

    def _fit(self, table: NDArray[np.floating], target: NDArray[np.int64]) -> None:
        if self.mode == "tree" and self.predict_fn is not None:
            raise InputError("mode='tree' explains its own trees; to explain predict_fn, use mode='kernel'")
        extra("shap")  # needed in explain; if it is missing, fail in fit already
        self.seed_ = self._seed()
        self.background_ = None
        if self.mode == "kernel":
            self.background_ = table[check_random_state(self.seed_).permutation(len(table))[: self.background]]
        if self.predict_fn is None:
            self.model_ = self._booster(table.shape[1]).fit(table, target)
        else:
            self._probabilities(table[:1])

    def _booster(self, n_features: int) -> Any:
        depth, colsample = (7, 1.0) if n_features >= _MANY_FEATURES else (5, 0.9)
        return extra("xgboost").XGBClassifier(
            n_estimators=self.rounds,
            max_depth=depth if self.depth is None else self.depth,
            learning_rate=self.eta,
            colsample_bytree=colsample if self.colsample is None else self.colsample,
            random_state=self.seed_,
        )

    def _importance(self, table: NDArray[np.floating]) -> NDArray[np.floating]:
        shap = extra("shap")
        if self.background_ is None:
            values = shap.TreeExplainer(self.model_).shap_values(table)
        else:
            explainer = shap.KernelExplainer(self._probabilities, self.background_)
            values = np.stack([self._kernel_values(explainer, row) for row in table])
        absolute: NDArray[np.floating] = np.abs(values)
        return absolute if absolute.ndim == 2 else absolute.mean(axis=2)

    def _kernel_values(self, explainer: Any, row: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return the SHAP values of one row. Shape: ``(features,)`` -> ``(features, classes)``."""
        with _numpy_draws(self.seed_):
            return np.asarray(explainer.shap_values(row, l1_reg=False, silent=True))

    def _probabilities(self, table: NDArray[np.floating]) -> NDArray[np.floating]:
        if self.predict_fn is None:
            return np.asarray(self.model_.predict_proba(table))
        return predicted_by(self.predict_fn, table, len(self.classes_))


@contextmanager
def _numpy_draws(seed: int) -> Iterator[None]:
    """Seed numpy's global generator, the only one that KernelExplainer uses, and restore it afterwards."""
    before = np.random.get_state()  # noqa: NPY002 - see above
    np.random.seed(seed)  # noqa: NPY002 - see above
    try:
        yield
    finally:
        np.random.set_state(before)  # noqa: NPY002 - see above
