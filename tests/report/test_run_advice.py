"""Which recommendations are made again: not what was done, but what is back and what was never done."""

from types import SimpleNamespace

import pytest

from errata.memory.history import FailureSign, RunOutcomes, effects
from errata.model import Action
from errata.model.output.report.run import Advice, RunFailure
from errata.model.prior_report import PriorRecommendation, PriorReport
from errata.report.run_advice import _with_action, advice_words, collect_advice

CASE = "000-fundamentals/002-http_greeting"
ADVICE = Advice(group="config", text="Allow unused arguments in the lint configuration", cases=(CASE,))
LINT = FailureSign(checks=frozenset(["eslint"]))
TESTS = FailureSign(checks=frozenset(["tests"]))


def an_action(date="2026-03-04", what="now ignores unused arguments", **changes):
    return Action(id="1", what=what, path="eslint.config.mjs", addresses=(CASE,), date=date, **changes)


def a_history(*actions, now=LINT, reports=()):
    run = RunOutcomes(run="b", at="2026-03-09T10:00:00Z", failed=frozenset([CASE]), signs={CASE: (now,)})
    before = RunOutcomes(run="a", at="2026-03-01", failed=frozenset([CASE]), signs={CASE: (LINT,)})
    return SimpleNamespace(
        actions=actions,
        reports=SimpleNamespace(same_model=reports),
        result_of=lambda action: effects([action], run, [before])[0],
    )


def a_report(text, *cases):
    given = PriorRecommendation(text=text, group="config", cases=cases)
    return PriorReport(path="r.md", digest="", recommendations=(given,))


@pytest.mark.req("C-33")
def test_what_was_done_after_the_run_is_not_recommended_again():
    advice = _with_action(ADVICE, a_history(an_action("2026-03-10")))

    assert advice.done is not None


@pytest.mark.req("C-05", "C-33")
def test_what_was_done_before_the_run_and_did_not_help_is_the_headline():
    advice = _with_action(ADVICE, a_history(an_action()))

    assert (advice.done, advice.tried.date) == (None, "2026-03-04")
    assert advice_words(advice).startswith("Done on 2026-03-04, no effect: Allow unused arguments")


def test_what_was_done_about_another_failure_of_the_case_changes_nothing():
    advice = _with_action(ADVICE, a_history(an_action(), now=TESTS))

    assert (advice.done, advice.tried) == (None, None)


def test_what_earlier_reports_recommended_and_nobody_did_is_counted():
    earlier = [
        a_report("allow unused function arguments in the lint configuration"),
        a_report("say it in the task", CASE),
    ]

    advice = _with_action(ADVICE, a_history(reports=earlier))

    assert advice.recommended_before == 1
    assert advice_words(advice).startswith("Recommended twice, not done: Allow unused")


def test_a_recommendation_that_was_carried_out_is_not_counted():
    earlier = [a_report("allow unused function arguments in the lint configuration", CASE)]

    assert _with_action(ADVICE, a_history(an_action("2026-03-10"), reports=earlier)).recommended_before == 0


NEVER_RAN = {"owner": "environment", "decided_by": "verifier_never_ran"}
JUDGE = {"owner": "grader", "decided_by": "judge_not_served", "measured": False}


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (NEVER_RAN | {"reason": "/tests/test.sh: line 19: uvx: command not found"}, "repair"),
        (NEVER_RAN | {"reason": "/usr/bin/python3: No module named pytest"}, "repair"),
        (NEVER_RAN | {"reason": "curl: (6) Could not resolve host: astral.sh"}, "infrastructure"),
        ({"owner": "environment", "decided_by": "environment_reason", "error": "no space left on device"}, "repair"),
        ({"owner": "environment", "decided_by": "disk_full", "reason": "disk quota"}, "repair"),
        ({"owner": "provider", "decided_by": "provider_auth", "reason": "no key"}, "repair"),
        ({"owner": "provider", "decided_by": "provider_server_error", "reason": "API error: 503"}, "infrastructure"),
        ({"owner": "provider", "decided_by": "provider_timeout", "reason": "read timed out"}, "infrastructure"),
        ({"owner": "environment", "decided_by": "connection_reset", "reason": "ECONNRESET"}, "infrastructure"),
        (JUDGE | {"reason": "API error: 503"}, "not_graded"),
        (JUDGE | {"reason": "401 Unauthorized"}, "repair_grader"),
        ({"owner": "grader", "decided_by": "lint_only", "reason": "'ctx' is defined but never used"}, "grader"),
        ({"owner": "model", "decided_by": "check_failed", "reason": "sh: foo: command not found"}, "model"),
    ],
)
def test_a_rerun_alone_is_recommended_only_where_it_can_help(failure, kind):
    history = SimpleNamespace(effects=(), **vars(a_history()))

    (advice,) = collect_advice([RunFailure(case=CASE, confidence="likely", **failure)], {}, history)

    assert advice.kind == kind


def test_an_attempt_that_a_rule_calls_unmeasured_is_judged_again():
    failure = RunFailure(case=CASE, attempt_id="1", owner="grader", confidence="likely", decided_by="judge_failed")
    history = SimpleNamespace(effects=(), **vars(a_history()))

    (advice,) = collect_advice([failure], {}, history, broken={"1"})

    assert (advice.kind, advice.group) == ("not_graded", "none")


def test_planned_cases_that_are_missing_are_to_be_run():
    history = SimpleNamespace(actions=(), effects=(), reports=SimpleNamespace(same_model=()))

    (advice,) = collect_advice([], {}, history, missing=["turn-7", "turn-18"])

    assert (advice.kind, advice.cases) == ("missing", ("turn-7", "turn-18"))
