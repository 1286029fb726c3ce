"""Runs of one suite held against each other in a store."""

from pathlib import Path

import pytest

from errata.model import Artefact, Attempt, Case, Check, ErrorInfo, Output, Run, SourceInfo, Subject
from errata.report.run_collect import run_report
from errata.report.run_prose import answer_of
from errata.runs.view import RunView
from errata.store.attempts import attempts_of, case_of
from errata.store.attributions import attributions_of
from errata.store.importing import Importing
from errata.store.packing import pack_items, seal
from errata.store.runs import exclude, run_by_id
from errata.triage.across import KnownGaps
from errata.triage.rulesets import rules_in_use
from errata.triage.stored.attributions import triage_run
from errata.triage.stored.peers import across_version, look_across

FAILED = {"execution": "completed", "measurement": "scored", "outcome": "fail"}
BROKEN = {"execution": "error", "measurement": "not_run", "outcome": "none"}


def imported(store, name, *, model="", agent="", task="What is it?", **outcomes):
    """A run with one attempt for each case; an outcome is `pass`, `crash`, or the wrong answer that was given."""
    subject = Subject(model=model or name, agent=agent)
    run = Run(native_id=name, source=SourceInfo(name="test"), suite="suite", subject=subject)
    items = [run]
    for case, outcome in outcomes.items():
        items.append(Case(run=run.id, suite="suite", native_id=case, input=task, expected="Koror"))
        items.append(an_attempt(run, case, outcome))
    with Importing(store) as importing:
        for batch in seal(pack_items(items)):
            importing.add(batch)
        importing.finish()
    return run_by_id(store, run.id)


def an_attempt(run, case, outcome):
    facts = BROKEN if outcome == "crash" else FAILED | ({"outcome": "pass"} if outcome == "pass" else {})
    errors = (ErrorInfo(type="", message="503", phase="subject"),) if outcome == "crash" else ()
    checks = () if errors else (Check(name="match", status=facts["outcome"], explanation=f"got {outcome}"),)
    answer = Output(answer=outcome)
    return Attempt(run=run.id, case=f"suite/{case}", output=answer, errors=errors, checks=checks, **facts)


def signals(stored, store):
    across = look_across(stored, store)
    found = {}
    for attempt in attempts_of(store, stored.pk, failures=True):
        seen = across.observe(attempt, case_of(store, stored.pk, attempt.case))
        found[attempt.case.removeprefix("suite/")] = [(one.signal.name, one.signal.strength) for one in seen]
    return found


def test_a_case_that_all_subjects_fail_is_named(store):
    runs = [imported(store, name, one=name * 3, two="pass" if name == "c" else "no") for name in ("a", "b", "c")]

    assert signals(runs[0], store) == {"one": [("all_fail", "weak")], "two": []}


def test_two_runs_of_one_subject_are_one_subject(store):
    runs = [imported(store, name, model=name[0], one="x") for name in ("a", "b", "b-again")]

    assert signals(runs[0], store) == {"one": []}


def test_a_case_whose_task_was_changed_is_another_case(store):
    runs = [imported(store, name, task="What is it?" + name, one="x") for name in ("a", "b", "c")]

    assert signals(runs[0], store) == {"one": []}


@pytest.mark.parametrize("outcome", ["crash", "pass"])
def test_a_subject_that_was_not_measured_or_passed_leaves_too_few(store, outcome):
    runs = [imported(store, name, one=outcome if name == "c" else "x", two="x") for name in ("a", "b", "c")]

    assert signals(runs[0], store)["one"] == []


def test_an_unavailable_run_is_left_out(store):
    runs = [imported(store, name, one="x", two="y") for name in ("a", "b")]
    imported(store, "c", one="crash", two="crash")

    assert signals(runs[0], store) == {"one": [], "two": []}
    assert look_across(runs[0], store).passed_by == {"suite/one": "", "suite/two": ""}


def test_an_excluded_run_is_left_out(store):
    runs = [imported(store, name, one=name * 3) for name in ("a", "b", "c")]
    exclude(store, runs[2].run.id, reason="wrong key", author="me")

    assert signals(runs[0], store) == {"one": []}


def test_a_reference_that_fails_speaks_against_the_task(store):
    model = imported(store, "a", one="x", two="x")
    imported(store, "gold", agent="oracle", one="wrong", two="pass")

    assert signals(model, store) == {"one": [("reference_fails", "likely")], "two": []}


def test_the_reference_runs_own_failures_are_not_its_own(store):
    reference = imported(store, "gold", agent="oracle", one="wrong")

    assert signals(reference, store) == {"one": [("reference_fails", "likely")]}


def test_what_a_reference_itself_failed_of_is_open(store):
    model, reference = imported(store, "a", one="x"), imported(store, "gold", agent="oracle", one="wrong")

    def owners(run):
        (attempt,) = attempts_of(store, run.pk, failures=True)
        return [one.owner for one in look_across(run, store).observe(attempt, None)]

    assert owners(reference) == ["unknown"]
    assert owners(model) == ["task"]


def test_a_reference_that_never_ran_proves_nothing(store):
    model = imported(store, "a", one="x", two="x")
    imported(store, "gold", agent="oracle", one="crash", two="pass")

    assert signals(model, store) == {"one": [], "two": []}


def test_an_agent_that_does_nothing_is_no_subject(store):
    runs = [imported(store, name, one="x") for name in ("a", "b")]
    imported(store, "nothing", agent="nop", one="x")

    assert signals(runs[0], store) == {"one": []}


def test_the_version_changes_when_a_run_joins(store):
    runs = [imported(store, name, one="x") for name in ("a", "b", "c")]
    before = across_version(runs[0], store)
    imported(store, "d", one="x")

    assert before
    assert across_version(runs[0], store) != before


def test_a_run_alone_has_no_version(store):
    assert across_version(imported(store, "a", one="x"), store) == ""


def test_a_run_that_says_nothing_new_changes_no_version(store):
    runs = [imported(store, name, one="x", two="pass") for name in ("a", "b", "c")]
    before = across_version(runs[0], store)
    imported(store, "d", two="y")

    assert before
    assert across_version(runs[0], store) == before


def test_a_pass_of_somebody_else_changes_the_version(store):
    runs = [imported(store, name, one="x") for name in ("a", "b")]
    before = across_version(runs[0], store)
    imported(store, "c", one="pass")

    assert across_version(runs[0], store) != before
    assert look_across(runs[0], store).passed_by == {"suite/one": "c"}


LOGS = Path(__file__).parents[1] / "fixtures/triage/test_logs"


def tried(store, model, log, *, passed=0, task="Do it."):
    """A run with one attempt, the log of its tests, and as many more tests that passed."""
    run = Run(native_id=model, source=SourceInfo(name="test"), suite="suite", subject=Subject(model=model))
    text = (LOGS / f"{log}.txt").read_text("utf-8")
    checks = [Check(name=f"test_{at}", kind="tests", status="pass") for at in range(passed)]
    attempt = Attempt(
        run=run.id,
        case="suite/one",
        artefacts=(Artefact(role="log", path="panes/post-test.txt", text=text),),
        checks=(*checks, Check(name="test_last", kind="tests", status="fail")),
        **FAILED,
    )
    items = [run, Case(run=run.id, suite="suite", native_id="one", input=task), attempt]
    with Importing(store) as importing:
        for batch in seal(pack_items(items)):
            importing.add(batch)
        importing.finish()
    return run_by_id(store, run.id)


def decided(stored, store):
    triage_run(stored, store, rules_in_use(), KnownGaps())
    (found,) = attributions_of(store, stored.pk).values()
    return found.owner, found.decided_by


def test_a_demand_that_two_subjects_could_not_know_is_the_tasks(store):
    task = "Tell me what the program in /app/data.hex prints."
    first = tried(store, "a", "gpt5.run-pdp11-code", task=task)
    assert decided(first, store) == ("model", "check_failed")

    tried(store, "b", "gpt5.run-pdp11-code", task=task)
    assert decided(first, store) == ("task", "unnamed_demand")


def test_three_subjects_refused_alike_that_passed_all_else_make_the_case_the_tasks(store):
    runs = [tried(store, model, "c4.nginx-request-logging", passed=7) for model in "abc"]

    assert decided(runs[0], store) == ("task", "all_fail")


def test_three_subjects_whose_tests_could_not_be_collected_do_not(store):
    runs = [tried(store, model, "collection.c4.build-tcc-qemu", passed=7) for model in "abc"]

    assert decided(runs[0], store) == ("model", "check_failed")


def test_the_page_and_the_report_name_the_cases_that_nobody_passes(store):
    runs = [imported(store, name, one=name * 3, two="pass" if name == "c" else "no") for name in ("a", "b", "c")]
    view = RunView(runs[0], store)

    assert view.summary.passed_by_nobody == ("one",)
    assert "Nobody passes 1 of the failed cases in any run of this suite: one." in answer_of(
        run_report(view, made="2026-01-01")
    )


def test_two_subjects_are_too_few_to_say_so(store):
    runs = [imported(store, name, one=name * 3) for name in ("a", "b")]

    assert RunView(runs[0], store).summary.passed_by_nobody == ()
