from __future__ import annotations

import hashlib
import io
import socket
import subprocess
import sys
import tarfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pooch
import pytest

from hideseek import DataError
from hideseek.datasets import (
    california_switch,
    credit_syn,
    load_brca,
    load_california,
    load_credit,
    load_mnist_3_8,
)
from hideseek.datasets._files import PublishedFile, read_published

STALL_SECONDS = 5
CONTENT = b"a,b\n1,2\n" * 5000
LOADERS = {
    "load_credit": load_credit,
    "load_california": load_california,
    "load_mnist_3_8": load_mnist_3_8,
    "load_brca": load_brca,
    "credit_syn": lambda: credit_syn("Syn1"),
    "california_switch": california_switch,
}


class Server(ThreadingHTTPServer):
    """Serves one body on 127.0.0.1, misbehaving as told, one word of ``behaviour`` for each request."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.body = CONTENT
        self.behaviour = []
        self.released = threading.Event()
        self.url = f"http://127.0.0.1:{self.server_port}/file"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        behaviour = self.server.behaviour.pop(0)
        body = self.server.body
        self.send_response(503 if behaviour == "refuse" else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if behaviour == "corrupt":
            body = body[:-1] + b"?"
        elif behaviour in ("truncate", "stall"):
            body = body[: len(body) // 2]
        self.wfile.write(body)
        if behaviour == "stall":
            self.wfile.flush()
            self.server.released.wait(STALL_SECONDS)
        self.close_connection = True

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server(empty_cache, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr("hideseek.datasets._files._TIMEOUT_SECONDS", 0.3)
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        yield server
        server.released.set()
        server.shutdown()
        thread.join(5)


@pytest.fixture
def no_network(empty_cache, monkeypatch):
    def unreachable(*arguments, **keywords):
        raise socket.gaierror("no network")

    monkeypatch.setattr(socket, "getaddrinfo", unreachable)


def published(server, **changes):
    facts = {"path": "toy/toy.csv", "sha256": hashlib.sha256(CONTENT).hexdigest(), "url": server.url}
    return PublishedFile(**(facts | changes))


def files_in(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_bad_downloads_are_tried_again_until_one_is_right(server, empty_cache, monkeypatch, caplog):
    monkeypatch.setattr(pooch.get_logger(), "handlers", [caplog.handler])
    server.behaviour = ["truncate", "corrupt", "stall", "serve"]
    assert read_published(published(server)) == CONTENT
    assert server.behaviour == []
    assert files_in(empty_cache) == ["toy.csv"]
    assert caplog.records == []


def test_the_cache_is_used_and_a_damaged_one_mended(server, empty_cache):
    server.behaviour = ["serve"]
    read_published(published(server))
    assert read_published(published(server)) == CONTENT  # the server has nothing left to say
    (kept,) = empty_cache.rglob("toy.csv")
    kept.write_bytes(CONTENT[:100])
    server.behaviour = ["serve"]
    assert read_published(published(server)) == CONTENT
    assert kept.read_bytes() == CONTENT


@pytest.mark.parametrize("behaviour", ["truncate", "corrupt", "stall", "refuse"])
def test_giving_up_leaves_no_file(server, empty_cache, behaviour):
    server.behaviour = [behaviour] * 4
    start = time.perf_counter()
    with pytest.raises(DataError, match=r"toy/toy\.csv could not be downloaded from http://127\.0\.0\.1"):
        read_published(published(server))
    assert time.perf_counter() - start < STALL_SECONDS  # it is not the server that ends a stalled download
    assert server.behaviour == []
    assert files_in(empty_cache) == []


def test_an_interrupted_download_leaves_no_file(empty_cache, monkeypatch, server):
    def interrupted(self, url, output_file, pooch, check_only=False):
        with open(output_file, "wb") as file:
            file.write(CONTENT[:100])
        raise KeyboardInterrupt

    monkeypatch.setattr(pooch.HTTPDownloader, "__call__", interrupted)
    with pytest.raises(KeyboardInterrupt):
        read_published(published(server))
    assert files_in(empty_cache) == []


def test_a_file_is_taken_from_its_archive(server):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        member = tarfile.TarInfo("Toy/toy.csv")
        member.size = len(CONTENT)
        archive.addfile(member, io.BytesIO(CONTENT))
    server.body = buffer.getvalue()
    server.behaviour = ["corrupt", "serve"]
    digest = hashlib.sha256(server.body).hexdigest()
    assert read_published(published(server, member="Toy/toy.csv", archive_sha256=digest)) == CONTENT


@pytest.mark.parametrize("terminal", [True, False])
def test_only_a_terminal_shows_a_progress_bar(server, monkeypatch, capsys, terminal):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    server.behaviour = ["serve"]
    read_published(published(server))
    shown = capsys.readouterr().err
    assert ("100%" in shown) if terminal else (shown == "")


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize("name", LOADERS)
def test_without_data_and_network_one_sentence_says_what_to_do(name, empty_cache):
    with pytest.raises(DataError) as caught:
        LOADERS[name]()
    message = str(caught.value)
    assert "connect to the network and try again, or set HIDESEEK_DATA to a folder that has" in message
    assert "\n" not in message
    assert ". " not in message
    assert files_in(empty_cache) == []


@pytest.mark.parametrize("name", LOADERS)
def test_a_folder_without_the_file_is_said_so(name, tmp_path, monkeypatch):
    monkeypatch.setenv("HIDESEEK_DATA", str(tmp_path))
    with pytest.raises(
        DataError, match=f"HIDESEEK_DATA is {tmp_path}, which does not contain .*: put the file from https://"
    ):
        LOADERS[name]()


def test_a_folder_with_another_file_is_said_so(tmp_path, monkeypatch):
    monkeypatch.setenv("HIDESEEK_DATA", str(tmp_path))
    (tmp_path / "brca").mkdir()
    (tmp_path / "brca" / "brca_small.csv").write_text("not it")
    with pytest.raises(DataError, match="is not the published file"):
        load_brca()


def test_downloading_without_pooch_names_the_extra(empty_cache, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ModuleNotFoundError, match=r"hideseek\[data\].* or set HIDESEEK_DATA"):
        load_brca()


def test_importing_needs_no_extra():
    # scikit-learn imports pandas where it finds it, so that they are made impossible to find.
    extras = ["pandas", "pooch", "matplotlib", "tqdm", "requests"]
    code = f"import sys; sys.modules.update(dict.fromkeys({extras})); import hideseek.datasets, hideseek.metrics"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
