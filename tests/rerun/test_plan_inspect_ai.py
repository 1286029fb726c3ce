"""Inspect: its own retry where that is exact, else samples by their ids."""

import pytest
from wishes import a_request, failed

from errata.model import SourceRef, Subject
from errata.rerun import Others, plan_for
from errata.rerun.plan import note_text, why_by_hand

LOG = {"ref": SourceRef(file="first.eval", member="header.json"), "suite": "capitals"}
TASK = {"eval": {"task": "capitals", "task_file": "tasks/capitals.py"}}


def an_inspect_request(cases, **changes):
    return a_request("inspect-ai", cases, **{**LOG, "extra": TASK, **changes})


def unscored(case, **changes):
    return failed(case, why="not measured", execution="completed", broke=False, **changes)


def test_what_broke_is_retried_from_the_log():
    (command,) = plan_for(an_inspect_request(["one", "two"])).commands

    assert command.argv == ("inspect", "eval-retry", "/data/runs/first/first.eval")
    assert command.cases == ["one", "two"]
    assert command.also == 0


def test_what_the_retry_would_leave_out_is_evaluated_by_its_id():
    retry, evaluation = plan_for(an_inspect_request(["one", unscored("two"), unscored("two", index=2)])).commands

    assert retry.cases == ["one"]
    assert evaluation.argv == (
        *("inspect", "eval", "tasks/capitals.py@capitals", "--model=acme/nimbus-2"),
        *("--epochs=2", "--sample-id=two"),
    )


def test_where_more_broke_than_is_wanted_samples_are_chosen_by_id():
    (command,) = plan_for(an_inspect_request(["one"], others=Others(broke=3))).commands

    assert command.argv[:3] == ("inspect", "eval", "tasks/capitals.py@capitals")
    assert command.argv[-1] == "--sample-id=one"


def test_an_id_that_is_not_fit_is_retried_together_with_all_that_broke():
    plan = plan_for(an_inspect_request(["one", "two, three"], others=Others(broke=3)))

    chosen, retry = plan.commands
    assert chosen.cases == ["one"]
    assert (retry.argv[1], retry.cases, retry.also) == ("eval-retry", ["two, three"], 4)
    assert "two, three" not in retry.line
    assert plan.by_hand == ()


def test_an_id_that_is_not_fit_and_did_not_break_is_left_to_the_user():
    plan = plan_for(an_inspect_request([unscored("$(rm -rf ~)")]))

    assert plan.commands == ()
    assert why_by_hand(plan.by_hand[0]) == "the sample id contains characters that are not safe in a command"


def test_a_registered_task_is_called_by_its_name():
    extra = {"eval": {"task": "arc_easy", "task_registry_name": "inspect_evals/arc_easy"}}

    (command,) = plan_for(an_inspect_request([unscored("1")], extra=extra)).commands

    assert command.argv[2] == "inspect_evals/arc_easy"


def test_a_task_of_a_script_cannot_be_called():
    plan = plan_for(an_inspect_request(["one"], extra={"eval": {"task": "task"}}))

    assert plan.commands == ()
    assert "created in a script" in why_by_hand(plan.by_hand[0])


def test_task_arguments_and_numbers_of_the_settings_come_along():
    request = an_inspect_request(
        [unscored("one")],
        extra={"eval": {**TASK["eval"], "task_args_passed": {"level": 3}}},
        subject=Subject(model="acme/nimbus-2", params={"temperature": 0.5, "system_message": "be kind; rm"}),
        environment={"config": {"message_limit": 6, "fail_on_error": False}},
    )

    (command,) = plan_for(request).commands

    assert command.argv[4:8] == ("-T", "level=3", "--temperature=0.5", "--message-limit=6")


@pytest.mark.parametrize("value", ["$(id)", "a b", "x\ny", "[1, 2]"])
def test_a_task_argument_that_is_not_fit_leaves_the_sample_to_the_user(value):
    extra = {"eval": {**TASK["eval"], "task_args_passed": {"lang": value}}}

    plan = plan_for(an_inspect_request([unscored("one")], extra=extra))

    assert plan.commands == ()
    assert why_by_hand(plan.by_hand[0]).startswith("the task argument lang ")


def test_without_passed_arguments_all_arguments_are_given():
    (command,) = plan_for(an_inspect_request([unscored("one")], variant={"cot": "false"})).commands

    assert command.argv[4:6] == ("-T", "cot=false")


@pytest.mark.parametrize("file", ["-c evil", "tasks/$(id).py", "a\nb.py", "tasks/x.py;reboot"])
def test_a_hostile_file_of_a_task_makes_no_command(file):
    plan = plan_for(an_inspect_request(["one"], extra={"eval": {"task": "t", "task_file": file}}))

    assert plan.commands == ()


def test_the_user_is_told_which_task_the_log_would_start():
    plan = plan_for(an_inspect_request(["one"]))

    assert [note_text(note) for note in plan.notes] == [
        "`eval-retry` takes the task (tasks/capitals.py@capitals), the model and all settings from the log"
    ]
