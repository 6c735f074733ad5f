"""The estimator for models: which features did this model use for this row?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from math import isnan, nan
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.metaestimators import available_if

from hideseek import persistence
from hideseek.engine.recipe import PRICE_PER_FEATURE
from hideseek.errors import InputError
from hideseek.estimators._asking import BlackBox
from hideseek.estimators._base import BaseHideSeek
from hideseek.estimators._many import Problem as GivenProblem
from hideseek.frames import n_rows, take_rows
from hideseek.metrics import Fidelity, answer_fidelity, compare_fidelity
from hideseek.metrics.answers import TASK
from hideseek.search.problem import Problem
from hideseek.tables import dense, rows_of_fit
from hideseek.validation import Rule

__all__ = ["BlackBoxExplainer"]

_MOST_ROWS = 1000
"""Rows on which fidelity is measured in a fit, and rows kept to draw replacements from: enough for a whole percent."""


class _Rows(NamedTuple):
    """The caller's table during a fit, and what became of its rows, by number.

    Attributes:
        table: As it was given: what the model is asked about.
        train: Rows to learn from.
        held_out: Rows only to look at.
    """

    table: Any
    train: NDArray[np.intp]
    held_out: NDArray[np.intp]


class BlackBoxExplainer(BaseHideSeek):
    """Which features a model of any kind used for each row, learned from the model's own answers.

    Hide&Seek is trained to give the model's probabilities or values, without any true label: what Hide learns to show
    is what the model needs. The model is called with rows as they were given: a frame stays a frame. Since that is an
    explanation by imitation, ``fidelity_`` says how far to believe it.

    Args:
        model: The black box: a fitted model with ``predict_proba`` or ``predict``, pipelines too, an XGBoost booster,
            a torch module that takes rows as a tensor, or a function from rows to answers: probabilities,
            ``(rows, classes)`` or ``(rows,)`` of the second of two classes, or values, ``(rows,)``.
        preset: "balanced", the default, needs no tuning: members that answer for a whole range of penalties, of which
            held-out rows choose one. "fast": the same with shorter training and one range. "best": more members,
            trained longer. "paper": the published method to the letter. A parameter below that is not None overrides
            the preset's.
        task: "classification": answers are probabilities. "regression": they are values. "auto": as the model says,
            and where it does not, as its answers look.
        penalty: The paper's lambda_max: the price of showing one feature of one row, in units of the prediction loss,
            times the number of features. Larger: fewer features. None or "auto": chosen on held-out rows, by what the
            selected features predict and by how far the members agree; ``path_``, ``at`` and ``explain`` give the
            answer at any other penalty without another fit. With preset "paper" None is the paper's 0.3 / 11 for each
            feature.
        n_members: Models whose masks and predictions are averaged.
        kept_fraction: Share of the members that answer: those with the smallest loss at the end of training. Members
            that answer for a range of penalties all do.
        column_fraction: Share of the columns that each member sees.
        groups: Columns to select as one: from the feature's name to its columns, by title, or by position in an array.
        replacement: How a hidden value is drawn: "marginal", "gaussian_knockoff" or "deep_knockoff".
        cross_fit: Whether each member has two Seeks, and Hide learns through the one that has not learned from the row.
        hidden_layers: Widths of the hidden layers of both networks.
        anneal_power: q in lambda_t = (t / T)^q * penalty, the course of the penalty over T steps.
        steps: Optimiser steps.
        epochs: The same counted in passes over the rows; give one of the two.
        batch_size: Rows per step, drawn with replacement, or "full" for all of them.
        learning_rate: Adam's.
        weight_decay: The share of every weight, times the learning rate, that a step takes away. Of use in long fits.
        ramps: Whether a column whose values are spread unlike a normal distribution's, as money and counts are, is seen
            in four pieces as well. On in all presets but "paper".
        screening: Whether hopeless columns of a wide table are dropped first, as of ``HideSeekClassifier``.
        threshold: A feature is selected where its mask is greater.
        prediction_draws: Draws of the hidden features over which a prediction is averaged; 1 to 256.
        pool: What stands in for hidden features in predictions, and is saved with the model: "values" of training rows,
            drawn for each feature on its own, or "means" of 16 neighbouring ones. Masks do not depend on it.
        pool_rows: How many of them are kept for each feature, from ``prediction_draws`` to 256.
        validation_fraction: Share of the rows held out, on which ``fidelity_`` is measured. 0: it is not, and the model
            is asked once about each row and never again.
        device: "auto" is the GPU where there is one.
        random_state: Same number, same answer; or a numpy Generator or RandomState to draw from.
        verbose: Show a progress bar, on a terminal.

    Attributes:
        task_: "classification" or "regression".
        classes_: The model's labels, or 0, 1, ... where it names none; for classification.
        fidelity_: What :meth:`fidelity` says of the held-out rows, at most a thousand; None without such rows.
        n_calls_: How often the model was called so far.
        n_rows_asked_: About how many rows in all.
        background_: Rows of the fit, as they were given, from which ``fidelity`` draws; not there after loading.
        n_features_in_: Columns of X in fit.
        feature_names_in_: Their names, where X was a frame with names.
        feature_importances_: The mean mask of each column over the training rows, as of ``HideSeekClassifier``.
        recipe_: Every training choice, the preset's and yours.
        penalty_: The penalty at the end of training.
        pool_: What the kept replacement rows are made of: "values", "means", or "noise", of which knockoffs are made.
        trust_: How well the imitation does on rows that the answering members did not learn from, as of
            ``HideSeekClassifier``; its AUROC is about the class that the model finds most probable.
        history_: The course of training, as of ``HideSeekClassifier``.

    Example:
        >>> from sklearn.ensemble import RandomForestClassifier
        >>> from hideseek import BlackBoxExplainer
        >>> from hideseek.datasets import make_syn
        >>> data = make_syn("Syn1", n_samples=2000, random_state=0)
        >>> forest = RandomForestClassifier(30, max_depth=6, random_state=0).fit(data.X, data.y)
        >>> explainer = BlackBoxExplainer(forest, "fast", random_state=0).fit(data.X)
        >>> explainer.explain(data.X[:5]).selected.shape
        (5, 11)
        >>> explainer.fidelity_["selected"].r2 > explainer.fidelity_["random"].r2
        True
    """

    task_: str
    fidelity_: dict[str, Fidelity] | None

    def __init__(
        self,
        model: Any,
        preset: str = "balanced",
        *,
        task: str = "auto",
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
        validation_fraction: float = 0.1,
        device: str = "auto",
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            preset,
            penalty=penalty,
            n_members=n_members,
            kept_fraction=kept_fraction,
            column_fraction=column_fraction,
            groups=groups,
            replacement=replacement,
            cross_fit=cross_fit,
            hidden_layers=hidden_layers,
            anneal_power=anneal_power,
            steps=steps,
            epochs=epochs,
            batch_size=batch_size,
            learning_rate=learning_rate,
            weight_decay=weight_decay,
            ramps=ramps,
            screening=screening,
            threshold=threshold,
            prediction_draws=prediction_draws,
            pool=pool,
            pool_rows=pool_rows,
            validation_fraction=validation_fraction,
            device=device,
            random_state=random_state,
            verbose=verbose,
        )
        self.model = model
        self.task = task

    def __sklearn_clone__(self) -> Self:
        """An unfitted explainer of the same model: a clone of the model would be unfitted, and know nothing."""
        bare = copy(self)
        bare.model = None
        cloned: Self = BaseEstimator.__sklearn_clone__(bare)
        cloned.model = self.model
        return cloned

    # -- fitting --------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Ask the model about the rows, and learn which features it used.

        Args:
            X: Rows as the model takes them: an array, or a pandas or polars frame.
            y: Not looked at; the model's answers take its place.
            sample_weight: How much each row counts; all the same if not given.

        Returns:
            The fitted explainer.
        """
        return super().fit(X, y, sample_weight)

    def fit_many(self, problems: Sequence[GivenProblem]) -> list[Self]:
        """Fit many tables of one shape as one stack, as the estimators do; the y of each is not looked at."""
        return super().fit_many(problems)

    def _rules(self) -> dict[str, Rule]:
        return {**super()._rules(), "task": TASK}

    def _prepared(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> Problem:
        # Row numbers go the way of labels: through every check and choice of rows, to where the model is asked.
        X = X.detach().to_dense() if hasattr(X, "detach") else dense(X)  # a tensor stays one for the model
        rows = np.arange(n_rows(X))
        self._rows_ = _Rows(X, rows, rows[:0])
        self.n_calls_ = self.n_rows_asked_ = 0
        return super()._prepared(X, rows, sample_weight)

    def _encode_target(self, y: NDArray[Any]) -> tuple[NDArray[Any], int]:
        table = self._rows_.table
        self._rows_ = _Rows(table, y, y[:0])
        box = BlackBox(self.model, self.task)
        answers = box(table if len(y) == n_rows(table) else take_rows(table, y))
        self._count(box)
        if (answers == answers[0]).all():
            raise InputError(
                f"the model gives the same answer for all {len(answers)} rows: there is nothing to explain"
            )
        self.task_ = box.task
        if self.task_ == "classification":
            self._loss, self.classes_ = "cross_entropy", box.classes(answers.shape[1])
            nothing_known = np.broadcast_to(answers.mean(axis=0), answers.shape)
            self._price_per_feature = PRICE_PER_FEATURE * answer_fidelity(answers, nothing_known).kl
            return answers.astype(np.float32), answers.shape[1]
        self._loss, self._price_per_feature = "squared_error", PRICE_PER_FEATURE
        with np.errstate(over="ignore", invalid="ignore"):
            self._center, self._scale = float(answers.mean()), float(answers.std())
        if not np.isfinite([self._center, self._scale]).all():
            raise InputError("the model gives values too large to standardise; rescale them")
        return ((answers - self._center) / self._scale).astype(np.float32), 1

    def _held_out(self, target: NDArray[Any], seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        kept, out = super()._held_out(target, seed)
        table, rows, _ = self._rows_
        self._rows_ = _Rows(table, rows[kept], rows[out])
        return kept, out

    def _holds_out_rows(self) -> bool:
        return self.validation_fraction > 0  # for fidelity, which no other rows may tell

    def _finish(self) -> None:
        """Measure fidelity on the rows held out, and let go of the table."""
        table, train, held_out = self._rows_
        del self._rows_
        spread = np.linspace(0, len(train) - 1, min(len(train), _MOST_ROWS)).astype(np.intp)
        self.background_ = take_rows(table, train[spread])
        self.fidelity_ = self.fidelity(take_rows(table, held_out[:_MOST_ROWS])) if len(held_out) else None

    def _count(self, box: BlackBox) -> None:
        self.n_calls_ += box.n_calls
        self.n_rows_asked_ += box.n_rows

    # -- answering ------------------------------------------------------------------------------------------------

    def fidelity(
        self,
        X: Any,
        importances: Mapping[str, ArrayLike] | None = None,
        *,
        n_draws: int = 10,
        random_state: int = 0,
    ) -> dict[str, Fidelity]:
        """How well the model's answers are kept when only the selected features of each row are real.

        The model is called ``2 + n_draws`` times, and ``n_draws`` times more for random features and for each of
        ``importances``; see ``hideseek.metrics.compare_fidelity``.

        Args:
            X: Rows that were not fitted.
            importances: By name of another method, such as SHAP, its importance of every feature of each row.
            n_draws: How often the hidden features are drawn, each from its column of ``background_``, or of X after
                loading.
            random_state: Same number, same draws.

        Returns:
            By name: "seek", the imitation's own answers, those of ``predict``, beside the model's; "selected", the
            model's answers with the rest drawn anew; "random", the same for as many random features in each row; and
            the ``importances``, the same for as many features of theirs.
        """
        table = self._table(X)
        X = X if hasattr(X, "detach") else rows_of_fit(self, X).table
        if self.model is None:
            raise InputError(
                "fidelity needs the model that was explained, which a file does not hold; "
                "after hideseek.load, call set_params(model=...) first"
            )
        box = BlackBox(self.model, self.task_)
        compared = compare_fidelity(
            box,
            X,
            self._ensemble.masks(table) > self.threshold,
            importances,
            getattr(self, "background_", None),
            task=self.task_,
            n_draws=n_draws,
            random_state=random_state,
        )
        seek = answer_fidelity(box(X), self._answers(table), task=self.task_)
        self._count(box)
        return {"seek": seek, **compared}

    @available_if(lambda self: getattr(self, "task_", self.task) != "regression")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any, *, shown: str | None = None) -> NDArray[np.floating]:
        """Return the imitation's probability of each class; ``shown`` as of :meth:`predict`.

        Shape: ``(rows, classes)``.
        """
        return self._answers(self._table(X), shown)

    def _units(self) -> tuple[float, float] | None:
        return None if self.task_ == "classification" else (self._center, self._scale)

    # -- on disk --------------------------------------------------------------------------------------------------

    def _target_state(self) -> dict[str, Any]:
        state: dict[str, Any] = {"task": self.task_, "calls": self.n_calls_, "rows_asked": self.n_rows_asked_}
        if self.task_ == "classification":
            state["classes"] = persistence.labels_to_json(self.classes_)
        else:
            state |= {"center": self._center, "scale": self._scale}
        if self.fidelity_ is not None:  # JSON has no NaN
            kept = self.fidelity_.items()
            state["fidelity"] = {name: [None if isnan(number) else number for number in part] for name, part in kept}
        return state

    def _set_target_state(self, state: dict[str, Any]) -> None:
        self.task_, self.n_calls_, self.n_rows_asked_ = state["task"], state["calls"], state["rows_asked"]
        if self.task_ == "classification":
            self._loss, self.classes_ = "cross_entropy", persistence.labels_from_json(state["classes"])
        else:
            self._loss, self._center, self._scale = "squared_error", state["center"], state["scale"]
        self.fidelity_ = None
        if "fidelity" in state:
            saved = state["fidelity"].items()
            self.fidelity_ = {name: Fidelity(*(nan if n is None else n for n in numbers)) for name, numbers in saved}
