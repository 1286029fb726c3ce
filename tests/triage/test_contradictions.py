"""Tasks that can't be done as they stand; and those that only look so."""

import pytest
from msgspec.structs import replace
from tests.triage.test_limit_signals import rows

from errata.model import Case, Check, ErrorInfo, Output
from errata.testing import a_run, an_attempt
from errata.triage import RunWide, attribute, built_in, observe


def attributed(attempt, case):
    return attribute(attempt, observe(a_run(), attempt, case, RunWide(), built_in()))


def a_case(expected=None, task="What is it?", **changes):
    return Case(run="0" * 16, suite="suite", native_id="case-1", input=task, expected=expected, **changes)


def crashed(message, phase):
    facts = {"execution": "error", "measurement": "not_run", "outcome": "none"}
    return an_attempt(errors=(ErrorInfo(type="", message=message, phase=phase),), **facts)


def named(attempt, case):
    return {one.name for one in attributed(attempt, case).signals}


def arithmetic(name, task, expected):
    case = Case(run="r", suite="s", key="s/c", native_id="c", name=name, input=task, expected=expected)
    attempt = an_attempt(output=Output(text="64"), checks=(Check(name="equals", scorer="equals", status="fail"),))
    return attribute(attempt, observe(a_run(), attempt, case, RunWide(), built_in()))


@pytest.mark.req("B-28")
def test_a_case_that_asks_for_another_sum_than_its_name_and_answer_is_the_tasks():
    found = arithmetic("Multiplication 7×8", "What is 8*8?", "56")

    assert (found.owner, found.confidence, found.decided_by) == ("task", "likely", "prompt_contradicts_expected")


def test_a_name_alone_is_a_doubt_and_a_name_that_fits_is_none():
    assert (doubted := arithmetic("Multiplication 7x8", "What is 8*8?", "65")).owner == "model"
    assert doubted.also == ("task",)
    assert arithmetic("Multiplication 8×8", "What is 8 * 8?", "65").also == ()
    assert arithmetic("Level 2-3", "Name 5 rivers.", "Rhine").also == ()


def test_a_required_birth_date_that_the_tools_contradict_is_the_tasks():
    """On a row of tau-bench: the profile gives another date, and the agent used that."""
    found = attributed(*rows()["25", 4])

    assert (found.owner, found.confidence, found.decided_by) == ("task", "likely", "expected_contradicts_data")


def test_a_required_birth_date_that_the_task_itself_states_is_no_contradiction():
    attempt, case = rows()["25", 4]
    stated = replace(case, input=f"{case.input} His birth date is 1985-04-04.")

    assert attributed(attempt, stated).decided_by != "expected_contradicts_data"
