"""Every step has its place in the timeline, within the room there is."""

import re

from hypothesis import given
from hypothesis import strategies as st

from errata.model import Actor, Step, ToolCall
from errata.model.step import ToolResult
from errata.review.excerpts import weight
from errata.review.redaction import redact_text
from errata.review.timeline import timeline

ASSISTANT, TOOL = Actor(role="assistant", name="Coder"), Actor(role="tool")
PLAIN = str.strip


def covered(lines):
    """The numbers of the steps that the lines stand for."""
    numbers = []
    for line in lines:
        first, last = re.match(r"(\d+)(?:-(\d+))? ", line).groups()
        numbers += range(int(first), int(last or first) + 1)
    return numbers


def test_a_line_has_the_number_the_speaker_and_how_the_step_begins():
    call = ToolCall(name="bash", arguments={"command": "ls /data"}, result=ToolResult(text="no such file", exit_code=2))
    steps = (Step(index=0, actor=ASSISTANT, text="I look.", tool_calls=(call,)), Step(index=1, actor=TOOL, text="x"))

    assert timeline(steps, 1_000, PLAIN) == (
        "0 assistant Coder: I look. → bash ls /data ← exit 2: no such file",
        "1 tool: x",
    )


def test_steps_that_repeat_are_folded():
    pair = ("I try again.", "It failed.")
    steps = tuple(Step(index=at, actor=(ASSISTANT, TOOL)[at % 2], text=pair[at % 2]) for at in range(12))

    assert timeline(steps, 1_000, PLAIN) == (
        "0 assistant Coder: I try again.",
        "1 tool: It failed.",
        "2-11 (as steps 0-1, 5 more times)",
    )


def test_secrets_are_redacted_before_a_line_is_cut():
    key = "sk-ant-api03-" + "A1b2" * 24
    steps = tuple(Step(index=at, actor=ASSISTANT, text=f"{'x ' * 60}{key} {at}") for at in range(40))

    for room in (800, 2_000, 8_000):
        assert not any("A1b2" in line for line in timeline(steps, room, redact_text))


texts = st.text(st.sampled_from("abc é\n"), max_size=400)


@given(
    st.lists(st.tuples(st.sampled_from([ASSISTANT, TOOL]), texts), min_size=1, max_size=60),
    st.integers(min_value=1_500, max_value=20_000),
)
def test_every_step_is_in_the_timeline_once_and_the_room_is_kept(said, room):
    steps = tuple(Step(index=at, actor=actor, text=text) for at, (actor, text) in enumerate(said))
    lines = timeline(steps, room, PLAIN)

    assert covered(lines) == list(range(len(steps)))
    assert sum(map(weight, lines)) <= room


def test_of_twenty_thousand_steps_each_is_covered_and_what_is_flagged_keeps_its_own_line():
    steps = tuple(Step(index=at, actor=ASSISTANT, text=f"thought {at} of many") for at in range(20_000))
    lines = timeline(steps, 16_000, PLAIN, flagged=[11_111])

    assert covered(lines) == list(range(20_000))
    assert sum(map(weight, lines)) <= 16_000
    assert "11111 assistant Coder: thought 11111 of many" in lines
    assert lines[0].startswith("0 assistant") and lines[-1].startswith("19999 assistant")
