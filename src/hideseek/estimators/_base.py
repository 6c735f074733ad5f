"""What the estimators share: from a table to a fitted ensemble, and from the ensemble to answers."""

from __future__ import annotations

import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from hideseek import persistence
from hideseek.engine.ensemble import Ensemble
from hideseek.engine.recipe import PRICE_PER_FEATURE, Recipe
from hideseek.engine.scaling import Scaler
from hideseek.errors import HideSeekWarning, InputError, MaskWarning
from hideseek.estimators._fitting import Part, Prepared, fit_stack
from hideseek.estimators._forgetting import fitted_or_forgotten
from hideseek.estimators._many import Problem, check_one_stack, models_for
from hideseek.estimators._parameters import RULES, RULES_WHEN_ANSWERING
from hideseek.estimators._state import parameters_from, restore_state, state_of
from hideseek.explanation import Explanation
from hideseek.frames import frame_library, row_labels
from hideseek.validation import check_parameters, check_table, check_training_table, some

__all__ = ["BaseHideSeek"]

_ROWS_LOOKED_AT = 2000
_WORTH_A_WARNING = 0.99
_SHOWN = 0.5


class BaseHideSeek(OneToOneFeatureMixin, TransformerMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Fitting, explaining and saving, for any kind of target."""

    _loss: str
    _ensemble: Ensemble
    recipe_: Recipe
    penalty_: float
    history_: dict[str, NDArray[Any]]

    def __init__(
        self,
        preset: str = "balanced",
        *,
        penalty: float | None = None,
        n_members: int | None = None,
        kept_fraction: float | None = None,
        column_fraction: float | None = None,
        replacement: str | None = None,
        cross_fit: bool | None = None,
        hidden_layers: tuple[int, ...] | None = None,
        anneal_power: float | None = None,
        steps: int | None = None,
        epochs: float | None = None,
        batch_size: int | str | None = None,
        learning_rate: float | None = None,
        weight_decay: float | None = None,
        threshold: float = 0.5,
        prediction_draws: int = 16,
        validation_fraction: float = 0.0,
        device: str = "auto",
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        self.preset = preset
        self.penalty = penalty
        self.n_members = n_members
        self.kept_fraction = kept_fraction
        self.column_fraction = column_fraction
        self.replacement = replacement
        self.cross_fit = cross_fit
        self.hidden_layers = hidden_layers
        self.anneal_power = anneal_power
        self.steps = steps
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.threshold = threshold
        self.prediction_draws = prediction_draws
        self.validation_fraction = validation_fraction
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    # -- what a kind of target decides ----------------------------------------------------------------------------

    @abstractmethod
    def _encode_target(self, y: NDArray[Any]) -> tuple[NDArray[Any], int]:
        """Learn from y what there is to know, and give the training target and the number of outputs."""

    def _row_weight(
        self, y: NDArray[Any], sample_weight: ArrayLike | None, table: NDArray[Any]
    ) -> NDArray[np.float64] | None:
        """How much each row counts; None: all the same."""
        if sample_weight is None:
            return None
        try:
            weight = _check_sample_weight(sample_weight, table, dtype=np.float64, ensure_non_negative=True)
        except ValueError as error:
            raise InputError(f"sample_weight cannot be used: {error}") from error
        return np.asarray(weight)

    @abstractmethod
    def _predicted(self, X: NDArray[np.floating]) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """The prediction for each row, and its probability where there is one."""

    @abstractmethod
    def _target_state(self) -> dict[str, Any]:
        """What was learned from y, as JSON."""

    @abstractmethod
    def _set_target_state(self, state: dict[str, Any]) -> None:
        """Take back what ``_target_state`` gave."""

    # -- fitting --------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Learn which features decide.

        Args:
            X: Numbers, ``(rows, features)``: an array, or a pandas or polars frame.
            y: One target per row.
            sample_weight: How much each row counts; all the same if not given.

        Returns:
            The fitted estimator.
        """
        self._check_parameters()
        with fitted_or_forgotten(self):
            fit_stack([self], [self._prepared(X, y, sample_weight)])
        return self

    def fit_many(self, problems: Sequence[Problem]) -> list[Self]:
        """Fit many problems of one shape as one stack; each result equals that of its own ``fit``, up to rounding.

        Args:
            problems: X, y, the seed, and a mapping of parameters that differ from this estimator's; of those only the
                penalty may differ between problems.

        Returns:
            One fitted estimator per problem, in the same order.
        """
        models, prepared = models_for(self, problems), []
        for model, (X, y, _, _) in zip(models, problems, strict=True):
            model._check_parameters()
            prepared.append(model._prepared(X, y, None))
        check_one_stack(models, [problem.shape for problem in prepared])
        fit_stack(models, prepared)
        return models

    def _rules(self) -> dict[str, Any]:
        return dict(RULES)

    def _check_parameters(self) -> None:
        check_parameters(type(self).__name__, self.get_params(deep=False), self._rules())

    def _prepared(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> Prepared:
        """Check the data, learn names and target, and give what training takes."""
        table, y = check_training_table(self, X, y)
        weight = self._row_weight(y, sample_weight, table)
        if weight is not None:
            table, y, weight = table[weight > 0], y[weight > 0], weight[weight > 0]
            if len(table) < 2:
                raise InputError("fewer than two rows have a positive weight; mend sample_weight or class_weight")
        target, n_outputs = self._encode_target(y)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        part, held_out = Part(table, target, weight), None
        if self.validation_fraction > 0:
            kept, out = self._held_out(target, seed)
            part, held_out = part.rows(kept), part.rows(out)
        return Prepared(part, held_out, self._scaler(part.table), n_outputs, seed)

    def _held_out(self, target: NDArray[Any], seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Rows to train on, and rows only to look at: a share of each class, where there are classes."""
        rows = np.arange(len(target))
        stratify = target if np.issubdtype(target.dtype, np.integer) and np.bincount(target).min() > 1 else None
        try:
            kept, out = train_test_split(rows, test_size=self.validation_fraction, random_state=seed, stratify=stratify)
        except ValueError as error:
            raise InputError(f"validation_fraction={self.validation_fraction}: {error}") from error
        return kept, out

    def _scaler(self, table: NDArray[np.floating]) -> Scaler:
        scaler = Scaler.fit(table)
        names = self._names()
        huge = [names[j] for j in np.flatnonzero(~np.isfinite(scaler.scale) | ~np.isfinite(scaler.center))]
        if huge:
            raise InputError(f"X has values too large to standardise in {some(huge)}; rescale those columns")
        if scaler.constant.all():
            raise InputError(
                "every column of X is constant, so there is nothing to select from; pass columns that vary"
            )
        if scaler.constant.any():
            constant = some([names[j] for j in np.flatnonzero(scaler.constant)])
            warnings.warn(f"constant columns are never selected: {constant}", HideSeekWarning, stacklevel=4)
        return scaler

    def _warn_of_odd_masks(self, table: NDArray[np.floating]) -> None:
        masks = self._ensemble.masks(table[:: max(1, len(table) // _ROWS_LOOKED_AT)])
        n_shown = (masks > _SHOWN).sum(axis=1)
        n_columns = int(self._ensemble.visible.any(dim=0).sum())
        if (n_shown == 0).mean() >= _WORTH_A_WARNING:
            problem = "collapsed: no feature is shown in nearly every row"
            advice = f"try penalty={self.penalty_ / 10:.2g} or a longer fit, or ask whether X can predict y at all"
        elif n_columns > 1 and (n_shown == n_columns).mean() >= _WORTH_A_WARNING:
            problem = "saturated: every feature is shown in nearly every row"
            advice = f"try penalty={max(3 * self.penalty_, PRICE_PER_FEATURE * n_columns):.2g}"
        else:
            return
        warnings.warn(f"the masks {problem}; penalty is {self.penalty_:.3g}: {advice}", MaskWarning, stacklevel=4)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_ensemble")

    # -- answering ------------------------------------------------------------------------------------------------

    def _names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return [f"x{j + 1}" for j in range(self.n_features_in_)] if names is None else [str(name) for name in names]

    def _table(self, X: Any) -> NDArray[np.floating]:
        check_is_fitted(self)
        check_parameters(type(self).__name__, self.get_params(deep=False), RULES_WHEN_ANSWERING)
        return check_table(self, X)

    def explain(self, X: Any) -> Explanation:
        """For each row of X, how much of each feature is shown, and which features are selected.

        Args:
            X: Rows with the columns of the fit.

        Returns:
            An ``Explanation`` whose importance is the mask, and whose selection is mask > ``threshold``.
        """
        table = self._table(X)
        masks = self._ensemble.masks(table)
        return Explanation(
            masks,
            masks > self.threshold,
            feature_names=self._names(),
            data=table,
            row_labels=row_labels(X),
            predictor=copy(self)._predicted,  # of this fit, even if the estimator is fitted anew
            frame_library=frame_library(X),
        )

    def select(self, X: Any) -> NDArray[np.bool_]:
        """The selected features of each row. Shape: ``(rows, features)``, bool."""
        return self._ensemble.masks(self._table(X)) > self.threshold

    def transform(self, X: Any) -> NDArray[np.floating]:
        """X with every value that was not selected replaced by NaN: what is left is what decided.

        Follows ``set_output``: after ``set_output(transform="pandas")`` it returns a frame.
        """
        table = self._table(X)
        return np.where(self._ensemble.masks(table) > self.threshold, table, np.nan).astype(table.dtype, copy=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one ``.safetensors`` file, atomically; ``hideseek.load`` reads it."""
        check_is_fitted(self)
        persistence.save(path, self, *state_of(self))

    @classmethod
    def _restore(cls, arrays: persistence.Arrays, description: persistence.Description) -> Self:
        model = cls(**parameters_from(description))
        restore_state(model, arrays, description)
        return model
