"""Do the harness's own numbers follow from its rows?"""

import json
import math
import random
from pathlib import Path

import msgspec
import pytest
from checkup_fixtures import RUN, check, crashed, failed, missing, named, row, rows, the

from errata.model import Attempt, Check, Reported, SourceRef
from errata.runs.importing import import_paths
from errata.runs.view import RunView
from errata.sources import conversation_bench
from errata.store.attempts import attempts_of
from errata.store.runs import all_runs

PLACE = SourceRef(file="summary.json", pointer="/total")
UNSCORED = row(6, measurement="unscored", outcome="none", checks=())
# 4 passed, 2 failed, 1 without a verdict
ROWS = [*rows(4), failed(4), failed(5), UNSCORED]


def mismatches(attempts, run=RUN, **reported):
    given = {"name": "tests", "ref": PLACE} | reported
    run = msgspec.structs.replace(run, reported=(Reported(**given),))
    return named("aggregate_mismatch", check(attempts, run))


TRUE = [
    {"metric": "pass_rate", "value": 4 / 6},
    {"metric": "pass_rate", "value": 0.667},
    {"metric": "pass_rate", "value": 4 / 7, "n": 7},
    {"name": "rows", "metric": "pass_rate", "value": 4 / 7},
    {"metric": "passes", "value": 4},
    {"metric": "scored", "value": 6},
    {"metric": "passed", "value": 4},
    {"metric": "failed", "value": 2},
    {"metric": "unscored", "value": 1},
]


@pytest.mark.parametrize("reported", TRUE, ids=str)
def test_a_number_that_follows_from_the_rows_is_no_finding(reported):
    assert mismatches(ROWS, **reported) == []


@pytest.mark.parametrize("reported", TRUE, ids=str)
def test_a_number_that_does_not_follow_from_the_rows_is_told(reported):
    wrong = reported["value"] + (0.1 if reported["metric"] == "pass_rate" else 2)

    (found,) = mismatches(ROWS, **reported | {"value": wrong})

    assert found.numbers["stated"] == wrong
    assert found.evidence[0].ref == PLACE
    assert found.text.startswith("summary.json has ")


@pytest.mark.parametrize("metric", ["pass_rate", "scored", "passed", "failed", "unscored"])
def test_a_wrong_number_makes_the_run_unfit(metric):
    (found,) = mismatches(ROWS, metric=metric, value=0.123 if metric == "pass_rate" else 99)

    assert (found.severity, found.breaks) == ("error", True)


def test_a_wrong_number_of_one_check_is_a_warning():
    (found,) = mismatches(ROWS, metric="passes", value=99)

    assert (found.severity, found.breaks) == ("warning", False)


def test_a_number_of_rows_that_counts_those_without_a_verdict_as_scored_is_a_warning():
    (found,) = mismatches(ROWS, metric="scored", value=7)

    assert (found.severity, found.text) == ("warning", "summary.json has tests 7, but only 6 of 7 rows are scored")


def test_a_number_of_cases_beside_more_rows_is_told_with_both():
    again = row(0, index=2, duplicate_of=row(0).id)

    (found,) = mismatches([*rows(4), again], metric="scored", value=4)

    assert found.text == "summary.json has tests 4; the log has 5 rows (4 cases)"


def test_cases_that_are_missing_are_no_rows():
    assert mismatches([*rows(4), missing(4)], metric="scored", value=4) == []


@pytest.mark.parametrize(
    "reported",
    [
        {"metric": "pass_rate", "value": None},
        {"metric": "accuracy", "value": 0.123},
        {"metric": "", "value": 0.123},
        {"metric": "pass_rate", "value": 0.123, "filter": "category = maths"},
        {"metric": "pass_rate", "value": 0.123, "n": 0},
    ],
    ids=str,
)
def test_what_can_not_be_recounted_is_not_compared(reported):
    assert mismatches(ROWS, **reported) == []


@pytest.mark.trap(13)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("metric", ["pass_rate", "passes", "scored", "passed"])
def test_a_number_that_is_none_is_no_crash(metric, value):
    mismatches(ROWS, metric=metric, value=value)


def test_a_log_that_holds_a_part_is_not_recounted():
    run = msgspec.structs.replace(RUN, expected_cases=50)

    assert mismatches(ROWS, run, metric="passed", value=40) == []


def test_a_second_judge_whose_numbers_are_not_in_the_rows_is_not_compared():
    judged = [row(number, checks=(Check(name="tone", judge="first", status="pass"),)) for number in range(3)]

    assert mismatches(judged, name="tone", metric="passes", value=1, scorer="second") == []
    assert len(mismatches(judged, name="tone", metric="passes", value=1, scorer="first")) == 1


def test_a_check_that_does_not_count_is_not_recounted():
    beside = [row(number, checks=(Check(name="lint", status="fail", counts=False),)) for number in range(3)]

    assert mismatches(beside, metric="failed", value=0) == []


def test_a_crash_is_not_a_pass():
    assert mismatches([*rows(3), crashed(3)], name="all", metric="pass_rate", value=0.75) == []


@pytest.mark.parametrize(("stated", "told"), [(0.6700, False), (0.6717, True)])
def test_a_rate_that_was_rounded_is_still_the_same(stated, told):
    assert bool(mismatches(ROWS, metric="pass_rate", value=stated)) == told


def test_a_mismatch_of_a_number_without_a_place_is_the_harness_s():
    (found,) = mismatches(ROWS, metric="passed", value=9, ref=None)

    assert found.text == "the harness has tests 9; the rows have 4"


def test_every_wrong_number_is_told():
    both = tuple(Reported(name=name, metric="passed", value=9) for name in ("a", "b"))

    found = check(ROWS, msgspec.structs.replace(RUN, reported=both))

    assert len(named("aggregate_mismatch", found)) == 2
    assert the("no_verdict", found)


DIMENSIONS = ("turn_taking", "tool_use_correct", "instruction_following", "kb_grounding", "state_tracking")


@pytest.mark.req("N-04")
@pytest.mark.parametrize("version", ["null and no call needed pass", "null passes without a call", "null fails"])
@pytest.mark.parametrize("seed", range(3))
def test_a_comparison_folder_is_recounted_by_the_rule_of_its_harness(tmp_path, seed, version):
    """Rows and summaries as the versions of the harness write them: null is a pass of some dimensions."""
    draw = random.Random(seed)
    rows = [{name: draw.choice([True, True, True, False, None]) for name in DIMENSIONS} for _ in range(40)]
    needs_call = [draw.random() < 0.3 for _ in rows]
    for scores in rows if seed else ():
        del scores["turn_taking"]  # its audio was not looked at

    def passes(row, name, called):
        if name == "turn_taking":
            return bool(row.get(name, True))
        if name == "tool_use_correct" and version != "null fails" and not called:
            return version.startswith("null and") or row[name] is not False
        return bool(row[name]) or (name == "tool_use_correct" and row[name] is None and version.startswith("null and"))

    run = tmp_path / "runs" / "bench" / "20260301T100000_voice_1a2b3c4d"
    run.mkdir(parents=True)
    counts = {name: sum(map(passes, rows, [name] * 40, needs_call)) for name in DIMENSIONS}
    totals = {"tool_use_correct": 40, "state_tracking": sum(row["state_tracking"] is not None for row in rows)}
    judged = [{"turn": at, "assistant_text": f"answer {at}", "scores": row} for at, row in enumerate(rows)]
    (run / "openai_judged.jsonl").write_text("".join(json.dumps(row) + "\n" for row in judged))
    summary = {"judge_name": "openai", "passes": counts, "turns_scored": 40, "category_totals": totals}
    (run / "openai_summary.json").write_text(json.dumps(summary))
    failed = sum(False in row.values() for row in rows)
    passed = sum(True in row.values() and False not in row.values() for row in rows)
    listed = {
        "run_dir": run,
        "benchmark_name": "bench",
        "judge_name": "openai",
        "turns_scored": 40,
        "fail_rows": failed,
    }
    listed |= {"pass_rows": passed, "pass_row_rate": passed / 40}
    for name in DIMENSIONS:
        whole = totals.get(name, 40)
        listed |= {f"{name}_applicable": whole, f"{name}_pass_rate": counts[name] / whole}
    table = tmp_path / "results" / "bench" / "compare"
    table.mkdir(parents=True)
    (table / "run_results.csv").write_text(",".join(listed) + "\n" + ",".join(map(str, listed.values())) + "\n")

    found = findings_of(table)
    assert not [one for one in found if one.name == "aggregate_mismatch" and one.breaks], found

    # a rate below what the rows have follows from no rule
    listed["kb_grounding_pass_rate"] = counts["kb_grounding"] / 40 - 0.1
    (table / "run_results.csv").write_text(",".join(listed) + "\n" + ",".join(map(str, listed.values())) + "\n")
    (wrong,) = [one for one in findings_of(table) if one.name == "aggregate_mismatch" and one.breaks]
    assert "kb_grounding" in wrong.text


def findings_of(folder):
    run, *items = conversation_bench.read(folder)
    return check([one for one in items if isinstance(one, Attempt)], run)


@pytest.mark.req("N-04")
@pytest.mark.parametrize(("other", "breaks"), [(5 / 7, [True]), (0.3, [False, False])])
def test_a_wrong_rate_makes_the_run_unfit_only_if_the_others_follow(other, breaks):
    rates = {"tests": 0.9, "style": other}
    both = tuple(Reported(name=name, metric="pass_rate", value=value) for name, value in rates.items())
    style = [Check(name="style", status="pass" if at < 5 else "fail") for at in range(7)]
    attempts = [msgspec.structs.replace(made, checks=(*made.checks, style[at])) for at, made in enumerate(ROWS)]

    found = named("aggregate_mismatch", check(attempts, msgspec.structs.replace(RUN, reported=both)))

    assert [one.breaks for one in found] == breaks


FIXTURES = Path(__file__).parents[1] / "fixtures" / "sources"
DAMAGED = {"conversation_bench/damaged"}
"""A row of the harness's own count is lost there."""


@pytest.mark.req("N-04")
@pytest.mark.req("N-05")
@pytest.mark.parametrize("source", sorted(path.name for path in FIXTURES.iterdir()))
def test_what_a_harness_states_follows_from_its_rows_and_each_planned_case_is_in_one_place(source, store):
    for path in sorted(FIXTURES.glob(f"{source}/*/data")):
        name = path.parent.relative_to(FIXTURES).as_posix()
        if name not in DAMAGED and not (path.parent / "NO_RUN").exists():
            import_paths([path], store)
    for stored in all_runs(store):
        view, expected = RunView(stored, store), stored.run.expected_cases
        findings = view.health.findings
        assert not [one.text for one in findings if one.name == "aggregate_mismatch" and one.breaks]
        assert view.scores().scores["as_reported"].reproduced is not False

        present = {
            attempt.case
            for attempt in attempts_of(store, stored.pk)
            if attempt.counted and attempt.execution != "missing"
        }
        if expected and len(present) < expected:
            absent = sum(one.numbers["cases"] for one in findings if one.name in ("cases_not_in_log", "missing_cases"))
            assert len(present) + absent == expected
