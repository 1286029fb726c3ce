"""Short transcripts for tests: who wrote what, in order."""

from pathlib import Path

from msgspec.structs import replace

from errata.model import Actor, Attempt, Case, Step, ToolCall, ToolResult
from errata.model.usage import Usage, UsageByRole
from errata.sources import tau_bench, who_and_when
from errata.testing import an_attempt
from errata.transcript.evidence_log import evidence_log

SOURCES = Path(__file__).parents[1] / "fixtures" / "sources"
SIMULATED = UsageByRole(simulator=Usage(extra={"user": "simulated"}))


def agent(text="", *calls, name=""):
    return Step(index=0, actor=Actor(role="assistant", name=name), text=text, tool_calls=calls)


def user(text):
    return Step(index=0, actor=Actor(role="user", name="simulated"), text=text)


def ran(text, exit_code=0):
    """What a terminal answers to code in a message."""
    state = "execution failed" if exit_code else "execution succeeded"
    return Step(
        index=0,
        actor=Actor(role="tool", name="Computer_terminal"),
        text=f"exitcode: {exit_code} ({state})\nCode output: {text}",
    )


def call(name, result="{}", /, **arguments):
    return ToolCall(name=name, arguments=arguments, result=ToolResult(text=result))


def transcript(*steps, task="", expected=None, **fields):
    """A failed attempt and its case; steps get their numbers here."""
    numbered = tuple(replace(step, index=at) for at, step in enumerate(steps))
    case = Case(run="0" * 16, suite="suite", native_id="case-1", input=task, expected=expected)
    return an_attempt(steps=numbered, **fields), case


def logged(*steps, kind="", **fields):
    """The evidence log; of one kind where that is given."""
    found = evidence_log(*transcript(*steps, **fields))
    return [one for one in found if not kind or one.kind == kind]


def read_all(path):
    module = who_and_when if "who_and_when" in str(path) else tau_bench
    items = [*module.read(path)]
    cases = {item.key: item for item in items if isinstance(item, Case)}
    return [(item, cases.get(item.case)) for item in items if isinstance(item, Attempt)]


def code(text):
    return f"Let's run this.\n\n```python\n{text}\n```\n"
