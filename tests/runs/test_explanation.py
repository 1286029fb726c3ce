"""Why a failure was attributed as it was."""

from errata import triage
from errata.model import Artefact, Case, Check, ErrorInfo, Reported, Signal
from errata.runs.explanation import Explanation, effect_of, explain
from errata.testing import a_run, an_attempt

RUN = a_run(reported=(Reported(name="pass_rate", metric="pass_rate", headline=True),))
TESTS = Check(name="tests", status="fail", kind="tests", explanation="expected 3, got 4")


def explained(attempt, case=None, name="case-1") -> Explanation:
    observed = triage.observe(RUN, attempt, case, None, triage.built_in())
    result = triage.attribute(attempt, observed)
    effect = effect_of(RUN, attempt, [attempt], result, broken=any(one.breaks for one in observed))
    return explain(RUN, name, attempt, case, result, effect)


def crashed(message, phase="environment", **changes):
    facts = {"execution": "error", "measurement": "not_run", "outcome": "none", "reported_counted": True}
    return an_attempt(run=RUN.id, errors=(ErrorInfo(type="crash", message=message, phase=phase),), **facts | changes)


def test_what_decided_is_quoted_with_its_place():
    result = explained(crashed("ECONNRESET while downloading"))

    assert tuple(result.because) == ("errors[0].message", "ECONNRESET while downloading", "")
    assert result.meaning == "a download or connection broke"


def test_that_the_harness_counted_it_speaks_against_leaving_it_out():
    result = explained(crashed("ECONNRESET while downloading"))

    assert [one.text for one in result.against] == ["the harness itself scored it as not passed"]


def test_that_the_harness_did_not_count_it_speaks_against_blaming_the_model():
    result = explained(an_attempt(run=RUN.id, checks=(TESTS,), reported_counted=False))

    assert [one.text for one in result.against] == ["the harness left it out of its own count"]


def test_a_failed_check_speaks_against_an_owner_who_is_not_the_model():
    lint = Check(name="eslint", status="fail", explanation="9:23 error unused")
    tests = Check(name="tests", status="pass", kind="tests")
    result = explained(an_attempt(run=RUN.id, checks=(lint, tests)))

    assert [one.signal.name for one in result.against if one.signal] == ["check_failed"]


def test_a_signal_that_points_to_nobody_supports():
    code = Artefact(role="output", path="rows.ts", text="export const rows = [1, 2, 3];")
    answer = Artefact(role="expected", path="answer/rows.ts", text="export const rows = [1, 2, 3];")
    case = Case(run=RUN.id, suite="suite", native_id="case-1", artefacts=(answer,))
    result = explained(crashed("ECONNRESET while downloading", artefacts=(code,)), case)

    assert "answer_equals_reference" in [one.signal.name for one in result.supports if one.signal]


def test_words_in_the_wrong_place_are_told_as_not_used():
    result = explained(an_attempt(run=RUN.id, checks=(TESTS,)), name="rate_limit_guard")

    assert [(one.rule, one.where) for one in result.not_used] == [("provider_rate_limit", "the case name")]


def test_what_clean_leaves_out_can_be_repeated():
    assert explained(crashed("ECONNRESET while downloading")).repeatable


def test_a_wrong_answer_is_not_for_repeating():
    assert not explained(an_attempt(run=RUN.id, checks=(TESTS,), reported_counted=True)).repeatable


def test_what_other_runs_show_speaks_against_the_model_although_this_attempt_does_not_show_it():
    attempt = an_attempt(run=RUN.id, checks=(TESTS,))
    seen = Signal(name="all_fail", where="other runs", quote="all 4 subjects", strength="weak")
    observed = triage.observe(RUN, attempt, None, None, triage.built_in())
    output = triage.attribute(attempt, [*observed, triage.Observed(signal=seen, owner="task")])

    result = explain(RUN, "case-1", attempt, None, output, effect_of(RUN, attempt, [attempt], output, broken=False))

    assert [one.signal.name for one in result.against if one.signal] == ["all_fail"]


def test_a_failure_is_not_counted_in_scores_that_the_run_does_not_have():
    attempt = an_attempt(run=RUN.id, checks=(TESTS,), reported=0.0, reported_counted=True)
    attribution = triage.attribute(attempt, triage.observe(RUN, attempt, None, None, triage.built_in()))
    effect = effect_of(RUN, attempt, [attempt], attribution, broken=False, unknown=("strict", "as_reported"))

    assert effect.text == "in clean, strict and as_reported unknown: rows are missing from the log"
