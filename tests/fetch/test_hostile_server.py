"""Servers that mean harm: a sentence, bounded time and memory, and no half of a run that is left behind."""

import gzip
import socket
import threading
import time
import zlib

import pytest
from backports import zstd
from deployment import Deployment, status

from errata.errors import FetchError, NotFoundError
from errata.fetch import transport as module
from errata.fetch.convex import fetch_run
from errata.fetch.transport import Target, Transport
from terminal import errata

RUN_A_ID = "jn709tmjsmt0gc4p4ysp6m6ztabx3hw2"
TIMEOUT = 0.15
BOMB = b'{"status": "success", "value": "' + b"0" * 4_000_000 + b'"}'


@pytest.fixture(scope="module")
def deployment():
    with Deployment("run_a") as made:
        yield made


@pytest.fixture(autouse=True)
def well_behaved(request):
    yield
    if "deployment" in request.fixturenames:
        request.getfixturevalue("deployment").misbehave.clear()


def fetched(deployment, folder, **more):
    given = {"timeout": TIMEOUT, "wait": lambda _: None, **more}
    return fetch_run(Target(RUN_A_ID), Transport(deployment.address, **given), folder, when="now")


def drip(handler):
    """A byte of the body now and then, for ever."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000000")
    handler.end_headers()
    _write_slowly(handler, b" " * 1_000)


def drip_headers(handler):
    _write_slowly(handler, b"HTTP/1.1 200 OK\r\nX-Slow: " + b"x" * 1_000)


def _write_slowly(handler, content):
    try:
        for at in range(len(content)):
            handler.wfile.write(content[at : at + 1])
            handler.wfile.flush()
            time.sleep(TIMEOUT / 5)
    except OSError:
        pass
    handler.close_connection = True


def endless(handler):
    handler.send_response(200)
    handler.end_headers()
    try:
        while True:
            handler.wfile.write(b" " * 65_536)
    except OSError:
        handler.close_connection = True


def endless_chunks(handler):
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    try:
        while True:
            handler.wfile.write(b"10000\r\n" + b" " * 65_536 + b"\r\n")
    except OSError:
        handler.close_connection = True


def raw(content):
    def trick(handler):
        handler.wfile.write(content)
        handler.wfile.flush()
        handler.close_connection = True

    return trick


def length(value, content=b"{}"):
    return raw(b"HTTP/1.1 200 OK\r\nContent-Length: " + value + b"\r\n\r\n" + content)


def half_closed(handler):
    """The server ends its side at once and reads on."""
    handler.connection.shutdown(socket.SHUT_WR)
    handler.close_connection = True


HOSTILE = {
    "drips": drip,
    "drips headers": drip_headers,
    "endless body": endless,
    "endless chunks": endless_chunks,
    "gzip bomb": status(200, gzip.compress(BOMB), Content_Encoding="gzip"),
    "deflate bomb": status(200, zlib.compress(BOMB), Content_Encoding="deflate"),
    "zstd bomb": status(200, zstd.compress(BOMB), Content_Encoding="zstd"),
    "brotli by name": status(200, b"\x8b\x00\x80\x03", Content_Encoding="br"),
    "bomb without a name": status(200, gzip.compress(BOMB)),
    "redirect loop": lambda handler: handler.send(302, b"", Location=handler.path),
    "redirect to metadata": status(301, b"", Location="http://169.254.169.254/latest/meta-data/"),
    "redirect to a file": status(302, b"", Location="file:///etc/passwd"),
    "redirect to nonsense": status(307, b"", Location="http://[::1"),
    "redirect nowhere": status(308, b""),
    "too long": length(b"9" * 5_000),
    "too short": length(b"1", b'{"status": "success", "value": null}'),
    "negative length": length(b"-1", b"x"),
    "other digits": length("\u0663".encode(), b"{}"),
    "broken chunk": raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
    "endless header line": raw(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000),
    "a thousand headers": raw(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 1_000 + b"\r\n"),
    "no status": raw(b"hello\r\n\r\n"),
    "half closed": half_closed,
    "an image": status(200, b"\x89PNG\r\n\x1a\n" + b"\0" * 100, kind="image/png"),
    "deep JSON": status(200, b"[" * 100_000),
    "wrong type": status(200, b'{"status": "success", "value": [1, 2]}'),
    "odd retry": status(429, b"{}", Retry_After="²"),
    "long message": status(400, b'{"code": "x", "message": "' + b"y" * 3_000 + b'"}'),
    "long error": status(560, b'{"status": "error", "errorMessage": "' + b"y" * 100_000 + b'"}'),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_answer_is_an_error_in_bounded_time_and_leaves_no_run(deployment, tmp_path, name, monkeypatch):
    monkeypatch.setattr(module, "LARGEST_ANSWER", 1_000_000)
    deployment.misbehave["runs:getRunDetails"] = [HOSTILE[name]] * 9
    started = time.monotonic()

    with pytest.raises((FetchError, NotFoundError)) as result:
        fetched(deployment, tmp_path)

    assert time.monotonic() - started < 4
    assert len(result.value.message) < 600 and result.value.hint
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("name", ["drips", "endless body", "too short", "redirect to metadata", "gzip bomb"])
def test_a_hostile_file_is_noted_and_no_part_of_it_is_left(deployment, tmp_path, name, monkeypatch):
    monkeypatch.setattr(module, "LARGEST_FILE", 1_000_000)
    deployment.misbehave["download"] = [HOSTILE[name]] * 6  # the first ones; what comes after them is whole

    made = fetched(deployment, tmp_path)

    assert made.problems
    assert not list(tmp_path.rglob("*.part"))
    assert list(tmp_path.rglob("*.zip"))
    assert all(path.read_bytes()[:2] == b"PK" for path in tmp_path.rglob("*.zip"))


def test_no_redirect_is_followed_to_a_private_address(deployment, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as private:
        private.settimeout(0.3)
        port = private.getsockname()[1]
        deployment.misbehave["runs:getRunDetails"] = [status(302, b"", Location=f"http://127.0.0.1:{port}/")] * 9
        with pytest.raises(FetchError, match="not followed"):
            fetched(deployment, tmp_path)
        with pytest.raises(TimeoutError):
            private.accept()


def test_all_requests_together_have_an_end(deployment, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "LONGEST", 0.0)
    deployment.misbehave["runs:getRunDetails"] = [status(503)] * 9
    before = len(deployment.calls)

    with pytest.raises(FetchError):
        fetched(deployment, tmp_path)
    assert len(deployment.calls) == before + 1


def test_all_files_together_have_a_size(deployment, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "LARGEST_TOTAL", 0)

    made = fetched(deployment, tmp_path)

    assert any("have more than" in problem for problem in made.problems)


def test_no_timer_is_left_behind(deployment, tmp_path):
    fetched(deployment, tmp_path)

    assert not [one for one in threading.enumerate() if isinstance(one, threading.Timer) and not one.finished.is_set()]


@pytest.mark.parametrize("name", ["endless body", "redirect loop"])
def test_the_command_ends_with_2_and_imports_nothing(deployment, name, monkeypatch):
    monkeypatch.setattr(module, "LARGEST_ANSWER", 1_000_000)
    deployment.misbehave["runs:getRunDetails"] = [HOSTILE[name]] * 9

    result = errata("fetch", RUN_A_ID, "--deployment", deployment.address, "--timeout", "0.2")

    assert result.code == 2
    assert "Traceback" not in result.err
    assert errata("runs", "--json").out == ""
