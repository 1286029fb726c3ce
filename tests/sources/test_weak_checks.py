"""Checks whose pass means little, by what their harness records about them."""

import json

import pytest

from errata.model import Attempt, SourceRef
from errata.sources import deepeval
from errata.sources.tau_bench.tau2_attempts import checks_of
from errata.sources.tau_bench.trials import only_reads

REF = SourceRef(file="results.json")


def weaknesses(**rewards):
    return {check.name: check.weakness for check in checks_of(rewards, REF) if check.counts}


def action(name):
    return {"action": {"name": name}, "action_match": True}


def test_an_empty_list_of_requirements_is_met_by_itself():
    found = weaknesses(
        reward_breakdown={"DB": 1.0, "COMMUNICATE": 1.0, "NL_ASSERTION": 1.0},
        communicate_checks=[],
        nl_assertions=[{"nl_assertion": "is polite", "met": True}],
        action_checks=[action("cancel_reservation")],
    )

    assert found == {"DB": "", "COMMUNICATE": "no_criteria", "NL_ASSERTION": ""}


def test_a_database_that_nobody_had_to_change_is_as_expected_by_itself():
    reads = [action("get_user_details"), action("transfer_to_human_agents")]

    assert weaknesses(reward_breakdown={"DB": 1.0}, action_checks=reads) == {"DB": "nothing_changed"}
    assert weaknesses(reward_breakdown={"DB": 1.0}, action_checks=[]) == {"DB": "nothing_changed"}


@pytest.mark.parametrize(("actions", "weakness"), [([], "nothing_changed"), (None, ""), ([{"name": "book"}], "")])
def test_a_task_without_actions_has_no_list_of_checked_actions(actions, weakness):
    rewards = {"reward_breakdown": {"DB": 1.0}, "action_checks": None}
    (check,) = checks_of(rewards, REF, actions)

    assert check.weakness == weakness


@pytest.mark.parametrize("name", ["book_reservation", "update_order", "cancel_pending_order", "send_certificate", ""])
def test_what_is_not_known_to_read_may_write(name):
    assert not only_reads([{"name": "get_order"}, {"name": name}])


def metric(logs):
    return {"name": "Faithfulness", "score": 1.0, "threshold": 0.5, "success": True, "verboseLogs": logs}


def measured(folder, logs):
    case = {"name": "case", "success": True, "input": "q", "actualOutput": "a", "metricsData": [metric(logs)]}
    path = folder / "test_run.json"
    path.write_text(json.dumps({"testCases": [case], "conversationalTestCases": [], "metricsScores": []}))
    (attempt,) = [item for item in deepeval.read(path) if isinstance(item, Attempt)]
    return attempt.checks[0].weakness


@pytest.mark.req("B-13")
def test_a_metric_over_no_claims_scores_one_and_says_nothing(tmp_path):
    assert (
        measured(tmp_path, 'Truths (limit=None):\n[\n    "x"\n] \n \nClaims:\n[] \n \nVerdicts:\n[]') == "no_criteria"
    )
