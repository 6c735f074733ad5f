"""The methods of a run: registered names or classes, with their parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from inspect import isclass
from typing import Any

from hideseek import baselines
from hideseek.benchmark._search import CRITERIA
from hideseek.benchmark._strict import Problems, as_json, imported, name_of, parameters_of, required_of, without_unset
from hideseek.errors import InputError
from hideseek.estimators import HideSeekClassifier, HideSeekRegressor
from hideseek.validation import choice, integer, number

__all__ = ["ROWS", "MethodConfig", "check_parameters_are_complete", "read_method"]

ROWS = integer(1).or_none()
_OWN: dict[str, type] = {"hideseek": HideSeekClassifier, "hideseek_regressor": HideSeekRegressor}
_KEYS = ("method", "parameters", "by_dataset", "rows", "penalties", "chosen_by")
_VERBS = ("fit", "explain")
_NEEDED_BY_SEARCH = ("fit_many", "predict_proba")
_PENALTY = number("a number of at least 0", lambda value: value >= 0)


@dataclass(frozen=True, eq=False)
class MethodConfig:
    """A method with its parameters.

    Attributes:
        cls: Its class, with ``fit(X, y)`` and ``explain(X)``; ``predict_proba`` or ``predict`` if it predicts.
        parameters: Constructor arguments. The seed of a job is its ``random_state``.
        by_dataset: Parameters that add to or override those for single datasets, by the dataset's label.
        rows: Number of test rows to explain; None: the number of the run.
        penalties: Candidates, of which one is chosen on the part of a loader's split that is neither fitted nor
            reported on; empty: no choice.
        chosen_by: Criterion of the choice: "loss", the cross-entropy, or "accuracy".
    """

    cls: type
    parameters: Mapping[str, Any] = field(default_factory=dict)
    by_dataset: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    rows: int | None = None
    penalties: tuple[float, ...] = ()
    chosen_by: str = "loss"

    @property
    def name(self) -> str:
        """The registered name, or the import path of the class."""
        for name in names():
            if _class(name) is self.cls:
                return name
        return name_of(self.cls)

    def parameters_on(self, dataset: str) -> dict[str, Any]:
        """Return the parameters for one of the datasets."""
        return {**self.parameters, **self.by_dataset.get(dataset, {})}

    def search(self) -> dict[str, Any]:
        """Return how the penalty is chosen, as JSON data; empty if it is not."""
        return {"penalties": as_json(self.penalties), "chosen_by": self.chosen_by} if self.penalties else {}

    def to_dict(self) -> dict[str, Any]:
        """Return JSON data."""
        parameters, by_dataset = as_json(self.parameters), as_json(self.by_dataset)
        described = {"method": self.name, "parameters": parameters, "by_dataset": by_dataset, "rows": self.rows}
        return without_unset({**described, **self.search()})


def names() -> tuple[str, ...]:
    """Return the registered names."""
    return (*_OWN, *baselines.available())


def _class(name: str) -> type:
    return _OWN[name] if name in _OWN else baselines.get(name)


def read_method(label: str, given: Any, datasets: Sequence[str], problems: Problems) -> MethodConfig | None:
    """Return the method that the caller described: a name, class or unfitted object, or a mapping with parameters."""
    place = f"methods.{label}"
    if isinstance(given, MethodConfig):
        return given
    if isinstance(given, str) or isclass(given):
        given = {"method": given}
    elif hasattr(given, "get_params"):
        given = {"method": type(given), "parameters": _chosen_parameters(given)}
    given = problems.check_mapping(place, given)
    problems.check_names(place, given, _KEYS)
    cls = _read_class(f"{place}.method" if "method" in given else place, given.get("method", label), problems)
    parameters = problems.check_mapping(f"{place}.parameters", given.get("parameters", {}))
    by_dataset = problems.check_mapping(f"{place}.by_dataset", given.get("by_dataset", {}))
    problems.check_names(f"{place}.by_dataset", by_dataset, datasets, "dataset")
    places = {f"{place}.parameters": parameters}
    for dataset, changes in by_dataset.items():
        where = f"{place}.by_dataset.{dataset}"
        places[where] = by_dataset[dataset] = problems.check_mapping(where, changes)
    for where, values in places.items():
        problems.check_json(where, values)
        if cls is not None:
            _check_known(where, values, cls, problems)
    rows = given.get("rows")
    problems.check(f"{place}.rows", rows, ROWS)
    penalties = _read_penalties(f"{place}.penalties", given.get("penalties", ()), cls, problems)
    chosen_by = given.get("chosen_by", "loss")
    problems.check(f"{place}.chosen_by", chosen_by, choice(*CRITERIA))
    return None if cls is None else MethodConfig(cls, parameters, by_dataset, rows, penalties, chosen_by)


def _read_class(place: str, given: Any, problems: Problems) -> type | None:
    cls = given
    if isinstance(given, str):
        if ":" not in given:
            return _class(given) if problems.check(place, given, choice(*names())) else None
        try:
            cls = imported(given)
        except InputError as error:
            problems.add(place, str(error))
            return None
    if not isclass(cls):
        problems.add(place, f"expected the name of a method, 'package.module:Class' or a class; got {given!r}")
        return None
    missing = [verb for verb in _VERBS if not callable(getattr(cls, verb, None))]
    if missing:
        problems.add(
            place, f"{cls.__name__} has no {' and no '.join(missing)}; a method needs fit(X, y) and explain(X)"
        )
        return None
    return cls


def _read_penalties(place: str, given: Any, cls: type | None, problems: Problems) -> tuple[float, ...]:
    if not isinstance(given, list | tuple) or not all(problems.check(place, value, _PENALTY) for value in given):
        problems.add(place, f"expected a list of penalties to choose from; got {given!r}")
        return ()
    missing = [verb for verb in _NEEDED_BY_SEARCH if given and cls is not None and not hasattr(cls, verb)]
    if missing:
        problems.add(
            place,
            f"{cls.__name__ if cls else ''} has no {' and no '.join(missing)}; both are needed to choose a penalty",
        )
    return tuple(given)


def _chosen_parameters(method: Any) -> dict[str, Any]:
    """Return the constructor arguments of an object that differ from the defaults, without the seed."""
    defaults = {name: parameter.default for name, parameter in parameters_of(type(method)).items()}
    given = method.get_params(deep=False)
    return {
        name: value
        for name, value in given.items()
        if name != "random_state" and not (type(value) is type(defaults[name]) and value == defaults[name])
    }


def _check_known(place: str, values: Mapping[str, Any], cls: type, problems: Problems) -> None:
    known = [name for name in parameters_of(cls) if name != "random_state"]
    if "random_state" in values:
        problems.add(f"{place}.random_state", "the run sets it from its seeds; remove it")
    problems.check_names(place, [name for name in values if name != "random_state"], known, "parameter")


def check_parameters_are_complete(
    methods: Mapping[str, MethodConfig], datasets: Sequence[str], problems: Problems
) -> None:
    """Add a problem for each required parameter that is not given for some dataset."""
    for label, method in methods.items():
        for name in required_of(method.cls):
            without = [dataset for dataset in datasets if name not in method.parameters_on(dataset)]
            if without:
                problems.add(
                    f"methods.{label}",
                    f"{method.cls.__name__} needs {name}; give it in parameters, or in by_dataset for "
                    + ", ".join(without),
                )
