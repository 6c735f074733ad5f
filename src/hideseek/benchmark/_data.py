"""The datasets of a run: makers of ``hideseek.datasets`` or the caller's tables, and their rows for a seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils.multiclass import type_of_target

from hideseek import datasets
from hideseek.benchmark._strict import (
    NAMED,
    Problems,
    as_json,
    imported,
    name_of,
    parameters_of,
    required_of,
    without_unset,
)
from hideseek.benchmark.own_tables import TABLE_KEYS, fingerprint, read_table, rows_of
from hideseek.datasets import Dataset, Split
from hideseek.errors import InputError
from hideseek.tables import held_out_rows
from hideseek.validation import Rule, choice, integer, number

__all__ = ["DatasetConfig", "read_dataset"]

_HELD_OUT = 0.2
_MAKERS = tuple(name for name in datasets.__all__ if name[0].islower())
_TEST_ROWS = {
    "a generator": ("next_seed", "held_out", "train"),
    "a split": ("test", "validation", "train"),
    "a table": ("held_out", "train"),
}
"""The possible test rows by the source of the rows; the first is the default."""
_SHARED_RULES = {
    "test_fraction": number("a number between 0 and 1", lambda value: 0 < value < 1).or_none(),
    "switch": (integer(0) | Rule("the name of a column", lambda value: isinstance(value, str))).or_none(),
}
_MAKER_KEYS = ("maker", "parameters", "test", "test_parameters", *_SHARED_RULES)
_OWN_KEYS = (*TABLE_KEYS, "test", *_SHARED_RULES)


@dataclass(frozen=True, eq=False)
class DatasetConfig:
    """The source of a dataset's rows, and the choice of its test rows.

    Attributes:
        maker: The function that makes or loads the rows; None for the caller's own table.
        parameters: Arguments of the maker. A maker that takes ``random_state`` gets the seed of the job.
        table: The caller's own rows, or None.
        test_table: The rows to report on, if given by the caller.
        test: Which rows to report on. "next_seed": drawn with the next seed, the default of generators;
            "held_out": a share of the rows, split off by the seed, the default of the caller's own tables; "train": the
            rows of the fit; "test" or "validation": that part of a loader's split, "test" being the default.
        test_fraction: The share that is held out; None: a fifth.
        test_parameters: Arguments of the maker that differ for the test rows, such as the number of rows.
        switch: The column for switch accuracy, by number or name. None: the only column that is relevant in every
            row, if the other relevant ones vary between rows; else no switch accuracy.
    """

    maker: Callable[..., Dataset | Split] | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    table: Dataset | None = None
    test_table: Dataset | None = None
    test: str | None = None
    test_fraction: float | None = None
    test_parameters: Mapping[str, Any] = field(default_factory=dict)
    switch: int | str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return JSON data, with the fingerprint of a table's content."""
        choices = {"test": self.test, "test_fraction": self.test_fraction, "switch": self.switch}
        if self.table is not None:
            parts = [self.table] if self.test_table is None else [self.table, self.test_table]
            return without_unset({"table": fingerprint(parts), "shape": list(self.table.X.shape), **choices})
        name = "" if self.maker is None else self.maker.__name__
        maker = name if getattr(datasets, name, None) is self.maker else name_of(self.maker)
        parameters, test_parameters = as_json(self.parameters), as_json(self.test_parameters)
        return without_unset({"maker": maker, "parameters": parameters, "test_parameters": test_parameters, **choices})

    def parts(self, seed: int) -> tuple[Dataset, Dataset]:
        """Return the rows to fit and the rows to report on."""
        made = self.table if self.table is not None else self._made(seed)
        if isinstance(made, Split):
            part = self._test_rows("a split")
            return made.train, {"test": made.test, "validation": made.validation, "train": made.train}[part]
        if self.test_table is not None:
            return made, self.test_table
        how = self._test_rows("a generator" if self.table is None else "a table")
        if how == "next_seed":
            return made, self._made(seed, test=True)
        if how == "train":
            return made, made
        y = np.asarray(made.y)
        classes = y if type_of_target(y) in ("binary", "multiclass") else None
        kept, out = held_out_rows(len(y), self.test_fraction or _HELD_OUT, seed, classes)
        return rows_of(made, kept), rows_of(made, out)

    def validation(self, seed: int) -> Dataset:
        """Return the rows to choose settings on: the part of a split that is neither fitted nor reported on."""
        made = self.table if self.table is not None else self._made(seed)
        if not isinstance(made, Split):
            raise InputError("penalties are chosen on a part of a split; this dataset has no parts: pass a loader")
        return made.test if self._test_rows("a split") == "validation" else made.validation

    def _made(self, seed: int, *, test: bool = False) -> Any:
        if self.maker is None:
            raise InputError("a dataset needs a maker or a table")
        parameters = dict(self.parameters)
        if "random_state" in parameters_of(self.maker):
            parameters["random_state"] = parameters.get("random_state", seed) + test
        made = self.maker(**{**parameters, **(self.test_parameters if test else {})})
        if not isinstance(made, Dataset | Split):
            raise InputError(
                f"{name_of(self.maker)} returned a {type(made).__name__}; it must return a Dataset or a Split"
            )
        return made

    def _test_rows(self, source: str) -> str:
        possible = _TEST_ROWS[source]
        chosen = possible[0] if self.test is None else self.test
        if chosen not in possible:
            raise InputError(f"test={chosen!r}: of {source} the test rows can be {choice(*possible).expected}")
        return chosen


def read_dataset(label: str, given: Any, problems: Problems) -> DatasetConfig | None:
    """Return the dataset that the caller described: a maker's name, a function, a mapping, or own rows."""
    place = f"datasets.{label}"
    if isinstance(given, DatasetConfig):
        return given
    if isinstance(given, Split):
        return DatasetConfig(table=given.train, test_table=given.test)
    if isinstance(given, str) or callable(given):
        given = {"maker": given}
    if isinstance(given, Mapping) and "X" not in given:
        return _read_made(place, dict(given), problems)
    if not isinstance(given, Mapping):
        table = read_table(place, label, given, problems)
        return None if table is None else DatasetConfig(table=table)
    problems.check_names(place, given, _OWN_KEYS)
    table = read_table(place, label, {name: given.get(name) for name in TABLE_KEYS}, problems)
    test, test_table = given.get("test"), None
    if test is not None and not isinstance(test, str):
        test, test_table = None, read_table(f"{place}.test", label, test, problems)
        if table is not None and test_table is not None and test_table.X.shape[1] != table.X.shape[1]:
            problems.add(f"{place}.test", f"X has {test_table.X.shape[1]} columns; the rows to fit {table.X.shape[1]}")
    shared = _read_shared(place, {**given, "test": test}, _TEST_ROWS["a table"], problems)
    return None if table is None else DatasetConfig(table=table, test_table=test_table, **shared)


def _read_made(place: str, given: dict[str, Any], problems: Problems) -> DatasetConfig | None:
    problems.check_names(place, given, _MAKER_KEYS)
    maker = _read_maker(place, given.get("maker"), problems)
    named: dict[str, Any] = {}
    for name in ("parameters", "test_parameters"):
        named[name] = problems.check_mapping(f"{place}.{name}", given.get(name, {}))
        problems.check_json(f"{place}.{name}", named[name])
        if maker is not None:
            problems.check_names(f"{place}.{name}", named[name], parameters_of(maker), "parameter")
    for name in [] if maker is None else required_of(maker):
        if name not in named["parameters"] and name != "random_state":
            problems.add(f"{place}.parameters", f"{name_of(maker)} needs {name}")
    shared = _read_shared(place, given, (*_TEST_ROWS["a generator"], *_TEST_ROWS["a split"]), problems)
    return None if maker is None else DatasetConfig(maker=maker, **named, **shared)


def _read_maker(place: str, given: Any, problems: Problems) -> Any:
    if given is None:
        problems.add(place, "maker is missing: a name in hideseek.datasets, 'package.module:function', or a table X, y")
        return None
    if isinstance(given, str) and ":" in given:
        try:
            given = imported(given)
        except InputError as error:
            problems.add(f"{place}.maker", str(error))
            return None
    elif isinstance(given, str):
        return getattr(datasets, given) if problems.check(f"{place}.maker", given, choice(*_MAKERS)) else None
    return given if problems.check(f"{place}.maker", given, NAMED) else None


def _read_shared(
    place: str, given: Mapping[str, Any], test_rows: tuple[str, ...], problems: Problems
) -> dict[str, Any]:
    rules = {"test": choice(*dict.fromkeys(test_rows)).or_none(), **_SHARED_RULES}
    values = {name: given[name] for name in rules if name in given}
    for name, value in values.items():
        problems.check(f"{place}.{name}", value, rules[name])
    return values
