"""What the estimators share: from a table to a fitted ensemble, and from the ensemble to answers."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from html import escape
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from hideseek import persistence
from hideseek.engine.along import price_bounds
from hideseek.engine.ensemble import Ensemble
from hideseek.engine.recipe import PRICE_PER_FEATURE, Recipe
from hideseek.engine.scaling import Scaler
from hideseek.errors import InputError
from hideseek.estimators._effects import effects_of
from hideseek.estimators._file_checks import check_state
from hideseek.estimators._fitting import Part, Prepared
from hideseek.estimators._forgetting import fitted_or_forgotten, gradients_as_before
from hideseek.estimators._many import Problem, check_one_stack, models_for
from hideseek.estimators._masks import check_columns, summarise_masks
from hideseek.estimators._parameters import RULES, RULES_WHEN_ANSWERING, SHOWN, draw_seed
from hideseek.estimators._pools import check_draws, limit_pools
from hideseek.estimators._searching import at_price, default_price, fit_models, position_on
from hideseek.estimators._state import parameters_from, restore_state, state_of
from hideseek.explanation import Explanation
from hideseek.frames import frame_library, row_labels
from hideseek.search import PenaltyPath, Screening, Trust
from hideseek.search.parts import Split, held_out_rows
from hideseek.search.probability import selection_probability
from hideseek.stand_ins import StandIn
from hideseek.tables import (
    check_mixed_rows,
    check_mixed_training_table,
    check_table,
    check_training_table,
    dense,
    names_of_fit,
    rows_of_fit,
)
from hideseek.tabular import Table, TableEncoder, only_numbers
from hideseek.targets import check_target, name_of_target
from hideseek.validation import check_parameters, integer

__all__ = ["BaseHideSeek"]


class BaseHideSeek(OneToOneFeatureMixin, TransformerMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Fitting, explaining and saving, for any kind of target."""

    _loss: str
    _price_per_feature: float = PRICE_PER_FEATURE
    _shown: str | None = None
    """What predictions are made from unless the caller says; None: as the preset has it."""
    _ensemble: Ensemble
    classes_: NDArray[Any]
    encoder_: TableEncoder
    target_name_: str | None
    feature_importances_: NDArray[np.float64]
    recipe_: Recipe
    penalty_: float
    pool_: str
    history_: dict[str, NDArray[Any]]
    path_: PenaltyPath
    screening_: Screening
    copies_: dict[int, int]
    trust_: Trust | None
    stand_ins_: dict[str, tuple[StandIn, ...]]

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
        pool: str = "values",
        pool_rows: int = 256,
        validation_fraction: float = 0.0,
        device: str = "auto",
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
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
        self.pool = pool
        self.pool_rows = pool_rows
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
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(f"sample_weight cannot be used: {error}") from error
        return np.asarray(weight)

    @abstractmethod
    def _units(self) -> tuple[float, float] | None:
        """Return what output 0 and an output of 1 more stand for, or None where outputs are classes."""

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
            X: The table, ``(rows, columns)``: an array, a sparse matrix of modest size, or a frame of pandas, polars or
                pyarrow. Text and categories, booleans, dates, durations, ordered levels and missing values may be among
                its columns.
            y: One target per row. The name of a Series is used in sentences.
            sample_weight: How much each row counts; all the same if not given.

        Returns:
            The fitted estimator.
        """
        with fitted_or_forgotten(self) as fresh:
            fresh._check_parameters()
            problem = fresh._prepared(X, y, sample_weight)
            fit_models([fresh], [problem])
            limit_pools(fresh)
            summarise_masks(fresh, problem.train.table)
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
            limit_pools(model)
            summarise_masks(model, problem.train.table)
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
        """Return this model at another penalty: a sparser or a fuller answer, without fitting again.

        Give one of the four.

        Args:
            n_features: The best prediction with at most this many features selected in a row, on average.
            loss_within: The sparsest that loses at most this share of what the best one explains.
            score_within: The sparsest whose AUROC, or R squared, is at most this far below the best one's.
            penalty: Any penalty.

        Returns:
            A fitted estimator that shares ``path_`` with this one.

        Example:
            >>> from hideseek import HideSeekClassifier
            >>> from hideseek.datasets import make_syn
            >>> data = make_syn("Syn3", n_samples=2000, random_state=0)
            >>> model = HideSeekClassifier("fast", random_state=0).fit(data.X, data.y)
            >>> sparse = model.at(n_features=3)
            >>> bool(sparse.path_.n_selected[sparse.path_.chosen] <= 3)
            True
        """
        self._check_path("at")
        wishes = {
            "n_features": n_features,
            "loss_within": loss_within,
            "score_within": score_within,
            "penalty": penalty,
        }
        other = cast(Self, at_price(self, position_on(self.path_, wishes), penalty))
        other.__dict__.pop("feature_importances_", None)  # the rows to average the masks of are not kept
        other.trust_ = None  # nor are those that were held out
        return other

    def _check_path(self, asked: str) -> None:
        """Raise an InputError where the members answer for one penalty alone."""
        check_is_fitted(self)
        if self._ensemble.stack.price_range is None:
            raise InputError(
                f"{asked} needs a model that answers for a range of penalties, and this one answers for one; "
                'fit it with any preset but "paper"'
            )

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; a name that is not known is an InputError."""
        try:
            return cast(Self, super().set_params(**params))
        except ValueError as error:
            raise InputError(str(error)) from error

    def _rules(self) -> dict[str, Any]:
        return dict(RULES)

    def _finish(self) -> None:
        """Do what remains of a fit once the networks are trained."""

    def _check_parameters(self) -> None:
        check_parameters(type(self).__name__, self.get_params(deep=False), self._rules())
        check_draws(self.prediction_draws, self.pool_rows)

    def _prepared(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> Prepared:
        """Check the data, learn names, encoding and target, and give what training takes."""
        self.target_name_ = name_of_target(y)
        table, y = self._training_table(dense(X), y)
        weight = self._row_weight(y, sample_weight, table)
        if weight is not None:
            table, y, weight = table[weight > 0], y[weight > 0], weight[weight > 0]
            if len(table) < 2:
                raise InputError("fewer than two rows have a positive weight; mend sample_weight or class_weight")
        if isinstance(table, Table):
            self.encoder_ = TableEncoder.fit(table, self.groups)
            matrix = self.encoder_.encode(table)
        else:
            self.encoder_, matrix = TableEncoder.fit_numbers(names_of_fit(self), table), table
        target, n_outputs = self._encode_target(y)
        seed = draw_seed(self.random_state)
        part, held_out = Part(matrix, target, weight), None
        if self._holds_out_rows():
            kept, out = self._held_out(target, seed)
            part, held_out = part.rows(kept), part.rows(out)
        scaler = Scaler.fit(part.table).with_scale(self.encoder_.scales)
        widths = None if self.encoder_.is_plain else self.encoder_.widths
        problem = Prepared(part, held_out, scaler, n_outputs, seed, widths)
        check_columns(self, problem)
        return problem

    def _training_table(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        """X as a matrix where it is one, else as a ``Table``; and y as a column."""
        if self.groups is None and only_numbers(X):
            return check_training_table(self, X, y)
        table = Table(check_mixed_training_table(self, X))
        return table, check_target(self, y, len(table))

    def _holds_out_rows(self) -> bool:
        """Whether some rows are never learned from."""
        return self.validation_fraction > 0

    def _held_out(self, target: NDArray[Any], seed: int) -> Split:
        """Rows to train on, and rows only to look at."""
        return held_out_rows(target, self.validation_fraction, seed)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_ensemble")

    def _html_repr(self) -> str:
        """Return scikit-learn's picture of the estimator for notebooks, with ``trust_`` below it once it is fitted."""
        trust = getattr(self, "trust_", None)
        return str(super()._html_repr()) + ("" if trust is None else f"<pre>{escape(repr(trust))}</pre>")

    # -- answering ------------------------------------------------------------------------------------------------

    def _names(self) -> list[str]:
        """The features, as the answer names them."""
        return self.encoder_.feature_names

    def _table(self, X: Any) -> NDArray[np.floating]:
        """The matrix of X."""
        return self._read(X)[0]

    def _read(self, X: Any) -> tuple[NDArray[np.floating], Table | None]:
        """The matrix of X, and its cells as they came where they differ from it."""
        check_is_fitted(self)
        check_parameters(type(self).__name__, self.get_params(deep=False), RULES_WHEN_ANSWERING)
        check_draws(self.prediction_draws, len(self._ensemble.pool))
        rows = rows_of_fit(self, X)
        if self.encoder_.is_plain and only_numbers(rows.table):
            return check_table(self, rows), None
        table = Table(check_mixed_rows(self, rows))
        return self.encoder_.encode(table), table

    def explain(
        self, X: Any, *, n_features: int | None = None, penalty: float | None = None, shown: str | None = None
    ) -> Explanation:
        """For each row of X, how much of each feature is shown, and which features are selected.

        Args:
            X: Rows with the columns of the fit. Those of a frame are found by name, in any order. A dict or a pandas
                Series is a single row.
            n_features: Select exactly this many features in every row: those that enter at the highest prices.
            penalty: Answer at this penalty in place of ``penalty_``; give one of the two.
            shown: What the explanation's prediction and effects are made from, as of :meth:`predict`.

        Returns:
            An ``Explanation`` whose importance is the mask, and whose selection is mask > ``threshold``. A category is
            one feature, and so are the columns of each of the ``groups``.
        """
        matrix, table = self._read(X)
        fitted = self._asked_for(n_features, penalty)  # of this fit, even if the estimator is fitted anew
        fitted._shown = self._resolve_shown(shown)
        masks = fitted._ensemble.masks(matrix)
        return Explanation(
            masks,
            masks > self.threshold,
            feature_names=self._names(),
            data=matrix if table is None else self.encoder_.feature_values(table),
            inputs=matrix,
            row_labels=row_labels(X),
            predictor=fitted._predicted,
            effects=partial(effects_of, fitted),
            model=fitted,
            relevance=None if self._ensemble.stack.price_range is None else fitted._selection_probability,
            entry=self._entry_prices if self._ensemble.stack.price_range is not None else None,
            stand_ins=getattr(self, "stand_ins_", None),
            frame_library=frame_library(X),
            target_name=self.target_name_,
        )

    def _asked_for(self, n_features: int | None, penalty: float | None) -> Self:
        """Return a copy of this model that selects so many features in every row, or answers at this penalty."""
        if n_features is None and penalty is None:
            return copy(self)
        self._check_path("explain with n_features or penalty")
        if penalty is not None:
            if n_features is not None:
                raise InputError("explain takes n_features or penalty, not both; leave one out")
            return self.at(penalty=penalty)
        n_known = self._ensemble.visible.shape[1]  # screened features and copies can never be selected
        check_parameters(type(self).__name__, {"n_features": n_features}, {"n_features": integer(1, n_known)})
        other = copy(self)
        other._ensemble = replace(self._ensemble, n_features=n_features, threshold=self.threshold)
        other.trust_ = None
        return other

    def _entry_prices(self, table: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return the highest trained price at which each feature is selected. Shape: ``(rows, features)``."""
        _, highest = price_bounds(self._ensemble)
        return np.minimum(self._ensemble.entry_prices(table, self.threshold), np.float32(highest))

    def _selection_probability(self, table: NDArray[np.floating]) -> NDArray[np.float32]:
        """Return the probability that each feature is relevant for its row. Shape: ``(rows, features)``."""
        price = default_price(self)
        ensemble = replace(self._ensemble, price=price, n_features=None)
        return selection_probability(ensemble.masks(table), price, price_bounds(ensemble)[0])

    def predict(self, X: Any, *, shown: str | None = None) -> NDArray[Any]:
        """Return the most probable class, or the value, of each row.

        Args:
            X: Rows with the columns of the fit.
            shown: What the prediction is made from. "selected": the selected features alone; every member of the
                ensemble sees them as they are, and everything else drawn anew from the training rows. "mask": each
                member sees its own mask's share of each feature, also of features that the ensemble does not select.
                None: "selected", except with the preset "paper", where it is "mask", as published.

        Shape: ``(rows,)``.
        """
        return self._predicted(self._table(X), shown)[0]

    def _resolve_shown(self, shown: str | None) -> str:
        check_parameters(type(self).__name__, {"shown": shown}, {"shown": SHOWN})
        return shown or self._shown or ("mask" if self.preset == "paper" else "selected")

    def _shown_threshold(self, shown: str | None = None) -> float | None:
        """Return the mask over which ``Ensemble.outputs`` shows a feature whole; None: the masks themselves."""
        return self.threshold if self._resolve_shown(shown) == "selected" else None

    def _answers(self, table: NDArray[np.floating], shown: str | None = None) -> NDArray[Any]:
        """Return the probabilities of the classes, ``(rows, classes)``, or the values, ``(rows,)``."""
        units = self._units()
        threshold = self._shown_threshold(shown)
        output = self._ensemble.outputs(table, self.prediction_draws, softmax=units is None, threshold=threshold)
        return output if units is None else output[:, 0].astype(np.float64) * units[1] + units[0]

    def _predicted(
        self, table: NDArray[np.floating], shown: str | None = None
    ) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Return the prediction for each row, and its probability where there is one."""
        answers = self._answers(table, shown)
        if answers.ndim == 1:
            return answers, None
        return self.classes_[answers.argmax(axis=1)], answers.max(axis=1, initial=0.0)

    def select(self, X: Any) -> NDArray[np.bool_]:
        """The selected features of each row. Shape: ``(rows, features)``, bool."""
        matrix = self._table(X)
        return self._ensemble.masks(matrix) > self.threshold

    def transform(self, X: Any) -> NDArray[Any]:
        """X with every value that was not selected replaced by NaN: what is left is what decided.

        A table of mixed types becomes an array of objects, with None for what was not selected. Follows
        ``set_output``: after ``set_output(transform="pandas")`` it returns a frame.
        """
        matrix, table = self._read(X)
        selected = self._ensemble.masks(matrix) > self.threshold
        if table is None:
            return np.where(selected, matrix, np.nan).astype(matrix.dtype, copy=False)
        values = self.encoder_.column_values(table)
        values[~self.encoder_.to_columns(selected)] = None if values.dtype == object else np.nan
        return values

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one ``.safetensors`` file, atomically; ``hideseek.load`` reads it."""
        check_is_fitted(self)
        persistence.save(path, self, *state_of(self))

    _check_state = classmethod(check_state)

    @classmethod
    def _restore(cls, arrays: persistence.Arrays, description: persistence.Description) -> Self:
        model = cls(**parameters_from(description))
        restore_state(model, arrays, description)
        return model
