import gzip

import numpy as np
import pandas as pd
import pytest

from hideseek import InputError
from hideseek.cli._reading import read_table
from hideseek.errors import HideSeekWarning

TEXT = 'age,town,"income, net",note\n31,Rome,1.5,a\n,Oslo,NA,\n45,None,null,b\n'


def content(frame):
    """Names, and cells with None for what is missing."""
    return frame.columns, [
        [None if gone else value for value, gone in zip(frame[name].to_list(), frame[name].is_null(), strict=True)]
        for name in frame.columns
    ]


EXPECTED = (
    ["age", "town", "income, net", "note"],
    [[31, None, 45], ["Rome", "Oslo", "None"], [1.5, None, None], ["a", None, "b"]],
)


@pytest.mark.parametrize("hidden", [(), ("pandas",), ("pandas", "polars")])
def test_words_numbers_and_missing_values_are_the_same_with_every_library(tmp_path, without, hidden):
    (tmp_path / "data.csv").write_text(TEXT)
    without(*hidden)
    assert content(read_table(str(tmp_path / "data.csv"))) == EXPECTED


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("data.csv.gz", gzip.compress(TEXT.encode(), mtime=0)),
        ("data.csv", "\ufeff".encode() + TEXT.replace("\n", "\r\n").encode()),
        ("data.csv", TEXT.replace('"income, net"', "income£ net").replace(",", ";").replace("£", ",").encode()),
        ("data.tsv", TEXT.replace('"income, net"', "income£ net").replace(",", "\t").replace("£", ",").encode()),
    ],
)
def test_text_of_several_kinds(tmp_path, name, written):
    (tmp_path / name).write_bytes(written)
    assert content(read_table(str(tmp_path / name))) == EXPECTED


@pytest.mark.parametrize("hidden", [(), ("pandas",), ("pandas", "polars")])
@pytest.mark.parametrize("ending", ["parquet", "arrow", "feather"])
def test_binary_tables_keep_their_types(tmp_path, without, ending, hidden):
    frame = pd.DataFrame({"town": pd.Categorical(["Rome", "Oslo"]), "x": np.array([1, 2], dtype="int8")})
    path = tmp_path / f"data.{ending}"
    (frame.to_parquet if ending == "parquet" else frame.to_feather)(path)
    without(*hidden)
    table = read_table(str(path))
    assert [str(dtype) for dtype in table.schema.values()][1] == "Int8"
    assert str(table.schema["town"]) in ("Categorical", "Enum(categories=['Oslo', 'Rome'])")
    assert table["town"].to_list() == ["Rome", "Oslo"]


def test_a_column_without_a_name_is_left_out_with_a_warning(tmp_path):
    (tmp_path / "data.csv").write_text(",a,b\n0,1,2\n1,3,4\n")
    with pytest.warns(HideSeekWarning, match="ignored: column 1, which has no name"):
        assert read_table(str(tmp_path / "data.csv")).columns == ["a", "b"]


@pytest.mark.parametrize(
    ("name", "written", "message"),
    [
        ("data.csv", b"", "data.csv is empty: expected a CSV table"),
        ("data.csv", b" \n\n", "data.csv is empty"),
        ("data.csv", b"a,b\n", "data.csv has 2 columns and no rows"),
        ("data.csv", b"a,b,a\n1,2,3\n", "columns of the same name: 'a'"),
        ("data.csv", b"a,b\n1,2\n1,2,3\n", "data.csv cannot be read as CSV"),
        ("data.csv", b"a,b\n1,2,3\n1,2,3\n", "data.csv cannot be read as CSV"),
        ("data.csv", "a,é\n1,2\n".encode("latin-1"), "data.csv: the text is not UTF-8"),
        ("data.csv", "a,b\n1,é\n".encode("latin-1"), "data.csv: the text is not UTF-8"),
        ("data.csv.gz", gzip.compress(TEXT.encode(), mtime=0)[:-9], "data.csv.gz cannot be read as CSV"),
        ("data.parquet", b"PAR1 and no more", "data.parquet cannot be read as Parquet"),
        ("data.arrow", b"no arrow", "data.arrow cannot be read as Arrow"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(tmp_path, name, written, message):
    (tmp_path / name).write_bytes(written)
    with pytest.raises(InputError) as caught:
        read_table(str(tmp_path / name))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_library_is_named_with_the_command_that_installs_it(run, saved, tmp_path, without, table):
    table.to_parquet(tmp_path / "data.parquet")
    without("pyarrow")
    code, _, err = run("explain", saved, tmp_path / "data.parquet")
    assert (code, err) == (1, "error: reading Parquet needs pyarrow: pip install pyarrow\n")
    without("pandas", "polars")
    (tmp_path / "data.csv").write_text(TEXT)
    code, _, err = run("explain", saved, tmp_path / "data.csv")
    assert code == 1
    assert "pip install 'hideseek[data]'" in err


@pytest.mark.parametrize("command", ["explain", "fit"])
def test_missing_files_folders_and_strange_endings(run, saved, tmp_path, command):
    def read(path):
        words = (saved, path) if command == "explain" else (path, "--target", "y", "--out", tmp_path / "m.safetensors")
        return run(command, *words)

    code, _, err = read(tmp_path / "nowhere.csv")
    assert (code, err) == (1, f"error: {tmp_path}/nowhere.csv: No such file or directory\n")
    (tmp_path / "folder.csv").mkdir()
    code, _, err = read(tmp_path / "folder.csv")
    assert code == (2 if command == "explain" else 1)  # explain takes a folder, and then --out must name one too
    assert "--out" in err if command == "explain" else "folder.csv" in err
    code, _, err = read(tmp_path / "data.xlsx")
    assert code == 2
    assert "expected .csv, .tsv, .parquet" in err
