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
from hideseek.estimators._docs import documented
from hideseek.estimators._from_files import FromFiles
from hideseek.targets import check_classes, comparing_targets, readable_target
from hideseek.validation import Rule, choice, is_finite_number

__all__ = ["HideSeekClassifier"]


@documented
class HideSeekClassifier(ClassifierMixin, FromFiles):  # type: ignore[misc]
    """Instance-wise feature selection for class labels, two or more.

    Two small networks are trained together. Hide computes, for each row, how much of each feature to show; the rest is
    replaced by a draw from the feature's distribution; Seek predicts the label from the mixed row. Showing a feature
    has a price, so that Hide learns to show only what Seek needs.

    Args:
        {preset}
        {penalty} {n_members} {kept_fraction} {column_fraction} {groups} {replacement} {cross_fit} {hidden_layers}
        {anneal_power} {steps} {epochs} {batch_size} {learning_rate} {weight_decay} {ramps} {cuts} {screening}
        {threshold} {prediction_draws} {pool} {pool_rows} {validation_fraction}
        {device} {random_state} {verbose}
        class_weight: Weights of the classes: a mapping from label to weight, or "balanced"; None: equal weights.

    Attributes:
        classes_: The labels, sorted.
        {n_features_in_} {feature_names_in_} {target_name_} {feature_importances_} {encoder_} {recipe_} {penalty_}
        {pool_} {path_} {cuts_} {screening_} {copies_} {stand_ins_} {trust_} {history_} {learned_}
        {fitted_files_}

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
