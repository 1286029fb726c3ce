"""tau-bench and tau2-bench: how a conversation ended, what was measured, and who called which tool."""

import json
from pathlib import Path

import pytest

from errata.model import Attempt, SourceRef
from errata.sources import tau_bench
from errata.sources.tau_bench.tau2_attempts import checks_of

FOLDER = Path(__file__).parents[1] / "fixtures" / "sources" / "tau_bench"
REAL = FOLDER / "tau2" / "data" / "ft-gpt-4.1_airline.json"
ENDINGS = FOLDER / "tau2_endings" / "data" / "nightly"
FIRST = FOLDER / "tau" / "data" / "tool-calling-mock-agent-0.0_range_0-3_user-gpt-4o-llm_0301100000.json"


def attempts(path: Path) -> dict[tuple[str, int], Attempt]:
    """By task and trial."""
    made = [item for item in tau_bench.read(path) if isinstance(item, Attempt)]
    return {(item.case.rpartition("/")[2], item.index): item for item in made}


def facts(attempt: Attempt) -> tuple[str, str, str]:
    return attempt.execution, attempt.measurement, attempt.outcome


@pytest.mark.parametrize(
    ("reason", "expected", "counted"),
    [
        ("user_stop", ("completed", "scored", "pass"), True),
        ("max_steps", ("limit", "scored", "fail"), True),
        ("timeout", ("limit", "scored", "fail"), True),
        ("agent_error", ("error", "scored", "fail"), True),
        ("too_many_errors", ("error", "scored", "fail"), True),
        ("user_error", ("error", "not_run", "none"), True),
        ("infrastructure_error", ("error", "not_run", "none"), False),
        ("context_window_exceeded", ("limit", "scored", "fail"), False),
        ("unexpected_error", ("error", "not_run", "none"), False),
    ],
)
def test_what_the_end_of_a_simulation_says(reason, expected, counted):
    found = next(attempt for attempt in attempts(ENDINGS).values() if attempt.native_status == reason)

    assert (facts(found), found.reported_counted) == (expected, counted)


def test_a_simulated_user_that_broke_is_an_error_of_the_simulator():
    assert [error.phase for error in attempts(ENDINGS)["line-3", 2].errors] == ["simulator"]


def test_a_trial_that_was_never_simulated_is_missing():
    assert facts(attempts(ENDINGS)["line-6", 2]) == ("missing", "not_run", "none")


def test_the_parts_of_the_reward_decide_and_what_they_are_made_of_does_not():
    failed = attempts(REAL)["25", 1]

    assert failed.failed_checks == ("DB",)
    assert "ACTION: 25_0 book_reservation" in [check.name for check in failed.checks if check.status == "fail"]


def test_a_part_that_failed_says_what_was_not_met():
    (check,) = [check for check in attempts(REAL)["25", 1].checks if check.failed]

    assert check.explanation == "expected call missing or different: book_reservation"


def test_a_value_that_the_agent_never_stated_is_named_as_such():
    checks = [{"info": info, "met": met} for info, met in (("23553", False), ("327", True), ("1000", False))]
    rewards = {"reward_breakdown": {"COMMUNICATE": 0.0}, "communicate_checks": checks}
    reward, *_ = checks_of(rewards, SourceRef(file="results.json"))

    assert reward.explanation == "the agent never stated: 23553, 1000"


def test_an_assertion_outside_of_the_basis_does_not_count():
    passed = attempts(REAL)["13", 1]

    assert (passed.outcome, passed.failed_checks) == ("pass", ())


def test_two_results_in_one_message_go_to_the_calls_that_asked_for_them():
    (step,) = [step for step in attempts(ENDINGS)["line-1", 1].steps if len(step.tool_calls) == 2]

    assert [(call.result.text, call.result.is_error) for call in step.tool_calls] == [
        ('{"state": "off"}', False),
        ("Error: no bill", True),
    ]


def test_a_cost_of_nothing_for_many_tokens_is_unknown():
    usage = attempts(REAL)["13", 1].usage.subject

    assert (usage.cost, usage.extra) == (None, {"cost_told": 0.0})
    assert usage.input


def test_a_trial_that_comes_twice_repeats_the_first(tmp_path):
    data = json.loads(REAL.read_text())
    data["simulations"].append(data["simulations"][0] | {"id": "another"})
    (tmp_path / "twice.json").write_text(json.dumps(data))
    *_, last = [item for item in tau_bench.read(tmp_path / "twice.json") if isinstance(item, Attempt)]

    assert (last.index, last.duplicate_of) == (2, last.id.replace("#2", "#1"))


# the first generation


def test_an_exception_of_tau_bench_is_no_answer_although_it_is_scored():
    found = attempts(FIRST)["2", 1]

    assert (facts(found), found.reported) == (("error", "not_run", "none"), 0.0)


def test_a_conversation_that_nobody_ended_ran_into_the_limit_of_steps():
    found = attempts(FIRST)["1", 2]

    assert (facts(found), found.limit.type) == (("limit", "not_run", "none"), "turn")


def test_without_any_reward_info_nothing_is_known_of_limits(tmp_path):
    rows = json.loads(FIRST.read_text())
    for row in rows:
        row["info"].pop("reward_info", None)
    (tmp_path / "old.json").write_text(json.dumps(rows))

    assert attempts(tmp_path / "old.json")["1", 2].execution == "completed"


@pytest.mark.req("B-17")
def test_rows_of_the_first_generation_that_were_cut_at_their_step_limit_are_limits():
    """They have an empty `reward_info`, and the reward of 0 that the harness starts with."""
    found = attempts(FOLDER / "tau_cut" / "data" / "gpt-4o-airline.json")
    cut = {key for key, attempt in found.items() if attempt.execution == "limit"}

    assert cut == {("2", 2), ("9", 3), ("9", 4)}
    assert {facts(found[key]) for key in cut} == {("limit", "not_run", "none")}
    assert {found[key].reported for key in cut} == {0.0}
    assert {found[key].limit.type for key in cut} == {"turn"}
    assert facts(found["45", 2]) == ("completed", "scored", "fail")


def test_a_lookup_that_was_left_out_is_no_reason_for_a_wrong_database():
    actions = [{"action": {"name": name}, "action_match": False} for name in ("get_reservation_details", "send_gift")]
    rewards = {"reward_breakdown": {"DB": 0.0, "ACTION": 0.0}, "action_checks": actions}
    reasons = {check.name: check.explanation for check in checks_of(rewards, SourceRef(file="results.json"))}

    assert reasons["DB"] == "expected call missing or different: send_gift"
    assert reasons["ACTION"] == "expected call missing or different: get_reservation_details, send_gift"
