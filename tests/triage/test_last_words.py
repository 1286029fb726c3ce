"""The last message: an error in the place of an answer, or a refusal; and answers that only speak of such things."""

import pytest

from errata.model import Case, Check, Output
from errata.testing import a_run, an_attempt
from errata.triage import attribute, built_in, observe

FAILED = Check(name="match", status="fail", explanation="expected 4")
AZURE = (
    "Error code: 400 - {'error': {'message': 'The response was filtered due to the prompt triggering a content "
    "management policy.', 'code': 'content_filter', 'innererror': {'code': 'ResponsibleAIPolicyViolation'}}}"
)
PYTHON = """Traceback (most recent call last):
  File "/opt/agent/main.py", line 81, in <module>
    run()
  File "/opt/agent/loop.py", line 12, in run
    state["step"] += 1
KeyError: 'step'
"""
NODE = """Error: spawn ps ENOENT
    at ChildProcess._handle.onexit (node:internal/child_process:286:19)
    at onErrorNT (node:internal/child_process:484:16)
    at process.processTicksAndRejections (node:internal/process/task_queues:90:21)

Node.js v22.3.0
"""


def case_of(task="What is 2 + 2?", expected="4", **changes):
    return Case(run="r", suite="sums", native_id="c", input=task, expected=expected, **changes)


def attributed(attempt, case=None):
    rules = built_in()
    return attribute(attempt, observe(a_run(), attempt, case, None, rules), rules=rules)


@pytest.mark.req("B-16")
@pytest.mark.parametrize(
    ("text", "task"),
    [
        ("Azure returns the code content_filter when a prompt was blocked by its safety system.", "What is 2 + 2?"),
        ("I ran it and got this:\n" + PYTHON, "What is 2 + 2?"),
        (PYTHON + "\nSo the key is missing. The answer is 5.", "What is 2 + 2?"),
        (PYTHON, "Which traceback does this program print?"),
        (AZURE, "Which error does Azure send with the code content_filter?"),
        ("Error handling matters.\n\n" + "Line\n" * 12 + AZURE, "What is 2 + 2?"),
    ],
)
def test_an_answer_about_such_errors_is_an_answer(text, task):
    assert attributed(an_attempt(output=Output(text=text), checks=(FAILED,)), case_of(task)).owner == "model"


@pytest.mark.parametrize(
    "text",
    [
        "Traceback (most recent call last):\n" + '  File "a.py", line 1, in run\n    run()\n' * 60 + "and so on\nmore",
        "Error: x\n" + "    at a at b at c at d at e at f at g at h\n" * 60 + "and so on",
    ],
    ids=["python", "node"],
)
def test_a_long_quoted_stack_is_looked_through_at_once(text):
    """A pattern that tries every split of these lines would not end."""
    assert attributed(an_attempt(output=Output(text=text), checks=(FAILED,)), case_of()).owner == "model"
