"""The audit of the selections of any method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hideseek.errors import InputError
from hideseek.frames import frame_library
from hideseek.metrics._audit._inputs import Target, as_features, as_target
from hideseek.metrics._audit._result import Audit
from hideseek.metrics._audit._summary import Summary
from hideseek.metrics._selection import as_mask
from hideseek.metrics.answers import TASK, as_answers
from hideseek.validation import check_parameters, integer

__all__ = ["audit"]

_FEWEST_ROWS = 40


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
    """Evaluate the features that any method selected for each row, by networks that see nothing else of the row.

    A selection S of a row x is good if the selected values x_S predict the target. A selector that knows the label can
    also encode it in the choice: show one column if the label is 1 and another if it is 0, whatever their values. Two
    scores distinguish these cases, each estimated on rows that its networks have not learned from:

    - EVAL-X (Jethani et al., 2021): the score of p(y given x_S), learned on masks that do not depend on the row. Here
      these are the selector's own masks shuffled between rows, and random ones, weighted by how similar the shown
      values are to those that the selector shows; the error of the networks is corrected to first order.
    - ROAR (Hooker et al., 2019): the score of p(y given x_S and S), learned on the selector's own masks.

    Their difference ENCODE (in the spirit of Puli et al., 2024) is the expected Kullback-Leibler divergence between the
    two (for values, the expected squared difference). It is 0 if and only if there is no label leakage in the sense of
    Oosterhuis, Lyu and Anand (2024, definition 2.3). Feature leakage (definition 2.4) is the same with the hidden
    features in place of y.

    Errors are standard errors over bootstrap samples of the rows and over the training of the networks. The error of a
    score is at least 0.2 % of the loss with nothing shown, the resolution of the networks. Strong leakage is found with
    a few hundred rows, a leak of 0.01 nats with ten thousand. Errors do not include what the networks could not learn:
    with the true features of Syn4 and 10,000 rows, EVAL-X and ROAR are about 0.01 nats below what is possible, two of
    their errors; with 40,000 rows 0.003. The score of all 11 features is 0.04 and 0.018 below.

    Args:
        X: A frame or array of any kinds of columns, as the selector saw it. Shape: ``(rows, features)``.
        y: The label or value of every row. Shape: ``(rows,)``.
        selected: True where a feature was selected, or an explanation. Shape: ``(rows, features)``.
        prediction: The method's own predictions for the rows: probabilities, ``(rows,)`` of the second of two
            classes or ``(rows, classes)`` with classes sorted, or values, ``(rows,)``.
        task: "classification", "regression" or "auto": regression for numbers that are not integers or have more than
            20 different values, else classification.
        groups: Maps the name of a feature to its columns, if columns were selected as one.
        n_folds: Number of folds; each is evaluated by networks that learned from the others.
        n_networks: Networks for every fold and question, whose predictions are averaged.
        device: "auto", "cpu" or "cuda".
        random_state: Random seed; the same seed gives the same audit.

    Returns:
        The scores with their errors, beside those of nothing, of everything and of random features.

    Raises:
        InputError: An argument has the wrong shape or kind, y has a single class, or there are fewer than 40 rows.

    References:
        Jethani, Sudarshan, Aphinyanaphongs, Ranganath: Have we learned to explain?: How interpretability methods can
        learn to encode predictions in their interpretations (REAL-X, EVAL-X). AISTATS 2021.
        Hooker, Erhan, Kindermans, Kim: A benchmark for interpretability methods in deep neural networks. NeurIPS 2019.
        Oosterhuis, Lyu, Anand: Local feature selection without label or feature leakage for interpretable machine
        learning predictions (SUWR). ICML 2024.
        Puli, Nguyen, Ranganath: Explanations that reveal all through the definition of encoding. NeurIPS 2024.

    Example:
        The label is the first of two bits. A selector that shows the first bit where it is 1 and the second where it is
        0 reveals the label by the position alone.

        >>> import numpy as np
        >>> from hideseek.metrics import audit
        >>> X = np.random.default_rng(0).integers(0, 2, size=(400, 2))
        >>> label = X[:, 0]
        >>> leaking = np.column_stack([label == 1, label == 0])
        >>> found = audit(X, label, leaking, n_folds=2, n_networks=1, device="cpu")
        >>> found.encodes_label
        True
    """
    given = {"task": task, "n_folds": n_folds, "n_networks": n_networks, "random_state": random_state}
    rules = {"task": TASK, "n_folds": integer(2, 20), "n_networks": integer(1, 20), "random_state": integer(0)}
    check_parameters("audit", given, rules)
    features = as_features(X, groups)
    n_rows = len(features.matrix)
    target = as_target(y, task, n_rows)
    mask = _checked_mask(selected, n_rows, len(features.widths))
    if n_rows < _FEWEST_ROWS:
        raise InputError(
            f"X has {n_rows} rows; an audit needs at least {_FEWEST_ROWS}, and hundreds to find most leaks"
        )
    own = None if prediction is None else _own_predictions(prediction, target)
    # Imported here, so that the other metrics can be used without torch.
    from hideseek.metrics._audit._estimation import predictions
    from hideseek.metrics._audit._rows import folds_of

    fold = folds_of(target.values, n_folds, random_state)
    found = predictions(features, target, mask, fold, n_networks=n_networks, seed=random_state, device=device)
    summary = Summary(target, fold, random_state)
    leak = summary.feature_leak(features, mask, found.cells_evalx, found.cells_roar)
    names = tuple(str(name) for name in getattr(selected, "feature_names", features.names))
    return Audit(
        task=target.task,
        n_rows=n_rows,
        feature_names=names,
        n_selected=float(mask.sum(axis=1).mean()),
        nothing=summary.score(summary.nothing[None]),
        random=summary.score(found.random),
        evalx=summary.evalx(found),
        roar=summary.score(found.roar),
        everything=summary.score(found.everything),
        encode=summary.encode(found),
        **summary.quality(found.evalx, own),
        **leak,
        sufficiency=summary.by_row(found.evalx.mean(axis=0)) - summary.by_row(found.everything.mean(axis=0)),
        frame_library=frame_library(X),
    )


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
