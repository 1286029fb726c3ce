"""The number of suspicious passes: on the first page, in the list of runs, and in JSON."""

import json

import pytest

from errata.cli.render.runs import passes_in_words, passes_with_reasons
from errata.runs.importing import import_paths
from errata.runs.suspicions import SuspiciousCount, contradictory_passes, counted_before
from errata.runs.view import RunView
from errata.store.runs import all_runs
from terminal import FIXTURES


def a_promptfoo_file(folder, rows):
    results = {
        "version": 3,
        "timestamp": "2026-03-01T10:00:00.000Z",
        "prompts": [{"raw": "{{q}}", "label": "{{q}}", "provider": "http://localhost/chat"}],
        "results": rows,
        "stats": {"successes": sum(row["success"] for row in rows), "failures": 0, "errors": 0},
    }
    path = folder / "results.json"
    path.write_text(json.dumps({"evalId": "eval-abc-2026-03-01T10:00:00", "results": results, "config": {}}))
    return path


def a_row(number, status, text):
    check = {"pass": True, "score": 1, "reason": "ok", "assertion": {"type": "not-contains", "value": "sorry"}}
    return {
        "promptIdx": 0,
        "testIdx": number,
        "success": True,
        "score": 1,
        "failureReason": 0,
        "provider": {"id": "http://localhost/chat"},
        "prompt": {"raw": "", "label": "{{q}}"},
        "vars": {"q": f"question {number}"},
        "testCase": {"vars": {"q": f"question {number}"}, "assert": [check["assertion"]]},
        "response": {"output": text, "metadata": {"http": {"status": status}}, "tokenUsage": {}},
        "gradingResult": {"pass": True, "score": 1, "componentResults": [check]},
    }


def analysed(folder, store, rows):
    import_paths([a_promptfoo_file(folder, rows)], store)
    (stored,) = all_runs(store)
    return RunView(stored, store)


@pytest.mark.req("B-12")
def test_passes_that_are_error_bodies_leave_much_to_analyse(tmp_path, store):
    body = '{{"detail": "Unprocessable", "status": 422, "requestId": "3f2a77d0-0000-4000-8000-{:012}"}}'
    view = analysed(tmp_path, store, [a_row(number, 422, body.format(number)) for number in range(78)])

    assert view.summary.without_failures == "78 of 78 passed, 78 suspicious, 1 problem"
    assert not view.summary.all_passed
    assert not view.health.fit


def test_where_no_pass_is_suspicious_there_is_nothing_to_analyse(tmp_path, store):
    view = analysed(tmp_path, store, [a_row(number, 200, f"Answer number {number} of many") for number in range(5)])

    assert view.summary.all_passed
    assert view.summary.without_failures == "All passed: nothing to analyse"


def test_the_count_is_the_same_wherever_it_is_shown(tmp_path, store):
    rows = [a_row(number, 500 if number < 3 else 200, f"Answer number {number} of many") for number in range(9)]
    view = analysed(tmp_path, store, rows)
    assert counted_before(view.stored, store) is None

    listed = {one.suspicion.attempt for one in view.suspicious_passes()}

    assert view.summary.suspicious.suspicious == len(listed) == 3
    assert counted_before(view.stored, store) == view.suspicious == RunView(view.stored, store).suspicious


def test_weak_signs_alone_make_no_pass_suspicious(tmp_path, store):
    rows = [a_row(number, 200, f"Answer number {number} of many") for number in range(4)]
    task = "Print question number 0"
    rows[0] |= {"vars": {"q": task}, "testCase": rows[0]["testCase"] | {"vars": {"q": task}}}
    rows[0]["prompt"]["raw"] = rows[0]["response"]["output"] = task
    view = analysed(tmp_path, store, rows)

    assert (view.suspicious.suspicious, view.suspicious.only_weak) == (0, 1)
    assert view.summary.all_passed


def test_prompts_that_were_never_resolved_are_said_on_the_first_page(fixtures, store):
    import_paths([fixtures / "passes" / "promptfoo_undelivered" / "results.json"], store)

    for stored in all_runs(store):
        view = RunView(stored, store)
        assert [one.owner for one in view.summary.owners] == ["task"]
        (found,) = [one for one in view.health.findings if one.name == "prompt_not_delivered"]
        assert found.text.startswith("the prompt was not delivered in 1 of 1 attempt: the text sent is `")
        assert not view.health.fit


def test_a_row_that_another_row_of_the_same_attempt_contradicts_is_no_suspicious_pass(store):
    """Turn 12 has two rows: one passed, one failed."""
    import_paths([FIXTURES / "conversation_bench" / "damaged" / "data"], store)
    (stored,) = all_runs(store)
    view = RunView(stored, store)

    contradictory = {cell.case for cell in view.cells if cell.state == "contradictory"}
    assert contradictory_passes(stored, store) == dict.fromkeys(contradictory, 1)
    assert view.suspicious.contradictory == 1
    assert not contradictory & {one.suspicion.case for one in view.suspicious_passes()}
    passes = stored.counts.outcomes["pass"]
    strict = view.scores().scores["strict"].passed
    words = passes_in_words(passes, SuspiciousCount(2, 0, view.suspicious.contradictory))
    assert words == f"2 of {strict} passes look suspicious"


def test_the_reason_for_suspicious_passes_is_in_the_line(tmp_path, store):
    rows = [a_row(number, 500 if number < 3 else 200, f"Answer number {number} of many") for number in range(9)]
    odd = analysed(tmp_path, store, rows).suspicious

    assert odd.signs == {"error_body": 3}
    assert passes_with_reasons(9, odd) == ("3 of 9 passes look suspicious: the answer is the error of a failed request")


def test_several_reasons_are_counted_and_those_of_most_passes_come_first():
    odd = SuspiciousCount(3, signs={"edited_tests": 2, "echoes_task": 1, "no_work": 1})

    assert passes_with_reasons(20, odd) == (
        "3 of 20 passes look suspicious: 2 × the subject changed tests; 1 × the answer is the task itself"
    )


@pytest.mark.req("N-06")
def test_a_check_that_failed_beside_passes_is_named(tmp_path, store):
    rows = [a_row(number, 200, f"Answer number {number} of many") for number in range(3)]
    failed = {"pass": False, "score": 0, "reason": "no", "assertion": {"type": "icontains", "value": "x", "weight": 0}}
    for row in rows:
        row["gradingResult"]["componentResults"].append(failed)
    view = analysed(tmp_path, store, rows)

    assert view.summary.without_failures.startswith("3 of 3 passed, but check `")
    assert view.summary.without_failures.endswith("` failed in 3")


@pytest.mark.req("N-06")
@pytest.mark.parametrize("weight", [0, 1])
def test_a_check_that_failed_beside_passes_is_counted_where_something_else_failed(tmp_path, store, weight):
    """A check without weight, or one of a test whose threshold was reached without it."""
    rows = [a_row(number, 200, f"Answer number {number} of many") for number in range(4)]
    beside = {
        "pass": False,
        "score": 0,
        "reason": "no",
        "assertion": {"type": "icontains", "value": "x", "weight": weight},
    }
    for row in rows:
        row["testCase"]["threshold"] = 0.4
        row["gradingResult"]["componentResults"].append(beside)
        row["gradingResult"]["namedScores"] = {"effort": 0.25 + row["testIdx"]}
    rows[0] |= {"success": False, "score": 0, "failureReason": 1}
    rows[0]["gradingResult"] |= {"pass": False, "score": 0}
    counts = analysed(tmp_path, store, rows).summary.other_checks

    (name,) = {*counts} - {"effort"}
    assert (counts[name].passed, counts[name].total) == (0, 4)
    assert (counts["effort"].passed, counts["effort"].mean) == (None, 1.75)
