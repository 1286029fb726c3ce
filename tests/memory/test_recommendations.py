"""A recommendation that was carried out is told of, and not made again."""

import pytest

from errata.memory.entries import find_action_for
from errata.model import Action

LINT = Action(
    id="1",
    what="now ignores unused arguments",
    path="eslint.config.mjs",
    addresses=("000-fundamentals/002-http_greeting",),
    date="2026-03-04",
)
TASK = Action(
    id="2",
    what="now asks for an error when the owner is missing",
    path="evals/003-mutations/002-cascade_remove/TASK.txt",
    addresses=("003-mutations/002-cascade_remove",),
    date="2026-03-05",
)
GREETING = "convex-evals/000-fundamentals/002-http_greeting"
REMOVE = "convex-evals/003-mutations/002-cascade_remove"


def done(text, **told):
    return find_action_for(text, [LINT, TASK], **told)


@pytest.mark.req("C-33")
@pytest.mark.parametrize(
    ("text", "told", "action"),
    [
        ("allow unused function arguments in the lint configuration.", {}, LINT),
        ("Allow unused arguments", {"cases": (GREETING,)}, LINT),
        ("say what happens for a missing owner", {"cases": (REMOVE,)}, TASK),
        ("Something else about it", {"cases": (GREETING,), "path": "eslint.config.mjs"}, LINT),
        ("Relax unused arguments", {"path": "./config/eslint.config.mjs"}, LINT),
    ],
)
def test_what_was_done_is_recognised(text, told, action):
    assert done(text, **told) is action


@pytest.mark.req("B-50")
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("explain the page shape in the guidelines", {"cases": ("002-queries/006-pagination_shape",)}),
        ("let the grader look at the body", {"cases": (GREETING,)}),
        ("find out why the change does not reach the eval", {}),
        ("Fix it", {}),
        ("Relax another rule", {"path": "./config/eslint.config.mjs"}),
        ("let lint accept any header", {"cases": (GREETING,)}),
        ("", {}),
    ],
)
def test_what_was_not_done_is_not(text, told):
    assert done(text, **told) is None


def test_of_several_the_newest_is_named():
    again = Action(id="3", what="ignores unused arguments everywhere", path="eslint.config.mjs", date="2026-04-01")

    assert find_action_for("ignore unused arguments", [again, LINT]) is again
