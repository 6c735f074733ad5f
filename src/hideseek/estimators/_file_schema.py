"""Rules for the files of the estimators: their description, their arrays, and how the two belong together.

A new parameter needs no line here: it is read by the rule that ``fit`` checks it with. A new entry of the description
or of the recipe is one line in ``_DESCRIPTION`` or ``_RECIPE``, a new array one in ``TABLE`` (shared by all ensembles
of a file) or ``_ENSEMBLE`` (one for each); make it optional, since older files lack it.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from hideseek.engine.pools import POOLS
from hideseek.engine.replacement import CONDITIONAL, REPLACEMENTS
from hideseek.estimators._parameters import RULES
from hideseek.metrics import Fidelity
from hideseek.metrics.answers import TASK
from hideseek.persistence import LABELS, Description
from hideseek.schema import (
    BOOLEAN,
    FINITE,
    NAMES,
    NOT_NEGATIVE,
    POSITIVE,
    SCALAR,
    SHARE,
    ArrayRule,
    Fields,
    ListOf,
    MapOf,
    Node,
    check_value,
    is_text,
    text,
)
from hideseek.search.screening import REASONS
from hideseek.tabular.schema import ENCODER
from hideseek.validation import Rule, choice, integer, number

__all__ = ["FARTHEST", "TABLE", "description_rules", "ensemble_rules"]

FARTHEST = 1e6
"""Deviations beyond which a value counts as that far; see ``Scaler``."""


class _OrNone:
    """As ``Node``, for what may be None."""

    def __init__(self, rule: Rule | Node) -> None:
        self._rule = rule

    def check(self, value: Any, place: str) -> None:
        """As ``Node.check``."""
        if value is not None:
            check_value(value, self._rule, place)


def _is_weights(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(pair, list) and len(pair) == 2 and SCALAR.accepts(pair[0]) and NOT_NEGATIVE.accepts(pair[1])
        for pair in value
    )


def _is_stand_in(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 4 and is_text(value[0]) and all(map(FINITE.accepts, value[1:]))


_PARAMETERS: dict[str, Rule | Node] = {
    **RULES,
    "class_weight": (Rule("pairs of a label and a weight of at least 0", _is_weights) | choice("balanced")).or_none(),
    "device": text(100),  # of the machine that wrote the file
    "groups": _OrNone(MapOf(ListOf(text() | integer(0), least=1))),
    "model": Rule("null", lambda value: value is None),
    "random_state": integer(0, 2**32 - 1).or_none(),
    "task": TASK,
    "verbose": BOOLEAN | integer(0),
}
_PROPORTION = number("a number from 0 to 1", lambda value: 0 <= value <= 1)
_RECIPE = Fields(
    {
        "hidden_layers": ListOf(integer(1)),
        "steps": integer(1),
        "batch_size": integer(1).or_none(),
        "learning_rate": POSITIVE,
        "anneal_power": NOT_NEGATIVE,
        "n_members": integer(1),
        "kept_fraction": SHARE,
        "column_fraction": SHARE,
        "replacement": choice(*REPLACEMENTS),
    },
    optional={
        "cross_fit": BOOLEAN,
        "weight_decay": NOT_NEGATIVE,
        "ramps": BOOLEAN,
        "cuts": BOOLEAN,
        "highest_prices": ListOf(POSITIVE),
        "n_scouts": integer(1),  # in older files
        "cooldown": _PROPORTION,
        "refinement": NOT_NEGATIVE,
        "logit_pull": NOT_NEGATIVE,
    },
)
_VALUE: dict[str, Rule | Node] = {"center": FINITE, "scale": POSITIVE}
_ASKED: dict[str, Rule | Node] = {"task": TASK, "calls": integer(0), "rows_asked": integer(0)}
_FIDELITY = {"fidelity": MapOf(ListOf(FINITE.or_none(), len(Fidelity._fields), len(Fidelity._fields)))}
_TARGETS = {
    "HideSeekClassifier": Fields({"classes": LABELS}),
    "HideSeekRegressor": Fields(_VALUE),
    "classification": Fields({**_ASKED, "classes": LABELS}, _FIDELITY),
    "regression": Fields({**_ASKED, **_VALUE}, _FIDELITY),
}
"""By the class of the estimator; for a black box by its task."""

_SEARCH = Fields(
    {}, {"score_name": choice("auroc", "r2"), "null_loss": FINITE, "chosen": integer(0), "default": integer(0)}
)
_TRUST = Fields(
    {
        "score_name": choice("auroc", "r2"),
        "n_rows": integer(0),
        "n_features": integer(1),
        "n_selected": NOT_NEGATIVE.or_none(),
        **{f"{name}_{what}": FINITE.or_none() for name in ("score", "loss") for what in ("selected", "all", "none")},
        "difference_error": NOT_NEGATIVE.or_none(),
        **{name: _PROPORTION.or_none() for name in ("sufficient", "agreement", "agreement_held_out")},
    }
)
_FILES = Fields(
    {**{name: integer(0) for name in ("n_files", "n_rows", "n_used")}, "class_counts": _OrNone(ListOf(integer(0)))}
)
_SIZES = ListOf(integer(1), least=2)
_DESCRIPTION: dict[str, Rule | Node] = {
    "hide": _SIZES,
    "seek": _SIZES,
    "recipe": _RECIPE,
    "penalty": NOT_NEGATIVE,
    "feature_names": NAMES.or_none(),
}
_NEWER: dict[str, Rule | Node] = {
    "n_features": integer(1),
    "encoder": _OrNone(ENCODER),
    "search": _SEARCH,
    "pool": choice(*POOLS, "noise"),
    "target_name": text().or_none(),
    "price": POSITIVE.or_none(),
    "trust": _OrNone(_TRUST),
    "stand_ins": _OrNone(MapOf(ListOf(Rule("a name and three numbers", _is_stand_in), least=1))),
    "fitted_files": _OrNone(_FILES),
}
"""What files of the first version lack."""

TABLE = {
    "center": ArrayRule(("f8",), ("columns",)),
    "scale": ArrayRule(("f8",), ("columns",), low=np.finfo(np.float64).smallest_subnormal),
    "constant": ArrayRule(("b1",), ("columns",)),
    "fill": ArrayRule(("f8",), ("features",), optional=True),
    "feature_importances": ArrayRule(("f8",), ("given",), low=0, high=1, optional=True),
    "kept": ArrayRule(("i8",), ("kept",), low=0, optional=True),
    "copies": ArrayRule(("i8",), ("copies", 2), low=0, optional=True),
    "screening.score": ArrayRule(("f4",), ("features",), finite=False, optional=True),
    "screening.kept": ArrayRule(("b1",), ("features",), optional=True),
    "screening.reason": ArrayRule(("i1",), ("features",), low=0, high=len(REASONS) - 1, optional=True),
    "screening.others": ArrayRule(("i8",), ("features", 2), low=-1, optional=True),
    "ramps.column": ArrayRule(("i8",), ("ramps",), low=0, optional=True),
    "ramps.low": ArrayRule(("f8",), ("ramps",), low=-FARTHEST, high=FARTHEST, optional=True),
    "ramps.high": ArrayRule(("f8",), ("ramps",), low=-FARTHEST, high=FARTHEST, optional=True),
    "ramps.center": ArrayRule(("f8",), ("ramps",), low=0, high=1, optional=True),
    "ramps.scale": ArrayRule(("f8",), ("ramps",), low=1e-30, high=1, optional=True),
    "cuts.column": ArrayRule(("i8",), ("cuts",), low=0, optional=True),
    "cuts.at": ArrayRule(("f8",), ("cuts",), low=-FARTHEST, high=FARTHEST, optional=True),
    "cuts.margin": ArrayRule(("f8",), ("cuts",), low=0, high=FARTHEST, optional=True),
    "path.penalty": ArrayRule(("f8",), ("path",), low=0, optional=True),
    "path.loss": ArrayRule(("f8",), ("path",), optional=True),
    "path.standard_error": ArrayRule(("f8",), ("path",), finite=False, optional=True),
    "path.excess": ArrayRule(("f8",), ("path",), low=0, optional=True),
    "path.excess_error": ArrayRule(("f8",), ("path",), finite=False, optional=True),
    "path.score": ArrayRule(("f8",), ("path",), finite=False, optional=True),
    "path.n_selected": ArrayRule(("f8",), ("path",), low=0, optional=True),
    "path.disagreement": ArrayRule(("f8",), ("path",), low=0, optional=True),
}
_ENSEMBLE = {
    "parameters": ArrayRule(("f4",), ("members", "weights")),
    "price_range": ArrayRule(("f4",), ("members", 2), low=-60, high=20, optional=True),
    "visible": ArrayRule(("b1",), ("members", "kept")),
    "pool": ArrayRule(("f4",), ("pool_rows", "inputs")),
    "history.step": ArrayRule(("i8",), ("records",)),
    "history.penalty": ArrayRule(("f8",), ("records",), finite=False),
    "history.prediction_loss": ArrayRule(("f4",), ("records", "trained"), finite=False),
    "history.loss": ArrayRule(("f4", "f8"), ("records", "trained"), finite=False),
    "history.mean_mask": ArrayRule(("f4", "f8"), ("records", "trained"), finite=False),
    "history.validation_loss": ArrayRule(("f4",), ("records", "trained"), finite=False, optional=True),
}


def description_rules(owner: Any, description: Description) -> Fields:
    """Return the rules for the description of a model of class ``owner``."""
    parameters = Fields({}, {name: _PARAMETERS[name] for name in owner._get_param_names()})
    target = description.get("target")
    task = target.get("task") if isinstance(target, dict) else None
    if owner.__name__ not in _TARGETS:
        check_value(task, choice("classification", "regression"), "description.target.task")
    targets = _TARGETS[owner.__name__ if owner.__name__ in _TARGETS else str(task)]
    return Fields({**_DESCRIPTION, "parameters": parameters, "target": targets}, _NEWER)


def ensemble_rules(replacement: str, n_inputs: int, n_layers: int) -> dict[str, ArrayRule]:
    """Return the rules for the arrays of one ensemble.

    Args:
        replacement: How it draws hidden values.
        n_inputs: What its networks see of a row.
        n_layers: Layers of the network of deep knockoffs.
    """
    prefix = CONDITIONAL if replacement == CONDITIONAL else "knockoffs"
    if replacement in ("gaussian_knockoff", CONDITIONAL):
        shapes: list[tuple[int | str, ...]] = [(1, n_inputs, 1), (1, n_inputs, n_inputs), (1, n_inputs, n_inputs)]
    elif replacement in ("deep_knockoff", "reference_knockoff"):
        widths: list[int | str] = [2 * n_inputs, *(f"knockoffs {i}" for i in range(1, n_layers)), n_inputs]
        shapes = [shape for a, b in pairwise(widths) for shape in ((1, b, a), (1, b, 1))]
    else:
        shapes = []
    return {**_ENSEMBLE, **{f"{prefix}.{i}": ArrayRule(("f4",), shape) for i, shape in enumerate(shapes)}}
