"""Stores, reports and settings of earlier commits open with everything in place; see tests/fixtures/old.

Everything goes through the command line. `expected.json` has what the old program printed with `--json`.
"""

import gzip
import json
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest
from old_store_facts import (
    SINCE_APART,
    SINCE_FINAL,
    Rows,
    actions,
    actions_by_hand,
    bucket_events,
    comparison_counts,
    earlier_reports,
    edited_tasks,
    every_verdict,
    exclusions,
    failing_attempts,
    gaps,
    kept_buckets,
    of_run,
    placed_by_people,
    reviews,
    runs_with_counts,
    scores,
    standing_verdicts,
)

from reading import an_answer, submitted
from terminal import done, errata

OLD = sorted(path.parent for path in (Path(__file__).parents[1] / "fixtures" / "old").glob("*/store.db.gz"))
RUNS = ("jn709tmj", "jn7mqywb", "0b1c2d3e", "batch-0214", "Ukmc32qZ", "nightly-1", "nightly-2")
REVIEWED = tuple(run for run in RUNS if run != "Ukmc32qZ")
IN_HAND = "jn7mqywb/003-mutations/005-batch_insert"
WITHOUT_A_VERDICT = "jn7mqywb/005-idioms/004-pick_primitive"
BY_HAND = "- 2026-03-11: `TASK.txt` says *newest* first (addresses 002-queries/001-text_lookup)\n\n  checked by hand"
REPORTS = Path("reports/acme/nimbus-2-coder")


class Old(NamedTuple):
    folder: Path
    expected: dict[str, Rows]
    answers: dict[str, Rows]
    """Today's, as far as they were asked for."""


# -- the old folder --------------------------------------------------------------------------------------------------


def unpack(old: Path, folder: Path) -> None:
    shutil.copytree(old, folder, ignore=shutil.ignore_patterns("store.db.gz", "expected.json", "ORIGIN.md"))
    (folder / ".errata").mkdir()
    (folder / ".errata" / "errata.db").write_bytes(gzip.decompress((old / "store.db.gz").read_bytes()))


def work_in(folder: Path, patch: pytest.MonkeyPatch) -> None:
    for name in ("ERRATA_STORE", "NO_COLOR"):
        patch.delenv(name, raising=False)
    patch.setenv("ERRATA_AUTHOR", "ben")
    patch.setenv("XDG_CONFIG_HOME", str(folder / "home" / "config"))
    patch.setenv("XDG_STATE_HOME", str(folder / "home" / "state"))
    patch.chdir(folder)


@pytest.fixture(scope="module", params=OLD, ids=lambda path: path.name)
def first_copy(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Old:
    """Unpacked, and opened for the first time."""
    folder = tmp_path_factory.mktemp("first") / "evals"
    unpack(request.param, folder)
    expected = json.loads((request.param / "expected.json").read_text())
    with pytest.MonkeyPatch.context() as patch:
        work_in(folder, patch)
        done("trust")
        return Old(folder, expected, {FAILURES: rows_of(*FAILURES.split())})


@pytest.fixture
def old(first_copy: Old, monkeypatch: pytest.MonkeyPatch) -> Old:
    """To be read, not changed."""
    work_in(first_copy.folder, monkeypatch)
    return first_copy


@pytest.fixture
def changeable(first_copy: Old, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Old:
    """A copy, after it was opened."""
    folder = Path(shutil.copytree(first_copy.folder, tmp_path / "evals"))
    work_in(folder, monkeypatch)
    done("trust")
    return Old(folder, first_copy.expected, {})


def rows_of(*arguments: object) -> Rows:
    return done(*arguments, "--json").rows


def then(old: Old, question: str) -> Rows:
    return old.expected[question]


def both(old: Old, question: str) -> tuple[Rows, Rows]:
    """What is said today, and what was said then."""
    if question not in old.answers:
        old.answers[question] = rows_of(*question.split())
    return old.answers[question], then(old, question)


FAILURES = f"failures {' '.join(RUNS)}"
STATUS = f"review status {' '.join(REVIEWED)}"


# -- everything is in place ------------------------------------------------------------------------------------------


def test_every_run_is_there_with_its_counts(old):
    now, before = both(old, "runs")

    assert len(before) == len(RUNS)
    assert runs_with_counts(now) == runs_with_counts(before)


def test_a_run_that_was_excluded_still_is_and_says_why(old):
    now, before = both(old, "runs")

    assert exclusions(now) == exclusions(before)
    assert [result["reason"] for result in exclusions(now).values()] == ["a trial of the scorer, not a measurement"]


def test_every_failure_is_there(old):
    now, before = both(old, FAILURES)

    assert failing_attempts(now) == failing_attempts(before)


def test_every_verdict_stands_as_it_stood(old):
    now, before = both(old, FAILURES)

    assert standing_verdicts(now) == standing_verdicts(before)
    kinds = {verdict["reviewer"].partition(":")[0] for verdict in standing_verdicts(now).values()}
    assert kinds == {"agent", "person", "file", "command"}
    assert any(verdict["inherited_from"] for verdict in standing_verdicts(now).values())
    assert any(verdict["disputed"] for verdict in standing_verdicts(now).values())


@pytest.mark.parametrize(
    "case",
    [
        "jn7mqywb/002-queries/001-text_lookup",
        "jn7mqywb/004-actions/003-rate_limit_guard",
        "nightly-1/tide-01",
        "0b1c2d3e/turn-22",
    ],
)
def test_what_every_reader_of_a_failure_said_is_kept_with_its_quotes(old, case):
    now, before = both(old, f"show {case}")

    assert every_verdict(before)
    assert every_verdict(now) == every_verdict(before)


def test_refusals_stale_verdicts_calls_and_what_is_in_hand_are_counted_as_before(old):
    now, before = both(old, STATUS)

    assert reviews(now) == reviews(before)
    totals = {key: sum(row[key] for row in reviews(now).values()) for key in ("in_hand", "refusals", "calls")}
    assert totals == {"in_hand": 1, "refusals": 3, "calls": 6}
    assert [run for run, row in reviews(now).items() if row["stale"]] == ["nightly-1"]


def test_buckets_that_somebody_read_have_their_names_status_and_support(old):
    now, before = both(old, "buckets list --all")

    assert {slug for slug, *_ in kept_buckets(before).values()} >= {"reserved-index-name", "page-shape"}
    assert kept_buckets(now) == kept_buckets(before)
    words = {row["slug"]: (row["title"], row["status"]) for row in now}
    assert {slug: words[slug] for slug in SINCE_FINAL} == {slug: (text, "final") for slug, text in SINCE_FINAL.items()}


def test_what_people_put_into_a_bucket_lies_there(old):
    questions = [question for question in old.expected if question.startswith("buckets show ")]
    before = [row for question in questions for row in then(old, question)]
    changed = {slug for slug, _ in placed_by_people(before).values()}
    now = [row for slug in sorted(changed) for row in rows_of("buckets", "show", slug)]

    assert placed_by_people(now) == placed_by_people(before)
    assert {by for _, by in placed_by_people(now).values()} == {"ada"}


def test_the_history_of_buckets_is_kept_event_by_event(old):
    now, before = both(old, "buckets history")

    kept, added = bucket_events(now)[: len(before)], now[len(before) :]
    assert kept == bucket_events(before)
    assert [(event["what"], event["bucket"]) for event in added] == [("standing", slug) for slug in SINCE_FINAL]
    by_people = {event["what"] for event in bucket_events(now) if event["by"]}
    assert by_people == {"confirm", "rename", "merge", "split", "move", "undo"}


def test_a_bucket_that_was_merged_is_found_by_its_old_name(old):
    (merge,) = (event for event in then(old, "buckets history") if event["what"] == "merge")

    assert rows_of("buckets", "show", merge["before"])[0]["id"] == merge["bucket_id"]


def test_actions_are_kept_with_whether_they_worked(old):
    now, before = both(old, "action list")

    assert {worked for _, worked, _ in actions(before).values()} == {"yes", "no"}
    assert actions(now) == actions(before)


def test_an_action_that_was_written_into_an_old_report_by_hand_is_read(old):
    now, before = both(old, "action list")

    assert actions_by_hand(before) == {("2026-03-11", "TASK.txt", "says newest first")}
    assert actions_by_hand(now) == actions_by_hand(before)


def test_known_gaps_are_kept_those_of_a_case_and_those_of_a_pattern(old):
    now, before = both(old, "known list")

    assert len(gaps(before)) == 2
    assert gaps(now) == gaps(before)


def test_scores_that_the_harness_measured_are_the_same(old):
    now, before = both(old, f"score {' '.join(RUNS)}")

    assert scores(now) == scores(before)


def test_a_comparison_counts_the_same_and_sets_the_edited_task_aside(old):
    now, before = both(old, "compare nightly-1 nightly-2 --common")

    assert edited_tasks(before) == ["tide-02"]
    assert edited_tasks(now) == edited_tasks(before)
    assert comparison_counts(now) == comparison_counts(before)
    assert [tuple(row["flips"]["infrastructure"]) for row in now] == [SINCE_APART]


def test_the_store_is_sound(old):
    assert done("doctor", "--json").row["problems"] == []


def test_the_settings_of_the_old_project_are_read(old):
    now, _ = both(old, FAILURES)
    (failure,) = (row for row in of_run("nightly-1", now) if row["case"] == "tide-03")
    reviewer = errata("review", "run", "nightly-1", "--reviewer", "house", "--dry-run")

    assert failure["decided_by"] == "tide_table_offline"
    assert failure["suggested_labels"] == {"harbour": "NOT_REACHED"}
    assert rows_of("score", "nightly-1")[0]["timeouts"] == "drop"
    assert reviewer.code == 0, reviewer


def test_settings_that_name_a_program_are_refused_until_they_are_trusted_again(old, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(old.folder / "home" / "somebody-else"))

    assert errata("runs").code == 2


# -- old reports -----------------------------------------------------------------------------------------------------


def test_an_old_report_tells_a_new_store_what_failed_before(old, tmp_path):
    store = ("--store", tmp_path / "new.db")
    done("import", "logs/run-b", *store)
    found = earlier_reports(rows_of("failures", "jn7mqywb", *store))

    assert found == earlier_reports(of_run("jn7mqywb", then(old, FAILURES)))
    assert found["000-fundamentals/002-http_greeting"] == {("jn709tmj_2026-03-03.md", "OVERLY_STRICT")}


def test_what_was_done_stays_in_a_report_that_is_written_anew(changeable):
    for run, day in (("jn709tmj", "2026-03-03"), ("jn7mqywb", "2026-03-10")):
        path = REPORTS / f"{run}_{day}.md"
        before = actions_taken(path)
        done("report", run, "--date", day)

        assert before
        assert actions_taken(path) == before
    assert BY_HAND in actions_taken(REPORTS / "jn7mqywb_2026-03-10.md")


def test_what_was_done_is_carried_over_into_the_report_of_a_later_day(changeable):
    done("report", "jn7mqywb", "--date", "2026-03-20")

    assert BY_HAND in actions_taken(REPORTS / "jn7mqywb_2026-03-20.md")


def actions_taken(path: Path) -> str:
    return path.read_text().partition("## Actions taken\n")[2].partition("<!--")[0].strip()


# -- and it can be worked with ---------------------------------------------------------------------------------------


def test_a_packet_in_hand_is_handed_out_again_to_its_reader_and_can_be_given_back(changeable):
    assert done("review", "next", "jn7mqywb", "--reviewer", "reader").row["again"]
    done("review", "release", IN_HAND, "--reviewer", "reader")

    assert rows_of("review", "status", "jn7mqywb")[0]["in_hand"] == 0


def test_a_verdict_can_be_handed_in_beside_the_old_ones(changeable):
    before = standing_verdicts(of_run("jn7mqywb", then(changeable, FAILURES)))
    handed = done("review", "next", WITHOUT_A_VERDICT, "--reviewer", "newcomer").row
    assert submitted(changeable.folder / "verdict.json", an_answer(handed), "--reviewer", "newcomer").code == 0

    after = standing_verdicts(rows_of("failures", "jn7mqywb"))
    (added,) = after.keys() - before.keys()
    assert after[added]["reviewer"] == "agent:newcomer"
    assert {attempt: after[attempt] for attempt in before} == before


def test_changes_of_buckets_can_be_redone_and_taken_back(changeable):
    history = then(changeable, "buckets history")
    (renamed,) = (event for event in history if event["undone"])
    (moved,) = (event for event in history if event["what"] == "move")

    done("buckets", "undo")
    assert rows_of("buckets", "show", renamed["bucket_id"])[0]["title"] == renamed["after"]
    done("buckets", "undo", "--to", moved["number"])
    assert rows_of("buckets", "show", renamed["bucket_id"])[0]["title"] == renamed["before"]
    (failure,) = moved["failures"]
    buckets = {row["attempt_id"]: row["bucket"]["slug"] for row in rows_of("failures", "jn709tmj")}
    assert buckets[failure["attempt_id"]] == failure["old"]


def test_a_bucket_can_be_renamed_and_its_old_name_still_leads_to_it(changeable):
    done("buckets", "rename", "page-shape", "Pages by hand", "--slug", "pages")

    assert rows_of("buckets", "show", "page-shape")[0]["slug"] == "pages"
    assert bucket_events(rows_of("buckets", "history"))[-1]["by"] == "ben"


def test_actions_gaps_and_exclusions_can_be_taken_back(changeable):
    for action in actions(then(changeable, "action list")):
        done("action", "rm", action)
    for gap in gaps(then(changeable, "known list")):
        done("known", "rm", gap)
    done("exclude", "Ukmc32qZ", "--undo")

    assert actions(rows_of("action", "list")) == {}
    assert gaps(rows_of("known", "list")) == {}
    assert exclusions(rows_of("runs")) == {}


def test_another_run_of_an_old_suite_joins_the_buckets_that_are_there(changeable):
    log = changeable.folder / "logs" / "nightly-3.jsonl"
    text = (changeable.folder / "logs" / "nightly-2.jsonl").read_text()
    log.write_text(text.replace("nightly-2", "nightly-3").replace("2026-03-10", "2026-03-17"))
    done("import", log)

    of_old = {row["id"] for row in then(changeable, "buckets list --all") if row["suite"] == "tides"}
    new = {row["bucket"]["id"] for row in rows_of("failures", "nightly-3")}
    assert len(new) > 1
    assert new <= of_old


@pytest.mark.parametrize(("log", "run"), [("run-b", "jn7mqywb"), ("nightly-1.jsonl", "nightly-1")])
def test_importing_an_old_log_again_leaves_every_opinion_in_place(changeable, log, run):
    done("import", f"logs/{log}")

    assert standing_verdicts(rows_of("failures", run)) == standing_verdicts(of_run(run, then(changeable, FAILURES)))
    assert reviews(rows_of("review", "status", run)) == reviews(of_run(run, then(changeable, STATUS)))
    assert kept_buckets(rows_of("buckets", "list", "--all")) == kept_buckets(then(changeable, "buckets list --all"))


def test_an_old_run_can_be_forgotten_with_all_that_was_said_about_it(changeable):
    done("rm", "jn7mqywb", "--yes")

    left = {row["run"] for row in rows_of("runs")}
    assert len(left) == len(RUNS) - 1
    assert done("doctor", "--json").row["problems"] == []
