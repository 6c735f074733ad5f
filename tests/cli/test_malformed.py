"""Malformed tables: their bytes neither lead out of the file nor reach the terminal as they are."""

import io
import sys
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import ipc

from benchmarks import fuzz_tables
from hideseek import HideSeekClassifier, InputError
from hideseek.cli._output import Output, one_line
from hideseek.cli._reading import read_table
from hideseek.cli._writing import write_bytes


def table_with_bad_offset(n_rows=4):
    """A text column whose second row ends a million bytes behind the text."""
    offsets = np.arange(n_rows + 1, dtype=np.int32)
    offsets[2] = 1_000_000
    buffers = [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(b"abcdefghijkl"[:n_rows])]
    return pa.table({"x": np.arange(n_rows, dtype=float), "town": pa.Array.from_buffers(pa.string(), n_rows, buffers)})


def table_with_bad_category():
    codes = pa.array([0, 9, 1, 0], pa.int8())
    return pa.table({"town": pa.DictionaryArray.from_arrays(codes, pa.array(["Rome", "Oslo"]), safe=False)})


@pytest.mark.parametrize("hidden", [(), ("pandas",)])
@pytest.mark.parametrize("table", [table_with_bad_offset(), table_with_bad_category()])
def test_arrow_files_that_lead_out_of_their_memory_are_refused(tmp_path, without, table, hidden):
    with ipc.new_file(tmp_path / "data.arrow", table.schema) as writer:
        writer.write_table(table)
    without(*hidden)
    with pytest.raises(InputError, match=r"data.arrow cannot be read as Arrow: Column \d: .* out of bounds"):
        read_table(str(tmp_path / "data.arrow"))


@pytest.mark.filterwarnings("ignore::hideseek.errors.MaskWarning")  # the fit is too short for masks to settle
def test_pyarrow_tables_that_lead_out_of_their_memory_are_refused_by_estimators():
    table = pa.table({"x": np.arange(40.0), "town": ["Rome", "Oslo"] * 20})
    model = HideSeekClassifier("fast", steps=5, random_state=0)
    bad = table_with_bad_offset(12)
    with pytest.raises(InputError, match="X is not a valid pyarrow table"):
        model.fit(bad, [0, 1] * 6)
    with pytest.raises(InputError, match="X is not a valid pyarrow table"):
        model.fit(table, [0, 1] * 20).explain(bad)


def test_an_error_of_another_library_is_quoted_in_part_and_printable(tmp_path, monkeypatch):
    def failing(content):
        raise ValueError("\x1b[2J" + "long " * 1000)

    monkeypatch.setattr("hideseek.cli._reading._BINARY_READERS", {"Arrow": failing})
    (tmp_path / "data.arrow").write_bytes(b"ARROW1")
    with pytest.raises(InputError) as caught:
        read_table(str(tmp_path / "data.arrow"))
    assert str(caught.value).isprintable()
    assert "\\u001b[2J" in str(caught.value)
    assert len(str(caught.value)) < 300 + len(str(tmp_path))


def test_messages_are_one_printable_line_of_bounded_length():
    assert one_line("a\x00b\x9b\u202ec:\n- first\n- second") == "a\\u0000b\\u009b\\u202ec: first; second"
    assert one_line("\U000e0041") == "\\udb40\\udc41"
    assert len(one_line("x" * 10**6)) == 2000


def test_a_file_name_that_is_no_text_is_shown_as_escapes(run_json, saved):
    code, result, err = run_json("explain", saved, "no\udcff.csv")
    assert (code, result["error"]) == (1, "no\\udcff.csv: No such file or directory")
    assert err.isascii()


def terminal(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), write_through=True)
    stream.isatty = lambda: True
    monkeypatch.setattr(sys, "stdout", stream)
    return stream


def test_a_terminal_gets_control_characters_as_escapes(monkeypatch):
    stream = terminal(monkeypatch)
    write_bytes("-", b"town\tx\nRo\x1b[31mme\t\xc2\x9b\n")
    assert stream.buffer.getvalue() == b"town\tx\nRo\\u001b[31mme\t\\u009b\n"


def test_a_table_on_a_terminal_has_its_own_style_and_none_of_its_cells(monkeypatch):
    stream = terminal(monkeypatch)
    Output(as_json=False).table(["na\x1b[5mme"], [["ce\x1b[5mll"]])
    assert b"\x1b[5m" not in stream.buffer.getvalue()
    assert b"ce\\u001b[5mll" in stream.buffer.getvalue()


def test_a_pipe_gets_every_byte_as_it_is(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), write_through=True)
    monkeypatch.setattr(sys, "stdout", stream)
    write_bytes("-", b"Ro\x1b[31mme\n")
    assert stream.buffer.getvalue() == b"Ro\x1b[31mme\n"


def test_columns_of_lists_are_copied_beside_the_answer(run, saved, table, tmp_path):
    rows = table.head(3).assign(tags=[["a", "b"], [], ["c"]])
    rows.to_parquet(tmp_path / "data.parquet")
    code, out, err = run("explain", saved, tmp_path / "data.parquet", "--data")
    assert (code, err) == (0, "")
    assert "['a' 'b']" in out


@pytest.mark.skipif(sys.platform != "linux", reason="memory is filled with glibc's mallopt")
def test_mutated_tables_are_explained_or_refused(tmp_path):
    files = fuzz_tables.valid_files(fuzz_tables.mixed_frame())
    every = fuzz_tables.cases(files, list(fuzz_tables.KINDS), 80, seed=1)
    outcomes = fuzz_tables.fuzz(fuzz_tables.save_models(tmp_path), every, tmp_path)
    by_outcome = Counter(outcome for _, outcome in outcomes.elements())
    assert set(by_outcome) == {"explained", "refused"}
    assert by_outcome.total() == 80


@pytest.mark.skipif(sys.platform != "linux", reason="memory is filled with glibc's mallopt")
def test_the_fuzzer_reports_text_that_is_not_the_files(tmp_path):
    model = fuzz_tables.save_models(tmp_path)["csv"]
    case = fuzz_tables.Case("csv", fuzz_tables.valid_files(fuzz_tables.mixed_frame())["csv"][0])
    assert fuzz_tables.judged(model, case, tmp_path, ["amount"]) == "explained"
    assert fuzz_tables.judged(model, case, tmp_path, ["importance_amount"]) == "foreign bytes"
