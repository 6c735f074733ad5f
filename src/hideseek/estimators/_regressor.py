"""The estimator for real targets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin

from hideseek.errors import InputError
from hideseek.estimators._base import BaseHideSeek
from hideseek.targets import comparing_targets, readable_target

__all__ = ["HideSeekRegressor"]


class HideSeekRegressor(RegressorMixin, BaseHideSeek):  # type: ignore[misc]
    """Instance-wise feature selection for a real target.

    As ``HideSeekClassifier``, with the squared error of the standardised target in place of the cross-entropy, so that
    a penalty means the same whatever the unit of y: the price of showing one feature is weighed against the share of
    the target's variance that it explains in a row.

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

    Attributes:
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
