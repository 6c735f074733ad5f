import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hideseek
from hideseek import HideSeekClassifier, HideSeekRegressor, HideSeekWarning, InputError
from hideseek.errors import FileFormatError
from hideseek.estimators._parameters import draw_seed
from hideseek.scoring import sample_files
from hideseek.scoring._reservoir import Reservoir


def write(folder, parts):
    """Write frames as Parquet files of a folder."""
    folder.mkdir()
    for i, part in enumerate(parts):
        part.to_parquet(folder / f"part-{i}.parquet", index=False)
    return folder


def cut(rows, n_parts):
    return [rows.iloc[i] for i in np.array_split(np.arange(len(rows)), n_parts)]


@pytest.fixture
def folder(rows, tmp_path):
    return write(tmp_path / "in", cut(rows, 5))


def content(sample):
    return pa.Table.from_arrays([*sample.X.columns, pa.array(sample.y)], [*sample.X.column_names, "y"])


# -- the sample -----------------------------------------------------------------------------------------------------


def test_sample_does_not_depend_on_the_order_of_files_and_rows(rows, folder, tmp_path):
    plain = sample_files(folder, "label", n_rows=300, drop=["id"])
    shuffled = write(tmp_path / "shuffled", cut(rows.sample(frac=1, random_state=1), 3))
    by_label = write(tmp_path / "sorted", cut(rows.sort_values("label"), 7))
    for other in (shuffled, by_label):
        assert content(sample_files(other, "label", n_rows=300, drop=["id"])).equals(content(plain))
    files = sorted(folder.iterdir())
    assert content(sample_files(files[::-1], "label", n_rows=300, drop=["id"])).equals(content(plain))
    assert not content(sample_files(folder, "label", n_rows=300, drop=["id"], seed=1)).equals(content(plain))


def test_every_row_is_as_likely_as_any_other(rows, folder):
    times = np.zeros(len(rows))
    for seed in range(100):
        drawn = sample_files(folder, "label", n_rows=200, task="regression", seed=seed).X["id"].to_numpy()
        assert len(set(drawn)) == 200
        times[drawn - 1000] += 1
    # sums of 100 draws of probability 0.1: variance 9
    assert times.mean() == 10
    assert 8 < times.var() < 10
    assert abs(np.corrcoef(times, np.arange(len(rows)))[0, 1]) < 0.1


def test_rows_that_repeat_are_drawn_in_proportion(tmp_path):
    rare = pd.DataFrame({"a": np.arange(1000) % 20, "y": 0})
    often = pd.DataFrame({"a": np.full(9000, -1), "y": 1})
    folder = write(tmp_path / "in", cut(pd.concat([rare, often]), 4))
    shares = [(sample_files(folder, "y", n_rows=1000, seed=seed).X["a"].to_numpy() == -1).mean() for seed in range(20)]
    assert np.mean(shares) == pytest.approx(0.9, abs=0.01)
    assert np.std(shares) < 0.02


def test_pieces_and_dropping_on_the_way_do_not_change_the_sample(folder, monkeypatch):
    whole = sample_files(folder, "label", n_rows=150)
    monkeypatch.setattr("hideseek.scoring._sampling.rows_at_once", lambda _: 64)
    assert content(sample_files(folder, "label", n_rows=150)).equals(content(whole))


def test_all_rows_are_used_where_there_are_few(rows, folder):
    sample = sample_files(folder, "label", n_rows=5000)
    assert (len(sample), sample.n_rows, sample.n_files) == (2000, 2000, 5)
    assert sorted(sample.X["id"].to_pylist()) == rows["id"].tolist()


def test_fewer_rows_are_drawn_from_a_wide_table_so_that_they_fit_in_memory(folder, monkeypatch):
    monkeypatch.setattr("hideseek.scoring._sampling._CELLS", 6 * 700)
    assert len(sample_files(folder, "label")) == 700
    assert len(sample_files(folder, "label", n_rows=800)) == 800


def test_rare_classes_are_in_the_sample(rows, tmp_path):
    labels = rows["label"].map({0: "no", 1: "yes"}).to_numpy(dtype=object)
    labels[[3, 700]], labels[800:950] = "never", "seldom"
    folder = write(tmp_path / "in", cut(rows.assign(label=labels).sort_values("label"), 6))
    sample = sample_files(folder, "label", n_rows=400)
    found = dict(zip(*np.unique(sample.y.astype(str), return_counts=True), strict=True))
    assert found["never"] == 2
    assert found["seldom"] == 100
    assert sample.class_counts == dict(zip(*np.unique(labels.astype(str), return_counts=True), strict=True))
    plain = sample.y[:400]  # the others are added behind a plain sample
    assert (plain == "seldom").sum() == pytest.approx(30, abs=20)
    assert len(sample) == 400 + 2 + 100 - (plain == "seldom").sum() - (plain == "never").sum()


@pytest.mark.parametrize("order", ["drawn", "by class", "by key"])
def test_reservoir_keeps_the_smallest_keys_of_all_rows_and_of_every_class(order):
    rng = np.random.default_rng(0)
    keys = rng.permutation(5000).astype(np.uint64)
    classes = np.sort(np.searchsorted([0.7, 0.999, 0.9996], rng.random(5000)))  # the rarest last
    if order != "by class":
        rows = rng.permutation(5000) if order == "drawn" else np.argsort(keys)
        keys, classes = keys[rows], classes[rows]
    reservoir = Reservoir(50, 5)
    for start in range(0, 5000, 37):
        piece = slice(start, start + 37)
        reservoir.add(pa.table({"key": keys[piece]}), keys[piece], classes[piece])
    firsts = [np.sort(keys[classes == each])[:5] for each in np.unique(classes)]
    expected = sorted({*range(50), *np.concatenate(firsts).tolist()})
    assert reservoir.rows()["key"].to_pylist() == expected


def test_numbers_have_no_classes_to_keep(rows, tmp_path, monkeypatch):
    monkeypatch.setattr("hideseek.scoring._sampling.MOST_CLASSES", 50)
    values = rows.assign(label=np.arange(2000) // 50)  # 40 of them
    folder = write(tmp_path / "in", cut(values, 3))
    assert len(sample_files(folder, "label", n_rows=300, task="regression")) == 300
    assert len(sample_files(folder, "label", n_rows=300)) > 300
    many = write(tmp_path / "many", cut(rows.assign(label=np.arange(2000) // 20), 3))
    automatic = sample_files(many, "label", n_rows=300)
    assert (len(automatic), automatic.class_counts) == (300, None)
    assert content(automatic).equals(content(sample_files(many, "label", n_rows=300, task="regression")))
    with pytest.raises(InputError, match="'label' has more than 50 different values"):
        sample_files(many, "label", n_rows=300, task="classification")


def test_rows_without_target_or_weight_are_left_out(rows, tmp_path):
    label = rows["label"].astype("float").where(rows["id"] % 10 > 0)
    weight = np.where(rows["id"] % 3 == 0, 0, 2.0)
    folder = write(tmp_path / "in", cut(rows.assign(label=label, w=weight), 4))
    with pytest.warns(HideSeekWarning, match="^ignored: 200 rows whose 'label' is missing$"):
        sample = sample_files(folder, "label", n_rows=5000, sample_weight="w")
    ids = sample.X["id"].to_numpy()
    assert sample.n_rows == len(ids) == ((rows["id"] % 10 > 0) & (rows["id"] % 3 > 0)).sum()
    assert (ids % 3 > 0).all()
    assert (sample.sample_weight == 2).all()
    assert "w" not in sample.X.column_names


def test_types_that_differ_between_files_become_one(rows, tmp_path):
    parts = cut(rows.assign(x1=np.arange(2000), text="a", none=None), 2)
    folder = tmp_path / "in"
    folder.mkdir()
    parts[0].astype({"text": "category", "x2": "float32"}).to_parquet(folder / "a.parquet")
    parts[1].assign(x1=0.5, none=1.5).to_csv(folder / "b.csv", index=False)
    sample = sample_files(folder, "label", n_rows=5000)
    assert [str(sample.X.schema.field(name).type) for name in ("x1", "x2", "text", "none")] == [
        "double", "double", "string", "double",
    ]  # fmt: skip
    assert sample.y.dtype == np.int64
    assert sample.X["none"].null_count == 1000


def test_the_index_of_a_pandas_frame_is_no_column_to_learn_from(rows, tmp_path):
    (tmp_path / "in").mkdir()
    rows[:1000].sample(frac=1, random_state=0).to_parquet(tmp_path / "in/a.parquet", index=True)
    rows[1000:].set_index("id").to_parquet(tmp_path / "in/b.parquet", index=True)
    rows[1000:].to_parquet(tmp_path / "in/c.parquet", index=False)
    for name in ("a", "b"):
        assert pq.ParquetFile(tmp_path / f"in/{name}.parquet").schema_arrow.names[-1] in ("id", "__index_level_0__")
    assert sample_files(tmp_path / "in/a.parquet", "label").X.column_names == ["x1", "x2", "x3", "x4", "id"]
    assert sample_files(tmp_path / "in/b.parquet", "label").X.column_names == ["x1", "x2", "x3", "x4"]
    together = [tmp_path / "in/b.parquet", tmp_path / "in/c.parquet"]
    assert len(sample_files(together, "label", drop=["id"])) == 2000
    assert sample_files(tmp_path / "in/b.parquet", "id", task="regression").y.min() == 2000


def test_numbers_in_text_files_may_become_fractions_later(rows, tmp_path):
    table = pd.concat([rows] * 20, ignore_index=True).assign(x1="0")  # longer than what types are guessed from
    table.loc[len(table) - 1, "x1"] = "0.5"
    table.to_csv(tmp_path / "in.csv", index=False)
    sample = sample_files(tmp_path / "in.csv", "label", n_rows=100_000)
    assert sample.X["x1"].to_numpy().max() == 0.5
    assert sample.y.dtype == np.int64


def test_columns_that_are_empty_in_one_text_file_have_the_type_of_the_others(rows, tmp_path):
    (tmp_path / "in").mkdir()
    rows[:50].assign(x1=None, never=None).to_csv(tmp_path / "in/a.csv", index=False)
    rows[50:].assign(never=None).to_csv(tmp_path / "in/b.csv", index=False)
    sample = sample_files(tmp_path / "in", "label", n_rows=5000)
    assert (str(sample.X["x1"].type), sample.X["x1"].null_count) == ("double", 50)
    assert (str(sample.X["never"].type), sample.X["never"].null_count) == ("string", 2000)


# -- fitting --------------------------------------------------------------------------------------------------------


def test_fit_files_fits_the_sample_as_fit_does(rows, folder, tmp_path):
    model = HideSeekClassifier("fast", random_state=3).fit_files(folder, "label", drop=["id"], n_rows=1500)
    sample = sample_files(folder, "label", drop=["id"], n_rows=1500, seed=draw_seed(3))
    beside = HideSeekClassifier("fast", random_state=3).fit(sample.X, sample.y)
    features = rows[["x1", "x2", "x3", "x4"]]
    np.testing.assert_array_equal(model.predict_proba(features), beside.predict_proba(features))
    assert str(model.fitted_files_) == "1,500 of 2,000 rows in 5 files"
    assert model.fitted_files_.class_counts == tuple(np.bincount(rows["label"]))
    assert model.target_name_ == "label"
    model.save(tmp_path / "model.safetensors")
    assert hideseek.load(tmp_path / "model.safetensors").fitted_files_ == model.fitted_files_
    assert not hasattr(model.fit(features, rows["label"]), "fitted_files_")


def test_fit_files_takes_weights_categories_and_missing_values(rows, tmp_path):
    mixed = rows.assign(
        kind=np.where(rows["x1"] > 0, "up", None),
        day=pd.date_range("2024-01-01", periods=2000).date,
        flag=rows["x2"] > 1,
        x4=rows["x4"].where(rows["id"] % 7 > 0),
        w=1.0 + rows["id"] % 2,
    )
    folder = write(tmp_path / "in", cut(mixed, 3))
    model = HideSeekRegressor("fast", steps=150, random_state=0)
    model.fit_files(folder, "x3", drop=["id"], sample_weight="w")
    assert [code.kind for code in model.encoder_.codes] == [
        "number", "number", "number", "number", "category", "date", "boolean",
    ]  # fmt: skip
    assert model.feature_names_in_.tolist() == ["x1", "x2", "x4", "label", "kind", "day", "flag"]
    assert model.fitted_files_.class_counts is None
    done = model.explain_files(folder, tmp_path / "out")
    assert done.n_rows == 2000


def test_folders_of_a_hive_table_are_columns_to_learn_from(rows, tmp_path):
    for year in (2023, 2024):
        (tmp_path / f"in/year={year}").mkdir(parents=True)
        rows[int(year == 2023) :: 2].to_parquet(tmp_path / f"in/year={year}/a.parquet", index=False)
    sample = sample_files(tmp_path / "in", "label", n_rows=10_000)
    assert sorted(set(sample.X["year"].to_pylist())) == [2023, 2024]


# -- what can go wrong ----------------------------------------------------------------------------------------------


def refused(kind, match, source, target="label", **more):
    with pytest.raises(kind, match=match) as error:
        HideSeekClassifier("fast").fit_files(source, target, **more)
    assert "\n" not in str(error.value)


def test_a_file_with_other_columns_is_named(rows, folder):
    rows.drop(columns="x3").assign(y=1).to_parquet(folder / "part-3.parquet")
    refused(InputError, r"part-3\.parquet' has other columns than .*part-0\.parquet': it lacks x3 and has", folder)
    rows.assign(x3="text").to_parquet(folder / "part-3.parquet", index=False)
    refused(InputError, r"part-3\.parquet' has 'x3' as (large_)?string, and .*part-0\.parquet' as double", folder)


def test_a_file_without_the_target_is_named(rows, folder):
    rows.rename(columns={"label": "Label"}).to_parquet(folder / "part-2.parquet")
    refused(InputError, r"part-2\.parquet' has no column 'label'; did you mean 'Label'\?$", folder)
    refused(InputError, r"part-0\.parquet' has no column 'weight'", folder, sample_weight="weight")
    refused(InputError, r"part-0\.parquet' has no column 'z'; it has x1, x2", folder, drop=["z"])


def test_a_truncated_file_is_named(folder):
    file = folder / "part-2.parquet"
    file.write_bytes(file.read_bytes()[:-100])
    refused(FileFormatError, r"part-2\.parquet' cannot be read as parquet", folder)


def test_damage_in_the_middle_of_a_file_is_named(rows, tmp_path):
    lines = rows.to_csv(index=False).splitlines()
    lines[1500] = "1,2,3"
    (tmp_path / "in.csv").write_text("\n".join(lines))
    refused(FileFormatError, r"in\.csv' cannot be read as csv", tmp_path / "in.csv")


def test_a_source_without_files_or_rows_is_refused(rows, tmp_path):
    (tmp_path / "empty").mkdir()
    refused(InputError, "empty' has no files of a table", tmp_path / "empty")
    write(tmp_path / "nothing", [rows[:0]])
    refused(InputError, "nothing to learn from: no rows", tmp_path / "nothing")
    write(tmp_path / "unlabelled", [rows.assign(label=np.nan)])
    with pytest.warns(HideSeekWarning, match="2,000 rows"):
        refused(InputError, "the target 'label' is missing in every row", tmp_path / "unlabelled")


def test_weights_that_cannot_be_used_are_told_with_file_and_rows(rows, tmp_path):
    folder = write(tmp_path / "in", [rows.assign(w=1.0), rows.assign(w=np.where(rows["id"] == 1005, -1, 1))])
    refused(InputError, r"part-1\.parquet', rows 0 to 1999: sample_weight='w' is missing, infinite or negative in 1 "
            "rows", folder, sample_weight="w")  # fmt: skip
    refused(InputError, "sample_weight='w' is a column of string; expected numbers",
            write(tmp_path / "text", [rows.assign(w="a")]), sample_weight="w")  # fmt: skip


def test_columns_named_twice_over_and_of_odd_kinds_are_refused(rows, folder, tmp_path):
    refused(InputError, "target='label' is also the weight", folder, sample_weight="label")
    refused(InputError, "sample_weight='x1' is among the columns to drop", folder, sample_weight="x1", drop=["x1"])
    refused(TypeError, "sample_weight must be the name of a column", folder, sample_weight=np.ones(2000))
    refused(TypeError, "drop must be a list of names", folder, drop="id")
    with pytest.raises(InputError, match="n_rows=1: expected a whole number of at least 2"):
        HideSeekClassifier("fast").fit_files(folder, "label", n_rows=1)
    table = pa.table({"a": [[1], [2]], "label": [0, 1]})
    pq.write_table(table, tmp_path / "lists.parquet")
    refused(InputError, r"'a' \(List", tmp_path / "lists.parquet")
    refused(InputError, "no column besides the target", tmp_path / "lists.parquet", drop=["a"])
