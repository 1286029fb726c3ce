"""What comes with each failure when it is triaged."""

from errata.model import Actor, Artefact, Case, Check, ErrorInfo, Step, ToolCall
from errata.store.attempts import failures_to_triage
from errata.store.importing import Importing
from errata.store.packing import pack_items, seal
from errata.store.runs import run_by_id
from errata.testing import a_run, an_attempt
from errata.triage.stored.attributions import CaseLookup
from errata.triage.turn_mistakes import is_judged_turn

RUN = a_run()
CALL = Step(index=0, actor=Actor(role="assistant"), tool_calls=(ToolCall(name="book", arguments={"boat": "Heron"}),))
REQUIRED = {"required_function_call": {"name": "book", "args": {"boat": "Heron"}}}


def imported(store, *items):
    with Importing(store) as importing:
        for batch in seal(pack_items([RUN, *items])):
            importing.add(batch)
        importing.finish()
    return run_by_id(store, RUN.id)


def failures_with_evidence(stored, store):
    evidence = CaseLookup(stored, store)
    for failure in failures_to_triage(store, stored.pk, with_steps=is_judged_turn):
        yield failure.seq, *evidence.of(failure.attempt, failure.case)


def a_case(name, **changes):
    return Case(run=RUN.id, suite="suite", native_id=name, **changes)


def failed(name, check="tool_use", **changes):
    checks = (Check(name=check, status="fail"),)
    return an_attempt(run=RUN.id, case=f"suite/{name}", checks=checks, steps=(CALL,), **changes)


def test_each_failure_comes_with_its_case_in_the_order_of_the_log(store):
    names = ["c", "a", "b", "d", "e"]
    stored = imported(store, *(a_case(name, input=name) for name in "abcd"), *map(failed, names))

    found = [(seq, attempt.case, case and case.input) for seq, attempt, case in failures_with_evidence(stored, store)]

    assert found == [(at, f"suite/{name}", name if name != "e" else None) for at, name in enumerate(names)]


def test_a_crash_while_the_subject_was_asked_comes_without_its_case(store):
    error = ErrorInfo(type="", message="503", phase="subject")
    crashed = failed("a", execution="error", measurement="not_run", outcome="none", errors=(error,))
    ((_, _, case),) = failures_with_evidence(imported(store, a_case("a", input="x"), crashed), store)

    assert case is None


def test_a_case_with_files_comes_with_their_texts(store):
    answer = Artefact(role="expected", path="answer/a.ts", text="export const a = 1;")
    stored = imported(store, a_case("a", artefacts=(answer,)), failed("a"))
    ((_, _, case),) = failures_with_evidence(stored, store)

    assert case.artefacts[0].text == "export const a = 1;"


def test_the_transcript_is_read_only_where_calls_are_compared(store):
    stored = imported(
        store, a_case("a", expected=REQUIRED), a_case("b"), failed("a"), failed("b"), failed("a", "tone", index=2)
    )

    assert [bool(attempt.steps) for _, attempt, _ in failures_with_evidence(stored, store)] == [True, False, False]
