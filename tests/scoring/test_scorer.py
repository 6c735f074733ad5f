import pickle
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import hideseek
from hideseek import HideSeekClassifier, HideSeekRegressor, InputError, Scorer
from hideseek.scoring import OUTPUTS

KINDS = {
    "table": lambda rows: pa.Table.from_pandas(rows, preserve_index=False),
    "record batch": lambda rows: pa.RecordBatch.from_pandas(rows, preserve_index=False),
    "pandas": lambda rows: rows,
    "polars": pl.from_pandas,
    "dict": lambda rows: {name: rows[name].to_numpy() for name in rows},
}


def as_table(answer):
    if isinstance(answer, pa.RecordBatch):
        return pa.Table.from_batches([answer])
    if isinstance(answer, pd.DataFrame):
        return pa.Table.from_pandas(answer, preserve_index=False)
    if isinstance(answer, pl.DataFrame):
        return answer.to_arrow()
    return pa.table(answer)


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_of_any_kind_is_answered_as_explain_answers_in_the_same_kind(named, rows, expected, kind):
    batch = KINDS[kind](rows)
    answer = Scorer(named, outputs=tuple(OUTPUTS), carry=["id"])(batch)
    assert type(answer) is type(batch)
    table = as_table(answer)
    assert table.column_names == ["id", *OUTPUTS]
    np.testing.assert_array_equal(table["id"].to_numpy(), rows["id"])
    np.testing.assert_array_equal(table["prediction"].to_numpy(), expected.prediction)
    np.testing.assert_array_equal(table["probability"].to_numpy(), expected.probability)
    np.testing.assert_array_equal(table["n_selected"].to_numpy(), expected.n_selected)
    np.testing.assert_array_equal(np.array(table["mask"].to_pylist(), dtype=np.float32), expected.importance)
    np.testing.assert_array_equal(np.array(table["effect"].to_pylist()), expected.effect)
    assert table["sentence"][7].as_py() == expected.describe(7)


def test_selected_names_stand_in_the_order_of_importance(named, rows, expected):
    selected = Scorer(named)(pa.Table.from_pandas(rows))["selected"].to_pylist()
    for row in (0, 11, 1999):
        order = expected.importance[row].argsort()[::-1][: expected.n_selected[row]]
        assert selected[row] == [expected.feature_names[j] for j in order]


def test_bits_hold_the_selection(named, rows, expected):
    scorer = Scorer(named, outputs=["selected_bits"])
    np.testing.assert_array_equal(scorer.unpack(scorer(rows)["selected_bits"]), expected.selected)
    np.testing.assert_array_equal(scorer.unpack(scorer(pa.Table.from_pandas(rows))["selected_bits"]), expected.selected)


def test_bits_of_more_than_eight_features_take_the_bytes_in_order():
    X = np.random.default_rng(0).normal(size=(400, 11))
    model = HideSeekClassifier("fast", steps=50, random_state=0).fit(X, X[:, 9] > 0)
    scorer = Scorer(model, outputs=["selected_bits"])
    batch = {f"column {j}": X[:, j] for j in range(11)}
    bits = scorer(batch)["selected_bits"]
    assert {len(row) for row in bits} == {2}
    np.testing.assert_array_equal(scorer.unpack(bits), model.select(X))
    assert [int.from_bytes(row, "little") >> 9 & 1 for row in bits] == model.select(X)[:, 9].tolist()


def test_the_schema_is_fixed_before_any_row_and_names_the_features(named, rows):
    scorer = Scorer(named, outputs=tuple(OUTPUTS))
    assert scorer(KINDS["table"](rows)).schema.equals(scorer.schema, check_metadata=True)
    assert b'["x1", "x2", "x3", "x4"]' in scorer.schema.metadata.values()
    given = KINDS["table"](rows).schema
    assert Scorer(named, carry=["id"]).schema_for(given).names == ["id", "prediction", "selected"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_without_rows_gives_columns_without_rows(named, rows, kind):
    answer = Scorer(named, carry=["id"])(KINDS[kind](rows[:0]))
    table = as_table(answer)
    assert (table.column_names, len(table)) == (["id", "prediction", "selected"], 0)


def test_a_pandas_batch_keeps_its_index(named, rows):
    part = rows.set_index("id")[5:9]
    assert Scorer(named)(part).index.tolist() == [1005, 1006, 1007, 1008]
    assert Scorer(named, outputs=["sentence"])(part)["sentence"].iloc[0].startswith("Row 1005:")


def test_a_path_is_read_on_first_use_and_pickled_as_a_path(saved, rows, expected, tmp_path):
    scorer = Scorer(str(saved))
    assert scorer._model is None
    pickled = pickle.dumps(scorer)
    assert len(pickled) < 500
    np.testing.assert_array_equal(pickle.loads(pickled)(rows)["prediction"], expected.prediction)
    with pytest.raises(hideseek.HideSeekError, match=r"nothing\.safetensors"):
        Scorer(tmp_path / "nothing.safetensors")(rows)


def test_a_model_is_pickled_as_the_bytes_of_its_file(named, rows, expected):
    again = pickle.loads(pickle.dumps(Scorer(named, outputs=["mask"])))
    assert again.outputs == ("mask",)
    np.testing.assert_array_equal(np.stack(again(rows)["mask"]), expected.importance)


@pytest.mark.filterwarnings("ignore::hideseek.errors.MaskWarning")  # of a short fit
def test_labels_of_any_type_are_predicted(switch, rows):
    X, y = switch
    quick = HideSeekClassifier("fast", steps=20, random_state=0)
    frame = rows[["x1", "x2", "x3", "x4"]]
    text = Scorer(quick.fit(frame, np.where(y, "yes", "no")))
    assert text.schema.field("prediction").type == pa.string()
    assert set(text(frame)["prediction"]) <= {"yes", "no"}
    truth = Scorer(quick.fit(frame, y.astype(bool)))
    assert truth.schema.field("prediction").type == pa.bool_()
    value = Scorer(HideSeekRegressor("fast", steps=20, random_state=0).fit(frame, X[:, 0]), outputs=["prediction"])
    np.testing.assert_array_equal(value(frame)["prediction"], value.model.explain(frame).prediction)
    with pytest.raises(InputError, match="this model gives no probability; leave 'probability' out"):
        Scorer(value.model, outputs=["probability"])(frame)


@pytest.mark.filterwarnings("ignore::hideseek.errors.MaskWarning")  # of a short fit
def test_mixed_columns_and_missing_values_are_answered_from_arrow():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.normal(size=600), "sector": rng.choice(["private", "state", None], 600)})
    frame.loc[::7, "age"] = np.nan
    y = np.where(frame["sector"] == "state", frame["age"] > 0, 1)
    model = HideSeekClassifier("fast", steps=50, random_state=0).fit(frame, y)
    answer = Scorer(model, outputs=["mask"])(pa.Table.from_pandas(frame))
    np.testing.assert_array_equal(np.array(answer["mask"].to_pylist(), np.float32), model.explain(frame).importance)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"outputs": ["weather"]}, "outputs: expected some of prediction, .*'weather' came"),
        ({"outputs": []}, "nothing came"),
        ({"outputs": "mask"}, "outputs must be a list of names, and 'mask' came"),
        ({"carry": ["id", "id"]}, "carry has 'id' twice"),
        ({"carry": ["prediction"]}, "carry and outputs both have 'prediction'; rename"),
        ({"model": 3}, "model must be a fitted model or a path, and int came"),
    ],
)
def test_bad_arguments_are_named(named, arguments, message):
    with pytest.raises(InputError, match=message):
        Scorer(**{"model": named, **arguments})


def test_bad_batches_are_named(named, rows):
    with pytest.raises(InputError, match="the batch lacks 1 of the model's 4 features: x2"):
        Scorer(named)(rows.drop(columns="x2"))
    with pytest.raises(InputError, match="the batch has no column 'key' to carry along"):
        Scorer(named, carry=["key"])(rows)
    with pytest.raises(InputError, match="a dict that is no table"):
        Scorer(named)({"x1": np.zeros(3), "x2": np.zeros(4)})
    with pytest.raises(InputError, match=r"a batch must be a table .* and list came"):
        Scorer(named)([1, 2])


def test_a_model_of_an_array_takes_the_columns_that_are_not_carried(model, rows, switch):
    answer = Scorer(model, outputs=["n_selected"], carry=["id"])(rows.drop(columns="label"))
    np.testing.assert_array_equal(answer["n_selected"], model.select(switch[0]).sum(axis=1))
    with pytest.raises(InputError, match=r"has 6 columns besides those carried along; .* an array of 4"):
        Scorer(model)(rows)


def test_without_pyarrow_the_extra_is_named(named, rows, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'hideseek\[files\]'"):
        Scorer(named)(rows)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'hideseek\[files\]'"):
        named.explain_files("in", "out")
