"""The configuration of a run, strictly checked."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

from hideseek.benchmark._data import DatasetConfig, read_dataset
from hideseek.benchmark._methods import ROWS, MethodConfig, check_parameters_are_complete, read_method
from hideseek.benchmark._scores import SCORES
from hideseek.benchmark._strict import Problems, is_too_deep, without_unset
from hideseek.errors import InputError
from hideseek.files import accessing, as_path
from hideseek.validation import Rule, choice, integer
from hideseek.wording import listed, shown

__all__ = ["Config", "read_description"]

_SEED = integer(0, 2**31 - 2)
_NAME = Rule(
    "letters, digits, dots, dashes and underscores, beginning with a letter or digit",
    lambda value: isinstance(value, str) and re.fullmatch(r"[A-Za-z0-9][\w.-]*", value) is not None,
)


@dataclass(frozen=True, eq=False, init=False)
class Config:
    """The configuration of a benchmark: every method on every dataset with every seed.

    Args:
        methods: By label. A method is a registered name ("hideseek", "hideseek_regressor" or one of
            ``hideseek.baselines.available()``), a class, an unfitted object, or a mapping with the keys ``method``, a
            name, a class or "package.module:Class" (default: the label); ``parameters``; ``by_dataset``, parameters
            for single datasets; ``rows``; ``penalties``, candidates of which one is chosen on the part of a loader's
            split that is neither fitted nor reported on, and ``chosen_by``, "loss" or "accuracy": the largest penalty
            that loses at most 1 % of the best one's gain is chosen. A list of names is also accepted.
        datasets: By label. A dataset is the name of a maker in ``hideseek.datasets``, or any function that returns a
            ``Dataset`` or ``Split``; a mapping with the keys ``maker``, ``parameters``, ``test``, ``test_parameters``,
            ``test_fraction``, ``switch``; or your own rows: ``(X, y)``, ``(X, y, relevant)``, a ``Dataset``, a
            ``Split``, or a mapping with ``X``, ``y``, ``relevant``, ``test`` (a table, or "held_out" or "train"),
            ``test_fraction``, ``switch``. The seed s is used for the data, the split and the method. The test rows of a
            generator are drawn with the seed s + 1, unless ``test`` is "held_out" or "train"; those of a loader are
            the part of its split called "test", unless ``test`` is "validation".
        name: The name of the run and of the folder of its results.
        seeds: A list, or a number n for 0 to n - 1.
        rows: Number of first test rows to explain; None: all. A method's own ``rows`` take precedence.
        scores: The scores to show; all that apply if not given.

    Raises:
        InputError: Lists all problems, each with its place.

    Example:
        >>> from hideseek.benchmark import Config
        >>> quick = {"method": "hideseek", "parameters": {"preset": "fast"}}
        >>> syn2 = {"maker": "make_syn", "parameters": {"name": "Syn2", "n_samples": 1000}}
        >>> config = Config({"quick": quick, "lasso": {"parameters": {"k": 4}}}, {"Syn2": syn2}, seeds=3)
        >>> config.seeds, config.methods["quick"].parameters
        ((0, 1, 2), {'preset': 'fast'})
    """

    methods: Mapping[str, MethodConfig]
    datasets: Mapping[str, DatasetConfig]
    name: str
    seeds: tuple[int, ...]
    rows: int | None
    scores: tuple[str, ...]

    def __init__(
        self,
        methods: Mapping[str, Any] | Sequence[str],
        datasets: Mapping[str, Any] | Sequence[str],
        name: str = "benchmark",
        seeds: int | Iterable[int] = 1,
        rows: int | None = None,
        scores: Iterable[str] = tuple(SCORES),
    ) -> None:
        problems = Problems()
        given = {
            "methods": methods,
            "datasets": datasets,
            "name": name,
            "seeds": seeds,
            "rows": rows,
            "scores": scores,
        }
        for field, value in _read(given, problems).items():
            object.__setattr__(self, field, value)
        problems.raise_any()

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> Self:
        """Read a mapping whose keys are this class's arguments; any other key is an error."""
        problems = Problems()
        given = problems.check_mapping("the configuration", description)
        names = [field.name for field in fields(cls)]
        problems.check_names("", given, names)
        known = {name: value for name, value in given.items() if name in names}
        read = _read({"methods": {}, "datasets": {}, **known}, problems)
        problems.raise_any()
        return cls(**read)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Self:
        """Read a ``.toml`` or ``.json`` file."""
        return cls.from_dict(read_description(path))

    def to_dict(self) -> dict[str, Any]:
        """Return the configuration as JSON data, with a fingerprint for your own tables."""
        description = {
            "name": self.name,
            "methods": {label: method.to_dict() for label, method in self.methods.items()},
            "datasets": {label: dataset.to_dict() for label, dataset in self.datasets.items()},
            "seeds": list(self.seeds),
            "rows": self.rows,
            "scores": list(self.scores),
        }
        return without_unset(description)


def read_description(path: str | os.PathLike[str]) -> Any:
    """Return the content of a ``.toml`` or ``.json`` file."""
    readers = {".toml": tomllib.loads, ".json": json.loads}
    file = as_path(path)
    if file.suffix not in readers:
        raise InputError(f"cannot read {os.fspath(path)!r}: a configuration is a .toml or .json file")
    try:
        with accessing(file, "read"):
            text = file.read_text(encoding="utf-8")
        return readers[file.suffix](text)
    except RecursionError as error:
        raise InputError(f"{os.fspath(path)!r} is nested too deeply to be a configuration") from error
    except ValueError as error:
        raise InputError(f"{os.fspath(path)!r} is not {file.suffix[1:].upper()}: {error}") from error


def _read(given: Mapping[str, Any], problems: Problems) -> dict[str, Any]:
    """Return the arguments of ``Config``, checked and in their final form."""
    for name, value in given.items():
        if is_too_deep(value):
            problems.add(name, "lists or dicts in it are nested too deeply, or contain themselves")
            problems.raise_any()
    datasets = {}
    for label, dataset in _labelled("datasets", given["datasets"], problems).items():
        datasets[label] = read_dataset(label, dataset, problems)
    methods = {}
    for label, method in _labelled("methods", given["methods"], problems).items():
        methods[label] = read_method(label, method, list(datasets), problems)
    read = {**given, "datasets": datasets, "methods": methods}
    known = {label: method for label, method in methods.items() if method is not None}
    check_parameters_are_complete(known, list(datasets), problems)
    if "name" in given:
        problems.check("name", given["name"], _NAME)
    if "rows" in given:
        problems.check("rows", given["rows"], ROWS)
    if "seeds" in given:
        read["seeds"] = _read_seeds(given["seeds"], problems)
    if "scores" in given:
        read["scores"] = _read_scores(given["scores"], problems)
    return read


def _labelled(place: str, given: Any, problems: Problems) -> dict[str, Any]:
    if isinstance(given, list | tuple) and all(isinstance(name, str) for name in given):
        given = {name: name for name in given}
    labelled = problems.check_mapping(place, given)
    if isinstance(given, Mapping) and not given:
        problems.add(place, "at least one is needed")
    for label in labelled:
        if not (isinstance(label, str) and label):
            problems.add(place, f"labels are words; got {shown(label)}")
    return labelled


def _read_seeds(given: Any, problems: Problems) -> tuple[int, ...]:
    if integer(1).accepts(given):
        return tuple(range(int(given)))
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        problems.add("seeds", f"expected a list of whole numbers, or how many; got {shown(given)}")
        return ()
    seeds = tuple(given)
    good = [seed for seed in seeds if problems.check("seeds", seed, _SEED)]
    if not seeds or len(set(good)) < len(good):
        problems.add("seeds", f"expected at least one seed, each once; got {shown(list(seeds))}")
    return tuple(int(seed) for seed in good)


def _read_scores(given: Any, problems: Problems) -> tuple[str, ...]:
    if not isinstance(given, Iterable):
        problems.add("scores", f"expected a list of {listed(SCORES, last='or')}; got {shown(given)}")
        return ()
    names = (given,) if isinstance(given, str) else tuple(given)
    return tuple(name for name in names if problems.check("scores", name, choice(*SCORES)))
