"""Whether a text says that something was done."""

import pytest

from errata.memory.reading.action_words import (
    is_change,
    is_entry_of_a_list,
    is_own_change,
    says_nothing_was_done,
    state_of,
)


@pytest.mark.parametrize(
    "text",
    [
        "None",
        "None.",
        "_None – reviewed, nothing to do._",
        "No changes were made.",
        "no action was taken",
        "No code or config changes",
        "Nothing yet.",
        "n/a",
        "None, this is the model's.",
    ],
)
def test_texts_that_nothing_was_done(text):
    assert says_nothing_was_done(text)


@pytest.mark.parametrize(
    "text",
    [
        "Relaxed the lint rule",
        "2026-03-04: `eslint.config.mjs` now ignores unused arguments",
        "We updated the task",
        "On 3 March Lena rewrote the grader",
        "The rule has been removed from the shared config",
        "Done (2026-03-04): the task names the file",
        "[x] Allow leading underscores",
        "✅ relax the rule",
        "Added a note that the owner should be checked",
        "`TASK.txt` now says what is missing",
        "Lint rule `id-length` was switched off",
        "grader no longer checks the order of keys",
    ],
)
def test_what_was_done(text):
    assert is_change(text)
    assert is_entry_of_a_list(text, is_log=False)


@pytest.mark.req("B-44")
@pytest.mark.parametrize(
    "text",
    [
        "[ ] Split the grader",
        "⏳ Rewrite the task",
        "Planned: guidelines for search indexes",
        "Not done: a second grader",
        "TODO: look at the order",
        "Retire the eval (rejected)",
        "New lint config — deferred",
        "A guideline is planned but not written yet",
        "We should split the grader",
        "The task will be reworded next week",
        "A second rule has not been added",
        "Reviewed all failures, no change needed",
        "Update the grader (not yet)",
    ],
)
def test_what_is_planned_open_or_denied_was_not_done(text):
    assert not is_change(text)
    assert not is_entry_of_a_list(text, is_log=True)


def test_an_order_counts_only_below_a_heading_that_says_it_was_carried_out():
    assert is_entry_of_a_list("Ignore unused arguments", is_log=True)
    assert not is_entry_of_a_list("Ignore unused arguments", is_log=False)


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("done", "done"),
        ("✅ 2026-05-15", "done"),
        ("planned", "open"),
        ("❌ won't do", "open"),
        ("–", "open"),
        ("eslint", "unknown"),
    ],
)
def test_the_state_in_a_cell(text, state):
    assert state_of(text) == state


@pytest.mark.parametrize(
    "text",
    [
        "I widened the tolerance in `grader.test.ts`, merged yesterday.",
        "After a second look we removed the rule from the shared config.",
        "We've since raised the timeout of the runner.",
        "The task now names the unit.",
        "`TASK.txt` now lists the fields.",
    ],
)
def test_a_change_by_the_author_is_one_wherever_it_is_stated(text):
    assert is_own_change(text)


@pytest.mark.parametrize(
    "text",
    [
        "The model removed the rule from its config.",
        "I went through every grader by hand.",
        "I tested the task myself.",
        "We decided against a change of the rule.",
        "I asked two colleagues about the task.",
        "We should have widened the tolerance of the grader.",
        "The rule now complains about every file.",
        "I pulled the results at noon.",
        "It changed the test, and the grader fails.",
    ],
)
def test_what_the_model_did_and_what_was_only_looked_at_is_no_change(text):
    assert not is_own_change(text)


def test_what_it_stands_for_may_be_in_the_sentence_before():
    assert is_own_change("We turned it off on 4 May.", "The rule reports an unused argument.")
    assert not is_own_change("We turned it off on 4 May.", "The run was slow.")
