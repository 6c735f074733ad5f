"""How close a model's predictions stay when only the selected features are real."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hideseek.errors import InputError
from hideseek.frames import mixed_rows
from hideseek.metrics._selection import as_mask, top_k
from hideseek.metrics.answers import TASK, as_answers
from hideseek.validation import Rule, as_array, check_parameters, integer

__all__ = ["Fidelity", "answer_fidelity", "compare_fidelity", "fidelity"]

Predict = Callable[[Any], Any]
"""Maps a table of the caller's kind to probabilities ``(rows,)`` or ``(rows, classes)``, or to values ``(rows,)``."""

_PREDICT = Rule("a function from a table to answers", lambda value: callable(value) and not isinstance(value, type))
_COMPARED = {
    "importances": Rule("a dict from names to arrays", lambda value: isinstance(value, Mapping)).or_none(),
    "random_state": integer(0),
}

_SMALLEST = 1e-6
"""Lower bound of probabilities in logarithms."""


class Fidelity(NamedTuple):
    """How close one set of predictions is to another.

    Attributes:
        agreement: Rows whose most probable class is the same, in percent. NaN for values.
        kl: Mean over rows of the Kullback-Leibler divergence of the second predictions from the first, in nats. NaN for
            values.
        r2: Share of the variance of the first predictions that the second explain; at most 1, without lower bound. NaN
            if all predictions are the same.
    """

    agreement: float
    kl: float
    r2: float


def fidelity(
    predict: Predict,
    X: Any,
    selected: ArrayLike,
    background: Any = None,
    *,
    task: str = "auto",
    n_draws: int = 10,
    random_state: int = 0,
) -> Fidelity:
    """Compare a model's predictions with those it makes when only the selected features of each row are real.

    Every value that is not selected is replaced by that of another row, drawn independently for each cell; the model is
    called ``n_draws`` times, and its predictions are averaged. Tables keep their kind, columns and types.

    Args:
        predict: A function from a table like X to probabilities, ``(rows,)`` of the second of two classes or
            ``(rows, classes)``, or to values, ``(rows,)``.
        X: A frame, array or tensor. Shape: ``(rows, features)``.
        selected: True where a feature was selected, by any method. Shape: ``(rows, features)``.
        background: Rows that replacements are drawn from; those of X if not given.
        task: "classification": predictions are probabilities. "regression": they are values. "auto": inferred.
        n_draws: Number of draws of the hidden features.
        random_state: Random seed of the draws.

    Example:
        The function uses the second column only, so the first need not be selected.

        >>> import numpy as np
        >>> from hideseek.metrics import fidelity
        >>> X = np.array([[1.0, 0.0], [2.0, 5.0], [3.0, 1.0]])
        >>> fidelity(lambda X: 7 * X[:, 1], X, [[False, True]] * 3).r2
        1.0
    """
    return _Judge(predict, X, background, task, n_draws, random_state).of(selected)


def compare_fidelity(
    predict: Predict,
    X: Any,
    selected: ArrayLike,
    importances: Mapping[str, ArrayLike] | None = None,
    background: Any = None,
    *,
    task: str = "auto",
    n_draws: int = 10,
    random_state: int = 0,
) -> dict[str, Fidelity]:
    """Compare the fidelity of a selection with those of other methods and of random features, equally many per row.

    Args:
        predict: As in :func:`fidelity`; so are X, background, task, n_draws and random_state.
        X: A frame, array or tensor. Shape: ``(rows, features)``.
        selected: True where a feature was selected. Shape: ``(rows, features)``.
        importances: By name of a method, its importance of every feature, of either sign; in each row the features of
            largest absolute importance are used, as many as are selected there. Shape of each: ``(rows, features)``.
        background: Rows that replacements are drawn from; those of X if not given.
        task: "classification", "regression" or "auto".
        n_draws: Number of draws of the hidden features; the same draws are used for all.
        random_state: Random seed of the draws.

    Returns:
        By name: "selected", "random", and the names of ``importances``.

    Example:
        >>> import numpy as np
        >>> from hideseek.metrics import compare_fidelity
        >>> X = np.array([[1.0, 0.0], [2.0, 5.0], [3.0, 1.0]])
        >>> others = {"right": [[0.1, -0.9]] * 3, "wrong": [[0.9, 0.1]] * 3}
        >>> compared = compare_fidelity(lambda X: X[:, 1], X, [[False, True]] * 3, others)
        >>> list(compared), compared["right"].r2, compared["wrong"].r2 < 0.5
        (['selected', 'random', 'right', 'wrong'], 1.0, True)
    """
    mask = as_mask("selected", selected)
    check_parameters("compare_fidelity", {"importances": importances, "random_state": random_state}, _COMPARED)
    size = mask.sum(axis=1)
    chance = np.random.default_rng([random_state, 1]).random(mask.shape)  # independent of the replacement draws
    chosen = {"selected": mask, "random": top_k(chance, size)}
    for name, importance in (importances or {}).items():
        if hasattr(importance, "importance"):
            raise InputError(f"importances[{name!r}] is an explanation; pass explanation.importance")
        chosen[name] = top_k(np.abs(as_array(f"importances[{name!r}]", importance, float)), size)
    judge = _Judge(predict, X, background, task, n_draws, random_state)
    return {name: judge.of(part) for name, part in chosen.items()}


def answer_fidelity(answers: ArrayLike, others: ArrayLike, *, task: str = "auto") -> Fidelity:
    """Compare a model's predictions with others for the same rows, such as those of a model that imitates it.

    Args:
        answers: Probabilities, ``(rows,)`` or ``(rows, classes)``, or values, ``(rows,)``.
        others: The same kind.
        task: "classification", "regression" or "auto", which is inferred from ``answers``.

    Example:
        >>> from hideseek.metrics import answer_fidelity
        >>> answer_fidelity([0.9, 0.2, 0.6, 0.1], [0.8, 0.3, 0.4, 0.2]).agreement
        75.0
        >>> answer_fidelity([1.0, 2.0, 9.0], [1.0, 2.0, 9.0], task="regression").r2
        1.0
    """
    check_parameters("answer_fidelity", {"task": task}, {"task": TASK})
    n_rows = len(np.atleast_1d(as_array("answers", answers)))
    first = as_answers(answers, n_rows, task, source="answers")
    return _compared(first, as_answers(others, len(first), _task_of(first), source="others"))


class _Judge:
    """Calls a model for rows once, and then for any selection of their features."""

    def __init__(self, predict: Predict, X: Any, background: Any, task: str, n_draws: int, random_state: int) -> None:
        rules = {"predict": _PREDICT, "task": TASK, "n_draws": integer(1), "random_state": integer(0)}
        given = {"predict": predict, "task": task, "n_draws": n_draws, "random_state": random_state}
        check_parameters("fidelity", given, rules)
        self._predict, self._X, self._background = predict, X, X if background is None else background
        self._shape, shape = _shape("X", X), _shape("background", self._background)
        if shape[1] != self._shape[1]:
            raise InputError(f"background has {shape[1]} columns and X {self._shape[1]}; both must have the same")
        self._n_draws, self._random_state = n_draws, random_state
        self._answers = as_answers(predict(X), self._shape[0], task)

    def of(self, selected: ArrayLike) -> Fidelity:
        """Return how close the predictions are when only the selected features are real."""
        kept = as_mask("selected", selected)
        if kept.shape != self._shape:
            raise InputError(f"selected has shape {kept.shape} and X {self._shape}; both must be the same")
        rng, total = np.random.default_rng([self._random_state, 0]), np.zeros_like(self._answers)
        for _ in range(self._n_draws):
            picks = rng.integers(_shape("background", self._background)[0], size=kept.shape)
            mixed = mixed_rows(self._X, self._background, kept, picks)
            answers = as_answers(self._predict(mixed), len(kept), _task_of(self._answers))
            if answers.shape != total.shape:
                raise InputError(f"predict gave shape {total.shape} for the rows and {answers.shape} for mixed ones")
            total += answers
        return _compared(self._answers, total / self._n_draws)


def _compared(answers: NDArray[np.float64], others: NDArray[np.float64]) -> Fidelity:
    if answers.shape != others.shape:
        raise InputError(f"answers have the shape {answers.shape} and the others {others.shape}; pass the same kind")
    variation = ((answers - answers.mean(axis=0)) ** 2).sum()
    r2 = float(1 - ((answers - others) ** 2).sum() / variation) if variation > 0 else nan
    if answers.ndim == 1:
        return Fidelity(nan, nan, r2)
    ratio = np.log(np.maximum(answers, _SMALLEST) / np.maximum(others, _SMALLEST))
    return Fidelity(
        agreement=float(100 * (answers.argmax(axis=1) == others.argmax(axis=1)).mean()),
        kl=float((answers * ratio).sum(axis=1).mean()),
        r2=r2,
    )


def _task_of(answers: NDArray[np.float64]) -> str:
    return "regression" if answers.ndim == 1 else "classification"


def _shape(name: str, X: Any) -> tuple[int, int]:
    """Return the rows and columns of a table of any kind."""
    shape = tuple(getattr(X, "shape", ())) or as_array(name, X).shape
    if len(shape) != 2 or 0 in shape:
        raise InputError(f"{name} must be a table, (rows, features), with at least one of each; it has shape {shape}")
    return int(shape[0]), int(shape[1])
