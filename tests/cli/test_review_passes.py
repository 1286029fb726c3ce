"""`errata review run --passes 2`, as a user sees it."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from reading import RUN_B, program
from terminal import PROGRAM, done, errata, import_fixtures


@pytest.fixture
def imported():
    import_fixtures(RUN_B)


def reviewed(*options, reader=None):
    return errata("review", "run", "latest", "--command", reader or program(), "--yes", *options)


def calls(log: Path) -> int:
    return len(log.read_text().splitlines()) if log.exists() else 0


def test_two_passes_ask_twice_and_adjudicate_where_the_readings_differ(imported, tmp_path):
    rows = reviewed("--passes", 2, "--json", reader=program(f"log={tmp_path}/log")).rows[-1]

    assert (rows["passes"], rows["planned"], rows["reviewed"]) == (2, 9, 9)
    assert rows["estimate"]["calls"] == 27
    assert rows["calls"] == calls(tmp_path / "log") == 18 + rows["adjudicated"]
    assert done("review", "agreement", "latest", "--json").row["agreement"]["attempts"] == 9


def test_two_passes_are_announced(imported):
    result = reviewed("--passes", 2)

    assert "passes two readings, the second as `command:" in result.talk
    assert "estimate at most 27 calls" in result.talk
    assert "passes   0 of 9 adjudicated" in result.out


@pytest.mark.parametrize("flags", [("--passes", 2, "--second"), ("--second-reviewer", "careful")])
def test_passes_that_contradict_other_flags_are_refused(imported, flags):
    assert reviewed(*flags).code == 2


def test_a_review_of_two_passes_that_is_killed_goes_on_without_paying_twice(imported, tmp_path):
    reader = program(f"log={tmp_path}/log", "wait=0.2")
    command = [str(PROGRAM), "review", "run", "latest", "--command", reader, "--yes", "--passes", "2"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    while calls(tmp_path / "log") < 6:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    before = calls(tmp_path / "log")

    rows = reviewed("--passes", 2, "--json", reader=reader).rows[-1]

    assert rows["reviewed"] + done("review", "status", "latest", "--json").row["reviewed"] >= 9
    assert done("review", "status", "latest", "--json").row["reviewed"] == 9
    assert 18 <= calls(tmp_path / "log") <= 18 + 4, f"at most the calls in flight are repeated, {before} before"
