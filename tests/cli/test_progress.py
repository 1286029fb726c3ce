"""Progress is for people who wait: on stderr, at a terminal, and only when it takes a while."""

import io
import subprocess
import sys
from contextlib import redirect_stderr

import pytest

from errata.cli import progress

LIST_RICH = """
import sys
from errata.cli import progress
sys.stderr.isatty = lambda: True
with progress.progress("Importing") as advance:
    advance(1)
print("rich" in sys.modules)
"""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def a_terminal_with_a_cursor(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")


def test_who_waits_sees_how_many_items_were_read(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0)
    terminal = Terminal()

    with redirect_stderr(terminal), progress.progress("Importing") as advance:
        advance(1_000)
        advance(234)

    assert "Importing · 1,234 items" in terminal.getvalue()


def test_what_is_done_at_once_shows_nothing():
    terminal = Terminal()

    with redirect_stderr(terminal), progress.progress("Importing") as advance:
        advance(1_000)

    assert terminal.getvalue() == ""


def test_what_is_done_at_once_does_not_even_import_the_bar():
    told = subprocess.run([sys.executable, "-c", LIST_RICH], capture_output=True, text=True, check=True)

    assert told.stdout == "False\n"


def test_where_nobody_watches_nothing_is_shown(capsys, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0)

    with progress.progress("Importing") as advance:
        advance(1_000)

    assert capsys.readouterr() == ("", "")


def test_the_cursor_comes_back_where_the_work_fails(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0)
    terminal = Terminal()

    with pytest.raises(KeyboardInterrupt), redirect_stderr(terminal), progress.progress("Importing") as advance:
        advance(1)
        raise KeyboardInterrupt

    hidden, shown = terminal.getvalue().rfind("\x1b[?25l"), terminal.getvalue().rfind("\x1b[?25h")
    assert 0 <= hidden < shown
