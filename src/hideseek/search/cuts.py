"""The search for cuts: values of a column at which the answer jumps, see ``engine.cuts``.

Members are asked about rows that they did not learn from. If the truth jumps at a value, rows close to it are predicted
better once they are moved away from it, each on its own side; where nothing jumps, they are predicted worse. First all
values of every column are tried with one margin, then the best places with several margins, on more rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hideseek.engine.along import sets_at_own_prices
from hideseek.engine.device import one_thread
from hideseek.engine.ensemble import FULL_ROWS
from hideseek.engine.questions import Question
from hideseek.search.moves import Case, Trial, gains_of, with_values
from hideseek.search.path import Floats

__all__ = ["cut"]

_SHIFT, _WINDOWS = 0.3, (0.1, 0.2, 0.3)
"""How far rows are moved while all values of a column are tried, in standard deviations; and which rows count: those up
to a window from the place."""

_MARGINS = np.array((0.1, 0.2, 0.4, 0.7, 1.0))
"""Margins that are compared at the best places."""

_FEWEST_VALUES = 32
"""Values that a column has at least; one of fewer is no stretch along which a network could be gradual."""

_LEAST_SHARE, _ROWS_OF_SHARE = 0.05, 1000
"""Share of the rows in which a feature is selected, from which on its columns are tried; on how many it is measured."""

_MOST_PLACES = 8
"""Places of a table that are tried with several margins."""

_CHANCE, _ERRORS = 0.01, 3.0
"""A cut gains so much that fewer than ``_CHANCE`` of the tables without a jump show one, and this many times the
standard error of the gain. Half of that, on fewer rows, makes a place worth a second look."""

_NOT_WORSE = 2.0
"""Standard errors by which a wider margin may be worse than the best one."""

_DRAWS_NEAR = 2
"""Pool rows that predictions near a place are averaged over. One will do to find places."""

_COLUMNS_AT_ONCE = {"cpu": 1, "cuda": 2**11}
"""Columns of all tables that are tried at once. On a CPU a table has its turn alone, since only some of its columns
need to be tried."""

_MOST_ROWS = 2000
"""Rows of a fold that are looked at near a place."""


class _Place(NamedTuple):
    """A value of a column where a cut may be, and what rows gain by it."""

    gain: float
    column: int
    at: float


def cut(cases: Sequence[Case], *, loss: str, threshold: float) -> list[Case]:
    """Return the cases with the cuts that are found; the rows of their tables are moved in place.

    Args:
        cases: Ensembles of one shape, on one device, without cuts, and tables of one shape.
        loss: "cross_entropy" or "squared_error".
        threshold: A feature is selected where its mean mask is greater.
    """
    cases = list(cases)
    at_once = max(1, _COLUMNS_AT_ONCE[cases[0].ensemble.pool.device.type] // cases[0].table.x.shape[1])
    with one_thread():  # the operations are too small to be shared
        places: list[list[_Place]] = []
        for start in range(0, len(cases), at_once):
            places += _places(cases[start : start + at_once], loss, threshold)
        for turn in range(max(map(len, places))):
            looked_at = [i for i, own in enumerate(places) if turn < len(own)]
            near = [_Near.of(cases[i], places[i][turn], places[i]) for i in looked_at]
            for i, best in zip(looked_at, _best_cuts(near, loss, threshold), strict=True):
                if best is not None:
                    cases[i] = cases[i].with_cut(*best)
    return cases


def _evidence(case: Case) -> float:
    """Return what a cut must gain, in nats.

    If the predictions were right as they are, the likelihood ratio of others to them would be 1 on average. Of as many
    places as the table has cells, one then exceeds cells / chance with a probability of at most chance.
    """
    return log(len(case.table.x) * len(case.ensemble.scaler.center) / _CHANCE)


# -- all values of every column -------------------------------------------------------------------------------------


def _places(cases: Sequence[Case], loss: str, threshold: float) -> list[list[_Place]]:
    """Return where the cuts of each table may be, the best places first."""
    columns = _columns(cases, threshold)
    if not columns or cases[0].table.fold is None:
        return [[] for _ in cases]
    trials = [
        Trial(case, fold.rows, fold.x, fold.members)
        for case in cases
        for fold in case.table.left_out(len(case.ensemble.visible))
    ]
    starts = [cases[0].ensemble.scaler.places(column).start for column in columns]

    def shifted(x: Tensor, numbers: Sequence[int]) -> Iterator[Tensor]:
        own = [trials[number].case for number in numbers]
        for column, start in zip(columns, starts, strict=True):
            for shift in (-_SHIFT, _SHIFT):
                yield with_values(x, x[:, start] + shift, own, [column] * len(own))

    gains = gains_of(trials, shifted, len(cases), 1, loss=loss, threshold=threshold)
    z = torch.stack([trial.x[:, starts] for trial in trials]).view(len(cases), -1, len(columns)).transpose(1, 2)
    least = [_evidence(case) / 2 for case in cases]
    return _best_places(z.to(gains.device), gains[:, 0::2], gains[:, 1::2], columns, least)


def _columns(cases: Sequence[Case], threshold: float) -> list[int]:
    """Return the columns that have many values in any table; of a table alone, if the feature is selected now and then.

    A GPU tries all columns of many tables faster than it could find out which are worth it.
    """
    found: set[int] = set()
    for case in cases:
        scaler, x = case.ensemble.scaler, case.table.x[:: -(-len(case.table.x) // _ROWS_OF_SHARE)]
        columns, often = scaler.columns_of(x).cpu().numpy(), list(range(len(scaler.center)))
        if len(cases) == 1:
            often = np.flatnonzero(_shares(case, x, threshold) >= _LEAST_SHARE).tolist()
        found |= {j for j in often if j not in found and len(np.unique(columns[:, j])) >= _FEWEST_VALUES}
    return sorted(found)


def _shares(case: Case, x: Tensor, threshold: float) -> Floats:
    """Return the share of the rows in which the feature of each column is selected. Shape: ``(columns,)``."""
    ensemble = case.ensemble
    question = Question(ensemble, np.arange(len(ensemble.visible)), x, [case.price] * len(x))
    share = torch.from_numpy(sets_at_own_prices([question], threshold)[0].mean(axis=0))[None]
    groups = ensemble.stack.groups
    by_input = share if groups is None else share[:, groups.feature.cpu()]
    return ensemble.scaler.columns_of(by_input)[0].numpy()


def _best_places(
    z: Tensor, down: Tensor, up: Tensor, columns: Sequence[int], least: Sequence[float]
) -> list[list[_Place]]:
    """Return where the rows of each table gain most if those below a place move down and those above it move up.

    Args:
        z: The values of the columns. Shape: ``(tables, columns, rows)``.
        down: What rows gain by moving down. Shape: as ``z``, double.
        up: What they gain by moving up. Shape: as ``z``, double.
        columns: The numbers of the columns.
        least: What is gained at least at a place of each table.
    """
    z, order = z.double().contiguous().sort(dim=2)
    below, above = (torch.nn.functional.pad(part.gather(2, order).cumsum(dim=2), (1, 0)) for part in (down, up))
    at = (z[:, :, 1:] + z[:, :, :-1]) / 2
    gain = torch.zeros_like(at)
    for window in _WINDOWS:
        low, high = torch.searchsorted(z, at - window), torch.searchsorted(z, at + window)
        own = below[:, :, 1:-1] - below.gather(2, low) + above.gather(2, high) - above[:, :, 1:-1]
        torch.maximum(gain, own, out=gain)
    gain[z[:, :, 1:] == z[:, :, :-1]] = 0.0
    found: list[list[_Place]] = [[] for _ in least]
    highest = gain.amax(dim=2).cpu()
    for table, number in torch.nonzero(highest > torch.tensor(least)[:, None]).tolist():
        gains, values = gain[table, number].cpu().numpy(), at[table, number].cpu().numpy()
        while gains.max() > least[table]:
            best = int(gains.argmax())
            found[table].append(_Place(float(gains[best]), columns[number], float(values[best])))
            gains[np.abs(values - values[best]) < _SHIFT] = 0.0
    return [sorted(places, reverse=True)[:_MOST_PLACES] for places in found]


# -- a place, with several margins ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Near:
    """The rows near a place.

    Attributes:
        case: Who is asked about them.
        place: The place.
        room: Margins are smaller than this: they reach neither the margin of another cut, nor half of the way to a
            place where there will surely be one, nor an end of the column.
        folds: Rows of each fold, the nearest first, and the members that left it out.
        distance: Of each of these rows to the place. Shape: ``(folds, rows)``.
    """

    case: Case
    place: _Place
    room: float
    folds: Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]]
    distance: Floats

    @classmethod
    def of(cls, case: Case, place: _Place, places: Sequence[_Place]) -> _Near:
        """Return rows near a place, equally many of each fold, as evenly spread as there are."""
        z = case.values(place.column)
        room = min(case.cuts.room(place.column, place.at), place.at - float(z.min()), float(z.max()) - place.at)
        for gain, column, at in places:
            if column == place.column and at != place.at and gain > _evidence(case):
                room = min(room, abs(at - place.at) / 2)
        distance, folds = np.abs(z - place.at), []
        for rows, members in case.table.by_fold(len(case.ensemble.visible)):
            by_distance = rows[np.argsort(distance[rows])]
            n_near = max(int(np.searchsorted(distance[by_distance], _MARGINS[-1])), min(len(rows), _MOST_ROWS))
            every = np.linspace(0, n_near - 1, min(n_near, _MOST_ROWS)).astype(np.intp)
            folds.append((by_distance[every], members))
        return cls(case, place, room, folds, np.stack([distance[rows] for rows, _ in folds]))


def _best_cuts(near: Sequence[_Near], loss: str, threshold: float) -> list[tuple[int, float, float] | None]:
    """Return the column, the place and the margin of the best cut of each; None: there is none."""
    trials, owners = [], []
    for each in near:
        for rows, members in each.folds:
            trials.append(Trial(each.case, rows, each.case.table.inputs(rows), members))
            owners.append(each)
    distance = np.stack([each.distance for each in near])
    n_close = [int((distance < margin).sum(axis=2).max()) for margin in _MARGINS]

    def to_ends(x: Tensor, numbers: Sequence[int]) -> Iterator[Tensor]:
        own = [owners[number] for number in numbers]
        own_cases, columns = [each.case for each in own], [each.place.column for each in own]
        at = torch.tensor([[each.place.at] for each in own], device=x.device)
        for margin, n_rows in zip(_MARGINS.tolist(), n_close, strict=True):
            close = x[:, :, : max(1, -(-n_rows // FULL_ROWS)) * FULL_ROWS]
            for end in (at - margin, at + margin):
                yield with_values(close, end.expand(-1, close.shape[2]), own_cases, columns)

    gains = gains_of(trials, to_ends, len(near), _DRAWS_NEAR, loss=loss, threshold=threshold)
    inside = torch.from_numpy(distance.reshape(len(near), 1, -1) < _MARGINS[:, None]).to(gains.device)
    z = [each.case.values(each.place.column)[np.concatenate([rows for rows, _ in each.folds])] for each in near]
    down, up = (gains[:, side::2].where(inside, 0.0) for side in (0, 1))
    return _best_of(near, torch.from_numpy(np.stack(z)).to(gains.device), down, up)


def _best_of(near: Sequence[_Near], z: Tensor, down: Tensor, up: Tensor) -> list[tuple[int, float, float] | None]:
    """Return the best place of each cut, and the widest margin that is not clearly worse than the best one.

    Args:
        near: Where the cuts may be.
        z: The values of their columns. Shape: ``(cuts, rows)``.
        down: What rows gain with each margin by moving down. Shape: ``(cuts, margins, rows)``.
        up: What they gain by moving up. Shape: as ``down``.
    """
    z, order = z.sort(dim=1)
    down, up = (part.gather(2, order[:, None].expand(part.shape)) for part in (down, up))
    total = (down.cumsum(dim=2) + up.sum(dim=2, keepdim=True) - up.cumsum(dim=2))[:, :, :-1]
    total.masked_fill_((z[:, 1:] == z[:, :-1])[:, None], -torch.inf)
    too_wide = _MARGINS >= np.array([[each.room] for each in near])
    total.masked_fill_(torch.from_numpy(too_wide).to(z.device)[:, :, None], -torch.inf)
    best, where = total.flatten(1).max(dim=1)
    margin, row = where.div(total.shape[2], rounding_mode="floor"), where % total.shape[2]
    at = (z.gather(1, row[:, None]) + z.gather(1, row[:, None] + 1)) / 2
    gains = torch.where((z < at)[:, None], down, up)
    own = gains.gather(1, margin[:, None, None].expand(-1, 1, gains.shape[2]))
    behind = own - gains
    not_worse = (behind.sum(dim=2) <= _NOT_WORSE * behind.norm(dim=2)).cpu().numpy()
    measured = zip(best.tolist(), own.norm(dim=2)[:, 0].tolist(), at[:, 0].tolist(), margin.tolist(), strict=True)
    found: list[tuple[int, float, float] | None] = []
    for each, widest, (gain, error, place, number) in zip(near, not_worse, measured, strict=True):
        room = min(each.room, each.case.cuts.room(each.place.column, place))
        enough = gain >= max(_evidence(each.case), _ERRORS * error) and _MARGINS[number] < room
        found.append((each.place.column, place, float(_MARGINS[widest & (_MARGINS < room)].max())) if enough else None)
    return found
