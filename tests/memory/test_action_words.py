"""Whether a text says that something was done."""

import pytest

from errata.memory.reading.actions import is_done


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
    assert not is_done(text)


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
    assert is_done(text)


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
    assert not is_done(text)
