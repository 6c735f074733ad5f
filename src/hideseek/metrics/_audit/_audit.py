"""The audit of any selector's sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hideseek.errors import InputError
from hideseek.frames import frame_library
from hideseek.metrics._answers import TASK, as_answers
from hideseek.metrics._audit._errors import Estimate, Ranks, weighted_mean, weighted_r2, with_error
from hideseek.metrics._audit._inputs import Features, Target, as_features, as_target
from hideseek.metrics._audit._result import Audit
from hideseek.metrics._selection import as_mask
from hideseek.validation import check_parameters, integer

__all__ = ["audit"]

_FEWEST_ROWS = 40
_RESOLUTION = 2e-3
"""Share of the loss with nothing shown that networks can differ by for reasons other than the features they see."""
_SMALLEST = 1e-12


def audit(
    X: Any,
    y: ArrayLike,
    selected: Any,
    *,
    prediction: ArrayLike | None = None,
    task: str = "auto",
    groups: Mapping[str, Sequence[str | int]] | None = None,
    n_folds: int = 4,
    n_networks: int = 2,
    device: str = "auto",
    random_state: int = 0,
) -> Audit:
    """Judge the features that any method selected for each row, by networks that see nothing else of the row.

    A selection S of a row x is good if the selected values x_S predict the target. A selector that knows the label can
    also hide it in the choice: show one column where the label is 1 and another where it is 0, whatever they hold. Two
    scores tell these apart, each estimated on rows that its networks have not learned from:

    - EVAL-X (Jethani et al., 2021): the score of p(y given x_S), learned on masks that do not depend on the row. Here
      these are the selector's own masks shuffled between rows, beside random ones, weighted by how much what they show
      looks like what the selector shows.
    - ROAR (Hooker et al., 2019): the score of p(y given x_S and S), learned on the selector's own masks.

    Their difference ENCODE (in the spirit of Puli et al., 2024) is the expected Kullback-Leibler divergence between the
    two (for values, the expected squared difference). It is 0 if and only if there is no label leakage in the sense of
    Lyu and Hsu (2024, definition 2.3). Feature leakage (definition 2.4) is the same for the hidden features in place of
    y.

    Errors are standard errors over bootstrap samples of the rows and over the training of the networks, and no error of
    a score is below 0.2 % of the loss with nothing shown, which is what networks can resolve. Gross leakage is found
    with some hundred rows, a leak of 0.01 nats with ten thousand.

    Args:
        X: A frame or array of any kinds of columns, as the selector saw it. Shape: ``(rows, features)``.
        y: The label or value of every row. Shape: ``(rows,)``.
        selected: True where a feature was selected, or an explanation. Shape: ``(rows, features)``.
        prediction: What the method itself predicts for the rows: probabilities, ``(rows,)`` of the second of two
            classes or ``(rows, classes)`` with classes sorted, or values, ``(rows,)``.
        task: "classification", "regression" or "auto": numbers that are not whole or have more than 20 different values
            are values, everything else is classes.
        groups: From the name of a feature to its columns, where columns were selected as one.
        n_folds: Parts of the rows; each is judged by networks that learned from the others.
        n_networks: Networks for every fold and question, whose predictions are averaged.
        device: "auto", "cpu" or "cuda".
        random_state: Same number, same audit.

    Returns:
        The scores with their errors, beside those of nothing, of everything and of random features.

    Raises:
        InputError: An argument has the wrong shape or kind, y has a single class, or there are fewer than 40 rows.

    References:
        Jethani, Sudarshan, Aphinyanaphongs, Ranganath: Have we learned to explain? AISTATS 2021.
        Hooker, Erhan, Kindermans, Kim: A benchmark for interpretability methods in deep neural networks. NeurIPS 2019.
        Lyu, Hsu: SUWR (sequential unmasking without reversion). ICML 2024.
        Puli, Nguyen, Ranganath: Explanations that reveal all through the definition of encoding. NeurIPS 2024.

    Example:
        The label is the first of two bits. A selector that shows the first bit where it is 1 and the second where it is
        0 tells the label by the position alone.

        >>> import numpy as np
        >>> from hideseek.metrics import audit
        >>> X = np.random.default_rng(0).integers(0, 2, size=(400, 2))
        >>> label = X[:, 0]
        >>> leaking = np.column_stack([label == 1, label == 0])
        >>> found = audit(X, label, leaking, n_folds=2, n_networks=1, device="cpu")
        >>> found.encodes_label
        True
        >>> f"{found.encode.value:.1f} nats of {-found.nothing.value:.1f}"
        '0.3 nats of 0.7'
    """
    _check_parameters(task, n_folds, n_networks, device, random_state)
    features = as_features(X, groups)
    n_rows = len(features.matrix)
    target = as_target(y, task, n_rows)
    mask = _checked_mask(selected, n_rows, len(features.widths))
    if n_rows < _FEWEST_ROWS:
        raise InputError(f"X has {n_rows} rows; an audit needs at least {_FEWEST_ROWS}, and hundreds to find much")
    own = None if prediction is None else _own_predictions(prediction, target)
    # torch is loaded here and not with the module, so that the other metrics can be used without it.
    from hideseek.metrics._audit._estimation import predictions
    from hideseek.metrics._audit._rows import folds_of

    fold = folds_of(target.values, n_folds, random_state)
    found = predictions(features, target, mask, fold, n_networks=n_networks, seed=random_state, device=device)
    summary = _Summary(target, fold, random_state)
    leak = summary.feature_leak(features, mask, found.cells_evalx, found.cells_roar)
    names = tuple(str(name) for name in getattr(selected, "feature_names", features.names))
    return Audit(
        task=target.task,
        n_rows=n_rows,
        feature_names=names,
        n_selected=float(mask.sum(axis=1).mean()),
        nothing=summary.score(summary.nothing[None]),
        random=summary.score(found.random),
        evalx=summary.score(found.evalx),
        roar=summary.score(found.roar),
        everything=summary.score(found.everything),
        encode=summary.score(found.roar, found.evalx),
        **summary.quality(found.evalx, own),
        **leak,
        sufficiency=summary.by_row(found.evalx.mean(axis=0)) - summary.by_row(found.everything.mean(axis=0)),
        frame_library=frame_library(X),
    )


def _check_parameters(task: str, n_folds: int, n_networks: int, device: str, random_state: int) -> None:
    rules = {"task": TASK, "n_folds": integer(2, 20), "n_networks": integer(1, 20), "random_state": integer(0)}
    given = {"task": task, "n_folds": n_folds, "n_networks": n_networks, "random_state": random_state}
    check_parameters("audit", given, rules)


def _checked_mask(selected: Any, n_rows: int, n_features: int) -> NDArray[np.bool_]:
    mask = as_mask("selected", getattr(selected, "selected", selected))
    if mask.shape != (n_rows, n_features):
        raise InputError(
            f"selected has shape {mask.shape} and X has {n_rows} rows of {n_features} features; both must be the same. "
            "Pass the rows that were explained, and groups if columns were selected as one"
        )
    return mask


def _own_predictions(prediction: ArrayLike, target: Target) -> NDArray[np.float64]:
    """Return the method's own predictions. Shape: ``(rows, classes)``, or ``(rows, 1)`` for values."""
    answers = as_answers(prediction, len(target.values), target.task, source="prediction")
    own = answers.reshape(len(answers), -1)
    if own.shape[1] != target.n_classes:
        raise InputError(f"prediction has probabilities of {own.shape[1]} classes; y has {target.n_classes}")
    return own


class _Summary:
    """Scores of predictions with their errors.

    Args:
        target: What is predicted.
        fold: The fold of each row. Shape: ``(rows,)``.
        seed: Where the bootstrap samples come from.
    """

    def __init__(self, target: Target, fold: NDArray[np.int64], seed: int) -> None:
        self._target, self._fold, self._seed = target, fold, seed
        self.nothing = self._without_features()
        self._resolution = -_RESOLUTION * float(self.by_row(self.nothing).mean())

    def by_row(self, kept: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the score of each row. Shape: ``(..., rows, numbers)`` -> ``(..., rows)``."""
        y = self._target.values
        if self._target.task == "regression":
            return np.asarray(-((kept[..., 0] - y) ** 2))
        return np.log(np.maximum(kept[..., np.arange(len(y)), y], _SMALLEST))

    def score(self, kept: NDArray[np.float64], minus: NDArray[np.float64] | None = None) -> Estimate:
        """Return the mean score of some predictions, or how much better they are than others."""
        networks, ensemble = self.by_row(kept), self.by_row(kept.mean(axis=0))
        if minus is not None:
            networks, ensemble = networks - self.by_row(minus), ensemble - self.by_row(minus.mean(axis=0))
        value, error = with_error(weighted_mean, networks, ensemble, self._fold, self._seed)
        return Estimate(float(value), float(np.hypot(error, self._resolution)))

    def quality(self, evalx: NDArray[np.float64], own: NDArray[np.float64] | None) -> dict[str, Estimate | None]:
        """Return AUROC or R2 of EVAL-X's predictions, of the method's own, and the difference."""
        y, ranks = self._target.values, Ranks(self._target.values, self._target.n_classes)

        def good(kept: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
            return (
                weighted_r2(y, kept[:, 0], weight) if self._target.task == "regression" else ranks.auroc(kept, weight)
            )

        def estimate(statistic: Any) -> Estimate:
            return Estimate(*map(float, with_error(statistic, evalx, evalx.mean(axis=0), self._fold, self._seed)))

        named = estimate(good)
        return {
            "eauroc": named if self._target.task == "classification" else None,
            "r2": named if self._target.task == "regression" else None,
            "own": None if own is None else estimate(lambda kept, weight: good(own, weight)),
            "own_gain": None if own is None else estimate(lambda kept, weight: good(own, weight) - good(kept, weight)),
        }

    def feature_leak(
        self, features: Features, mask: NDArray[np.bool_], evalx: NDArray[np.float64], roar: NDArray[np.float64]
    ) -> dict[str, Any]:
        """Return what the choice of features tells about each hidden one, and in all."""
        hidden = ~mask[:, features.feature_of_cell]
        feature = np.eye(len(features.widths))[features.feature_of_cell]

        def gain(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
            better = np.log(np.maximum(other, _SMALLEST)) - np.log(np.maximum(one, _SMALLEST))
            by_feature = np.where(hidden, better, 0.0) @ feature
            return np.concatenate([by_feature, by_feature.sum(axis=-1, keepdims=True)], axis=-1)

        ensemble = gain(evalx.mean(axis=0), roar.mean(axis=0))
        value, error = with_error(weighted_mean, gain(evalx, roar), ensemble, self._fold, self._seed)
        unknown = -np.where(hidden, np.log(np.maximum(evalx.mean(axis=0), _SMALLEST)), 0.0).mean(axis=0) @ feature
        error = np.hypot(error, _RESOLUTION * np.append(unknown, unknown.sum()))
        return {
            "feature_leak": value[:-1],
            "feature_leak_error": error[:-1],
            "total_feature_leak": Estimate(float(value[-1]), float(error[-1])),
        }

    def _without_features(self) -> NDArray[np.float64]:
        """Return what the other folds say of each row: frequencies of the classes, or the mean value."""
        y, n_classes = self._target.values, self._target.n_classes
        kept = np.empty((len(y), n_classes))
        for number in np.unique(self._fold):
            others = y[self._fold != number]
            if self._target.task == "regression":
                kept[self._fold == number] = others.mean()
            else:
                counts = np.bincount(others, minlength=n_classes) + 0.5  # a class that the others lack is possible
                kept[self._fold == number] = counts / counts.sum()
        return kept
