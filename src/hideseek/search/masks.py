"""How much of each feature is shown in the rows of a fit, and warnings where that is odd."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hideseek.engine.along import shown_at_price
from hideseek.engine.device import one_thread
from hideseek.engine.ensemble import Ensemble
from hideseek.engine.questions import Question
from hideseek.engine.recipe import PRICE_PER_FEATURE
from hideseek.errors import MaskWarning
from hideseek.search.learned import Learned
from hideseek.search.parts import LearnedFrom
from hideseek.search.path import Floats
from hideseek.warn import warn_caller

__all__ = ["Shown", "shown_by", "warn_of_odd_masks"]

_MOST_ROWS = 2000
_SHOWN, _WORTH_A_WARNING = 0.5, 0.9


class Shown(NamedTuple):
    """The mean mask of each feature, ``(features,)``, and how many features each row shows, ``(rows,)``."""

    mean: Floats
    n_shown: NDArray[np.int64]


def shown_by(ensembles: Sequence[Ensemble], tables: Sequence[LearnedFrom]) -> list[Shown]:
    """Return what each ensemble shows of its table: of some thousand rows of a long one, evenly spread.

    Args:
        ensembles: Of one shape, on one device, at the prices at which they answer.
        tables: What each of them learned from.
    """
    rows = [table.x[:: max(1, len(table.x) // _MOST_ROWS)] for table in tables]
    questions = [
        Question(ensemble, np.arange(len(ensemble.visible)), x, [ensemble.price])
        for ensemble, x in zip(ensembles, rows, strict=True)
        if ensemble.price is not None
    ]
    if questions:
        with one_thread():  # the operations are too small to be shared
            return [Shown(*each) for each in shown_at_price(questions, _SHOWN)]
    masks = (ensemble.masks(x) for ensemble, x in zip(ensembles, rows, strict=True))
    return [Shown(own.mean(axis=0, dtype=np.float64), (own > _SHOWN).sum(axis=1)) for own in masks]


def warn_of_odd_masks(learned: Learned, shown: Shown, *, screened: bool) -> None:
    """Warn if nothing or everything is shown in nearly every row."""
    n_columns, penalty = int(learned.ensemble.visible.any(dim=0).sum()), learned.penalty
    if (shown.n_shown == 0).mean() >= _WORTH_A_WARNING:
        problem = "collapsed: no feature is shown in nearly every row"
        advice = f"try penalty={penalty / 10:.2g} or a longer fit, or ask whether X can predict y at all"
    elif not screened and n_columns > 1 and (shown.n_shown == n_columns).mean() >= _WORTH_A_WARNING:
        problem = "saturated: every feature is shown in nearly every row"
        advice = f"try penalty={max(3 * penalty, PRICE_PER_FEATURE * n_columns):.2g}"
        if not learned.recipe.cross_fit:
            advice += ", or cross_fit=True"
    else:
        return
    warn_caller(f"the masks {problem}; penalty is {penalty:.3g}: {advice}", MaskWarning)
