"""Posting to a webhook, on loopback."""

from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from errata.client.webhook import post_json
from errata.errors import FetchError, SettingsError


class Receiver:
    """Answers with the given codes in turn, and keeps what it was sent."""

    def __init__(self, *codes, location=""):
        self.codes, self.bodies, self.location = list(codes), [], location
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                receiver.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(receiver.codes.pop(0) if receiver.codes else 204)
                if receiver.location:
                    self.send_header("Location", receiver.location)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/hook/SECRET"

    def __enter__(self):
        self.thread = Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


def test_it_is_posted_once():
    with Receiver() as receiver:
        post_json(receiver.address, b"{}")

    assert receiver.bodies == [b"{}"]


def test_an_error_that_may_pass_is_tried_again():
    pauses = []
    with Receiver(503, 429) as receiver:
        post_json(receiver.address, b"{}", wait=pauses.append)

    assert (len(receiver.bodies), pauses) == (3, [1.0, 2.0])


@pytest.mark.parametrize("codes", [(404,), (503, 503, 503), (302,)])
def test_an_error_that_stays_names_the_host_but_not_the_secret_path(codes):
    with (
        Receiver(*codes, location="http://127.0.0.1:1/elsewhere") as receiver,
        pytest.raises(FetchError) as caught,
    ):
        post_json(receiver.address, b"{}", wait=lambda _: None)

    assert f"`127.0.0.1` answered {codes[0]}" in caught.value.message
    assert "SECRET" not in caught.value.message
    assert len(receiver.bodies) == len(codes)


def test_nobody_listens():
    with Receiver() as receiver:
        pass
    with pytest.raises(FetchError, match="can't be reached"):
        post_json(receiver.address, b"{}", wait=lambda _: None)


@pytest.mark.parametrize("address", ["file:///etc/passwd", "ftp://x/y", "hooks.example/x", ""])
def test_only_addresses_of_the_web_are_taken(address):
    with pytest.raises(SettingsError, match="is not an address"):
        post_json(address, b"{}")
