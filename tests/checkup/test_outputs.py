"""Do the answers look like answers?"""

import sys

import pytest
from checkup_fixtures import check, named, row, rows, the

from errata.model import Conduct, Limit, Output, Sighting, Usage, UsageByRole

EMPTY = {"output": Output(text="")}
SAME = {"output": Output(text="I can't help with that")}
NO_TEXT = {"output": Output()}


def mixed(total, odd, **changes):
    """Rows of which the last few are odd."""
    return [*rows(total - odd), *(row(total + number, **changes) for number in range(odd))]


@pytest.mark.parametrize(("odd", "severity"), [(1, "info"), (2, "warning"), (10, "warning")])
def test_empty_answers_are_a_warning_from_a_fifth_on(odd, severity):
    found = the("empty_outputs", check(mixed(10, odd, **EMPTY)))

    assert (found.severity, found.numbers) == (severity, {"outputs": odd})
    assert f"{odd} of 10 ({10 * odd} %) stored answers are empty" in found.text


def test_white_space_is_an_empty_answer():
    assert the("empty_outputs", check([*rows(9), row(9, output=Output(text=" \n\t"))]))


@pytest.mark.req("B-77")
def test_what_the_harness_writes_in_the_place_of_an_empty_answer_is_one():
    marked = row(9, native_status="EMPTY_RESPONSE", output=Output(text="[EMPTY_RESPONSE: none]"))

    assert the("empty_outputs", check([*rows(9), marked])).numbers["outputs"] == 1


def test_an_answer_that_the_log_does_not_keep_is_not_an_empty_one():
    assert check(rows(5, **NO_TEXT)) == ()


def test_the_share_is_of_the_answers_that_are_stored():
    found = the("empty_outputs", check([*rows(3, **NO_TEXT), row(3), row(4, **EMPTY)]))

    assert "1 of 2 (50 %)" in found.text


def test_empty_answers_are_named_and_pointed_to():
    found = the("empty_outputs", check([*rows(9), row(9, **EMPTY)]))

    assert found.text.endswith(": case-9")
    assert str(found.evidence[0].ref) == "rows.jsonl:10"


@pytest.mark.parametrize(("total", "same", "told"), [(5, 5, True), (4, 4, False), (25, 5, True), (26, 5, False)])
def test_one_text_for_many_tasks_is_told_from_five_answers_and_a_fifth_on(total, same, told):
    assert bool(named("identical_outputs", check(mixed(total, same, **SAME)))) == told


def test_the_text_that_is_given_to_many_tasks_is_quoted():
    found = the("identical_outputs", check(mixed(10, 6, **SAME)))

    assert found.text == "6 of 10 (60 %) stored answers are one and the same text"
    assert [one.quote for one in found.evidence] == ["I can't help with that"]


def test_a_text_that_comes_late_in_a_long_run_is_quoted_too():
    found = the("identical_outputs", check(mixed(200, 100, **SAME)))

    assert [one.quote for one in found.evidence] == ["I can't help with that"]


def test_a_text_goes_on_being_counted_when_there_are_too_many_to_remember(monkeypatch):
    monkeypatch.setattr(sys.modules["errata.checkup.survey"], "MOST_TEXTS", 3)

    found = the("identical_outputs", check([row(0), row(1, **SAME), row(2), *(row(3 + n, **SAME) for n in range(20))]))

    assert found.numbers == {"outputs": 21}


def test_empty_answers_are_not_told_twice():
    assert named("identical_outputs", check(rows(10, **EMPTY))) == []


@pytest.mark.parametrize("reason", ["length", "max_tokens", "model_length", "truncated"])
def test_an_answer_that_was_cut_off_is_known_by_its_stop_reason(reason):
    found = the("truncated_outputs", check([*rows(9), row(9, stop_reason=reason)]))

    assert (found.severity, found.numbers) == ("info", {"outputs": 1})
    assert found.evidence[0].ref.line == 10


def test_an_answer_that_hit_a_token_limit_was_cut_off():
    assert the("truncated_outputs", check([*rows(9), row(9, limit=Limit(type="token_limit", value=4096))]))


@pytest.mark.parametrize("changes", [{"stop_reason": "stop"}, {"stop_reason": ""}, {"limit": Limit(type="time")}])
def test_an_answer_that_ended_by_itself_was_not_cut_off(changes):
    assert named("truncated_outputs", check([*rows(3), row(3, **changes)])) == []


@pytest.mark.parametrize(("odd", "severity"), [(1, "info"), (2, "warning")])
def test_cut_off_answers_are_a_warning_from_a_fifth_on(odd, severity):
    assert the("truncated_outputs", check(mixed(10, odd, stop_reason="length"))).severity == severity


@pytest.mark.trap(12)
def test_unknown_costs_are_told_and_not_taken_as_nothing():
    found = the("unknown_costs", check([*rows(2), row(2, usage=UsageByRole())]))

    assert found.text == "1 attempt has no known cost; the total covers the other 2"
    assert found.severity == "info"


def test_the_cost_of_a_simulated_user_is_not_that_of_the_agent():
    simulated = UsageByRole(simulator=Usage(cost=0.1))
    found = the("unknown_costs", check([row(0, usage=simulated), row(1, usage=simulated)]))

    assert found.text == (
        "the agent's cost is unknown; the log states only that of the simulated user, for 2 of 2 attempts"
    )


def test_a_harness_that_states_no_costs_at_all_is_no_finding():
    assert check(rows(3, usage=UsageByRole(subject=Usage(input=1)))) == ()


def test_a_cost_of_zero_is_known():
    assert check(rows(3, usage=UsageByRole(subject=Usage(input=1, cost=0.0)))) == ()


@pytest.mark.parametrize(("execution", "is_empty"), [("completed", False), ("limit", True)])
def test_an_episode_that_a_call_ended_has_lost_no_answer(execution, is_empty):
    ended = [row(number, output=Output(text=""), conduct=Conduct(calls=3), execution=execution) for number in range(2)]
    found = named("empty_outputs", check([*ended, *rows(5)]))

    assert bool(found) is is_empty


def test_an_empty_last_turn_after_calls_is_an_empty_answer():
    conduct = Conduct(calls=3, ended_empty=Sighting(count=1, step=4))

    assert named("empty_outputs", check([row(0, output=Output(text=""), conduct=conduct)])) != []
