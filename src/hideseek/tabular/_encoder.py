"""Encoding of tables as matrices, learned from the training rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hideseek.errors import InputError
from hideseek.tabular._grouping import Feature, features_of
from hideseek.tabular._remarks import remarks_on_news, remarks_on_training
from hideseek.tabular._table import Column, Table
from hideseek.tabular.codes import CategoryCode, Code, NumberCode, code_from_json, fit_code
from hideseek.warn import warn_caller
from hideseek.wording import listed, some

__all__ = ["TableEncoder"]

_COLUMNS_AT_A_TIME = 16
"""Columns whose medians are computed together: a median needs a copy."""


@dataclass(frozen=True)
class TableEncoder:
    """Encodes each column of a table as numbers, and groups columns into features.

    In the matrix, the columns of a feature are adjacent.

    Attributes:
        names: The names of the table's columns.
        codes: The encoding of each column.
        features: The features, in the order of explanations.

    Example:
        >>> import numpy as np
        >>> from hideseek.tabular import Table, TableEncoder
        >>> table = Table(np.array([["red", 1.5], ["blue", None], ["green", 2.5], ["red", 2.5]] * 2, dtype=object))
        >>> encoder = TableEncoder.fit(table)
        >>> encoder.widths
        (3, 2)
        >>> encoder.encode(table)[1].tolist()  # blue of (blue, green, red); the median, and a 1 for missing
        [1.0, 0.0, 0.0, 2.5, 1.0]
    """

    names: tuple[str, ...]
    codes: tuple[Code, ...]
    features: tuple[Feature, ...]

    @classmethod
    def fit(cls, table: Table, groups: Mapping[str, Sequence[str | int]] | None = None) -> Self:
        """Learn the encoding from training rows.

        Args:
            table: The rows.
            groups: Maps the name of a feature to its columns, by name or position.
        """
        columns = table.columns()
        _check_finite(columns)
        features = features_of(table.names, groups)
        encoder = cls(tuple(table.names), tuple(fit_code(column) for column in columns), features)
        for remark in remarks_on_training(columns, encoder.codes):
            warn_caller(remark)
        return encoder

    @classmethod
    def fit_numbers(cls, names: Sequence[str], matrix: NDArray[np.floating]) -> Self:
        """Learn the encoding from training rows with a number in every cell. Shape: ``(rows, columns)``."""
        starts = range(0, matrix.shape[1], _COLUMNS_AT_A_TIME)
        with np.errstate(over="ignore"):  # an error is raised later for values too large to standardise
            medians = [np.median(matrix[:, start : start + _COLUMNS_AT_A_TIME], axis=0) for start in starts]
        return cls.of_numbers(names, np.concatenate(medians))

    @classmethod
    def of_numbers(cls, names: Sequence[str], fill: NDArray[np.floating]) -> Self:
        """Return the encoder of a table with a number in every cell; ``fill`` replaces missing values.

        Shape: ``(columns,)``.
        """
        codes = tuple(NumberCode("number", float(value), missing=False) for value in fill)
        return cls(tuple(names), codes, features_of(names, None))

    # -- the matrix -----------------------------------------------------------------------------------------------

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """Return the number of matrix columns of each feature."""
        return tuple(sum(self.codes[j].width for j in feature.columns) for feature in self.features)

    @cached_property
    def is_plain(self) -> bool:
        """Return whether a table of numbers is its own matrix."""
        single = list(self.names) == self.feature_names and len(self.features) == len(self.names)
        return single and all(code.kind == "number" and not code.missing for code in self.codes)

    @property
    def fills(self) -> NDArray[np.float64]:
        """Return the value that replaces missing values in each column of the table. Shape: ``(columns,)``."""
        return np.array([code.fill for code in self.codes], dtype=np.float64)

    @property
    def matrix_names(self) -> list[str]:
        """Return the name of the table's column that each matrix column is made of."""
        columns = [j for feature in self.features for j in feature.columns]
        return [self.names[j] for j in columns for _ in range(self.codes[j].width)]

    def of(self, features: Sequence[int]) -> TableEncoder:
        """Return the encoder of some of the features, for tables with only their columns."""
        columns = sorted(k for j in features for k in self.features[j].columns)
        place = {k: i for i, k in enumerate(columns)}
        return TableEncoder(
            tuple(self.names[k] for k in columns),
            tuple(self.codes[k] for k in columns),
            tuple(Feature(name, tuple(place[k] for k in own)) for name, own in (self.features[j] for j in features)),
        )

    @property
    def scales(self) -> NDArray[np.float64]:
        """Return the divisor of each matrix column; NaN: its standard deviation. Shape: ``(sum(widths),)``."""
        return np.array([scale for feature in self.features for j in feature.columns for scale in self.codes[j].scales])

    @property
    def feature_names(self) -> list[str]:
        """Return the names of the features."""
        return [feature.name for feature in self.features]

    @property
    def ids(self) -> set[str]:
        """Return the columns that the fit treated as ids or free text, with a warning."""
        codes = zip(self.names, self.codes, strict=True)
        return {name for name, code in codes if isinstance(code, CategoryCode) and code.like_an_id}

    def encode(self, table: Table) -> NDArray[np.float64]:
        """Return the matrix of a table with the columns of the fit; warn of values that did not occur in training.

        Shape: ``(rows, sum(widths))``.
        """
        columns = table.columns()
        _check_finite(columns)
        problems, coded = [], {}
        for j, (code, column) in enumerate(zip(self.codes, columns, strict=True)):
            try:
                coded[j] = code.encode(column)
            except InputError as error:
                problems.append(str(error))
        if problems:
            raise InputError(
                f"X has columns of another kind than in fit: {listed(problems)}; pass columns of the same kind"
            )
        for remark in remarks_on_news(self.names, [coded[j] for j in range(len(columns))]):
            warn_caller(remark)
        return np.hstack([coded[j].matrix for feature in self.features for j in feature.columns])

    # -- explanations -----------------------------------------------------------------------------------------------

    @cached_property
    def _all_numbers(self) -> bool:
        return all(code.kind == "number" for code in self.codes) and len(self.features) == len(self.names)

    def column_values(self, table: Table) -> NDArray[Any]:
        """Return the table's values: floats with NaN if all columns are numbers, else objects with None.

        Shape: ``(rows, columns)``.
        """
        columns = table.columns()
        if self._all_numbers:
            return np.column_stack([column.numbers for column in columns])
        return _object_table([column.values for column in columns], len(table))

    def feature_values(self, table: Table) -> NDArray[Any]:
        """Return ``column_values`` by feature; the value of a group is the tuple of its columns' values.

        Shape: ``(rows, features)``.
        """
        if self._all_numbers:
            return self.column_values(table)
        values = [column.values for column in table.columns()]
        parts = [
            values[columns[0]] if len(columns) == 1 else list(zip(*(values[j] for j in columns), strict=True))
            for _, columns in self.features
        ]
        return _object_table(parts, len(table))

    def to_columns(self, by_feature: NDArray[Any]) -> NDArray[Any]:
        """Give each column of the table the value of its feature. Shape: features -> columns, on axis 1."""
        place = {j: i for i, feature in enumerate(self.features) for j in feature.columns}
        return by_feature[:, [place[j] for j in range(len(self.names))]]

    # -- on disk --------------------------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """Return a JSON description."""
        columns = [{"name": name, **code.to_json()} for name, code in zip(self.names, self.codes, strict=True)]
        return {"columns": columns, "features": [{"name": n, "columns": list(which)} for n, which in self.features]}

    @classmethod
    def from_json(cls, description: Mapping[str, Any]) -> Self:
        """Return the encoder that ``to_json`` described."""
        columns = description["columns"]
        features = tuple(Feature(each["name"], tuple(each["columns"])) for each in description["features"])
        return cls(tuple(each["name"] for each in columns), tuple(map(code_from_json, columns)), features)


def _check_finite(columns: Sequence[Column]) -> None:
    counts = {column.name: int(np.isinf(column.numbers).sum()) for column in columns}
    infinite = [f"{name!r} ({count} rows)" for name, count in counts.items() if count]
    if infinite:
        raise InputError(
            f"X has infinite values (inf) in {some(infinite)}; drop those rows, or use NaN for missing values"
        )


def _object_table(columns: Sequence[Sequence[Any]], n_rows: int) -> NDArray[Any]:
    table = np.empty((n_rows, len(columns)), dtype=object)
    for j, values in enumerate(columns):
        table[:, j] = np.fromiter(values, dtype=object, count=n_rows)
    return table
