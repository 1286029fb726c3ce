"""`errata review run`: a program reads every failure; it is said before what it costs, and nothing is asked twice."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reading import RUN_B, at_a_terminal, program
from terminal import PROGRAM, done, errata, import_fixtures


@pytest.fixture
def imported():
    import_fixtures(RUN_B)


def reviewed(*options, reader=None):
    return errata("review", "run", "latest", "--command", reader or program(), "--yes", *options)


def calls(log: Path) -> int:
    return len(log.read_text().splitlines()) if log.exists() else 0


@pytest.mark.req("C-08")
def test_every_failed_eval_is_read_once(imported, tmp_path):
    rows = reviewed("--json", reader=program(f"log={tmp_path}/log")).rows[-1]

    assert (rows["planned"], rows["reviewed"], rows["calls"], calls(tmp_path / "log")) == (9, 9, 9, 9)


@pytest.mark.req("C-08")
def test_four_are_read_at_once_unless_another_number_is_given():
    from errata.cli.review.run import command

    (parallel,) = [option for option in command.params if option.name == "parallel"]

    assert parallel.default == 4


@pytest.mark.req("J-30")
def test_a_run_is_provisional_until_it_is_reviewed(imported):
    before = done("failures", "latest").out
    reviewed()

    assert "provisional: owners assigned by rules" in before
    assert "provisional" not in done("failures", "latest").out


def test_two_processes_at_once_pay_for_no_answer_twice(imported, tmp_path):
    reader = program(f"log={tmp_path}/log", "wait=0.2")
    command = [str(PROGRAM), "review", "run", "latest", "--command", reader, "--yes", "--json"]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    data = [json.loads(process.communicate()[0].splitlines()[-1]) for process in processes]

    assert calls(tmp_path / "log") == sum(one["calls"] for one in data) == 9
    assert done("review", "status", "latest", "--json").row["reviewed"] == 9


def test_what_was_read_is_not_read_again(imported, tmp_path):
    reader = program(f"log={tmp_path}/log")
    reviewed(reader=reader)

    result = reviewed(reader=reader)

    assert "nothing is waiting" in result.talk
    assert calls(tmp_path / "log") == 9


def test_it_is_said_first_what_will_be_done(imported):
    result = reviewed()

    assert "9 failures · 0 reviewed · 9 to review" in result.talk
    assert "estimate 9 calls, about" in result.talk
    assert "unknown cost" in result.talk


def test_where_nobody_can_be_asked_it_is_not_begun(imported, tmp_path):
    result = errata("review", "run", "latest", "--command", program(f"log={tmp_path}/log"))

    assert result.code == 2
    assert "9 calls for an unknown cost" in result.talk
    assert "`--yes`" in result.talk and "`--max-tokens N`" in result.talk
    assert calls(tmp_path / "log") == 0


@pytest.mark.parametrize(("answer", "asked"), [("n", 0), ("y", 9)])
def test_at_a_terminal_one_is_asked_before_anything_is_spent(imported, tmp_path, answer, asked):
    command = ("review", "run", "latest", "--command", program(f"log={tmp_path}/log"))

    code, shown = at_a_terminal(*command, answers=[answer])

    assert code == 0, shown
    assert "unknown cost" in shown and "Begin?" in shown
    assert ("nothing was sent" in shown) is (answer == "n")
    assert calls(tmp_path / "log") == asked


def test_a_cap_on_money_without_a_price_is_refused(imported, tmp_path):
    result = reviewed("--max-cost", 1, reader=program(f"log={tmp_path}/log"))

    assert result.code == 2
    assert "`--max-cost` can't be enforced" in result.talk
    assert "`--max-tokens N`" in result.talk and "`price_in`" in result.talk
    assert calls(tmp_path / "log") == 0


def test_a_cap_on_tokens_stops_in_time_and_says_so(imported, tmp_path):
    rows = reviewed("--max-tokens", 20_000, "--json", reader=program(f"log={tmp_path}/log")).rows[-1]

    assert "--max-tokens" in rows["capped"]
    assert 0 < rows["reviewed"] < 9
    assert rows["not_read"] == 9 - rows["reviewed"]
    assert calls(tmp_path / "log") == rows["reviewed"]


def test_a_dry_run_shows_what_would_be_sent_and_sends_nothing(imported, tmp_path):
    result = errata("review", "run", "latest", "--command", program(f"log={tmp_path}/log"), "--dry-run")

    assert result.code == 0
    assert "Define a table `visits` with fields `place`" in result.out
    assert "nothing was sent" in result.talk
    assert calls(tmp_path / "log") == 0


@pytest.mark.req("C-12")
def test_an_invented_quote_is_asked_about_once_more_and_then_refused(imported, tmp_path):
    rows = reviewed("--json", reader=program("invent", f"log={tmp_path}/log")).rows[-1]

    assert (rows["reviewed"], rows["refused"], rows["calls"], calls(tmp_path / "log")) == (0, 9, 18, 18)
    assert all("this was never written by anybody" in reason for reason in rows["reasons"])
    assert done("failures", "latest", "--json").rows[0]["verdict"] is None


def test_a_refused_answer_is_neither_asked_for_nor_counted_again(imported, tmp_path):
    reader = program("invent", f"log={tmp_path}/log")
    reviewed(reader=reader)

    rows = reviewed("--json", reader=reader).rows[-1]

    assert (rows["refused"], rows["calls"], rows["cached"], calls(tmp_path / "log")) == (9, 0, 9, 18)
    assert done("review", "status", "latest", "--json").row["refused"] == 9


def test_a_reader_that_fails_always_is_an_error(imported, monkeypatch):
    from errata.review import spending

    monkeypatch.setattr(spending, "FIRST_WAIT", 0.001)

    result = reviewed("--limit", 1, reader=program("fail"))

    assert result.code == 2
    assert "no quota left" in result.talk


def test_a_program_that_is_not_there_stops_the_review(imported):
    result = reviewed(reader="errata-no-such-program")

    assert result.code == 2
    assert "can't be started" in result.talk


def test_another_reader_of_the_same_failures_needs_to_be_asked_for(imported):
    reviewed()

    assert "nothing is waiting" in reviewed(reader=program("label=OVERLY_STRICT")).talk


def test_the_same_program_is_no_second_opinion(imported):
    reviewed()

    assert (
        "nothing that others have reviewed is waiting"
        in reviewed("--second", reader=program("label=OVERLY_STRICT")).talk
    )


def test_a_second_reader_reads_what_the_first_has_read(imported, tmp_path):
    reviewed()
    settings(tmp_path, "other", ["label=OVERLY_STRICT"])

    rows = errata("review", "run", "latest", "--reviewer", "other", "--second", "--yes", "--json").rows[-1]

    assert rows["reviewed"] == 9
    assert done("review", "status", "latest", "--json").row["seconded"] == 9


def settings(tmp_path, name, options, **more):
    folder = tmp_path / "config" / "errata"
    folder.mkdir(parents=True, exist_ok=True)
    command = json.dumps([sys.executable, program().split()[-1], *options])
    lines = [f"[reviewers.{name}]", 'kind = "command"', f"command = {command}"]
    lines += [f"{key} = {value}" for key, value in more.items()]
    (folder / "config.toml").write_text("\n".join(lines))


def test_a_reviewer_of_the_settings_with_a_price_can_be_capped_by_money(imported, tmp_path):
    settings(tmp_path, "priced", [], price_in=1.0, price_out=2.0)

    rows = errata("review", "run", "latest", "--reviewer", "priced", "--max-cost", 0.04, "--json").rows[-1]

    assert rows["estimate"]["cost"] > 0
    assert "--max-cost" in rows["capped"]
    assert 0 < rows["reviewed"] < 9


def test_who_costs_nothing_need_not_be_confirmed(imported, tmp_path):
    settings(tmp_path, "free", [], price_in=0, price_out=0)

    assert errata("review", "run", "latest", "--reviewer", "free").code == 0


def test_an_unknown_reviewer_is_refused_with_those_that_are_known(imported, tmp_path):
    settings(tmp_path, "careful", [])

    result = errata("review", "run", "latest", "--reviewer", "carefull")

    assert result.code == 2
    assert "did you mean `careful`" in result.talk


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([], "No reviewer is named"),
        (["--model", "openai:gpt-5", "--command", "claude"], "Several reviewers are named"),
        (["--model", "gpt-5"], "does not name a provider"),
        (["--base-url", "http://127.0.0.1:1/v1"], "`--base-url` needs a `--model`"),
        (["--base-url", "ftp://x", "--model", "m"], "is not a valid address"),
        (["--command", "claude --dangerously"], "can run commands"),
        (["--command", 'python3 "unfinished'], "can't be read"),
        (["--command", "cat", "--with-tools"], "is for models"),
        (["--command", "cat", "--taxonomy", "convex-eval"], "No taxonomy is named"),
    ],
)
def test_a_reviewer_that_makes_no_sense_is_refused(imported, options, says):
    result = errata("review", "run", "latest", *options)

    assert result.code == 2
    assert says in result.talk


def test_without_the_extra_it_is_said_how_to_get_it(imported, monkeypatch):
    monkeypatch.setattr("errata.review.choose_reviewer.find_spec", lambda _: None)

    result = errata("review", "run", "latest", "--model", "openai:gpt-5", "--dry-run")

    assert result.code == 2
    assert "pip install '.[llm]'" in result.talk


@pytest.mark.req("J-31")
def test_a_limit_reads_some_of_every_group_and_tells_what_is_left_out(imported):
    row = reviewed("--limit", 8, "--json").rows[-1]

    assert (row["reviewed"], sum(row["left_out"].values())) == (8, 1)


@pytest.mark.req("C-13")
def test_another_taxonomy_asks_for_its_labels(imported):
    reader = program("label=HARNESS_FAILURE")
    reviewed("--taxonomy", "convex-evals-later", "--owner", "environment", reader=reader)

    verdicts = [row["verdict"] for row in done("failures", "latest", "--json", "--owner", "harness").rows]

    assert [(one["taxonomy"], one["label"], one["owner"]) for one in verdicts] == [
        ("convex-evals-later", "HARNESS_FAILURE", "harness")
    ]


def test_a_blind_review_does_not_send_the_models_name(imported):
    seen = errata("review", "run", "latest", "--command", program(), "--dry-run", "--json").row["prompt"]
    blind = errata("review", "run", "latest", "--command", program(), "--dry-run", "--blind", "--json").row["prompt"]

    assert "nimbus" in seen
    assert "nimbus" not in blind


def test_a_changed_script_is_another_version_of_the_reviewer(imported, tmp_path):
    script = tmp_path / "mine.py"
    names = []
    for text in ("print(1)", "print(2)"):
        script.write_text(text)
        result = errata("review", "run", "latest", "--command", f"{sys.executable} mine.py", "--dry-run", "--json")
        names.append(result.row["reviewer"])

    assert names[0] != names[1]


def test_a_review_that_is_interrupted_keeps_what_was_read_and_goes_on(imported, tmp_path):
    log = tmp_path / "log"
    command = [str(PROGRAM), "review", "run", "latest", "--command", program("wait=0.3", f"log={log}"), "--yes"]
    process = subprocess.Popen([*command, "--parallel", "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while calls(log) < 4 and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)

    kept = done("review", "status", "latest", "--json").row
    assert process.returncode == 130
    assert "interrupted" in err
    assert "Reviewed" in out and "lost" in out
    assert kept["reviewed"] >= 1
    (spent,) = kept["spent"]
    assert spent["lost"] + spent["answered"] == spent["calls"] >= calls(log)

    rows = errata(*command[1:], "--json").rows[-1]

    assert rows["reviewed"] == 9 - kept["reviewed"]
    assert 9 <= calls(log) <= 9 + spent["lost"]


def test_a_killed_review_is_told_of_with_what_was_lost(imported, tmp_path):
    log = tmp_path / "log"
    command = ["review", "run", "latest", "--command", program("wait=5", f"log={log}"), "--yes", "--parallel", "3"]
    process = subprocess.Popen([str(PROGRAM), *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while calls(log) < 3 and process.poll() is None:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()

    result = reviewed()

    assert "lost 3 calls" in result.talk
    assert "Reviewed 9 of 9" in result.out
