"""A file that the task gives and the subject did not find is a doubt about the task."""

from pathlib import Path

import pytest

from errata.model import Actor, Artefact, Case, Step, ToolCall, ToolResult
from errata.testing import a_run, an_attempt
from errata.triage import RunWide, attribute, built_in, observe
from errata.triage.demands import asks_the_user, given_paths

LOG = (Path(__file__).parents[1] / "fixtures/triage/test_logs/v3.raman-fitting.easy.txt").read_text("utf-8")
TASK = "The file graphene.dat has a Raman spectrum. Fit its peaks and write them to /app/results.json."
NOT_THERE = "<tool_use_error>File does not exist.</tool_use_error>"


def called(at, name, reply, **arguments):
    call = ToolCall(name=name, arguments=arguments, result=ToolResult(text=reply, is_error="error" in reply.lower()))
    return Step(index=at, actor=Actor(role="assistant"), tool_calls=(call,))


def said(at, text):
    return Step(index=at, actor=Actor(role="assistant"), text=text)


READ = called(0, "Read", NOT_THERE, file_path="/app/graphene.dat")


def attributed(*steps, task=TASK):
    log = Artefact(role="log", path="panes/post-test.txt", text=LOG)
    answered = Artefact(role="log", path="panes/post-agent.txt", text='{"type":"tool_result"}')
    attempt = an_attempt(case="s/c", artefacts=(log, answered), steps=steps)
    case = Case(run="r", suite="s", key="s/c", native_id="c", input=task)
    return attribute(attempt, observe(a_run(), attempt, case, RunWide(), built_in()))


@pytest.mark.parametrize(
    "first",
    [
        READ,
        called(0, "Bash", "cat: graphene.dat: No such file or directory", command="cat graphene.dat"),
    ],
)
def test_a_given_file_that_was_not_there_is_evidence_against_and_leaves_the_failure_presumed(first):
    found = attributed(first, called(1, "Bash", "total 4\nother.dat", command="ls"), said(2, "I could not fit it."))

    assert (found.owner, found.also, found.proof, found.proof_reason) == ("model", ("task",), "presumed", "in_doubt")
    (doubt,) = [one for one in found.signals if one.name == "missing_fixture"]
    assert (doubt.strength, doubt.where) == ("weak", "steps[0]")
    assert doubt.quote in first.tool_calls[0].result.text


@pytest.mark.parametrize(
    "steps",
    [
        # found later in another folder, listed, or written by the subject
        (READ, called(1, "Read", "100 2.5", file_path="/data/graphene.dat")),
        (READ, called(1, "Bash", "graphene.dat\nother.dat", command="ls /data")),
        (READ, called(1, "Write", "written", file_path="/app/graphene.dat")),
        # not what the task gives
        (called(0, "Read", NOT_THERE, file_path="/app/notes.txt"),),
        (called(0, "Read", NOT_THERE, file_path="/app/results.json"),),
        (called(0, "Bash", "100 2.5", command="cat graphene.dat"),),
    ],
)
def test_a_file_that_was_there_or_that_the_task_does_not_give_changes_nothing(steps):
    found = attributed(*steps, said(9, "Done."))

    assert (found.owner, found.also, found.proof_reason) == ("model", (), "self_evident")


def test_a_folder_that_the_task_names_has_to_be_the_one_that_was_looked_into():
    task = TASK.replace("graphene.dat", "/data/graphene.dat")

    assert attributed(READ, said(1, "Done."), task=task).proof_reason == "self_evident"


def test_a_missing_output_behind_a_question_to_the_user_is_not_self_evident():
    found = attributed(said(0, "I see two spectra. Please confirm: should I use the first one?"))

    assert (found.owner, found.also, found.proof) == ("model", (), "presumed")


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Please provide the correct file.", True),
        ("Should I use the other image?", True),
        ("Do you want me to go on with it?", True),
        ("The peaks are in /app/results.json. Let me know if you need anything else.", False),
        ("Would you like an explanation?", False),
        ("It was not clear whether I should round.", False),
    ],
)
def test_a_question_asks_for_what_is_needed_to_go_on_and_an_offer_does_not(text, asks):
    assert asks_the_user(an_attempt(steps=(said(0, text),))) is asks


def test_a_question_before_the_last_turn_is_not_the_end():
    assert not asks_the_user(an_attempt(steps=(said(0, "Should I go on?"), said(1, "Done."))))


@pytest.mark.parametrize(
    ("task", "given"),
    [
        (TASK, ("graphene.dat",)),
        ("Create a file called hello.txt. Then check that hello.txt is not empty.", ()),
        ("Using input.csv:\nsave the totals as out/totals.csv", ("input.csv",)),
        ("Implement the parser in src/parse.py", ()),
    ],
)
def test_files_that_the_task_asks_for_are_not_given(task, given):
    assert given_paths(task) == given
