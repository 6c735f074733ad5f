"""Documentation of the parameters and attributes that the estimators share, written once.

A class docstring names a shared entry as ``{penalty}``; the decorator ``documented`` replaces a line of such names by
the full entries, so that ``help`` and ``inspect.getdoc`` show them.
"""

from __future__ import annotations

import re
import textwrap
from typing import TypeVar

__all__ = ["ENTRIES", "documented"]

Class = TypeVar("Class", bound=type)

_WIDTH = 120
_NAMES = re.compile(r"( *)(\{\w+\}(?: \{\w+\})*)")

ENTRIES = {
    # -- parameters ---------------------------------------------------------------------------------------------------
    "preset": """"balanced", the default, needs no tuning: its members are trained for a range of penalties, and
        held-out rows choose one. "fast": shorter training, with one range. "best": more members and longer training.
        "paper": the published method. Every parameter below that is not None overrides the preset.""",
    "penalty": """The paper's lambda_max: the price of showing one feature of one row, in units of the prediction loss,
        times the number of features. A larger penalty selects fewer features. None or "auto": chosen on held-out rows,
        by the predictions from the selected features and by the agreement of the members; ``path_``, ``at`` and
        ``explain`` give the result at any other penalty without another fit. With preset "paper", None is the paper's
        0.3 / 11 per feature.""",
    "n_members": "Number of models whose masks and predictions are averaged.",
    "kept_fraction": """Share of the members that are used: those with the smallest loss at the end of training. With a
        range of penalties all members are used.""",
    "column_fraction": "Share of the features that each member sees.",
    "groups": """Columns to select as one feature: maps the name of the feature to its columns, by name, or by position
        in an array.""",
    "replacement": """How a hidden value is drawn: "marginal", from its own column; "gaussian_knockoff" or
        "deep_knockoff", from a knockoff of the row, which keeps the dependence between columns; "reference_knockoff",
        from a deep knockoff that is trained as briefly as in its authors' package, for comparison; "conditional", given
        the features that are shown, by a Gaussian law for tables of numbers and from agreeing training rows for tables
        of categories, an experiment that needs preset "paper".""",
    "cross_fit": """Whether each member has two Seeks, each of which learns from half of the rows, while Hide learns
        from the Seek that has not seen the row. The masks then depend far less on the penalty and on the length of
        training. On in all presets except "paper".""",
    "hidden_layers": "Widths of the hidden layers of both networks.",
    "anneal_power": "q in lambda_t = (t / T)^q * penalty, the penalty at step t of T.",
    "steps": """Number of optimiser steps. In all presets except "paper" a tenth as many follow, a fifth in "fast", in
        which Seek alone learns from the selected features.""",
    "epochs": "Number of passes over the rows, instead of ``steps``.",
    "batch_size": 'Rows per step, drawn with replacement, or "full" for all rows.',
    "learning_rate": 'Learning rate of Adam. In all presets except "paper" it falls in the last 30 % of the steps.',
    "weight_decay": """Decoupled weight decay: each step multiplies the weights by
        ``1 - learning_rate * weight_decay``.""",
    "ramps": """Whether a column whose distribution is far from normal, such as amounts of money and counts, is also
        given to the networks in four pieces. On in all presets except "paper".""",
    "cuts": """Whether to look for values of a column at which the answer jumps (``cuts_``), and to answer rows close to
        such a value as those of its side. On in all presets except "paper".""",
    "screening": """Whether to drop, before training, columns that are related to the target neither alone, nor squared,
        nor in a product of two, nor as a switch of one of these (up to 32 columns: nor in pieces, nor in a product of
        three); at least eight are left. True, False, "auto" for tables of more than 16 columns, or of more than 8 with
        fewer than 500 rows for each, or the largest number of columns to keep. The meaning of a penalty does not
        change. None: "auto" in all presets except "paper".""",
    "threshold": "A feature is selected if its mask is greater.",
    "prediction_draws": "Number of draws of the hidden features over which a prediction is averaged, 1 to 256.",
    "pool": """Replacement values for hidden features in predictions, which are saved with the model: "values" of
        training rows, drawn independently for each feature, or "means" of 16 neighbouring values. Masks do not depend
        on it.""",
    "pool_rows": "Number of replacement values stored for each feature, from ``prediction_draws`` to 256.",
    "validation_fraction": "Share of the rows to hold out; ``history_`` then records their loss.",
    "device": '"auto" is the GPU if there is one.',
    "random_state": "Seed; the same seed gives the same result. Or a numpy Generator or RandomState to draw it from.",
    "verbose": "Whether to show a progress bar, on a terminal or in a notebook.",
    # -- attributes ---------------------------------------------------------------------------------------------------
    "n_features_in_": "Number of columns of X in ``fit``.",
    "feature_names_in_": "Their names, if X was a frame with names.",
    "fitted_files_": """After ``fit_files``: the number of files, of their rows, of the rows that were used, and of the
        rows of each class.""",
    "target_name_": "The name of y, if it was a Series or a frame of one column; else None.",
    "feature_importances_": """The mean mask of each column over the training rows (over some thousands of a long
        table), from 0 to 1, as scikit-learn's ``SelectFromModel`` and ``RFE`` use it. The columns of a group have the
        same value. Not set on a model that ``at`` returns for another penalty.""",
    "encoder_": """The :class:`~hideseek.tabular.TableEncoder` that turns columns into numbers and replaces missing
        values.""",
    "recipe_": "All training settings, those of the preset and those given, a :class:`~hideseek.engine.recipe.Recipe`.",
    "penalty_": "The penalty of the model's answers.",
    "pool_": """The kind of the stored replacement values: "values", "means", or "noise", from which knockoffs and
        conditional draws are made.""",
    "path_": """Loss and number of selected features at each penalty, a :class:`~hideseek.search.PenaltyPath`; not with
        preset "paper".""",
    "screening_": """The score of each column, and which columns were kept, a :class:`~hideseek.search.Screening`; only
        after screening.""",
    "cuts_": """Values at which the answer jumps, ascending, by the name of the column: a number of the table, of a date
        the days since 1970, of an ordered category the rank. Empty if there are none.""",
    "copies_": "Columns that repeat another column and were dropped, each with that column, by number.",
    "stand_ins_": """By name of a feature, the columns that could replace it and the increase of the loss on held-out
        rows; see :meth:`hideseek.Explanation.stand_ins`.""",
    "trust_": """How far this fit can be trusted, measured on rows that the members used have not learned from, a
        :class:`~hideseek.search.Trust`; None after ``at`` and for files of older versions.""",
    "learned_": "The trained ensemble and everything else that ``fit`` learned, as one object.",
    "history_": """Up to a hundred records: "step", "penalty"; and by member "loss", "prediction_loss", "mean_mask" and,
        with held-out rows, "validation_loss".""",
}  # fmt: skip
"""Name of a parameter or attribute -> its description."""


def documented(cls: Class) -> Class:
    """Fill the shared entries into the docstring of a class; Python's option -OO leaves no docstring to fill."""
    if cls.__doc__ is not None:
        cls.__doc__ = "\n".join(part for line in cls.__doc__.split("\n") for part in _filled(line))
    return cls


def _filled(line: str) -> list[str]:
    """Return the entries that a line names, wrapped; any other line is returned unchanged."""
    match = _NAMES.fullmatch(line)
    if match is None:
        return [line]
    indent, names = match.groups()
    return [part for name in names.split() for part in _wrapped(name.strip("{}"), indent)]


def _wrapped(name: str, indent: str) -> list[str]:
    text = f"{name}: {' '.join(ENTRIES[name].split())}"
    return textwrap.wrap(text, _WIDTH, initial_indent=indent, subsequent_indent=f"{indent}    ", break_on_hyphens=False)
