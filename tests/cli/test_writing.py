import errno
import io
import os
import subprocess
import sys
import types

import pytest

import hideseek.files
from hideseek.cli._writing import write_bytes


@pytest.fixture(params=["fit", "explain", "datasets"])
def command(request, saved, data, tmp_path):
    """A command that writes one file, and that file."""
    words = {
        "fit": ("fit", data, "--target", "label", "--preset", "fast", "--set", "steps=20", "--penalty", "0.1"),
        "explain": ("explain", saved, data),
        "datasets": ("datasets", "Syn1", "--rows", "50"),
    }[request.param]
    folder = tmp_path / "out"
    folder.mkdir()
    return words, folder / ("m.safetensors" if request.param == "fit" else "table.csv")


@pytest.mark.parametrize("old", [None, "old"])
def test_a_full_disk_leaves_what_was_there(run, command, monkeypatch, old):
    words, path = command
    if old is not None:
        path.write_text(old)

    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(hideseek.files.os, "fsync", full)
    code, out, err = run(*words, "--out", path, "--force")
    assert (code, out) == (1, "")
    assert err.endswith(f"error: cannot write {path}: No space left on device\n")
    assert [(file.name, file.read_text()) for file in path.parent.iterdir()] == ([(path.name, old)] if old else [])


def test_an_existing_file_is_replaced_only_with_force(run, command):
    words, path = command
    path.write_text("old")
    code, out, err = run(*words, "--out", path)
    assert (code, out) == (1, "")
    assert err == f"error: {path} exists; pass --force to replace it, or another name\n"
    assert path.read_text() == "old"
    assert run(*words, "--out", path, "--force")[0] == 0
    assert path.read_bytes() != b"old"


def test_a_folder_that_is_not_there_or_closed_is_found_before_the_work(run, command, monkeypatch):
    words, path = command
    code, _, err = run(*words, "--out", path.parent / "nowhere" / path.name)
    assert code == 1
    assert "there is no folder" in err
    path.mkdir()
    code, _, err = run(*words, "--out", path)
    assert code == 1
    assert "it is a folder" in err
    path.rmdir()
    monkeypatch.setattr("os.access", lambda *_: False)
    code, _, err = run(*words, "--out", path)
    assert code == 1
    assert f"no permission to write in '{path.parent}'" in err


def process(*words, **how):
    return subprocess.Popen([sys.executable, "-m", "hideseek", *map(str, words)], stderr=subprocess.PIPE, **how)


def test_the_first_line_of_many_is_enough(saved, data):
    command = (
        f"{sys.executable} -m hideseek explain {saved} {data} --format long --out - | head -1; echo ${{PIPESTATUS[0]}}"
    )
    shell = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert shell.stdout == "row,prediction,probability,feature,value,importance,selected,effect\n141\n"
    assert shell.stderr == ""


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [("datasets",), ("datasets", "--json"), ("completion", "zsh")])
def test_a_closed_pipe_ends_it_quietly(words, unbuffered):
    reader, writer = os.pipe()
    os.close(reader)
    with process(*words, stdout=writer, env={**os.environ, "PYTHONUNBUFFERED": unbuffered}) as running:
        os.close(writer)
        assert running.wait() == 141
        assert running.stderr.read() == b""


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [("datasets",), ("datasets", "--json"), ("completion", "zsh")])
def test_a_full_device_is_named(words, unbuffered):
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with open("/dev/full", "wb") as full, process(*words, stdout=full, env=environment) as running:
        assert running.wait() == 1
        assert running.stderr.read() == b"error: cannot write to standard output: No space left on device\n"


@pytest.mark.parametrize("size", [1, 10_000])
def test_a_stream_that_takes_a_part_at_a_time_gets_all(monkeypatch, size):
    taken = bytearray()

    class Unbuffered(io.RawIOBase):
        def writable(self):
            return True

        def write(self, content):
            taken.extend(content[:size])
            return min(size, len(content))

    monkeypatch.setattr(
        "sys.stdout", types.SimpleNamespace(buffer=Unbuffered(), flush=lambda: None, isatty=lambda: False)
    )
    write_bytes("-", b"every byte")
    assert taken == b"every byte"


def test_a_device_is_written_to_and_not_replaced(run, saved, data):
    code, _, err = run("explain", saved, data, "--out", "/dev/full")
    assert (code, err) == (1, "error: cannot write /dev/full: No space left on device\n")
    assert not os.path.isfile("/dev/full")


def test_a_named_pipe_gets_the_whole_table(run, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE, text=True)
    try:
        code, out, _ = run("datasets", "Syn1", "--rows", "500", "--out", tmp_path / "pipe")
        assert (code, out) == (0, "")
        text, _ = reader.communicate(timeout=10)
    finally:
        reader.kill()
    assert len(text.splitlines()) == 501
