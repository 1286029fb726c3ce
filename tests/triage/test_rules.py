"""The rules know how things are really said, and stay silent where the same words are somebody else's work."""

import tomllib
from pathlib import Path

import pytest

from errata.model import Artefact, Case, Check, ErrorInfo, Judgement, Output, Step, ToolCall, ToolResult
from errata.model.step import Actor
from errata.model.words import OWNERS
from errata.testing import a_run, an_attempt
from errata.triage import MEANS, attribute, built_in, observe, suspicious
from errata.triage.rulebook import _line_of, needed

WORDINGS = tomllib.loads(Path(__file__).with_name("rule_wordings.toml").read_text(encoding="utf-8"))
DECOYS = tomllib.loads(Path(__file__).with_name("rule_decoys.toml").read_text(encoding="utf-8"))
CRASHED = {"execution": "error", "measurement": "not_run", "outcome": "none"}
ANY_TEXT = ("judge_error", "simulator_failed")
"""Whatever an error of their phase says, it is theirs."""


def attributed(attempt, case=None):
    run, rules = a_run(), built_in()
    return attribute(attempt, observe(run, attempt, case, None, rules), rules=rules)


def recorded(told):
    """An attempt whose log holds the words where such words are written."""
    text, place = told["text"], told["in"]
    match place:
        case "check":
            return an_attempt(checks=(Check(name="setup", kind="step", status="fail", explanation=text),))
        case "status":
            return an_attempt(native_status=text, **CRASHED)
        case "stop":
            return an_attempt(stop_reason=text)
        case "judge":
            broken = Judgement(judge="a", valid=False, reasoning=text)
            return an_attempt(judgements=(broken,), measurement="error", outcome="none")
        case "log":
            return an_attempt(artefacts=(Artefact(role="log", path=told["of"], text=text),))
    error = ErrorInfo(type=told.get("type", "Error"), message=text, phase=place)
    return an_attempt(errors=(error,), **CRASHED)


@pytest.mark.parametrize(("owner", "told"), [(owner, row) for owner in WORDINGS for row in WORDINGS[owner]], ids=str)
def test_real_words_name_who_has_to_act(owner, told):
    found = attributed(recorded(told))

    assert (found.owner, told["of"]) == (owner, told["of"]), [(one.name, one.strength) for one in found.signals]


def test_a_judge_that_its_provider_did_not_serve_is_the_graders_and_the_providers():
    found = attributed(recorded({"in": "scoring", "text": "Error code: 429 - rate limit reached"}))

    assert (found.owner, found.also) == ("grader", ("provider",))


def misleading(place, text):
    """A failure that was measured; the words stand where they say nothing about whose fault it is."""
    failed = Check(name="right", status="fail", explanation="expected 3, got 4")
    match place:
        case "task" | "case":
            return an_attempt(checks=(failed,), case=f"suite/{text}" if place == "case" else "suite/case-1")
        case "answer":
            return an_attempt(checks=(failed,), output=Output(text=text))
        case "file":
            return an_attempt(checks=(failed,), artefacts=(Artefact(role="output", path="src/a.ts", text=text),))
        case "tool":
            call = ToolCall(name="bash", arguments={"command": "make"}, result=ToolResult(text=text, is_error=True))
            return an_attempt(
                checks=(failed,), steps=(Step(index=0, actor=Actor(role="assistant"), tool_calls=(call,)),)
            )
        case "assertion" | "tests" | "step":
            return an_attempt(checks=(Check(name="checked", kind=place, status="fail", explanation=text),))
        case "recovered":
            return an_attempt(errors=(ErrorInfo(type="Error", message=text, phase="subject", recovered=True),))
        case "reasoning":
            return an_attempt(judgements=(Judgement(judge="a", reasoning=text, raw={"passed": False}),))
        case "log":
            return an_attempt(artefacts=(Artefact(role="log", path="verifier/test-stdout.txt", text=text),))
        case "stop":
            return an_attempt(checks=(failed,), stop_reason=text)
    return an_attempt(checks=(failed,), native_status=text)


@pytest.mark.trap(3)
@pytest.mark.parametrize(("place", "text"), [(place, text) for place in DECOYS for text in DECOYS[place]])
def test_the_same_words_in_somebody_elses_mouth_leave_it_with_the_model(place, text):
    attempt = misleading(place, text)
    case = Case(run=attempt.run, suite="suite", native_id="case-1", input=text if place == "task" else "Do it.")

    found = attributed(attempt, case)

    assert found.owner == "model", [(one.name, one.where) for one in found.signals]


def test_there_are_enough_of_both():
    assert sum(map(len, WORDINGS.values())) >= 250
    assert sum(map(len, DECOYS.values())) >= 120
    assert set(WORDINGS) < set(OWNERS)


@pytest.mark.parametrize("rule", built_in().book.rules.values(), ids=lambda rule: rule.name)
def test_every_rule_names_plain_words_to_be_looked_for_first(rule):
    assert bool(needed(rule.pattern)) != (rule.name in ANY_TEXT)


def test_an_error_column_that_calls_everything_the_subjects_is_read_by_its_words():
    pulled = {"in": "subject", "text": "toomanyrequests: You have reached your pull rate limit. 429"}
    served = {"in": "subject", "text": "429 Too Many Requests"}

    assert attributed(recorded(pulled)).owner == "environment"
    assert attributed(recorded(served)).owner == "provider"


def test_what_only_passes_through_a_container_is_still_the_providers():
    text = {"in": "subject", "text": "Command failed: docker exec 3f2a agent --task x\nAPI Error: 429 rate_limit_error"}

    assert attributed(recorded(text)).owner == "provider"


@pytest.mark.parametrize(("kind", "owner"), [("KeyError", "harness"), ("StrangeError", "unknown")])
def test_a_mistake_whose_stack_ends_in_a_harness_is_the_harnesss(kind, owner):
    traceback = (
        'Traceback\n  File "/venv/lib/python3.12/site-packages/lm_eval/evaluator.py", line 3, in evaluate\n    x'
    )
    error = ErrorInfo(type=kind, message="'acc'", traceback=traceback, phase="subject")

    assert attributed(an_attempt(errors=(error,), output=Output(text="said"), **CRASHED)).owner == owner


@pytest.mark.parametrize(
    ("page", "names"), [("rules.md", [*MEANS, *built_in().book.rules]), ("attribution.md", suspicious.MEANS)]
)
def test_the_documents_list_every_rule(page, names):
    text = (Path(__file__).parents[2] / "docs" / page).read_text(encoding="utf-8")

    assert [name for name in names if f"`{name}`" not in text] == []


def test_the_quote_of_a_long_line_begins_with_a_word():
    before = "gathering results from every worker of the pool before the merge " * 4
    text = f"{before}connection_pool.example.registry refused{' and stopped' * 30}"
    start = text.index("refused")

    quote = _line_of(text, start, start + len("refused"))
    assert "refused" in quote
    assert f" {quote}" in text


def test_the_quote_of_a_line_without_words_is_still_around_the_match():
    text = f"{'a' * 400} refused {'b' * 400}"

    assert "refused" in _line_of(text, 401, 408)
