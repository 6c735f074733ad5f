"""What the estimators share: from a table to a fitted model."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from hideseek import persistence
from hideseek.engine.recipe import PRICE_PER_FEATURE, Recipe
from hideseek.engine.scaling import Scaler
from hideseek.errors import InputError
from hideseek.estimators._answering import Answering, check_draws
from hideseek.estimators._columns import check_columns
from hideseek.estimators._file_checks import check_state
from hideseek.estimators._forgetting import fitted_or_forgotten, gradients_as_before
from hideseek.estimators._learned import LearnedAttribute
from hideseek.estimators._many import Problem as GivenProblem
from hideseek.estimators._many import check_one_stack, for_each_problem, models_for
from hideseek.estimators._parameters import RULES, draw_seed, given_penalty, resolve_recipe, resolve_screening
from hideseek.estimators._state import parameters_from, restore_state, state_of
from hideseek.files import write_atomically
from hideseek.search import PenaltyPath, Screening, Trust
from hideseek.search.fitting import Settings, learn
from hideseek.search.learned import Learned
from hideseek.search.parts import Part, Split, held_out_rows
from hideseek.search.problem import Problem
from hideseek.stand_ins import StandIn
from hideseek.tables import check_mixed_training_table, check_training_table, dense, names_of_fit
from hideseek.tabular import Table, TableEncoder, only_numbers
from hideseek.targets import check_target, name_of_target
from hideseek.validation import check_parameters, choice

__all__ = ["BaseHideSeek"]


class BaseHideSeek(Answering):
    """Fitting, explaining and saving, for any kind of target."""

    _loss: str
    _price_per_feature: float = PRICE_PER_FEATURE
    _shown: str | None = None
    """What predictions are made from unless the caller says; None: as the preset has it."""
    classes_: NDArray[Any]
    encoder_: TableEncoder
    target_name_: str | None
    learned_: Learned

    feature_importances_ = LearnedAttribute[NDArray[np.float64]]()
    recipe_ = LearnedAttribute[Recipe]()
    penalty_ = LearnedAttribute[float]()
    pool_ = LearnedAttribute[str]()
    history_ = LearnedAttribute[dict[str, NDArray[Any]]]()
    path_ = LearnedAttribute[PenaltyPath]()
    screening_ = LearnedAttribute[Screening]()
    copies_ = LearnedAttribute[dict[int, int]]()
    stand_ins_ = LearnedAttribute[dict[str, tuple[StandIn, ...]]]()

    @property
    def trust_(self) -> Trust | None:
        """How far to believe this fit; None where nothing was measured: after ``at``, and in older files."""
        return self.learned_.trust

    @property
    def cuts_(self) -> dict[str, tuple[float, ...]]:
        """The values at which the answer jumps, by the name of the column; empty if there are none."""
        scaler, kept, names = self.learned_.ensemble.scaler, self.learned_.ensemble.kept, self.encoder_.matrix_names
        if scaler.cuts is None:
            return {}
        found: dict[str, tuple[float, ...]] = {}
        for column, at in sorted(zip(scaler.cuts.column.tolist(), scaler.cuts.at.tolist(), strict=True)):
            name = names[column if kept is None else int(kept.columns[column])]
            found[name] = (*found.get(name, ()), float(scaler.center[column] + at * scaler.scale[column]))
        return found

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
        cuts: bool | None = None,
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
        self.cuts = cuts
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
        """Return the weight of each row; None: all the same."""
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
        """Return what was learned from y, as JSON."""

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
            (learned,) = learn(fresh._settings(problem), [problem])
            fresh._take(learned)
        return self

    def fit_many(self, problems: Sequence[GivenProblem]) -> list[Self]:
        """Fit many problems of one shape as one stack; each result equals that of its own ``fit``, up to rounding.

        Args:
            problems: X, y, the seed, and a mapping of parameters that differ from this estimator's; of those only the
                penalty may differ between problems.

        Returns:
            One fitted estimator per problem, in the same order.
        """
        models = models_for(self, problems)
        for model in models:
            model._check_parameters()
        prepared = for_each_problem(
            lambda model, given: model._prepared(*given[:2], None), self.device, models, problems
        )
        check_one_stack(models, [problem.shape for problem in prepared])
        with gradients_as_before():
            found = learn(models[0]._settings(prepared[0]), prepared)
        for_each_problem(lambda model, own: model._take(own), self.device, models, found)
        return models

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        """Return the names of the parameters; scikit-learn would read the signature again at every use."""
        return cast(list[str], super()._get_param_names())

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; a name that is not known is an InputError."""
        try:
            return cast(Self, super().set_params(**params))
        except ValueError as error:
            raise InputError(str(error)) from error

    def _rules(self) -> dict[str, Any]:
        return dict(RULES)

    def _settings(self, problem: Problem) -> Settings:
        """Return what is the same for all problems of a call."""
        parameters, n_rows = self.get_params(deep=False), len(problem.train.target)
        return Settings(
            resolve_recipe(parameters, n_rows, problem.n_features),
            self._loss,
            self.device,
            resolve_screening(parameters, n_rows, problem.n_features),
            self.threshold,
            self.prediction_draws,
            self.pool,
            self.pool_rows,
            bool(self.verbose),
        )

    def _take(self, learned: Learned) -> None:
        """Become the fitted model."""
        shown = learned.feature_importances
        importances = None if shown is None else self.encoder_.to_columns(shown[None])[0]
        self.learned_ = replace(learned, feature_importances=importances)
        self._finish()

    def _finish(self) -> None:
        """Do what remains of a fit once the networks are trained."""

    def _check_parameters(self) -> None:
        check_parameters(type(self).__name__, self.get_params(deep=False), self._rules())
        check_draws(self.prediction_draws, self.pool_rows)

    def _prepared(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> Problem:
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
        names, penalty = self._names(), given_penalty(self.get_params(deep=False))
        problem = Problem(
            part, held_out, scaler, n_outputs, seed, names, self._price_per_feature, penalty, widths=widths
        )
        check_columns(problem, self.encoder_.ids)
        return problem

    def _training_table(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        """Return X as a matrix where it is one, else as a ``Table``; and y as a column."""
        if self.groups is None and only_numbers(X):
            return check_training_table(self, X, y)
        table = Table(check_mixed_training_table(self, X))
        return table, check_target(self, y, len(table))

    def _holds_out_rows(self) -> bool:
        """Whether some rows are never learned from."""
        return self.validation_fraction > 0

    def _held_out(self, target: NDArray[Any], seed: int) -> Split:
        """Return the rows to train on, and the rows that are held out."""
        return held_out_rows(target, self.validation_fraction, seed)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "learned_")

    def _html_repr(self) -> str:
        """Return scikit-learn's table of the parameters, for notebooks, with ``trust_`` below it once it is fitted."""
        trust = getattr(self, "trust_", None)
        return str(super()._html_repr()) + ("" if trust is None else trust._repr_html_())

    # -- on disk --------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one ``.safetensors`` file, atomically; ``hideseek.load`` reads it."""
        check_is_fitted(self)
        persistence.save(path, self, *state_of(self))

    def to_onnx(self, path: str | os.PathLike[str], *, input_type: str = "float64") -> None:
        """Write the fitted model to one ONNX file, atomically, that gives its answers without this library.

        The file has standard operators alone (opset 19), and takes any number of rows. Its input "X" has the columns
        of the fit that are numbers, as they are: NaN where missing, booleans as 0 and 1, dates as days since 1970,
        durations in days. Columns of text are the input "X_text", with "" where missing. Its outputs are "mask" and
        "selected", ``(rows, features)``, and "probability", ``(rows, classes)``, or "value", ``(rows,)``, made as by
        ``predict``. The names of columns, features and classes are among the file's properties. Values that ``explain``
        refuses, such as infinite ones, are not refused. Needs ``pip install 'hideseek[onnx]'``.

        Args:
            path: Where the file goes.
            input_type: "float64", or "float32" for callers that have numbers of single precision alone.
        """
        from hideseek.export.onnx_file import INPUT_TYPES, onnx_bytes

        self._check_answering()
        check_parameters("to_onnx", {"input_type": input_type}, {"input_type": choice(*INPUT_TYPES)})
        write_atomically(path, onnx_bytes(self, input_type))

    _check_state = classmethod(check_state)

    @classmethod
    def _restore(cls, arrays: persistence.Arrays, description: persistence.Description) -> Self:
        model = cls(**parameters_from(description))
        restore_state(model, arrays, description)
        return model
