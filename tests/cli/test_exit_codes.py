"""The door of the program: one exit code for each way a command can end."""

import shutil
import signal
import subprocess
import sys
import time
import weakref

import pytest

from errata.cli import door
from errata.cli.app import COMMANDS
from errata.errors import SettingsError
from terminal import FIXTURES, PROGRAM, done, errata, errata_program, import_fixtures

RUN_A = FIXTURES / "convex_evals" / "run_a" / "data"
RUN_B = FIXTURES / "convex_evals" / "run_b" / "data"
RUN_D = FIXTURES / "convex_evals" / "run_d" / "data"
SECRET = "sk-ant-api03-abcdefghijklmnop"


def breaks(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """The command `runs` meets an error in a store that is there."""
    done("doctor")

    def raising(*_: object) -> None:
        raise error

    monkeypatch.setattr("errata.cli.runs.all_runs", raising)


def test_a_check_of_a_fit_run_ends_with_0():
    assert errata("check", RUN_D).code == 0


def test_a_check_of_an_unfit_run_ends_with_1(library):
    assert errata("check", "jn709tmj", "--store", library).code == 1


def test_one_unfit_run_among_fit_ones_is_enough_for_1(library):
    assert errata("check", "jn7maewn", "jn709tmj", "jn7mqywb", "--store", library).code == 1


def test_an_error_that_the_user_can_fix_ends_with_2_and_says_what_would_be_right(monkeypatch):
    breaks(monkeypatch, SettingsError("Two stores are named", hint="name one\nor none"))

    assert errata("runs") == (2, "", "error: Two stores are named\n\nhint: name one\n      or none\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["frobnicate"], "No such command"),
        (["runs", "--frob"], "No such option"),
        (["import"], "Missing argument"),
        (["failures", "latest", "--limit", "0"], "--limit"),
        (["failures", "latest", "--outcome", "nope"], "'pass', 'fail', 'partial', 'number', 'none'"),
    ],
)
def test_wrong_usage_ends_with_2_and_points_to_the_help(arguments, said):
    result = errata(*arguments)

    assert result.code == 2
    assert result.err.startswith("error: ")
    assert said in result.talk
    assert "--help` lists the " in result.err


@pytest.mark.parametrize("arguments", [[], ["help"], ["--help"], ["-h"]])
def test_who_asks_for_help_in_any_way_gets_it(arguments):
    result = errata(*arguments)

    assert result.code == 0
    assert result.err == ""
    assert result.out.startswith("Usage: errata")
    assert all(name in result.out for name in COMMANDS)


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["faliures"], "did you mean `failures`?"),
        (["help", "anlyze"], "did you mean `analyze`?"),
        (["failures", "latest", "--ouwner", "model"], "did you mean `--owner`?"),
        (["failures", "latest", "--owner", "modle"], "did you mean `model`?"),
        (["runs", "--source", "convex"], "did you mean `convex-evals`?"),
        (["import", RUN_D, "--source", "inspect"], "did you mean `inspect-ai`?"),
    ],
)
def test_a_slip_of_the_pen_is_answered_with_what_was_meant(arguments, meant):
    result = errata(*arguments)

    assert result.code == 2
    assert f"hint: {meant}\n" in result.err


def test_a_path_in_the_place_of_a_command_is_told_how_to_be_read():
    result = errata(RUN_D)

    assert result.code == 2
    assert f"hint: `errata analyze {RUN_D}` reads it" in result.talk


def test_our_own_bug_ends_with_3_and_leaves_a_crash_file(monkeypatch, tmp_path):
    breaks(monkeypatch, ZeroDivisionError("by nought"))

    result = errata("runs")
    (crash,) = (tmp_path / "scratch").glob("errata-crash-*.txt")

    assert result.code == 3
    assert "errata has a bug: ZeroDivisionError: by nought" in result.err
    assert f"`{crash}`" in result.err
    assert "Traceback (most recent call last)" in crash.read_text()
    assert "in raising" in crash.read_text()


def test_a_crash_file_is_for_its_owner_alone(monkeypatch, tmp_path):
    breaks(monkeypatch, ZeroDivisionError())
    errata("runs")
    (crash,) = (tmp_path / "scratch").glob("errata-crash-*.txt")

    assert crash.stat().st_mode & 0o777 == 0o600


def test_a_crash_holds_no_secrets(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "argv", ["errata", "runs", f"--token={SECRET}"])
    breaks(monkeypatch, ZeroDivisionError(f"refused with {SECRET}, DB_PASSWORD=hunter22"))

    result = errata("runs")
    crash = "".join(path.read_text() for path in (tmp_path / "scratch").glob("errata-crash-*.txt"))

    for text in (result.err, crash):
        assert "[redacted:" in text
        assert SECRET not in text
        assert "hunter22" not in text


def test_a_bug_whose_message_holds_escapes_is_told_without_them(monkeypatch):
    breaks(monkeypatch, ZeroDivisionError("\x1b]0;owned\x07by \x1b[31mnought\u202e"))

    assert "ZeroDivisionError: by nought\n" in errata("runs").err


def test_an_interrupt_ends_with_130(monkeypatch):
    breaks(monkeypatch, KeyboardInterrupt())

    result = errata("runs")

    assert (result.code, result.err.strip()) == (130, "interrupted")


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no such timer on Windows")
def test_an_interrupt_that_python_drops_comes_again(monkeypatch, capfd):
    """In a callback that Python makes by itself an exception leads nowhere."""
    monkeypatch.setattr("sys.unraisablehook", door._dropped)
    held = {1}
    watched = weakref.ref(held, lambda _: signal.default_int_handler(signal.SIGINT, None))
    before = signal.getsignal(signal.SIGALRM)

    try:
        with pytest.raises(KeyboardInterrupt):
            del held
            time.sleep(20)
    finally:
        signal.signal(signal.SIGALRM, before)

    assert (watched(), capfd.readouterr().err) == (None, "")


@pytest.mark.parametrize("arguments", [["failures", "latest"], ["show", "latest", "--json"], ["runs", "--json"]])
def test_a_reader_that_has_had_enough_is_no_error(arguments):
    import_fixtures(FIXTURES / "scylla" / "large" / "batch-gen1" / "data")
    command = subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
    assert command.stdout is not None
    assert command.stderr is not None

    command.stdout.read(1)
    command.stdout.close()
    result = command.stderr.read()
    command.stderr.close()

    assert (command.wait(), result) == (0, b"")


@pytest.mark.req("N-18")
@pytest.mark.parametrize(
    ("command", "code"),
    [
        (f"gate {RUN_B} --baseline {RUN_A}", 1),
        (f"gate {RUN_B} --baseline {RUN_A} --json", 1),
        (f"gate {RUN_B} --baseline {RUN_A} --format github", 1),
        (f"check {RUN_A}", 1),
        ("check nothing", 2),
    ],
)
@pytest.mark.parametrize("pipe", ["| head -c 1", "2>&1 | true", ">&- 2>&-"])
def test_the_exit_code_survives_the_pipe(command, code, pipe, library):
    script = f"set -o pipefail; {PROGRAM} {command} --store {library} {pipe}"

    ended = subprocess.run(["bash", "-c", script], capture_output=True, check=False)

    assert (ended.returncode, b"Exception ignored" in ended.stderr) == (code, False)


@pytest.mark.req("N-18")
def test_a_watch_ends_when_nobody_reads_it(tmp_path):
    shutil.copytree(RUN_D, tmp_path / "logs" / "run")
    watch = f"{PROGRAM} watch {tmp_path / 'logs'} --every 0.1 --settle 0 --json"

    assert subprocess.run(["bash", "-c", f"set -o pipefail; {watch} | true"], check=False, timeout=60).returncode == 0


def test_a_terminal_that_knows_only_ascii_gets_escapes_and_no_crash():
    result = errata_program("show", RUN_B, PYTHONIOENCODING="ascii")

    assert result.code == 0
    assert "\\xb7" in result.out


def test_nothing_from_a_folder_of_logs_is_run_as_code(tmp_path):
    (tmp_path / "msgspec.py").write_text("raise SystemExit('owned')")
    (tmp_path / "errata.py").write_text("raise SystemExit('owned')")

    assert errata_program("import", RUN_D).code == 0
