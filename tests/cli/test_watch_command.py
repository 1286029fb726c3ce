"""`errata watch`: finished runs only, each once, with hooks."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.client.test_webhook import Receiver

from errata.verbs.watch import Watcher
from suite_of_runs import write_logs
from terminal import FIXTURES, PROGRAM, done, errata

OLD = 1_700_000_000


@pytest.fixture(autouse=True)
def folder(at_home):
    Path("logs").mkdir()
    return at_home


def write(name, letters, **how):
    """A log that nothing has changed for long."""
    write_logs(Path("logs"), {name: letters}, model="m", **how)
    settled(Path("logs", f"{name}.jsonl"))


def settled(path):
    os.utime(path, (OLD, OLD))
    os.utime(path.parent, (OLD, OLD))


def test_a_finished_run_is_imported_once_and_printed():
    write("a", "++-")
    first, second = done("watch", "logs", "--once"), done("watch", "logs", "--once")

    assert first.out.startswith("new · Run a · m · suite · 3 attempts, 1 failure")
    assert "clean 2/3" in first.out
    assert second.out == ""


def test_a_run_that_has_just_been_written_waits():
    write_logs(Path("logs"), {"a": "+"}, model="m")
    result = done("watch", "logs", "--once")

    assert (result.out, "waiting: logs/a.jsonl: still being written" in result.talk) == ("", True)
    assert done("watch", "logs", "--once", "--settle", "0").out.startswith("new · Run a")


def test_a_run_that_its_harness_calls_running_waits():
    shutil.copytree(FIXTURES / "harbor/demo-job/data", "logs/job")
    (job,) = [one for one in Path("logs/job").rglob("result.json") if "n_total_trials" in one.read_text()]
    whole = json.loads(job.read_text())
    job.write_text(json.dumps({**whole, "finished_at": None}))
    waiting = done("watch", "logs", "--once", "--settle", "0")
    job.write_text(json.dumps(whole))
    finished = done("watch", "logs", "--once", "--settle", "0")

    assert (waiting.out, "the harness reports it as `running`" in waiting.talk) == ("", True)
    assert finished.out.startswith("new · Run ")


def test_a_half_written_file_is_skipped_and_the_others_are_imported():
    write("a", "+-")
    whole = (FIXTURES / "inspect_ai/demo_json/data").glob("*.json")
    Path("logs/half.json").write_bytes(next(whole).read_bytes()[:700])
    settled(Path("logs/half.json"))
    result = done("watch", "logs", "--once")

    assert result.out.startswith("new · Run a")
    assert "skipped: logs/half.json" in result.talk


def test_what_could_not_be_read_is_tried_again_when_it_has_changed(store):
    path = Path("logs/a.jsonl")
    write("a", "++")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 3])
    settled(path)
    watcher = Watcher([Path("logs")], store, settle=5)
    first, second = watcher.poll(), watcher.poll()
    path.write_bytes(whole)
    os.utime(path, (OLD + 60, OLD + 60))
    third, fourth = watcher.poll(), watcher.poll()

    assert first.finished or first.problems
    assert not (second.finished or second.problems)
    assert third.finished[0].view.stored.counts.attempts == 2
    assert not fourth.finished


def test_a_run_that_has_grown_is_printed_again():
    write("a", "++")
    done("watch", "logs", "--once")
    write_logs(Path("logs"), {"a": "++-"}, model="m")
    time.sleep(1.1)  # the clocks of files and store may differ by a second
    os.utime("logs/a.jsonl")
    result = done("watch", "logs", "--once", "--settle", "0", "--json")

    assert (result.row["change"], result.row["attempts"]) == ("grown", 3)


def test_a_program_gets_the_summary_on_stdin_and_no_shell_sees_the_words():
    write("a", "+-")
    script = Path("hook.py")
    script.write_text("import sys, pathlib; pathlib.Path('got').write_text(sys.stdin.read() + sys.argv[1])")
    done("watch", "logs", "--once", "--exec", f"{sys.executable} {script} '$HOME; touch x'")

    got = Path("got").read_text()
    row = json.loads(got.removesuffix("$HOME; touch x"))
    assert got.endswith("$HOME; touch x")
    assert (row["run"], row["failures"], row["owners"]) == ("a", 1, {"model": 1})
    assert not Path("x").exists()


def test_a_webhook_gets_the_same_object_as_json_prints():
    write("a", "+-")
    with Receiver() as receiver:
        result = done("watch", "logs", "--once", "--json", "--webhook", receiver.address)

    assert [json.loads(body) for body in receiver.bodies] == result.rows


def test_a_hook_that_fails_is_reported_and_the_run_is_imported_all_the_same():
    write("a", "+")
    result = errata("watch", "logs", "--once", "--exec", f"{sys.executable} -c 'raise SystemExit(3)'")

    assert (result.code, "exited with 3" in result.talk) == (2, True)
    assert done("runs", "--json").row["run"] == "a"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nowhere",), "No such folder: `nowhere`"),
        (("logs", "--webhook", "ftp://x"), "is not an address"),
        (("logs", "--exec", "'x"), "can't be split into words"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_is_watched(arguments, words):
    result = errata("watch", *arguments)

    assert (result.code, words in result.talk) == (2, True)


def test_ctrl_c_exits_with_130():
    write("a", "+")
    process = subprocess.Popen(
        [PROGRAM, "watch", "logs", "--every", "0.2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline().startswith("new · Run a")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)

    assert (process.returncode, err.strip().endswith("interrupted")) == (130, True)
