"""Whether the subject could work at all: what a checkup finds of the whole run."""

import pytest
from checkup_fixtures import check, failed, named, row, rows

from errata.checkup import is_fit
from errata.model import Conduct, Obstacle, Sighting

MANGLED = Conduct(turns=9, calls=9, mangled_calls=Sighting(count=8, step=2, quote="Bash: :ls"))
CRASHED = Conduct(
    turns=9, calls=9, obstacle=Obstacle(kind="crashed", where="agent.txt:9", quote="Error: spawn ps ENOENT")
)
ABSENT = Conduct(obstacle=Obstacle(kind="not_installed", where="agent.txt:1", quote="bash: mini: command not found"))
EMPTY = Conduct(turns=9, calls=8, ended_empty=Sighting(count=1, step=9, quote=""))
FINE = Conduct(turns=9, calls=8, empty_calls=Sighting(count=1, step=3, quote="Bash()"))


@pytest.mark.req("B-07")
@pytest.mark.parametrize(
    ("conduct", "name", "text"),
    [
        (
            MANGLED,
            "tool_channel_broken",
            "4 of 12 attempts (33 %) have tool calls that look mangled or arrived as text",
        ),
        (CRASHED, "agent_crashed", "4 of 12 attempts (33 %) ended in a crash of the agent program: case-0, case-1"),
        (ABSENT, "agent_not_installed", "4 of 12 attempts (33 %) had no agent program: it was not installed: case-0"),
        (EMPTY, "empty_final_turns", "4 of 12 attempts (33 %) ended with an empty answer of the model: case-0"),
    ],
)
def test_a_run_whose_subject_could_not_work_in_a_quarter_of_its_attempts_is_not_fit(conduct, name, text):
    found = check([*(failed(number, conduct=conduct) for number in range(4)), *rows(12, conduct=FINE)[4:]])

    (finding,) = named(name, found)
    assert (finding.severity, finding.text[: len(text)]) == ("error", text)
    assert finding.numbers == {"attempts": 4}
    assert len(finding.evidence) == 1
    assert found[0] is finding
    assert not is_fit(found)


def test_a_few_such_attempts_are_a_warning():
    found = check([failed(0, conduct=MANGLED), failed(1, conduct=CRASHED), *rows(12)[2:]])

    assert [one.severity for one in found if one.name in ("tool_channel_broken", "agent_crashed")] == ["warning"] * 2
    assert is_fit(found)


def test_two_of_three_are_too_few_to_condemn_a_run():
    assert is_fit(check([failed(0, conduct=MANGLED), failed(1, conduct=MANGLED), row(2)]))


def test_a_slip_and_a_log_without_steps_are_no_finding():
    found = check([*rows(5, conduct=FINE), *rows(5)])

    assert not [one for one in found if one.name in ("tool_channel_broken", "agent_crashed", "empty_final_turns")]


def test_sessions_that_ended_in_reasoning_alone_did_not_end_with_an_empty_answer():
    thought = Conduct(turns=9, calls=8, ended_empty=EMPTY.ended_empty, ended_in_thought=True)

    assert not named("empty_final_turns", check([*(failed(number, conduct=thought) for number in range(4)), *rows(8)]))


def test_an_attempt_counts_once_for_what_came_first():
    both = Conduct(turns=9, calls=9, mangled_calls=MANGLED.mangled_calls, obstacle=CRASHED.obstacle)
    found = check([*(failed(number, conduct=both) for number in range(4)), *rows(8)[4:]])

    assert named("agent_crashed", found)
    assert not named("tool_channel_broken", found)


WRITTEN = Conduct(turns=1, calls_as_text=Sighting(count=1, step=1, quote='{"name": "bash"'), ends_in_text_call=True)


def test_calls_written_as_text_count_where_other_attempts_call_tools():
    written = [failed(number, conduct=WRITTEN) for number in range(4)]

    (finding,) = named("tool_channel_broken", check([*written, *rows(9, conduct=FINE)[4:]]))
    assert finding.text.startswith("4 of 9 attempts (44 %) have tool calls")
    assert not named("tool_channel_broken", check([*written, *rows(9)[4:]]))
