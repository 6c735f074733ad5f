"""The columns that files of one table have in common, and what a fit takes from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hideseek.errors import ArgumentTypeError, InputError
from hideseek.scoring._arrow import arrow
from hideseek.scoring._fragments import Fragment
from hideseek.tabular import Table
from hideseek.wording import did_you_mean, some

__all__ = ["TrainingColumns", "training_columns"]


@dataclass(frozen=True)
class TrainingColumns:
    """The columns of a table in files.

    Attributes:
        schema: The Arrow type of each column, one for all files.
        features: The columns to learn from, in order.
        target: The column to predict.
        weight: The column of weights, or None.
        text_types: The types of columns of CSV files that could be guessed wrongly from the first rows.
        integer_target: Whether the target is an integer in all files.
    """

    schema: Any
    features: list[str]
    target: str
    weight: str | None
    text_types: Mapping[str, str]
    integer_target: bool

    @property
    def names(self) -> list[str]:
        """All columns that are read."""
        return list(self.schema.names)

    def as_agreed(self, table: Any, path: str) -> Any:
        """Return a piece of a file with the types that all files agree on."""
        pa = arrow()
        try:
            return table.cast(self.schema)
        except (pa.ArrowException, ValueError) as error:
            reason = str(error).splitlines()[0][:200].rstrip(".")
            raise InputError(f"{path!r} has values of another type than other files: {reason}") from error

    def usable(self, table: Any, where: str) -> tuple[NDArray[np.bool_], int]:
        """Return which rows have a target and a positive weight, and how many have no target. Shape: ``(rows,)``."""
        import pyarrow.compute as pc

        there = pc.invert(pc.is_null(table[self.target], nan_is_null=True)).to_numpy()
        n_missing = len(there) - int(there.sum())
        weight = self.weights(table)
        if weight is None:
            return there, n_missing
        odd = int((there & ~(np.isfinite(weight) & (weight >= 0))).sum())
        if odd:
            raise InputError(
                f"{where}: sample_weight={self.weight!r} is missing, infinite or negative in {odd} rows; expected "
                "finite numbers of at least 0"
            )
        return there & (weight > 0), n_missing

    def weights(self, table: Any) -> NDArray[np.float64] | None:
        """Return the weight of each row, NaN where it is missing; None if there are none. Shape: ``(rows,)``."""
        return None if self.weight is None else table[self.weight].to_numpy().astype(np.float64)

    def labels(self, table: Any) -> NDArray[Any]:
        """Return the target of each row, all of which are there. Shape: ``(rows,)``."""
        labels = np.asarray(table[self.target].to_numpy())
        whole = self.integer_target and labels.dtype.kind == "f" and (labels == np.round(labels)).all()
        return labels.astype(np.int64) if whole else labels


def training_columns(
    fragments: Sequence[Fragment], target: str, sample_weight: str | None, drop: Sequence[str]
) -> TrainingColumns:
    """Return the columns of some files, all of which must have the same.

    Raises:
        InputError: Columns of a file differ from those of the first one, or there is no such target; the message names
            the file.
    """
    _check_names(target, sample_weight, drop)
    first, integer_target = fragments[0], True
    agreed: Any = None
    for fragment in fragments:
        own = fragment.schema({})
        _check_there(own, (target, *((sample_weight,) if sample_weight else ()), *drop), fragment)
        integer_target = integer_target and arrow().types.is_integer(own.field(target).type)
        left_out = {*drop, *(_index_of(own) - {target, sample_weight})}
        fields = {field.name: _plain(field.type, fragment) for field in own if field.name not in left_out}
        agreed = _unified(agreed or arrow().schema(list(fields.items())), fields, first, fragment)
    if any(fragment.is_text for fragment in fragments):
        agreed = _without_null(agreed)
    text_types = {field.name: str(field.type) for field in agreed if str(field.type) in ("double", "string")}
    features = [name for name in agreed.names if name not in (target, sample_weight)]
    if not features:
        raise InputError(f"{str(first.path)!r} has no column besides the target {target!r} to learn from")
    _check_weight(agreed, sample_weight)
    Table(arrow().schema([agreed.field(name) for name in features]).empty_table()).columns()  # refuses odd kinds
    return TrainingColumns(agreed, features, target, sample_weight, text_types, integer_target)


def _check_names(target: str, sample_weight: str | None, drop: Sequence[str]) -> None:
    if not isinstance(target, str):
        raise ArgumentTypeError(f"target must be the name of a column, and {target!r} came")
    if not (sample_weight is None or isinstance(sample_weight, str)):
        raise ArgumentTypeError(
            f"sample_weight must be the name of a column of the files, and {type(sample_weight).__name__} came"
        )
    if isinstance(drop, str) or not all(isinstance(name, str) for name in drop):
        raise ArgumentTypeError(f"drop must be a list of names of columns, and {drop!r} came")
    if target in (sample_weight, *drop):
        raise InputError(f"target={target!r} is also the weight or among the columns to drop; name another column")
    if sample_weight in drop:
        raise InputError(f"sample_weight={sample_weight!r} is among the columns to drop; leave it out there")


def _check_there(schema: Any, names: Sequence[str], fragment: Fragment) -> None:
    twice = sorted({name for name in schema.names if schema.names.count(name) > 1})
    if twice:
        raise InputError(f"{str(fragment.path)!r} has columns of the same name: {some(twice)}; rename all but one")
    for name in names:
        if name not in schema.names:
            hint = did_you_mean(name, schema.names) or f"; it has {some(schema.names)}"
            raise InputError(f"{str(fragment.path)!r} has no column {name!r}{hint}")


def _index_of(schema: Any) -> set[str]:
    """Return the columns that were the index of a pandas frame, which pandas does not count as columns either."""
    return {name for name in (schema.pandas_metadata or {}).get("index_columns", ()) if isinstance(name, str)}


def _plain(type_: Any, fragment: Fragment) -> Any:
    """Return the type without codes; text files have their numbers as floats, since later rows may be fractions."""
    pa = arrow()
    if pa.types.is_dictionary(type_):
        type_ = type_.value_type
    if pa.types.is_large_string(type_) or pa.types.is_string_view(type_):
        return pa.string()
    if fragment.is_text and pa.types.is_integer(type_):
        return pa.float64()
    return type_


def _without_null(schema: Any) -> Any:
    """Return the schema with text for columns that were empty as far as types are guessed from."""
    pa = arrow()
    return pa.schema([(field.name, pa.string() if pa.types.is_null(field.type) else field.type) for field in schema])


def _unified(agreed: Any, fields: Mapping[str, Any], first: Fragment, fragment: Fragment) -> Any:
    """Return types that hold the values of both, such as floats for integers and floats."""
    pa = arrow()
    missing = [name for name in agreed.names if name not in fields]
    more = [name for name in fields if name not in agreed.names]
    if missing or more:
        parts = [f"{what} {some(which)}" for what, which in (("lacks", missing), ("has besides", more)) if which]
        raise InputError(f"{str(fragment.path)!r} has other columns than {str(first.path)!r}: it {' and '.join(parts)}")
    own = pa.schema([(name, fields[name]) for name in agreed.names])
    if own.equals(agreed):
        return agreed
    try:
        return pa.unify_schemas([agreed, own], promote_options="permissive")
    except pa.ArrowException as error:
        name = next(name for name in agreed.names if not _agree(agreed.field(name), own.field(name)))
        raise InputError(
            f"{str(fragment.path)!r} has {name!r} as {own.field(name).type}, and {str(first.path)!r} as "
            f"{agreed.field(name).type}; make them one type, or leave the column out"
        ) from error


def _agree(one: Any, other: Any) -> bool:
    pa = arrow()
    try:
        pa.unify_schemas([pa.schema([one]), pa.schema([other])], promote_options="permissive")
    except pa.ArrowException:
        return False
    return True


def _check_weight(schema: Any, name: str | None) -> None:
    types = arrow().types
    if name is None:
        return
    type_ = schema.field(name).type
    if not (types.is_integer(type_) or types.is_floating(type_) or types.is_decimal(type_)):
        raise InputError(f"sample_weight={name!r} is a column of {type_}; expected numbers")
