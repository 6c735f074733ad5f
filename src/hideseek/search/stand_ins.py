"""What predictions lose on held-out rows when another column takes the place of a selected feature.

The feature is hidden, but its replacement is not drawn from all rows: it is taken from training rows in which the
other column has nearly the same value. So the networks know of the feature what the other column tells of it, and no
network is trained for this. Networks that were trained on the other column could lose less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.spatial import KDTree

from hideseek.engine.along import answers_from
from hideseek.engine.device import one_thread
from hideseek.engine.ensemble import Ensemble
from hideseek.engine.objective import row_losses
from hideseek.engine.scaling import Scaler
from hideseek.search.parts import N_FOLDS, Part, folds_of
from hideseek.stand_ins import StandIn

__all__ = ["Features", "stand_ins_among"]

_MOST_ROWS, _MOST_OF_A_FEATURE = 1000, 500
"""Held-out rows that are looked at, and of those that select a feature."""

_FEWEST_ROWS = 10
"""Of those, rows that have to select a feature."""

_ROWS_COMPARED = 4000
"""Training rows from which replacements are taken."""

_FEW_FEATURES = 50
"""Up to so many, candidates of all are sought first: of more only those of selected features, since that takes long."""

_DRAWS = 4
_LEAST_CORRELATION = 0.5
_MOST_CANDIDATES = 3
"""Of each feature, besides its copies."""

_MOST_LOST = 0.5
"""Share of what a feature is worth that a stand-in may lose."""

_SURE = 2.0
"""Standard errors that what a feature is worth has to exceed."""

_JITTER = 1e-6
"""Deviations by which equal values are spread, so that ties are broken at random."""

_Floats = NDArray[np.floating]


@dataclass(frozen=True)
class Features:
    """The features of a table, by number.

    Attributes:
        table: All columns as they came. Shape: ``(rows, columns)``.
        scaler: What standardises them.
        columns: The columns of each feature.
        known: The features that the networks see, in order.
        copies: For features that the networks do not see, the feature that they repeat.
    """

    table: _Floats
    scaler: Scaler
    columns: Sequence[slice]
    known: Sequence[int]
    copies: Mapping[int, int]

    def standardised(self, feature: int, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the columns of a feature. Shape: ``(rows, columns of the feature)``."""
        columns = np.arange(self.columns[feature].start, self.columns[feature].stop)
        return self.scaler.of(columns).transform(self.table[np.ix_(rows, columns)]).astype(np.float64)


class _Reference:
    """Training rows from which replacements are taken.

    Args:
        features: The features of the table.
        rows: The numbers of these rows.
        draw: Breaks ties between equal values.
    """

    def __init__(self, features: Features, rows: NDArray[np.intp], draw: np.random.Generator) -> None:
        self._features, self._rows, self._draw = features, rows, draw
        self._known: dict[int, tuple[NDArray[np.float64], KDTree]] = {}

    def told_by(self, other: int, feature: int, rows: NDArray[np.intp]) -> _Floats:
        """Return values of a feature from those reference rows whose value of another one is nearest.

        Between single columns a value moves along the line between the two by the distance that is left, so that an
        exact copy tells the feature exactly. Shape: ``(draws, rows, columns of the feature)``.
        """
        if other not in self._known:
            near = self._features.standardised(other, self._rows)
            self._known[other] = near, KDTree(near + self._jitter(near))
        near, tree = self._known[other]
        here = self._features.standardised(other, rows)
        _, found = tree.query(here + self._jitter(here), k=np.arange(1, _DRAWS + 1))
        values = self._features.table[self._rows, self._features.columns[feature]].astype(np.float64)
        told = values[found.T]
        if values.shape[1] == near.shape[1] == 1:
            slope = np.cov(near[:, 0], values[:, 0])[0, 1] / max(float(near.var()), 1e-12)
            told = told + slope * (here - near[found.T])
        return np.asarray(told)

    def _jitter(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return _JITTER * self._draw.normal(size=values.shape)


@dataclass(frozen=True)
class _Question:
    """What some held-out rows would lose: feature ``j`` is replaced by what ``k`` tells of it, or hidden (None).

    Shape: ``rows (rows,)``, positions in the fold; ``values (draws, rows, columns of the feature)``, None if hidden.
    """

    j: int
    k: int | None
    place: int
    rows: NDArray[np.intp]
    values: _Floats | None


class _HeldOut:
    """Rows of a fold, and the members that did not learn from them."""

    def __init__(self, ensemble: Ensemble, part: Part, columns: Sequence[slice], loss: str, threshold: float) -> None:
        self._ensemble, self._part, self._columns, self._loss = ensemble, part, columns, loss
        self.selected = ensemble.masks(part.table) > threshold

    def losses(self, questions: Sequence[_Question]) -> list[_Floats]:
        """Return what the rows of each question lose; all are asked at once. Shape of each: ``(rows,)``."""
        every = np.arange(len(self.selected))
        rows = np.concatenate([every, *(question.rows for question in questions)])
        shown, tables = self.selected[rows], [self._part.table[rows] for _ in range(_DRAWS)]
        ends = np.cumsum([len(every), *(len(question.rows) for question in questions)])
        for question, start, end in zip(questions, ends, ends[1:], strict=False):
            if question.values is None:
                shown[start:end, question.place] = False
                continue
            for table, values in zip(tables, question.values, strict=True):
                table[start:end, self._columns[question.place]] = values
        output = answers_from(self._ensemble, tables, shown, softmax=self._loss != "squared_error")
        target = torch.from_numpy(self._part.target[rows])
        losses = row_losses(self._loss, torch.from_numpy(output).double(), target).numpy()
        usual, *others = np.split(losses, ends[:-1])
        return [own - usual[question.rows] for own, question in zip(others, questions, strict=True)]


def stand_ins_among(
    ensemble: Ensemble,
    part: Part,
    columns: Sequence[slice],
    features: Features,
    names: Sequence[str],
    *,
    loss: str,
    threshold: float,
    seed: int,
) -> dict[str, tuple[StandIn, ...]]:
    """Return, for each feature that held-out rows select, those that could take its place, the best first.

    Nothing where the table is too short to hold rows out.

    Args:
        ensemble: At the price at which it answers; member i leaves out fold i modulo ``N_FOLDS``.
        part: The rows that it learned from, with the columns of the known features alone.
        columns: Of each known feature its columns in these rows.
        features: All features of the same rows.
        names: Of all features.
        loss: "cross_entropy" or "squared_error".
        threshold: A feature is selected where its mean mask is greater.
        seed: Of the folds, and for the order of equal values.
    """
    few = len(columns) <= _FEW_FEATURES
    if few and not features.copies and (_alike(part, columns, slice(None)) < _LEAST_CORRELATION).all():
        return {}  # no network has to be asked
    fold = folds_of(part.target, seed)
    if fold is None:
        return {}
    draw, weights = np.random.default_rng(seed), part.relative_weight()
    candidates: dict[int, list[int]] = {}
    lost: dict[tuple[int, int | None], list[_Floats]] = {}
    weight: dict[int, list[_Floats]] = {}
    with one_thread():  # the operations are too small to be shared
        for rows, outside, members in _folds(fold, len(ensemble.visible)):
            reference = _Reference(features, outside, draw)
            held_out = _HeldOut(ensemble.members(members), part.rows(rows), columns, loss, threshold)
            questions = []
            for place in np.flatnonzero(held_out.selected.any(axis=0)).tolist():
                j, own = features.known[place], np.flatnonzero(held_out.selected[:, place])
                own = own[:: -(-len(own) // (_MOST_OF_A_FEATURE // N_FOLDS))]
                if j not in candidates:
                    candidates[j] = _candidates(features, place, _alike(part, columns, slice(place, place + 1))[0])
                if candidates[j]:
                    weight.setdefault(j, []).append(np.ones(len(own)) if weights is None else weights[rows[own]])
                    questions.append(_Question(j, None, place, own, None))
                for k in candidates[j]:
                    questions.append(_Question(j, k, place, own, reference.told_by(k, j, rows[own])))
            for question, losses in zip(questions, held_out.losses(questions), strict=True):
                lost.setdefault((question.j, question.k), []).append(losses)
    found = {}
    for j in sorted(weight):
        hidden, share = np.concatenate(lost[j, None]), np.concatenate(weight[j])
        figures = [(k, names[k], np.concatenate(lost[j, k])) for k in candidates[j]]
        stand_ins = _worth_naming(hidden, share / share.sum(), figures, features.copies)
        if stand_ins:
            found[names[j]] = stand_ins
    return found


def _alike(part: Part, columns: Sequence[slice], places: slice) -> NDArray[np.float64]:
    """Return how far the features at some places are correlated with each one, by their columns that are most.

    Shape: ``(places, features)``.
    """
    starts = [own.start for own in columns]
    wanted = slice(columns[places][0].start, columns[places][-1].stop)
    by_feature = np.maximum.reduceat(part.correlations(wanted), starts, axis=1)
    alike = np.maximum.reduceat(by_feature, [start - wanted.start for start in starts[places]], axis=0)
    alike[np.arange(len(alike)), np.arange(len(columns))[places]] = 0.0
    return alike


def _candidates(features: Features, place: int, alike: NDArray[np.float64]) -> list[int]:
    """Return the copies of the known feature at a place, and the features that are most like it."""
    order = np.argsort(-alike, kind="stable")[:_MOST_CANDIDATES]
    most_alike = [features.known[i] for i in order if alike[i] >= _LEAST_CORRELATION]
    return [*(k for k, repeated in features.copies.items() if repeated == features.known[place]), *most_alike]


def _folds(
    fold: NDArray[np.int64], n_members: int
) -> list[tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]]:
    """Return some rows of each fold, some rows outside of it, and the members that left it out."""
    found = []
    for number in range(N_FOLDS):
        inside, outside = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        members = np.arange(number, n_members, N_FOLDS)
        rows = inside[:: -(-len(inside) // (_MOST_ROWS // N_FOLDS))]
        reference = outside[:: -(-len(outside) // _ROWS_COMPARED)]
        found.append((rows, reference, members if len(members) else np.arange(n_members)))
    return found


def _worth_naming(
    hidden: _Floats, share: _Floats, figures: Sequence[tuple[int, str, _Floats]], copies: Mapping[int, int]
) -> tuple[StandIn, ...]:
    """Return the stand-ins of a feature that keep much of what it is worth, and all its copies."""
    if len(hidden) < _FEWEST_ROWS:
        return ()
    worth, error = _mean_and_error(hidden, share)
    found = []
    for k, name, losses in figures:
        stand_in = StandIn(name, *_mean_and_error(losses, share), worth)
        if k in copies or (worth > _SURE * error and stand_in.loss <= _MOST_LOST * worth):
            found.append(stand_in)
    return tuple(sorted(found, key=lambda each: each.loss))


def _mean_and_error(losses: _Floats, share: _Floats) -> tuple[float, float]:
    mean = float(share @ losses)
    return mean, float(np.sqrt(np.square((losses - mean) * share).sum()))
