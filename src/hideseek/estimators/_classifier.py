"""The estimator for class labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_sample_weight

from hideseek import persistence
from hideseek.errors import InputError
from hideseek.estimators._base import BaseHideSeek
from hideseek.targets import check_classes, comparing_targets, readable_target
from hideseek.validation import Rule, choice, is_finite_number

__all__ = ["HideSeekClassifier"]


class HideSeekClassifier(ClassifierMixin, BaseHideSeek):  # type: ignore[misc]
    """Instance-wise feature selection for class labels, two or more.

    Two small networks play: Hide looks at a row and decides how much of each feature to show; what is not shown is
    replaced by a draw from the feature's distribution; Seek predicts the label from what remains. Showing a feature
    has a price, so Hide learns to show only what Seek needs.

    Args:
        preset: "balanced", the default, needs no tuning: members that answer for a whole range of penalties, of which
            held-out rows choose one. "fast": the same with shorter training and one range. "best": more members,
            trained longer. "paper": the published method to the letter. A parameter below that is not None overrides
            the preset's.
        penalty: The paper's lambda_max: the price of showing one feature of one row, in units of the prediction loss,
            times the number of features. Larger: fewer features. None or "auto": chosen on held-out rows, by what the
            selected features predict and by how far the members agree; ``path_``, ``at`` and ``explain`` give the
            answer at any other penalty without another fit. With preset "paper" None is the paper's 0.3 / 11 for each
            feature.
        n_members: Models whose masks and predictions are averaged.
        kept_fraction: Share of the members that answer: those with the smallest loss at the end of training. Members
            that answer for a range of penalties all do.
        column_fraction: Share of the features that each member sees.
        groups: Columns to select as one: from the feature's name to its columns, by title, or by position in an array.
        replacement: How a hidden value is drawn: "marginal", from its own column; "gaussian_knockoff" or
            "deep_knockoff", from a knockoff of the row, which keeps the dependence between columns.
        cross_fit: Whether each member has two Seeks, each of which learns from half of the rows, while Hide learns
            through the Seek that has not learned from the row. The masks then depend far less on the penalty and on the
            length of training. In all presets but "paper".
        hidden_layers: Widths of the hidden layers of both networks.
        anneal_power: q in lambda_t = (t / T)^q * penalty, the course of the penalty over T steps.
        steps: Optimiser steps.
        epochs: The same counted in passes over the rows; give one of the two.
        batch_size: Rows per step, drawn with replacement, or "full" for all of them.
        learning_rate: Adam's.
        weight_decay: The share of every weight, times the learning rate, that a step takes away. Of use in long fits.
        ramps: Whether a column whose values are spread unlike a normal distribution's, as money and counts are, is seen
            in four pieces as well. On in all presets but "paper".
        screening: Whether to drop the columns of a wide table that go with the target neither alone, nor squared, nor
            in a product of two, nor as a switch of one of these, before any network sees them: True, False, "auto"
            for tables of more than 32 columns, or how many columns to leave at most. What a penalty means does not
            change. None: "auto" in all presets but "paper".
        threshold: A feature is selected where its mask is greater.
        prediction_draws: Draws of the hidden features over which a prediction is averaged; 1 to 256.
        pool: What stands in for hidden features in predictions, and is saved with the model: "values" of training rows,
            drawn for each feature on its own, or "means" of 16 neighbouring ones. Masks do not depend on it.
        pool_rows: How many of them are kept for each feature, from ``prediction_draws`` to 256.
        validation_fraction: Share of the rows held out, whose loss ``history_`` then records.
        device: "auto" is the GPU where there is one.
        random_state: Same number, same answer; or a numpy Generator or RandomState to draw from.
        verbose: Show a progress bar, on a terminal.
        class_weight: How much each class counts: a mapping from label to weight, or "balanced"; None: all the same.

    Attributes:
        classes_: The labels, sorted.
        n_features_in_: Columns of X in fit.
        feature_names_in_: Their names, where X was a frame with names.
        target_name_: The name of y, where it was a Series or a frame of one column; else None.
        feature_importances_: The mean mask of each column over the training rows, from 0 to 1, as scikit-learn's
            ``SelectFromModel`` and ``RFE`` use it; of a long table some thousand rows count. Columns of one group have
            the same. A model from ``at`` at another penalty has none.
        encoder_: How the columns became numbers, a ``TableEncoder``, and what stands for missing values.
        recipe_: Every training choice, the preset's and yours.
        penalty_: The penalty that the model answers at.
        pool_: What the kept replacement rows are made of: "values", "means", or "noise", of which knockoffs are made.
        path_: What each penalty costs and selects, a ``PenaltyPath``; not with preset "paper".
        screening_: Where columns were screened, what speaks for each and which were kept, a ``Screening``.
        copies_: Columns that repeat another one and are left out, each with that other one, by number.
        stand_ins_: For features by name, the columns that could take their place and what held-out rows would lose; see
            :meth:`hideseek.Explanation.stand_ins`.
        trust_: How far to believe this fit, told by rows that the answering members did not learn from, a ``Trust``;
            None after ``at`` and for files of older versions.
        history_: Up to a hundred records: "step", "penalty"; and by member "loss", "prediction_loss", "mean_mask" and,
            with rows held out, "validation_loss".

    Example:
        >>> from hideseek import HideSeekClassifier
        >>> from hideseek.datasets import make_syn
        >>> data = make_syn("Syn1", n_samples=2000, random_state=0)
        >>> model = HideSeekClassifier("fast", random_state=0).fit(data.X, data.y)
        >>> model.explain(data.X[:5]).selected.shape
        (5, 11)
    """

    _loss = "cross_entropy"

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
        class_weight: Mapping[Any, float] | str | None = None,
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
        self.class_weight = class_weight

    def predict_proba(self, X: Any, *, shown: str | None = None) -> NDArray[np.float32]:
        """Return the probability of each class, averaged over members and draws.

        Args:
            X: Rows with the columns of the fit.
            shown: "selected" or "mask": what the prediction is made from, as of :meth:`predict`.

        Shape: ``(rows, classes)``.
        """
        return self._answers(self._table(X), shown)

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy of the predictions: the share of the rows whose class is right."""
        with comparing_targets():
            return float(super().score(X, readable_target(y, numeric=False), sample_weight))

    def _probabilities(self, table: NDArray[np.floating]) -> NDArray[np.float32]:
        return self._answers(table)

    def _units(self) -> None:
        return None

    def _rules(self) -> dict[str, Rule]:
        mapping = Rule("a dict from label to a finite weight of at least 0", _is_class_weight)
        return {**super()._rules(), "class_weight": (mapping | choice("balanced")).or_none()}

    def _encode_target(self, y: NDArray[Any]) -> tuple[NDArray[Any], int]:
        self.classes_, number = check_classes(y)
        return number, len(self.classes_)

    def _row_weight(
        self, y: NDArray[Any], sample_weight: ArrayLike | None, table: NDArray[Any]
    ) -> NDArray[np.float64] | None:
        weight = super()._row_weight(y, sample_weight, table)
        if self.class_weight is None:
            return weight
        try:
            by_class = compute_sample_weight(self.class_weight, y)
        except ValueError as error:
            raise InputError(f"class_weight={self.class_weight!r}: {error}") from error
        return np.asarray(by_class if weight is None else weight * by_class)

    def _target_state(self) -> dict[str, Any]:
        return {"classes": persistence.labels_to_json(self.classes_)}

    def _set_target_state(self, state: dict[str, Any]) -> None:
        self.classes_ = persistence.labels_from_json(state["classes"])


def _is_class_weight(value: Any) -> bool:
    return isinstance(value, dict) and all(_is_weight(weight) for weight in value.values())


def _is_weight(value: Any) -> bool:
    return is_finite_number(value) and float(value) >= 0
