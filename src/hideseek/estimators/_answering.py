"""What a fitted estimator answers: explanations, predictions and selections, at its own penalty or another."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from hideseek.engine.along import price_bounds
from hideseek.engine.ensemble import Ensemble
from hideseek.errors import InputError
from hideseek.estimators._effects import effects_of
from hideseek.estimators._parameters import RULES_WHEN_ANSWERING, SHOWN
from hideseek.explanation import Explanation
from hideseek.frames import frame_library, row_labels
from hideseek.search import PenaltyPath
from hideseek.search.learned import Learned
from hideseek.search.probability import selection_probability
from hideseek.tables import check_mixed_rows, check_table, rows_of_fit
from hideseek.tabular import Table, TableEncoder, only_numbers
from hideseek.validation import check_parameters, integer, is_finite_number
from hideseek.wording import shown as quoted

if TYPE_CHECKING:
    from hideseek.scoring import ExplainedFiles, Source

__all__ = ["Answering", "check_draws"]


class Answering(OneToOneFeatureMixin, TransformerMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Explaining, predicting and selecting with what a fit has learned."""

    _shown: str | None = None
    """What predictions are made from unless the caller says; None: as the preset has it."""
    preset: str
    threshold: float
    prediction_draws: int
    classes_: NDArray[Any]
    encoder_: TableEncoder
    target_name_: str | None
    learned_: Learned

    @property
    def _ensemble(self) -> Ensemble:
        return self.learned_.ensemble

    @abstractmethod
    def _units(self) -> tuple[float, float] | None:
        """Return what output 0 and an output of 1 more stand for, or None where outputs are classes."""

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
        path = self._checked_path("at")
        wishes = {
            "n_features": n_features,
            "loss_within": loss_within,
            "score_within": score_within,
            "penalty": penalty,
        }
        position = _position_on(path, wishes)
        other = copy(self)
        other.learned_ = self.learned_.at(
            replace(path, chosen=position), float(path.penalty[position] if penalty is None else penalty)
        )
        return other

    def _checked_path(self, asked: str) -> PenaltyPath:
        """Return the path, or raise an InputError where the members answer for one penalty alone."""
        check_is_fitted(self)
        if self.learned_.range_path is None:
            raise InputError(
                f"{asked} needs a model that answers for a range of penalties, and this one answers for one; "
                'fit it with any preset but "paper"'
            )
        return self.learned_.range_path

    def _names(self) -> list[str]:
        """Return the names of the features."""
        return self.encoder_.feature_names

    def _table(self, X: Any) -> NDArray[np.floating]:
        """Return X as a matrix of numbers."""
        return self._read(X)[0]

    def _read(self, X: Any) -> tuple[NDArray[np.floating], Table | None]:
        """Return X as a matrix of numbers, and as a table where its cells are not all numbers."""
        self._check_answering()
        rows = rows_of_fit(self, X)
        if self.encoder_.is_plain and only_numbers(rows.table):
            return check_table(self, rows), None
        table = Table(check_mixed_rows(self, rows), self.encoder_.names)
        return self.encoder_.encode(table), table

    def _check_answering(self) -> None:
        """Check that the model is fitted, and the parameters that may be changed after a fit."""
        check_is_fitted(self)
        check_parameters(type(self).__name__, self.get_params(deep=False), RULES_WHEN_ANSWERING)
        check_draws(self.prediction_draws, len(self._ensemble.pool))

    def explain(
        self, X: Any, *, n_features: int | None = None, penalty: float | None = None, shown: str | None = None
    ) -> Explanation:
        """Return, for each row of X, the mask of every feature and which features are selected.

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
            relevance=None if self.learned_.range_path is None else fitted._selection_probability,
            entry=None if self.learned_.range_path is None else self._entry_prices,
            stand_ins=self.learned_.stand_ins,
            frame_library=frame_library(X),
            target_name=self.target_name_,
        )

    def explain_files(
        self,
        source: Source,
        target: str | os.PathLike[str],
        *,
        outputs: Sequence[str] = ("prediction", "n_selected", "selected_bits"),
        carry: Sequence[str] = (),
        overwrite: bool = False,
        backend: str = "serial",
        progress: bool = True,
    ) -> ExplainedFiles:
        """Explain the rows of one or many files, in bounded memory, into one Parquet file for each.

        Every file of answers is written under another name and renamed when it is whole. A run that ended early, for
        whatever reason, goes on where it stopped when it is called again: files that are finished are kept. Needs
        pyarrow (``hideseek[files]``).

        Args:
            source: A Parquet, CSV or Arrow file, a folder of such files at any depth, a pattern such as
                ``"in/*.parquet"``, or a list of files. Folders such as "year=2024" are columns.
            target: A folder, made if it is not there; for one file also a name that ends in .parquet.
            outputs: Columns of the answers, as of ``hideseek.Scorer``, whose ``unpack`` reads bits.
            carry: Columns of the source, such as ids, that the answers begin with.
            overwrite: Replace answers of another model, to changed files, or with other columns; else they are an
                error.
            backend: "serial", or "ray": a task for each file, on a cluster if Ray is connected to one.
            progress: Show a progress bar, on a terminal or in a notebook.

        Returns:
            The files, the number of rows, and how many files were there.

        Raises:
            HideSeekError: A file cannot be read or written or lacks columns; the message names it.
        """
        from hideseek.scoring import explain_files  # a room above this one, entered only when asked for

        check_is_fitted(self)
        return explain_files(
            self,
            source,
            target,
            outputs=outputs,
            carry=carry,
            overwrite=overwrite,
            backend=backend,
            progress=progress,
        )

    def _asked_for(self, n_features: int | None, penalty: float | None) -> Self:
        """Return a copy of this model that selects so many features in every row, or answers at this penalty."""
        if n_features is None and penalty is None:
            return copy(self)
        self._checked_path("explain with n_features or penalty")
        if n_features is None:
            return self.at(penalty=penalty)
        if penalty is not None:
            raise InputError("explain takes n_features or penalty, not both; leave one out")
        n_known = self._ensemble.visible.shape[1]  # screened features and copies can never be selected
        rule = integer(1, n_known)
        if self._ensemble.kept is not None:
            rule = replace(
                rule, expected=f"{rule.expected}, the features left before training (screening=False keeps all)"
            )
        check_parameters(type(self).__name__, {"n_features": n_features}, {"n_features": rule})
        other = copy(self)
        other.learned_ = self.learned_.with_n_features(n_features, self.threshold)
        return other

    def _entry_prices(self, table: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return the highest trained price at which each feature is selected. Shape: ``(rows, features)``."""
        _, highest = price_bounds(self._ensemble)
        return np.minimum(self._ensemble.entry_prices(table, self.threshold), np.float32(highest))

    def _selection_probability(self, table: NDArray[np.floating]) -> NDArray[np.float32]:
        """Return the probability that each feature is relevant for its row. Shape: ``(rows, features)``."""
        price = self.learned_.default_price
        assert price is not None  # explain asks for none where there is no range of prices
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
        """Return the selected features of each row. Shape: ``(rows, features)``, bool."""
        matrix = self._table(X)
        return self._ensemble.masks(matrix) > self.threshold

    def transform(self, X: Any) -> NDArray[Any]:
        """Return X with every value that was not selected replaced by NaN.

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


def check_draws(n_draws: int, n_rows: int) -> None:
    """Raise an InputError where a prediction would need more replacement rows than are kept."""
    if n_draws > n_rows:
        raise InputError(
            f"prediction_draws={n_draws} needs as many replacement rows, and {n_rows} are kept; "
            f"lower prediction_draws, or fit with pool_rows={n_draws} or more"
        )


def _position_on(path: PenaltyPath, wishes: dict[str, float | None]) -> int:
    """Return the position of the penalty that meets the one wish that is not None."""
    choices = {
        "n_features": path.with_features,
        "loss_within": path.within_loss,
        "score_within": path.within_score,
        "penalty": path.nearest,
    }
    given = {name: wish for name, wish in wishes.items() if wish is not None}
    if len(given) != 1:
        raise InputError(f"at takes one of {', '.join(choices)}; {len(given)} came")
    ((name, wish),) = given.items()
    if not (is_finite_number(wish) and (wish > 0 if name == "penalty" else wish >= 0)):
        raise InputError(
            f"{name}={quoted(wish)}: expected a finite number that is not negative (a penalty: not 0 either)"
        )
    return choices[name](wish)
