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
from hideseek.estimators._docs import documented
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


@documented
class BlackBoxExplainer(BaseHideSeek):
    """Which features a model of any kind used for each row, learned from the model's own answers.

    Hide&Seek is trained on the model's probabilities or values, without true labels, so that Hide learns to show what
    the model needs. The model is called with rows of the type given: a frame stays a frame. Since the explanation comes
    from an imitation of the model, ``fidelity_`` measures how far it can be trusted.

    Args:
        model: The black box: a fitted model with ``predict_proba`` or ``predict``, pipelines too, an XGBoost booster,
            a torch module that takes rows as a tensor, or a function from rows to answers: probabilities,
            ``(rows, classes)`` or ``(rows,)`` of the second of two classes, or values, ``(rows,)``.
        {preset}
        task: "classification": the model's outputs are probabilities. "regression": they are values. "auto": given by
            the model's type, else inferred from its outputs.
        {penalty} {n_members} {kept_fraction} {column_fraction} {groups} {replacement} {cross_fit} {hidden_layers}
        {anneal_power} {steps} {epochs} {batch_size} {learning_rate} {weight_decay} {ramps} {cuts} {screening}
        {threshold} {prediction_draws} {pool} {pool_rows}
        validation_fraction: Share of the rows to hold out, on which ``fidelity_`` is measured. 0: it is not measured,
            and the model is called only once for each row.
        {device} {random_state} {verbose}

    Attributes:
        task_: "classification" or "regression".
        classes_: The model's labels, or 0, 1, ... if it has none; for classification.
        fidelity_: The result of :meth:`fidelity` on the held-out rows, at most a thousand; None without such rows.
        n_calls_: Number of calls of the model so far.
        n_rows_asked_: Number of rows in all these calls.
        background_: Rows of the fit, as given, from which ``fidelity`` draws; not set after loading.
        {n_features_in_} {feature_names_in_} {target_name_} {feature_importances_} {encoder_} {recipe_} {penalty_}
        {pool_} {path_} {cuts_} {screening_} {copies_} {stand_ins_}
        trust_: How well the imitation predicts on rows that the members used have not learned from, a ``Trust``; its
            AUROC is that of the class that the model finds most probable.
        {history_} {learned_}

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
        cuts: bool | None = None,
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
            cuts=cuts,
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
        """Return an unfitted explainer of the same fitted model, which is not cloned."""
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
        """Return how well the model's answers are kept when only the selected features of each row are real.

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
