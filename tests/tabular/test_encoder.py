import doctest
import json
from datetime import UTC, date, datetime, timedelta

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from hideseek import HideSeekWarning, InputError
from hideseek.tabular import Table, TableEncoder, only_numbers


def fitted(columns, **how) -> tuple[TableEncoder, np.ndarray]:
    table = Table(pd.DataFrame(columns))
    encoder = TableEncoder.fit(table, **how)
    return encoder, encoder.encode(table)


def encoded(encoder: TableEncoder, columns) -> np.ndarray:
    return encoder.encode(Table(pd.DataFrame(columns)))


def test_the_example_runs():
    (example,) = doctest.DocTestFinder(recurse=False).find(TableEncoder, "TableEncoder")
    assert doctest.DocTestRunner().run(example).failed == 0


# -- each kind of column ------------------------------------------------------------------------------------------


def test_a_category_has_a_column_for_each_level_and_two_levels_have_one():
    encoder, matrix = fitted({"colour": ["red", "blue", "green"] * 4, "sex": ["m", "f", "m"] * 4})
    assert encoder.widths == (3, 1)
    assert matrix[:3].tolist() == [[0, 0, 1, 1], [1, 0, 0, 0], [0, 1, 0, 1]]


def test_booleans_dates_and_ordered_levels_are_numbers():
    sizes = pd.Categorical(["small", "large", "small"], categories=["small", "medium", "large"], ordered=True)
    columns = {"b": [True, False, True], "day": pd.to_datetime(["1970-01-02", "1970-01-01", "2000-01-01"])}
    encoder, matrix = fitted({**columns, "size": sizes})
    assert encoder.widths == (1, 1, 1)
    assert matrix.tolist() == [[1, 1, 0], [0, 0, 2], [1, 10957, 0]]
    assert [code.kind for code in encoder.codes] == ["boolean", "date", "ordered"]


def test_missing_values_are_filled_and_marked_where_training_had_some():
    encoder, matrix = fitted({"a": [1.0, None, 3.0, 9.0], "b": [1.0, 2.0, 3.0, 4.0], "c": ["x", None, "x", None]})
    assert encoder.widths == (2, 1, 1)
    assert matrix.tolist() == [[1, 0, 1, 0], [3, 1, 2, 1], [3, 0, 3, 0], [9, 0, 4, 1]]
    assert encoder.scales[1] == 1, "that a value is missing is not made loud by being rare"


def test_new_values_become_the_median_or_most_frequent_and_are_warned_of():
    levels = pd.Categorical(["lo", "hi", "hi", "mid"], categories=["lo", "mid", "hi"], ordered=True)
    columns = {"a": [1.0, 2.0, 3.0, 9.0], "c": ["y", "x", "y", "x"], "o": levels, "b": [True, False, True, True]}
    encoder, _ = fitted(columns)
    news = {"a": [None], "c": ["z"], "o": ["huge"], "b": [None]}
    with pytest.warns(HideSeekWarning) as said:
        row = encoded(encoder, news)
    messages = " ".join(str(warning.message) for warning in said)
    assert "'a' (1 rows) and 'b' (1 rows)" in messages
    assert "'c' ('z') and 'o' ('huge')" in messages
    assert row.tolist() == [[2.5, 1, 1, 1]], "the median; the first of equals; the middle rank; the more frequent"


def test_an_unknown_level_is_other_where_there_is_one_else_missing():
    common = ["a"] * 60 + ["b"] * 60 + ["c"] * 60
    encoder, _ = fitted({"rare": [*common, "d", "e"], "holey": [*common, None, None]})
    assert encoded(encoder, {"rare": ["new"], "holey": ["a"]}).tolist() == [[0, 0, 0, 1, 1, 0, 0, 0]]
    with pytest.warns(HideSeekWarning, match="'holey' \\('new'\\)"):
        row = encoded(encoder, {"rare": ["a"], "holey": ["new"]})
    assert row.tolist() == [[1, 0, 0, 0, 0, 0, 0, 1]]


def test_many_levels_are_bounded_and_much_pooling_is_said():
    cities = [f"city {i % 100}" for i in range(3000)]
    with pytest.warns(
        HideSeekWarning, match="'city' has 100 different values; the 30 most frequent .* 70% of the rows"
    ):
        encoder, matrix = fitted({"city": cities})
    assert matrix.shape == (3000, 31)
    assert (matrix.sum(axis=1) == 1).all()
    assert encoder.widths == (31,)


def test_ids_and_free_text_are_named_and_not_used():
    with pytest.warns(HideSeekWarning, match="'id' has a different value in nearly every row .200 values.*not used"):
        encoder, matrix = fitted({"id": [f"r{i}" for i in range(200)], "x": range(200)})
    assert (matrix[:, 0] == 0).all()
    assert encoder.ids == {"id"}
    with pytest.warns(HideSeekWarning, match="'note' has a different value in nearly every row"):
        encoder, _ = fitted({"note": [*(f"r{i}" for i in range(194)), *["none"] * 6]})
    assert encoder.widths == (1,)


def test_the_same_values_twice_are_said():
    columns = {"a": ["x", "y"] * 5, "b": ["x", "y"] * 5, "c": [1.0, None] * 5, "d": [1.0, None] * 5, "e": [1] * 10}
    with pytest.warns(HideSeekWarning, match="'b' as 'a' and 'd' as 'c'; each can replace the other"):
        fitted(columns)


def test_kinds_that_changed_and_infinite_values_are_refused_together():
    encoder, _ = fitted({"age": [1, 2, 3], "day": pd.to_datetime(["2020-01-01"] * 3), "name": ["a", "b", "a"]})
    with pytest.raises(InputError, match=r"'age' has categories or text, but had numbers .* and 'day' has numbers"):
        encoded(encoder, {"age": ["old"], "day": [3], "name": ["a"]})
    with pytest.raises(InputError, match=r"infinite values \(inf\) in 'age' \(2 rows\)"):
        encoded(encoder, {"age": [np.inf, -np.inf], "day": pd.to_datetime(["2020-01-01"] * 2), "name": ["a", "a"]})
    with pytest.raises(InputError, match="neither numbers, booleans, dates, durations, categories nor text: 'list'"):
        TableEncoder.fit(Table(pl.DataFrame({"list": [[1], [2]]})))


# -- every library ------------------------------------------------------------------------------------------------

DAYS = [date(2020, 1, 1), None, date(2020, 1, 3), date(2020, 1, 4)] * 3
COLUMNS = {
    "number": [1, None, 3, 4] * 3,
    "text": ["a", "b", None, "c"] * 3,
    "truth": [True, None, False, True] * 3,
    "day": DAYS,
}
TABLES = {
    "pandas": pd.DataFrame(COLUMNS),
    "pandas, nullable": pd.DataFrame(COLUMNS).convert_dtypes(),
    "pandas, times": pd.DataFrame({**COLUMNS, "day": pd.to_datetime(pd.Series(DAYS))}),
    "pandas, category": pd.DataFrame({**COLUMNS, "text": pd.Categorical(COLUMNS["text"])}),
    "polars": pl.DataFrame(COLUMNS),
    "polars, category": pl.DataFrame(COLUMNS).with_columns(pl.col("text").cast(pl.Categorical)),
    "pyarrow": pa.table(COLUMNS),
    "array": np.array(list(zip(*COLUMNS.values(), strict=True)), dtype=object),
    "list": [list(row) for row in zip(*COLUMNS.values(), strict=True)],
}


@pytest.mark.parametrize("library", TABLES)
def test_every_library_gives_the_same_matrix_and_the_same_values(library):
    table = Table(TABLES[library])
    encoder = TableEncoder.fit(table)
    assert not only_numbers(TABLES[library])
    assert [code.kind for code in encoder.codes] == ["number", "category", "boolean", "date"]
    assert encoder.widths == (2, 4, 2, 2)
    expected = [[1, 0, 1, 0, 0, 0, 1, 0, 18262, 0], [3, 1, 0, 1, 0, 0, 1, 1, 18264, 1]]
    assert encoder.encode(table)[:2].tolist() == expected
    values = encoder.feature_values(table)
    assert values[:2].tolist() == [[1, "a", True, date(2020, 1, 1)], [None, "b", None, None]]


def test_moments_and_enums_and_odd_objects():
    zone = datetime(2020, 1, 1, 1, tzinfo=UTC)
    frame = pl.DataFrame({"level": pl.Series(["b", "a"], dtype=pl.Enum(["b", "a"])), "at": [zone, zone]})
    encoder = TableEncoder.fit(Table(frame))
    assert encoder.encode(Table(frame)).tolist() == [[0, 18262 + 1 / 24], [1, 18262 + 1 / 24]]
    odd = np.array([[{"a": 1}, np.float32(1), pd.NA], [{"a": 1}, np.nan, pd.NaT], ["b", True, None]], dtype=object)
    columns = Table(odd).columns()
    assert [column.kind for column in columns] == ["category", "number", "empty"]
    assert columns[0].values == ["{'a': 1}", "{'a': 1}", "b"]
    times = np.array([["2020-01-01"], ["2020-01-02"]], dtype="datetime64[ns]")
    assert Table(times).columns()[0].numbers.tolist() == [18262, 18263]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "objects", "array"])
def test_durations_are_days_in_every_library(library):
    values = [timedelta(days=1, hours=12), None, timedelta(days=3)]
    table = {
        "pandas": lambda: pd.DataFrame({"wait": pd.to_timedelta(values)}),
        "polars": lambda: pl.DataFrame({"wait": values}),
        "pyarrow": lambda: pa.table({"wait": pa.array(values, pa.duration("us"))}),
        "objects": lambda: np.array([[value] for value in values], dtype=object),
        "array": lambda: np.array([[value] for value in values], dtype="timedelta64[ns]"),
    }[library]()
    (column,) = Table(table).columns()
    assert column.kind == "duration"
    np.testing.assert_array_equal(column.numbers, [1.5, np.nan, 3.0])
    assert column.values == values
    encoder = TableEncoder.fit(Table(table))
    assert encoder.encode(Table(table)).tolist() == [[1.5, 0], [2.25, 1], [3.0, 0]]
    assert TableEncoder.from_json(encoder.to_json()) == encoder


@pytest.mark.parametrize(
    ("table", "numbers"),
    [
        (np.ones((2, 2)), True),
        (np.array([[1, 2.5], [3, 4]], dtype=object), True),
        ([[1, 2], [3, 4]], True),
        (np.array([[1.0, np.nan]]), False),
        ([[1, "a"]], False),
        (pd.DataFrame({"a": [1, 2], "b": [True, False]}), True),
        (pd.DataFrame({"a": [1, None]}), False),
        (pd.DataFrame({"a": [1, None]}, dtype="Int64"), False),
        (pd.DataFrame({"a": [1.5, None]}, dtype="Float64"), False),
        (pd.DataFrame({"a": [1.5, None]}, dtype="float[pyarrow]"), False),
        (pd.DataFrame({"a": [1.5, 2.5]}, dtype="double[pyarrow]"), True),
        (pl.DataFrame({"a": [1.0, float("nan")]}), False),
        (pl.DataFrame({"a": [1.0, None]}), False),
        (pl.DataFrame({"a": [True, None]}), False),
        (pa.table({"a": [1.0, None]}), False),
        (pa.table({"a": pa.array([1.0, 2.0], pa.float32())}), True),
        (pa.table({"a": [1, 2]}), True),
        (pl.DataFrame({"a": ["x"]}).lazy(), True),
        (np.ones(3), True),
    ],
)
def test_numbers_alone_need_no_encoder(table, numbers):
    assert only_numbers(table) is numbers


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_wide_frame_is_read_without_a_search_for_each_column(make, monkeypatch):
    frame, searched = make({f"c{j}": [1.0, 2.0] for j in range(50)}), []
    monkeypatch.setattr(nw.DataFrame, "__getitem__", lambda *given: searched.append(given))
    assert only_numbers(frame)
    assert [column.name for column in Table(frame).columns()] == [f"c{j}" for j in range(50)]
    assert searched == []


# -- groups, values, JSON -----------------------------------------------------------------------------------------


def test_groups_are_one_feature_whose_value_is_a_tuple():
    columns = {"a": [1, 2, 3], "city": ["x", "y", "z"], "b": [4, 5, 6], "zip": [7, 8, 9]}
    table = Table(pd.DataFrame({name: 2 * values for name, values in columns.items()}))
    encoder = TableEncoder.fit(table, {"address": ["zip", "city"], "ab": ("a", "b")})
    assert encoder.feature_names == ["ab", "address"]
    assert encoder.widths == (2, 4)
    assert encoder.encode(table)[1].tolist() == [2, 5, 8, 0, 1, 0]
    assert encoder.feature_values(table)[1].tolist() == [(2, 5), (8, "y")]
    assert encoder.to_columns(np.array([[True, False]])).tolist() == [[True, False, True, False]]
    by_position = TableEncoder.fit(Table(np.arange(8.0).reshape(2, 4)), {"first": [0, 1]})
    assert by_position.feature_names == ["first", "x3", "x4"]


def test_groups_that_cannot_be_are_refused_all_at_once():
    table = Table(pd.DataFrame({"a": [1, 2], "b": [1, 2], "c": [3, 4]}))
    with pytest.raises(InputError) as caught:
        TableEncoder.fit(table, {"one": ["a", "d"], "two": ["a", 7], "c": ["b"]})
    assert "'one' has columns that X does not have: 'd'" in str(caught.value)
    assert "'two' has columns that X does not have: 7" in str(caught.value)
    assert "'two' has columns that are already in a group: 'a'" in str(caught.value)
    assert "'c' is also the name of a column that is not in it" in str(caught.value)


def test_json_is_all_there_is():
    levels = pd.Categorical(["lo", "hi"] * 6, categories=["lo", "hi"], ordered=True)
    table = Table(pd.DataFrame({**COLUMNS, "level": levels, "code": pd.Categorical([1.5, 2.5, 3.5] * 4)}))
    encoder = TableEncoder.fit(table, {"when": ["day", "level"]})
    again = TableEncoder.from_json(json.loads(json.dumps(encoder.to_json())))
    assert again == encoder
    np.testing.assert_array_equal(again.encode(table), encoder.encode(table))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_whole_numbers_too_large_for_a_float_are_rounded_in_frames_of_every_library(make):
    (column,) = Table(make({"id": [2**60 + 1, 3, 2**53 + 1]})).columns()
    assert column.numbers.tolist() == [float(2**60), 3.0, float(2**53)]


@pytest.mark.parametrize("seconds", [2**40, -(2**40)])
def test_dates_that_python_does_not_have_are_refused_by_name(seconds):
    times = np.array([0, seconds], dtype="M8[s]")
    for frame in (pd.DataFrame({"since": times}), pa.table({"since": times})):
        with pytest.raises(InputError, match=r"dates outside the years 1 to 9999 in 'since' \(1 rows\)"):
            Table(frame).columns()


def test_dates_beyond_what_can_be_counted_are_refused_when_their_values_are_read():
    (column,) = Table(pa.table({"since": pa.array([0, 2**62], pa.timestamp("s"))})).columns()
    with pytest.raises(InputError, match="X has values that cannot be read in 'since'"):
        _ = column.values
