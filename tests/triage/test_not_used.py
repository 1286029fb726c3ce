"""Words in places where a rule may not look are shown, and never decide."""

import pytest

from errata.model import Artefact, Case, ErrorInfo, Output
from errata.testing import an_attempt
from errata.triage.not_used import MOST, not_used
from errata.triage.rulebook import built_in

NAME = "004-actions/003-rate_limit_guard"
CODE = 'export const guard = () => {\n  throw new Error("too many requests, rate limit exceeded");\n};\n'


def found(name="greeting", *, used=(), task=None, **changes):
    attempt = an_attempt(**changes)
    case = Case(run=attempt.run, suite="suite", native_id=name, input=task)
    return not_used(name, attempt, case, built_in(), used=used)


def test_a_word_in_the_name_of_a_case_is_told_with_its_place():
    (hit,) = found(NAME)

    assert (hit.rule, hit.where, hit.quote) == ("provider_rate_limit", "the case name", "rate_limit")


def test_a_word_in_a_file_of_the_model_is_told_with_its_line():
    (hit,) = found(artefacts=(Artefact(role="output", path="convex/guard.ts", text=CODE),))

    assert hit.where == "the model's own file (convex/guard.ts:2)"
    assert hit.quote == "too many requests, rate limit exceeded"


@pytest.mark.parametrize("changes", [{"output": Output(text="Use rate limiting.")}, {"task": "Add rate limiting."}])
def test_a_word_in_the_answer_or_the_task_is_told(changes):
    assert [hit.rule for hit in found(**changes)] == ["provider_rate_limit"]


def test_a_word_in_a_log_of_the_harness_is_no_word_in_a_wrong_place():
    assert found(artefacts=(Artefact(role="log", path="run.log", text=CODE),)) == ()


def test_a_rule_that_was_used_is_not_told_again():
    assert found(NAME, used={"provider_rate_limit"}) == ()


def test_a_bare_number_in_an_answer_means_nothing():
    assert found(output=Output(text="The answer is 429, or 503.")) == ()


def test_it_says_where_the_rule_looks_and_that_there_was_nothing():
    (hit,) = found(NAME)

    assert hit.looks_at == "the harness's error in the generation, and there was none"


def test_it_does_not_say_that_there_was_nothing_where_there_was_an_error():
    (hit,) = found(NAME, errors=(ErrorInfo(type="crash", message="boom", phase="subject"),))

    assert hit.looks_at == "the harness's error in the generation"


def test_two_places_are_enough_and_those_of_one_rule_come_together():
    files = tuple(Artefact(role="output", path=f"{at}.ts", text=CODE + "ENOSPC") for at in range(5))

    hits = found(NAME, artefacts=files)

    assert len(hits) == MOST
    assert {hit.rule for hit in hits} == {"provider_rate_limit"}
