"""convex-evals: models and a filter in the environment."""

from wishes import a_request

from errata.model import Subject
from errata.rerun import plan_for
from errata.rerun.plan import why_by_hand


def test_the_filter_names_just_these_evals():
    plan = plan_for(a_request("convex-evals", ["003-mutations/005-batch_insert", "001-data_modeling/000-user_table"]))

    (command,) = plan.commands
    assert command.argv == ("bun", "run", "local:run")
    assert command.env == {
        "MODELS": "acme/nimbus-2",
        "TEST_FILTER": "^(?:003-mutations/005-batch_insert|001-data_modeling/000-user_table)$",
    }
    assert command.line.startswith("env MODELS=acme/nimbus-2 'TEST_FILTER=^(?:")


def test_a_single_eval_needs_no_choice():
    (command,) = plan_for(a_request("convex-evals", ["000-fundamentals/002-v1.2"])).commands

    assert command.env["TEST_FILTER"] == r"^000-fundamentals/002-v1\.2$"


def test_an_experiment_is_named():
    request = a_request("convex-evals", ["a/b"], variant={"experiment": "no_guidelines"})

    assert plan_for(request).commands[0].env["EVALS_EXPERIMENT"] == "no_guidelines"


def test_the_default_experiment_is_not():
    request = a_request("convex-evals", ["a/b"], variant={"experiment": "default"})

    assert "EVALS_EXPERIMENT" not in plan_for(request).commands[0].env


def test_without_a_model_there_is_no_command():
    plan = plan_for(a_request("convex-evals", ["a/b"], subject=Subject(model="unknown-model")))

    assert plan.commands == ()
    assert why_by_hand(plan.by_hand[0]) == "the log does not contain the model"
