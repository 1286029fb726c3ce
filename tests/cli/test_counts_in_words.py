"""One count is told by every command with the same number, and what is cut off is said to be."""

import json
import re

from terminal import FIXTURES, done

DAMAGED = FIXTURES / "conversation_bench" / "damaged" / "data"


def test_attempts_are_what_is_in_the_log_and_what_is_missing_is_named_apart():
    analysis = done("analyze", DAMAGED, "--no-report")
    (run,) = (row["run"] for row in done("runs", "--json").rows)

    assert "29 attempts, 2 missing, 4 failures" in " ".join(done("import", DAMAGED).out.split())
    assert "4 failures in 29 attempts, 2 missing" in done("failures", run).out
    assert "attempts   29 attempts, 2 missing" in done("show", run).out
    assert "29 attempts of 28 turns, 2 missing" in analysis.err
    assert "28 of 30 planned turns measured" in analysis.err
    assert "25/29" in done("runs").out
    assert "2 missing" in done("runs").out
    assert "3 of 30 planned turns · missing 2 · contradictory 1" in done("rerun", run).out


def lines(categories):
    yield {"native_id": "r", "source": {"name": "harbour"}, "suite": "harbour", "subject": {"model": "m"}}, "run"
    for at in range(categories):
        yield {"suite": "harbour", "native_id": f"c{at}", "category": f"part-{at:02}"}, "case"
        made = {"execution": "completed", "measurement": "scored", "outcome": "fail"}
        yield {"case": f"harbour/c{at}", **made}, "attempt"


def test_categories_beyond_the_shown_ones_are_counted(tmp_path):
    log = tmp_path / "log.jsonl"
    made = (json.dumps({"errata": 1, "kind": kind, "record": record}) for record, kind in lines(13))
    log.write_text("\n".join(made))

    page = " ".join(done("analyze", log, "--no-report").out.split())

    assert "part-09 1 of 1 · and 3 others" in page
    assert "part-10" not in page.partition("Failed by category")[2].partition("Next")[0]


def test_a_judge_that_gave_no_verdict_is_to_be_rerun_and_not_to_be_checked():
    crashed = done("analyze", FIXTURES / "deepeval/latest/data/hidden/.latest_test_run.json", "--no-report").out
    strict = done("analyze", FIXTURES / "convex_evals/run_b/data", "--no-report").out

    assert re.search(r"^ +grader +1 ", crashed, re.MULTILINE)
    assert "is the grader right" not in crashed
    assert "check 1 grader failure: is the grader right?" in strict
