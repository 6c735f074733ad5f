"""The interface of the baseline methods, and their common code."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from copy import copy
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from hideseek.engine.scaling import Scaler
from hideseek.errors import InputError
from hideseek.estimators import RULES, draw_seed, fitted_or_forgotten
from hideseek.explanation import Explanation
from hideseek.extras import import_extra
from hideseek.frames import frame_library, row_labels
from hideseek.metrics import top_k
from hideseek.tables import check_table, check_training_table, dense, names_of_fit, rows_of_fit
from hideseek.targets import check_classes, comparing_targets, readable_target
from hideseek.validation import Rule, check_parameters, integer
from hideseek.wording import some

__all__ = ["N_SELECTED", "PREDICT_FN", "SEED", "Baseline", "PredictFn", "extra", "predicted_by"]

PredictFn = Callable[[NDArray[Any]], Any]
"""A caller's model: maps rows to the probability of each class, in the order of the sorted labels."""

N_SELECTED = integer(1)
SEED = RULES["random_state"]
PREDICT_FN = Rule("a function from rows to class probabilities", callable).or_none()


class Baseline(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc] # scikit-learn has no types
    """A method that gives the features of a row that decided its class.

    A method defines:

    - ``citation``, which ends in the year, and ``importance_kind``, the kind of its importances;
    - a parameter ``random_state``, even if it draws nothing;
    - ``_rules``, the accepted values of each parameter; a ``k`` is also limited by the number of features;
    - ``_fit(table, target)``, which learns, and stores what it learned in attributes that end in an underscore;
    - ``_importance(table)``, a finite number of at least 0 for each feature of each row;
    - ``_probabilities(table)``, the probability of each class;
    - ``_selected(importance)``, unless it selects the ``k`` most important features.

    Tables passed to these hooks are checked: finite floats with the columns of the fit. ``self._seed()`` and
    ``self._scaler(table)`` are helpers for ``_fit``; ``self._prepared(X, y)`` does everything in ``fit`` before
    ``_fit``.
    """

    citation: ClassVar[str]
    importance_kind: ClassVar[str]
    _rules: ClassVar[Mapping[str, Rule]]
    _single_precision: ClassVar[bool] = False
    """Whether the library behind the method takes no values beyond those of single precision."""

    @abstractmethod
    def _fit(self, table: NDArray[np.floating], target: NDArray[np.int64]) -> None:
        """Learn from ``table (rows, features)`` and ``target (rows,)``, positions in ``classes_``."""

    @abstractmethod
    def _importance(self, table: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return the importance of each feature. Shape: ``(rows, features)`` -> the same."""

    @abstractmethod
    def _probabilities(self, table: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return the class probabilities. Shape: ``(rows, features)`` -> ``(rows, classes)``."""

    def _selected(self, importance: NDArray[np.floating]) -> NDArray[np.bool_]:
        """Return the selected features. Shape: ``(rows, features)`` -> the same."""
        return top_k(importance, self.k)

    # -- fitting --------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from rows and their labels.

        Args:
            X: Numbers, ``(rows, features)``: an array, or a pandas or polars frame.
            y: One class label per row.

        Returns:
            The fitted method.
        """
        with fitted_or_forgotten(self) as fresh:
            fresh._fit(*fresh._prepared(X, y))
        return self

    def _prepared(self, X: Any, y: Any) -> tuple[NDArray[np.floating], NDArray[np.int64]]:
        """Check parameters and data, record names and classes, and return the arguments of ``_fit``."""
        owner, parameters = type(self).__name__, self.get_params(deep=False)
        check_parameters(owner, parameters, self._rules)
        table, y = check_training_table(self, dense(X), y)
        self._check_range(table)
        if "k" in self._rules:
            check_parameters(owner, parameters, {"k": integer(1, table.shape[1])})
        self.classes_, target = check_classes(y)
        return table, target

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; raise an InputError for an unknown name."""
        try:
            return cast(Self, super().set_params(**params))
        except ValueError as error:
            raise InputError(str(error)) from error

    def _seed(self) -> int:
        """Return a number drawn from ``random_state``."""
        return draw_seed(self.random_state)

    def _scaler(self, table: NDArray[np.floating]) -> Scaler:
        """Return the scaler that standardises the columns."""
        scaler = Scaler.fit(table)
        huge = np.flatnonzero(~np.isfinite(scaler.scale) | ~np.isfinite(scaler.center))
        if len(huge):
            names = self._names()
            raise InputError(
                f"X has values too large to standardise in {some([names[j] for j in huge])}; rescale those columns"
            )
        return scaler

    # -- prediction -----------------------------------------------------------------------------------------------

    def explain(self, X: Any) -> Explanation:
        """Return, for each row of X, the importance of each feature and the selected features.

        Args:
            X: Rows with the columns of the fit.
        """
        table = self._table(X)
        importance = self._importance(table)
        fitted = copy(self)  # so that a later fit of this method does not change the explanation
        return Explanation(
            importance,
            self._selected(importance),
            feature_names=self._names(),
            data=table,
            row_labels=row_labels(X),
            importance_kind=self.importance_kind,
            predictor=fitted._predicted,
            model=fitted,
            frame_library=frame_library(X),
        )

    def select(self, X: Any) -> NDArray[np.bool_]:
        """Return the selected features of each row. Shape: ``(rows, features)``, bool."""
        return self._selected(self._importance(self._table(X)))

    def predict_proba(self, X: Any) -> NDArray[np.floating]:
        """Return the class probabilities of the explained model. Shape: ``(rows, classes)``."""
        return self._probabilities(self._table(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row. Shape: ``(rows,)``."""
        label, _ = self._predicted(self._table(X))
        return label

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of the predictions: the share of the rows whose class is right."""
        with comparing_targets():
            return float(super().score(X, readable_target(y, numeric=False), sample_weight))

    def _predicted(self, table: NDArray[np.floating]) -> tuple[NDArray[Any], NDArray[Any]]:
        probability = self._probabilities(table)
        return self.classes_[probability.argmax(axis=1)], probability.max(axis=1)

    def _table(self, X: Any) -> NDArray[np.floating]:
        check_is_fitted(self)
        table = check_table(self, rows_of_fit(self, X))
        self._check_range(table)
        return table

    def _check_range(self, table: NDArray[np.floating]) -> None:
        limit = np.finfo(np.float32).max
        if self._single_precision and (table.max() > limit or table.min() < -limit):
            raise InputError(
                f"X has values beyond {limit:.2g}, the limit of {type(self).__name__}; rescale those columns"
            )

    def _names(self) -> list[str]:
        return names_of_fit(self)


def extra(name: str) -> Any:
    """Import a module of the optional libraries that some methods need."""
    return import_extra(name, "compare", f"this method needs {name.partition('.')[0]}")


def predicted_by(predict_fn: PredictFn, table: NDArray[np.floating], n_classes: int) -> NDArray[np.floating]:
    """Return the checked output of the caller's function. Shape: ``(rows, classes)``."""
    probability = np.asarray(predict_fn(table))
    expected = (len(table), n_classes)
    if probability.shape != expected or not np.isfinite(probability).all():
        raise InputError(
            f"predict_fn must return a finite probability of every class for every row, shape {expected}; "
            f"it returned shape {probability.shape}: pass, for example, a classifier's predict_proba"
        )
    return probability
