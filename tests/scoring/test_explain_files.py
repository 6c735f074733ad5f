import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from hideseek import HideSeekClassifier, HideSeekError, HideSeekWarning, InputError, Scorer
from hideseek.errors import FileFormatError, MissingFileError
from hideseek.files import write_atomically
from hideseek.scoring import OUTPUTS


@pytest.fixture
def folder(rows, tmp_path):
    """The rows in five Parquet files."""
    (tmp_path / "in").mkdir()
    for i in range(5):
        rows[400 * i : 400 * (i + 1)].to_parquet(tmp_path / f"in/part-{i}.parquet", index=False)
    return tmp_path / "in"


def answers(done):
    return pa.concat_tables([pq.ParquetFile(path).read() for path in done.files])


def everything_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def check_equal(table, model, expected):
    np.testing.assert_array_equal(table["prediction"].to_numpy(), expected.prediction)
    np.testing.assert_array_equal(table["n_selected"].to_numpy(), expected.n_selected)
    np.testing.assert_array_equal(Scorer(model).unpack(table["selected_bits"]), expected.selected)


def test_a_folder_is_answered_file_by_file_as_explain_answers(named, folder, tmp_path, rows, expected):
    done = named.explain_files(folder, tmp_path / "out", carry=["id"])
    assert (done.n_rows, done.n_kept) == (2000, 0)
    assert everything_in(tmp_path / "out") == everything_in(folder)
    table = answers(done)
    assert table.column_names == ["id", "prediction", "n_selected", "selected_bits"]
    np.testing.assert_array_equal(table["id"].to_numpy(), rows["id"])
    check_equal(table, named, expected)


def test_all_outputs_equal_those_of_explain(named, folder, tmp_path, expected):
    table = answers(named.explain_files(folder / "part-1.parquet", tmp_path / "out", outputs=tuple(OUTPUTS)))
    np.testing.assert_array_equal(np.array(table["mask"].to_pylist(), np.float32), expected.importance[400:800])
    np.testing.assert_array_equal(np.array(table["effect"].to_pylist()), expected.effect[400:800])
    assert table["sentence"][3].as_py() == expected.describe(403).replace("Row 403:", "Row 3:")


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".tsv", ".arrow", ".feather", ".parquet"])
def test_a_file_of_every_format_is_read(named, rows, expected, tmp_path, ending):
    path = tmp_path / f"rows{ending}"
    if ending in (".arrow", ".feather"):
        feather.write_feather(rows, path)
    elif ending == ".parquet":
        rows.to_parquet(path)
    else:
        rows.to_csv(path, index=False, sep="\t" if ending == ".tsv" else ";")
    check_equal(answers(named.explain_files(path, tmp_path / "out.parquet")), named, expected)


def test_pieces_of_a_file_give_the_answers_of_the_whole(named, folder, tmp_path, expected, monkeypatch):
    monkeypatch.setattr("hideseek.scoring._files.rows_at_once", lambda _: 64)
    done = named.explain_files(folder, tmp_path / "out", outputs=["n_selected", "prediction", "selected_bits"])
    assert pq.ParquetFile(done.files[0]).num_row_groups == 7
    check_equal(answers(done), named, expected)
    one = named.explain_files(folder / "part-0.parquet", tmp_path / "one", outputs=["sentence"])
    assert answers(one)["sentence"].to_pylist()[:400:70] == [expected.describe(row) for row in range(0, 400, 70)]


def test_folders_of_a_hive_table_are_columns_and_are_kept(named, rows, expected, tmp_path):
    for year in (2023, 2024):
        (tmp_path / f"in/year={year}/zone=a 0").mkdir(parents=True)
    rows[:900].to_parquet(tmp_path / "in/year=2023/zone=a 0/one.parquet")
    rows[900:].to_csv(tmp_path / "in/year=2024/zone=a 0/two.csv", index=False)
    (tmp_path / "in/_SUCCESS").touch()
    (tmp_path / "in/notes.txt").touch()
    done = named.explain_files(tmp_path / "in", tmp_path / "out", carry=["year", "zone"])
    assert everything_in(tmp_path / "out") == ["year=2023/zone=a 0/one.parquet", "year=2024/zone=a 0/two.csv.parquet"]
    table = answers(done)
    assert table["year"].to_pylist() == [2023] * 900 + [2024] * 1100
    assert set(table["zone"].to_pylist()) == {"a 0"}
    check_equal(table.drop_columns(["year", "zone"]), named, expected)


def test_patterns_and_lists_of_files_are_taken(named, folder, tmp_path):
    pattern = named.explain_files(f"{folder}/part-[12].parquet", tmp_path / "some")
    assert everything_in(tmp_path / "some") == ["part-1.parquet", "part-2.parquet"]
    listed = named.explain_files([folder / "part-1.parquet", folder / "part-2.parquet"], tmp_path / "listed")
    assert answers(pattern).equals(answers(listed))


def test_types_in_text_files_are_those_of_the_model_not_of_the_first_rows(named, rows, tmp_path):
    table = pd.concat([rows] * 10, ignore_index=True).assign(x1="0")  # longer than what types are guessed from
    table.loc[len(table) - 1, "x1"] = "0.5"
    table.loc[5, "x2"] = None
    table.to_csv(tmp_path / "in.csv", index=False, na_rep="NA")
    with pytest.warns(HideSeekWarning, match=r"'x2' \(1 rows\)"):
        done = named.explain_files(tmp_path / "in.csv", tmp_path / "out.parquet")
    with pytest.warns(HideSeekWarning, match=r"'x2' \(1 rows\)"):
        expected = named.explain(table.astype({"x1": float})[["x1", "x2", "x3", "x4"]])
    check_equal(answers(done), named, expected)


def test_every_piece_warning_of_the_same_warns_once(named, rows, tmp_path, monkeypatch):
    monkeypatch.setattr("hideseek.scoring._files.rows_at_once", lambda _: 100)
    (tmp_path / "in").mkdir()
    for name in ("a", "b"):
        rows.assign(x2=rows["x2"].where(rows["id"] % 3 > 0)).to_parquet(tmp_path / f"in/{name}.parquet")
    with pytest.warns(HideSeekWarning) as caught:
        named.explain_files(tmp_path / "in", tmp_path / "out")
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_a_file_without_rows_gives_a_file_without_rows(named, rows, tmp_path):
    rows[:0].to_parquet(tmp_path / "in.parquet")
    done = named.explain_files(tmp_path / "in.parquet", tmp_path / "out", carry=["id"])
    assert (done.n_rows, answers(done).column_names[0]) == (0, "id")


# -- going on after an end ------------------------------------------------------------------------------------------

KILLED = """
import sys, hideseek
from hideseek.scoring import _scorer
real, calls = _scorer.Scorer.explain_frame, 0
def slow(*arguments):
    import time
    global calls
    calls += 1
    if calls == 8:
        print("third file", flush=True)
        time.sleep(60)
    return real(*arguments)
_scorer.Scorer.explain_frame = slow
from hideseek.scoring import _files
_files.rows_at_once = lambda _: 128
hideseek.load(sys.argv[1]).explain_files(sys.argv[2], sys.argv[3])
"""


def test_a_killed_run_goes_on_where_it_stopped(named, saved, folder, tmp_path, expected):
    out = tmp_path / "out"
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, saved, folder, out], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "third file\n"
        process.send_signal(signal.SIGKILL)
    finished = ["part-0.parquet"]
    left = everything_in(out)
    assert [name for name in left if not name.startswith(".")] == finished
    assert any(name.startswith(".part-1.parquet.") for name in left)
    made = {name: (out / name).stat().st_mtime_ns for name in finished}
    done = named.explain_files(folder, out)
    assert (done.n_rows, done.n_kept) == (2000, 1)
    assert {name: (out / name).stat().st_mtime_ns for name in finished} == made
    assert everything_in(out) == everything_in(folder)
    check_equal(answers(done), named, expected)


def test_answers_of_another_origin_are_replaced_only_when_asked(named, rows, folder, tmp_path):
    named.explain_files(folder, tmp_path / "out")
    other = HideSeekClassifier("fast", steps=200, random_state=1).fit(rows[["x1", "x2", "x3", "x4"]], rows["label"])
    for model, outputs in ((other, ["n_selected"]), (named, ["n_selected"])):
        with pytest.raises(InputError, match=r"part-0\.parquet' exists and has answers of another model"):
            model.explain_files(folder, tmp_path / "out", outputs=outputs)
    rows[:10].to_parquet(folder / "part-3.parquet")
    with pytest.raises(InputError, match=r"part-3\.parquet' exists"):
        named.explain_files(folder, tmp_path / "out")
    done = named.explain_files(folder, tmp_path / "out", overwrite=True)
    assert (done.n_rows, done.n_kept) == (1610, 4)


# -- what can go wrong ----------------------------------------------------------------------------------------------


def test_a_truncated_file_is_named_and_finished_files_stay(named, folder, tmp_path):
    content = (folder / "part-2.parquet").read_bytes()
    (folder / "part-2.parquet").write_bytes(content[: len(content) // 2])
    with pytest.raises(
        FileFormatError, match=r"part-2\.parquet' cannot be read as parquet: Parquet magic bytes .* truncated"
    ) as error:
        named.explain_files(folder, tmp_path / "out")
    assert "\n" not in str(error.value)
    assert everything_in(tmp_path / "out") == ["part-0.parquet", "part-1.parquet"]
    write_atomically(folder / "part-2.parquet", content)
    assert named.explain_files(folder, tmp_path / "out").n_kept == 2


def test_damage_in_the_middle_of_a_file_leaves_nothing_half_written(named, rows, tmp_path, monkeypatch):
    monkeypatch.setattr("hideseek.scoring._files.rows_at_once", lambda _: 128)
    text = rows.to_csv(index=False).splitlines()
    text[1500] = "not,a,number,at,all,here"
    (tmp_path / "in.csv").write_text("\n".join(text))
    with pytest.raises(FileFormatError, match=r"in\.csv' cannot be read as csv"):
        named.explain_files(tmp_path / "in.csv", tmp_path / "out")
    assert everything_in(tmp_path / "out") == []


def test_a_file_with_other_columns_is_named(named, rows, folder, tmp_path):
    rows.drop(columns="x3").to_parquet(folder / "part-1.parquet")
    with pytest.raises(InputError, match=r"part-1\.parquet' lacks 1 of the model's 4 features: x3"):
        named.explain_files(folder, tmp_path / "out")
    assert everything_in(tmp_path / "out") == ["part-0.parquet"]


def test_values_that_cannot_be_used_are_told_with_file_and_rows(named, rows, folder, tmp_path):
    rows[:10].assign(x1=np.inf).to_parquet(folder / "part-1.parquet")
    with pytest.raises(InputError, match=r"part-1\.parquet', rows 0 to 9: "):
        named.explain_files(folder, tmp_path / "out")


def test_a_source_without_files_is_named(named, tmp_path):
    (tmp_path / "empty").mkdir()
    for source in (tmp_path / "empty", f"{tmp_path}/*.parquet", []):
        with pytest.raises(InputError, match="has no files of a table: expected some that end in"):
            named.explain_files(source, tmp_path / "out")
    with pytest.raises(MissingFileError, match=r"nothing\.parquet"):
        named.explain_files(tmp_path / "nothing.parquet", tmp_path / "out")
    (tmp_path / "a.txt").touch()
    with pytest.raises(InputError, match=r"a\.txt' has no ending of a table"):
        named.explain_files(tmp_path / "a.txt", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_target_that_cannot_be_written_is_named(named, folder, tmp_path):
    (tmp_path / "file").touch()
    for target in (tmp_path / "file", tmp_path / "file/out"):
        with pytest.raises(HideSeekError, match=r"cannot write .*file"):
            named.explain_files(folder, target)
    with pytest.raises(InputError, match=r"is one file, and the source has 5: name a folder"):
        named.explain_files(folder, tmp_path / "out.parquet")
    for target in (folder, folder / "out"):
        with pytest.raises(InputError, match="lies in the source"):
            named.explain_files(folder, target)
    with pytest.raises(InputError, match=r"would replace .*part-0\.parquet"):
        named.explain_files(folder / "part-0.parquet", folder)


def test_a_read_only_target_is_named(named, folder, tmp_path):
    target = tmp_path / "out"
    target.mkdir(mode=0o500)
    if os.geteuid() == 0:  # who may write everywhere but there
        target = Path("/sys/hideseek")
    with pytest.raises(
        HideSeekError, match=r"cannot write .*part-0\.parquet': (Operation not permitted|.*denied|Read)"
    ):
        named.explain_files(folder, target)


def test_a_full_disk_is_told_with_the_file(named, folder, tmp_path, monkeypatch):
    def full(*arguments, **more):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", full)
    with pytest.raises(HideSeekError, match=r"cannot write .*part-0\.parquet': No space left on device"):
        named.explain_files(folder, tmp_path / "out")
    assert everything_in(tmp_path / "out") == []
