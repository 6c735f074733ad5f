"""The estimator for real targets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin

from hideseek.errors import InputError
from hideseek.estimators._docs import documented
from hideseek.estimators._from_files import FromFiles
from hideseek.targets import comparing_targets, readable_target

__all__ = ["HideSeekRegressor"]


@documented
class HideSeekRegressor(RegressorMixin, FromFiles):  # type: ignore[misc]
    """Instance-wise feature selection for a real target.

    Like ``HideSeekClassifier``, with the squared error of the standardised target in place of the cross-entropy, so
    that a penalty does not depend on the unit of y: the price of showing one feature is compared with the share of the
    target's variance that it explains in a row.

    Args:
        {preset}
        {penalty} {n_members} {kept_fraction} {column_fraction} {groups} {replacement} {cross_fit} {hidden_layers}
        {anneal_power} {steps} {epochs} {batch_size} {learning_rate} {weight_decay} {ramps} {cuts} {screening}
        {threshold} {prediction_draws} {pool} {pool_rows} {validation_fraction}
        {device} {random_state} {verbose}

    Attributes:
        {n_features_in_} {feature_names_in_} {target_name_} {feature_importances_} {encoder_} {recipe_} {penalty_}
        {pool_} {path_} {cuts_} {screening_} {copies_} {stand_ins_} {trust_} {history_} {learned_}
        {fitted_files_}

    Example:
        >>> import numpy as np
        >>> from hideseek import HideSeekRegressor
        >>> X = np.random.default_rng(0).normal(size=(1000, 4))
        >>> y = np.where(X[:, 0] > 0, X[:, 1], X[:, 2])
        >>> model = HideSeekRegressor("fast", random_state=0).fit(X, y)
        >>> model.explain(X).mean_importance()["feature"].tolist()[-1]
        'x4'
    """

    _loss = "squared_error"

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return R squared: the share of the variance of y that the predictions explain."""
        with comparing_targets():
            return float(super().score(X, readable_target(y, numeric=True), sample_weight))

    def _units(self) -> tuple[float, float]:
        return self._target_center, self._target_scale

    def _encode_target(self, y: NDArray[Any]) -> tuple[NDArray[Any], int]:
        try:
            y = y.astype(np.float64)
        except ValueError as error:
            raise InputError(f"y must be numbers; it has the type {y.dtype}") from error
        with np.errstate(over="ignore", invalid="ignore"):
            self._target_center, self._target_scale = float(y.mean()), float(y.std())
        if not np.isfinite([self._target_center, self._target_scale]).all():
            raise InputError("y has values too large to standardise; rescale it")
        self._target_scale = self._target_scale or 1.0
        return ((y - self._target_center) / self._target_scale).astype(np.float32), 1

    def _target_state(self) -> dict[str, Any]:
        return {"center": self._target_center, "scale": self._target_scale}

    def _set_target_state(self, state: dict[str, Any]) -> None:
        self._target_center, self._target_scale = state["center"], state["scale"]
