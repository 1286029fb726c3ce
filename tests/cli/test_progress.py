"""Progress is for people who wait: on stderr, at a terminal, only when it takes a while, and gone at the end."""

import io
import time
from contextlib import redirect_stderr

import pytest

from errata.cli import progress
from errata.cli.output import say


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def a_terminal_with_a_cursor(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0)


def left_on_screen(text: str) -> str:
    """What is to be seen after all lines were drawn and cleared."""
    for control in (progress.HIDE_CURSOR, progress.SHOW_CURSOR):
        text = text.replace(control, "")
    return "\n".join(line.rpartition(progress.CLEAR_LINE)[2] for line in text.split("\n"))


def test_who_waits_sees_how_many_items_were_read(at_once):
    terminal = Terminal()

    with redirect_stderr(terminal), progress.progress("Importing") as advance:
        advance(1_000)
        advance(234)

    assert "Importing · 1,234 items" in terminal.getvalue()
    assert left_on_screen(terminal.getvalue()) == ""


def test_a_command_that_counts_nothing_shows_for_how_long_it_works(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    monkeypatch.setattr(progress, "REDRAW", 0.01)
    terminal = Terminal()

    with redirect_stderr(terminal), progress.status_line("errata compare"):
        time.sleep(0.2)

    assert "errata compare · 0 s" in terminal.getvalue()
    assert left_on_screen(terminal.getvalue()) == ""


def test_the_line_makes_room_for_what_is_printed(at_once):
    terminal = Terminal()

    with redirect_stderr(terminal), progress.progress("Importing") as advance:
        advance(1)
        say("a note")
        advance(1)

    assert left_on_screen(terminal.getvalue()) == "a note\n"


def test_work_within_a_command_has_the_line_of_the_command(at_once):
    terminal = Terminal()

    with redirect_stderr(terminal), progress.status_line("errata analyze") as line:
        with progress.progress("Analysing") as advance:
            advance(5)
        assert (line.label, line.detail) == ("errata analyze", "")

    assert "Analysing · 5 items" in terminal.getvalue()


def test_the_cursor_comes_back_where_the_work_fails(at_once):
    terminal = Terminal()

    with pytest.raises(KeyboardInterrupt), redirect_stderr(terminal), progress.progress("Importing") as advance:
        advance(1)
        raise KeyboardInterrupt

    hidden, shown = terminal.getvalue().rfind("\x1b[?25l"), terminal.getvalue().rfind("\x1b[?25h")
    assert 0 <= hidden < shown
