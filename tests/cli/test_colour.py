"""Owners and outcomes are coloured on a terminal, never in a pipe, in JSON, or against NO_COLOR."""

import io
import os
import pty
import subprocess
from contextlib import redirect_stdout

import pytest

from errata.cli.door import run
from terminal import FIXTURES, PROGRAM, done, import_fixtures

RUN_B = FIXTURES / "convex_evals" / "run_b" / "data" / "run-b"
RED_MODEL = "\x1b[31mmodel"


@pytest.fixture(autouse=True)
def no_wish(monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")


class Terminal(io.StringIO):
    def isatty(self):
        return True


def as_on_a_terminal(*arguments):
    """In this process."""
    with redirect_stdout(Terminal()) as out:
        assert run(list(arguments)) == 0
    return out.getvalue()


def on_a_terminal(*arguments):
    master, slave = pty.openpty()
    program = subprocess.Popen([str(PROGRAM), *arguments], stdin=slave, stdout=slave, stderr=slave, env=os.environ)
    os.close(slave)
    parts = []
    try:
        while part := os.read(master, 65_536):
            parts.append(part)
    except OSError:  # the other end is closed
        pass
    os.close(master)
    assert program.wait() == 0
    return b"".join(parts).decode()


@pytest.mark.req("B-82")
def test_owners_are_coloured_on_a_terminal(monkeypatch):
    import_fixtures(RUN_B)

    assert RED_MODEL in on_a_terminal("failures", "latest")
    assert RED_MODEL in as_on_a_terminal("failures", "latest")
    assert "\x1b[" not in as_on_a_terminal("failures", "latest", "--json")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in as_on_a_terminal("failures", "latest")


def test_a_pipe_has_no_colours_unless_they_are_forced(monkeypatch):
    import_fixtures(RUN_B)
    plain = done("failures", "latest").out
    monkeypatch.setenv("FORCE_COLOR", "1")

    assert "\x1b[" not in plain
    assert RED_MODEL in done("failures", "latest").out
    assert "\x1b[31mfail" in done("show", "latest/002-queries/001-text_lookup").out
    assert "\x1b[" not in done("failures", "latest", "--json").out
