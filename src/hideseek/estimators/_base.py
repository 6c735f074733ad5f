"""What the estimators share: from a table to a fitted ensemble, and from the ensemble to answers."""

from __future__ import annotations

import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from functools import partial
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from hideseek import persistence
from hideseek.engine.ensemble import Ensemble
from hideseek.engine.recipe import PRICE_PER_FEATURE, Recipe
from hideseek.engine.scaling import Scaler
from hideseek.errors import HideSeekWarning, InputError, MaskWarning
from hideseek.estimators._fitting import Part, Prepared
from hideseek.estimators._forgetting import fitted_or_forgotten, gradients_as_before
from hideseek.estimators._many import Problem, check_one_stack, models_for
from hideseek.estimators._parameters import RULES, RULES_WHEN_ANSWERING, resolve_penalty
from hideseek.estimators._searching import Candidate, at_position, fit_models, position_on
from hideseek.estimators._state import parameters_from, restore_state, state_of
from hideseek.explanation import Explanation
from hideseek.frames import frame_library, row_labels
from hideseek.search import PenaltyPath, Screening
from hideseek.search.parts import Split, held_out_rows
from hideseek.tabular import Table, TableEncoder, only_numbers
from hideseek.validation import (
    check_mixed_table,
    check_parameters,
    check_table,
    check_target,
    check_training_table,
    some,
)

__all__ = ["BaseHideSeek"]

_ROWS_LOOKED_AT = 2000
_WORTH_A_WARNING = 0.9
_SHOWN = 0.5


class BaseHideSeek(OneToOneFeatureMixin, TransformerMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Fitting, explaining and saving, for any kind of target."""

    _loss: str
    _price_per_feature: float = PRICE_PER_FEATURE
    _ensemble: Ensemble
    encoder_: TableEncoder | None
    recipe_: Recipe
    penalty_: float
    history_: dict[str, NDArray[Any]]
    path_: PenaltyPath
    screening_: Screening
    _candidates: list[Candidate]

    def __init__(
        self,
        preset: str = "balanced",
        *,
        penalty: float | str | None = None,
        n_members: int | None = None,
        kept_fraction: float | None = None,
        column_fraction: float | None = None,
        groups: Mapping[str, Sequence[str | int]] | None = None,
        replacement: str | None = None,
        cross_fit: bool | None = None,
        hidden_layers: tuple[int, ...] | None = None,
        anneal_power: float | None = None,
        steps: int | None = None,
        epochs: float | None = None,
        batch_size: int | str | None = None,
        learning_rate: float | None = None,
        weight_decay: float | None = None,
        ramps: bool | None = None,
        screening: bool | int | str | None = None,
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
        self.groups = groups
        self.replacement = replacement
        self.cross_fit = cross_fit
        self.hidden_layers = hidden_layers
        self.anneal_power = anneal_power
        self.steps = steps
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.ramps = ramps
        self.screening = screening
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
            X: The table, ``(rows, columns)``: an array, or a frame of pandas, polars or pyarrow. Text and categories,
                booleans, dates, ordered levels and missing values may be among its columns.
            y: One target per row.
            sample_weight: How much each row counts; all the same if not given.

        Returns:
            The fitted estimator.
        """
        with fitted_or_forgotten(self) as fresh:
            fresh._check_parameters()
            problem = fresh._prepared(X, y, sample_weight)
            fit_models([fresh], [problem])
            fresh._warn_of_odd_masks(problem.train.table)
            fresh._finish()
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
        with gradients_as_before():
            fit_models(models, prepared)
        for model, problem in zip(models, prepared, strict=True):
            model._warn_of_odd_masks(problem.train.table)
            model._finish()
        return models

    def at(
        self,
        *,
        n_features: float | None = None,
        loss_within: float | None = None,
        score_within: float | None = None,
        penalty: float | None = None,
    ) -> Self:
        """A sparser or a fuller answer from the path of a fit with ``penalty="auto"``, without fitting again.

        Give one of the four. The model at the chosen penalty is the one that was fitted on all rows; at the others it
        is the one that was judged.

        Args:
            n_features: The best prediction with at most this many features selected in a row, on average.
            loss_within: The sparsest that loses at most this share of what the best one explains.
            score_within: The sparsest whose AUROC, or R squared, is at most this far below the best one's.
            penalty: The nearest penalty of the path.

        Returns:
            A fitted estimator that shares ``path_`` with this one.

        Example:
            >>> from hideseek import HideSeekClassifier
            >>> from hideseek.datasets import make_syn
            >>> data = make_syn("Syn3", n_samples=2000, random_state=0)
            >>> model = HideSeekClassifier("fast", penalty="auto", random_state=0).fit(data.X, data.y)
            >>> sparse = model.at(n_features=3)
            >>> bool(sparse.path_.n_selected[sparse.path_.chosen] <= 3)
            True
        """
        check_is_fitted(self)
        if not hasattr(self, "path_"):
            raise InputError('at needs a path of penalties, and this model has none; fit it with penalty="auto"')
        wishes = {
            "n_features": n_features,
            "loss_within": loss_within,
            "score_within": score_within,
            "penalty": penalty,
        }
        return cast(Self, at_position(self, position_on(self.path_, wishes)))

    def _rules(self) -> dict[str, Any]:
        return dict(RULES)

    def _finish(self) -> None:
        """Do what remains of a fit once the networks are trained."""

    def _check_parameters(self) -> None:
        check_parameters(type(self).__name__, self.get_params(deep=False), self._rules())

    def _prepared(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> Prepared:
        """Check the data, learn names, encoding and target, and give what training takes."""
        table, y = self._training_table(X, y)
        weight = self._row_weight(y, sample_weight, table)
        if weight is not None:
            table, y, weight = table[weight > 0], y[weight > 0], weight[weight > 0]
            if len(table) < 2:
                raise InputError("fewer than two rows have a positive weight; mend sample_weight or class_weight")
        self.encoder_ = TableEncoder.fit(table, self.groups) if isinstance(table, Table) else None
        matrix = self.encoder_.encode(table) if self.encoder_ is not None else table
        target, n_outputs = self._encode_target(y)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        part, held_out = Part(matrix, target, weight), None
        if self._holds_out_rows():
            kept, out = self._held_out(target, seed)
            part, held_out = part.rows(kept), part.rows(out)
        scaler, widths = Scaler.fit(part.table), None
        if self.encoder_ is not None:
            scaler, widths = scaler.with_scale(self.encoder_.scales), self.encoder_.widths
        problem = Prepared(part, held_out, scaler, n_outputs, seed, widths)
        self._check_columns(problem)
        return problem

    def _training_table(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        """X as a matrix where it is one, else as a ``Table``; and y as a column."""
        if self.groups is None and only_numbers(X):
            return check_training_table(self, X, y)
        table = Table(check_mixed_table(self, X, reset=True))
        return table, check_target(self, y, len(table))

    def _holds_out_rows(self) -> bool:
        """Whether some rows are never learned from; those that judge penalties are, once one is chosen."""
        return self.validation_fraction > 0 and resolve_penalty(self.get_params(deep=False)) != "auto"

    def _held_out(self, target: NDArray[Any], seed: int) -> Split:
        """Rows to train on, and rows only to look at."""
        return held_out_rows(target, self.validation_fraction, seed)

    def _judging_fraction(self) -> float:
        """The share of the rows that judge penalties; 0: as many as it takes."""
        return self.validation_fraction

    def _check_columns(self, problem: Prepared) -> None:
        """Raise an InputError where nothing can be learned, and warn of what will not be."""
        names = self._names()
        scaler = problem.scaler
        huge = problem.by_feature(~np.isfinite(scaler.scale) | ~np.isfinite(scaler.center))
        if huge.any():
            columns = some([names[j] for j in np.flatnonzero(huge)])
            raise InputError(f"X has values too large to standardise in {columns}; rescale those columns")
        if not problem.varies.any():
            raise InputError(
                "every column of X is constant, so there is nothing to select from; pass columns that vary"
            )
        said = set() if self.encoder_ is None else self.encoder_.ids
        constant = [name for name, varies in zip(names, problem.varies, strict=True) if not varies and name not in said]
        if constant:
            warnings.warn(f"constant columns are never selected: {some(constant)}", HideSeekWarning, stacklevel=4)

    def _warn_of_odd_masks(self, table: NDArray[np.floating]) -> None:
        masks = self._ensemble.masks(table[:: max(1, len(table) // _ROWS_LOOKED_AT)])
        n_shown = (masks > _SHOWN).sum(axis=1)
        n_columns = int(self._ensemble.visible.any(dim=0).sum())
        if (n_shown == 0).mean() >= _WORTH_A_WARNING:
            problem = "collapsed: no feature is shown in nearly every row"
            advice = f"try penalty={self.penalty_ / 10:.2g} or a longer fit, or ask whether X can predict y at all"
        elif self._ensemble.kept is None and n_columns > 1 and (n_shown == n_columns).mean() >= _WORTH_A_WARNING:
            problem = "saturated: every feature is shown in nearly every row"
            advice = f"try penalty={max(3 * self.penalty_, PRICE_PER_FEATURE * n_columns):.2g}"
            if not self.recipe_.cross_fit:
                advice += ", or cross_fit=True"
        else:
            return
        warnings.warn(f"the masks {problem}; penalty is {self.penalty_:.3g}: {advice}", MaskWarning, stacklevel=3)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_ensemble")

    # -- answering ------------------------------------------------------------------------------------------------

    def _names(self) -> list[str]:
        """The features, as the answer names them."""
        if self.encoder_ is not None:
            return self.encoder_.feature_names
        names = getattr(self, "feature_names_in_", None)
        return [f"x{j + 1}" for j in range(self.n_features_in_)] if names is None else [str(name) for name in names]

    def _table(self, X: Any) -> NDArray[np.floating]:
        """The matrix of X."""
        return self._read(X)[0]

    def _read(self, X: Any) -> tuple[NDArray[np.floating], Table | None]:
        """The matrix of X, and its cells as they came where they differ from it."""
        check_is_fitted(self)
        check_parameters(type(self).__name__, self.get_params(deep=False), RULES_WHEN_ANSWERING)
        if self.encoder_ is None and only_numbers(X):
            return check_table(self, X), None
        table = Table(check_mixed_table(self, X, reset=False))
        return self._encoder().encode(table), table

    def _encoder(self) -> TableEncoder:
        """The one of the fit; after a fit on numbers alone, one that knows what stands for a missing number."""
        return self.encoder_ or TableEncoder.of_numbers(self._names(), self._ensemble.scaler.center)

    def explain(self, X: Any) -> Explanation:
        """For each row of X, how much of each feature is shown, and which features are selected.

        Args:
            X: Rows with the columns of the fit.

        Returns:
            An ``Explanation`` whose importance is the mask, and whose selection is mask > ``threshold``. A category is
            one feature, and so are the columns of each of the ``groups``.
        """
        matrix, table = self._read(X)
        masks = self._ensemble.masks(matrix)
        fitted = copy(self)  # of this fit, even if the estimator is fitted anew
        return Explanation(
            masks,
            masks > self.threshold,
            feature_names=self._names(),
            data=matrix if table is None else self._encoder().feature_values(table),
            inputs=matrix,
            row_labels=row_labels(X),
            predictor=fitted._predicted,
            model=fitted,
            agreement=partial(self._ensemble.agreement, threshold=self.threshold),
            frame_library=frame_library(X),
        )

    def select(self, X: Any) -> NDArray[np.bool_]:
        """The selected features of each row. Shape: ``(rows, features)``, bool."""
        return self._ensemble.masks(self._table(X)) > self.threshold

    def transform(self, X: Any) -> NDArray[Any]:
        """X with every value that was not selected replaced by NaN: what is left is what decided.

        A table of mixed types becomes an array of objects, with None for what was not selected. Follows
        ``set_output``: after ``set_output(transform="pandas")`` it returns a frame.
        """
        matrix, table = self._read(X)
        selected = self._ensemble.masks(matrix) > self.threshold
        if table is None:
            return np.where(selected, matrix, np.nan).astype(matrix.dtype, copy=False)
        values = self._encoder().column_values(table)
        values[~self._encoder().to_columns(selected)] = None if values.dtype == object else np.nan
        return values

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one ``.safetensors`` file, atomically; ``hideseek.load`` reads it."""
        check_is_fitted(self)
        persistence.save(path, self, *state_of(self))

    @classmethod
    def _restore(cls, arrays: persistence.Arrays, description: persistence.Description) -> Self:
        model = cls(**parameters_from(description))
        restore_state(model, arrays, description)
        return model
