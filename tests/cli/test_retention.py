"""`errata rm --older-than`, `store thin` and `store size`."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from reading import an_answer
from terminal import FIXTURES, done, errata, import_fixtures

RUN_A, RUN_B = "jn709tmj", "jn7mqywb"
TAU = FIXTURES / "tau_bench" / "tau_cut" / "data" / "gpt-4o-airline.json"
STORE = Path(".errata") / "errata.db"


def change(statement: str) -> None:
    with closing(sqlite3.connect(STORE)) as database, database:
        database.execute(statement)


def runs() -> set[str]:
    return {one["run"][:8] for one in done("runs", "--json").rows}


def test_old_runs_are_removed(own_two_runs):
    done("rm", "--older-than", "1d", "--yes")

    assert runs() == set()


def test_a_dry_run_lists_what_would_be_removed_and_removes_nothing(own_two_runs):
    page = done("rm", "--older-than", "1d", "--dry-run")

    assert page.out.count("would remove ") == 2
    assert runs() == {RUN_A, RUN_B}


def test_young_runs_stay(own_two_runs):
    result = done("rm", "--older-than", "90y", "--yes")

    assert "no run is that old" in result.err
    assert len(runs()) == 2


def run_id(name: str) -> str:
    return next(one["run_id"] for one in done("runs", "--json").rows if one["run"].startswith(name))


NEEDED = {
    "verdicts": "INSERT INTO verdicts VALUES ('v', '{id}', '{id}:c#1', 'r', 'person', 'l', 'model', 0, '', x'80')",
    "baseline": "INSERT INTO gates VALUES ('other', '{id}', 'failed', '2026-01-01')",
    "running": "INSERT INTO live_runs VALUES ('{id}', 'k', 't', 'running', NULL, '', '', 0)",
}


@pytest.mark.parametrize("reason", NEEDED)
def test_a_run_that_is_still_needed_is_kept_with_the_reason(own_two_runs, reason):
    change(NEEDED[reason].format(id=run_id(RUN_A)))

    rows = done("rm", "--older-than", "1d", "--yes", "--json").rows

    assert {one["run"][:8]: (one["forgotten"], one["kept_for"]) for one in rows} == {
        RUN_A: (False, [reason]),
        RUN_B: (True, []),
    }
    assert runs() == {RUN_A}


def test_protection_is_given_up_only_on_request(own_two_runs):
    change(NEEDED["verdicts"].format(id=run_id(RUN_A)))

    done("rm", "--older-than", "1d", "--with-verdicts", "--yes")

    assert runs() == set()


def test_the_newest_of_a_suite_and_model_are_kept(own_two_runs):
    done("rm", "--older-than", "1d", "--keep-last", "1", "--yes")

    assert len(runs()) == 1


@pytest.mark.parametrize("age", ["90", "ninety", "-3d", "3h"])
def test_an_age_that_is_none_is_a_sentence(own_two_runs, age):
    result = errata("rm", f"--older-than={age}", "--yes")

    assert result.code == 2
    assert "is not an age" in result.talk
    assert len(runs()) == 2


def test_runs_and_an_age_exclude_each_other(own_two_runs):
    assert "Name runs, or `--older-than AGE`" in errata("rm", RUN_A, "--older-than", "1d").talk
    assert "Name runs, or `--older-than AGE`" in errata("rm").talk


@pytest.fixture
def conversation() -> str:
    """A run with long transcripts and its log in the working folder; a verdict on one failure quotes a step."""
    shutil.copy(TAU, "run.json")
    done("import", "run.json")
    (failure, *_) = done("failures", "latest", "--json").rows
    (packet,) = done("review", "next", failure["attempt_id"], "--reviewer", "ada", "--json").rows
    step = next(one for one in packet["packet"]["places"] if one["place"] == "steps/12")
    evidence = [{"place": step["place"], "quote": step["text"]}]
    Path("answer.json").write_text(json.dumps(an_answer(packet, label="model", evidence=evidence)), encoding="utf-8")
    done("review", "submit", "answer.json", "--reviewer", "ada")
    return failure["attempt_id"]


def quotes() -> tuple[int, int]:
    status = done("review", "status", "latest", "--json").row
    return status["quotes"]["quotes"], status["quotes"]["found"]


def test_quotes_of_verdicts_still_verify_after_thinning(conversation):
    before = quotes()

    result = done("store", "thin", "latest", "--json").row

    assert result["change"] == "thinned"
    assert result["steps_kept"] < result["steps"]
    assert result["size_after"] < result["size_before"]
    assert quotes() == before
    assert before[0] == before[1] > 0


def test_a_thinned_attempt_is_marked_everywhere(conversation):
    done("store", "thin", "latest")

    assert "Thinned" in done("show", conversation).out
    assert done("show", conversation, "--json").row["attempt"]["thinned"]
    assert "thinned on 2" in done("show", conversation, "--packet").out
    assert "thinned" in {one["name"] for one in errata("check", "latest", "--json").row["findings"]}


def test_thinned_failures_are_not_handed_to_reviewers(conversation):
    waiting = done("review", "next", "latest", "--reviewer", "ben", "--json").row
    assert waiting["packet"] is not None
    done("review", "release", "latest", "--reviewer", "ben")
    done("store", "thin", "latest")

    row = errata("review", "next", "latest", "--reviewer", "eve", "--json").row
    assert row["packet"] is None
    assert row["failures"] > 0


def test_owners_stay_when_rules_run_again_over_thinned_transcripts(conversation):
    before = done("failures", "latest", "--json").rows
    done("store", "thin", "latest")

    done("triage", "latest")

    assert done("failures", "latest", "--json").rows == before


def test_thinning_is_undone_from_the_logs(conversation):
    before = done("show", conversation, "--json").row
    done("store", "thin", "latest")

    assert done("store", "thin", "--undo", "latest", "--json").row["change"] == "restored"

    assert done("show", conversation, "--json").row == before
    assert quotes()[0] == quotes()[1]


def test_thinning_is_not_undone_without_the_logs(conversation):
    done("store", "thin", "latest")
    Path("run.json").unlink()

    result = errata("store", "thin", "--undo", "latest")

    assert result.code == 2
    assert "its logs can't be read" in result.talk
    assert "restore a backup" in result.talk


def test_only_old_runs_are_thinned():
    import_fixtures(TAU)

    assert "no run is that old" in done("store", "thin", "--older-than", "90y").err
