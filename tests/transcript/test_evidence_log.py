"""The evidence log as a whole: quotes are verbatim, the list stays short, the strongest come first, nothing crashes."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from soak.secret_strings import CARRIERS, leaks, made_secrets, make
from tests.transcript.transcripts import SOURCES, agent, call, logged, read_all, transcript

from errata.model import Actor, Step, ToolCall, ToolResult
from errata.testing import an_attempt
from errata.text.outgoing import for_user
from errata.transcript.evidence_log import A_KIND, MOST, evidence_log
from errata.transcript.tool_use import text_of

LOGS = (
    SOURCES / "who_and_when/generated/data/Algorithm-Generated",
    SOURCES / "tau_bench/tau_cut/data/gpt-4o-airline.json",
    SOURCES / "tau_bench/tau2/data/ft-gpt-4.1_airline.json",
)
_STRENGTHS = ("strong", "moderate", "weak")


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.parents[1].name)
def test_every_quote_of_real_logs_is_verbatim_from_its_step(path):
    seen = 0
    for attempt, case in read_all(path):
        steps = {step.index: step for step in attempt.steps}
        for one in evidence_log(attempt, case):
            seen += 1
            assert one.quote, one
            words = " ".join(text_of(steps[one.step]).split())
            assert " ".join(one.quote.split()) in words, one
            assert one.speaker == steps[one.step].actor.name or one.speaker == steps[one.step].actor.role
            assert one.related_step is None or one.related_step in steps
            assert one.text.endswith(".")
    assert seen


def test_the_strongest_observations_come_first():
    strengths = [[_STRENGTHS.index(one.strength) for one in evidence_log(*read)] for read in read_all(LOGS[0])]

    assert any(len(set(each)) > 1 for each in strengths)
    assert strengths == [sorted(each) for each in strengths]


def test_a_real_claim_without_a_source_is_traced_to_its_speaker():
    """Who&When 81: no tool or task names the Eiffel Tower or its height."""
    logs = {attempt.native_id: (attempt, case) for attempt, case in read_all(LOGS[0])}

    claims = {one.step: one.speaker for one in evidence_log(*logs["81"]) if one.kind == "unsupported_claim"}

    assert claims[5] == "DataVerification_Expert"


def test_a_log_is_short_and_has_few_lines_of_a_kind():
    failing = [agent("", call(f"tool_{number}", f"Error: {'x' * number}", id=str(number))) for number in range(40)]

    log = logged(*failing)

    assert len(log) == A_KIND < MOST


def test_an_attempt_without_steps_has_an_empty_log():
    assert evidence_log(an_attempt(), None) == ()


def test_the_log_does_not_depend_on_the_case_being_known():
    attempt, _ = transcript(agent("", call("book", "Error: full", id="1")))

    assert [one.kind for one in evidence_log(attempt, None)] == ["call_failed"]


_TEXT = st.text(max_size=60) | st.sampled_from(
    ["```python\nx\n```", "exitcode: 1 (execution failed)\nCode output: Traceback", "###STOP###", "TERMINATE", "$1,234",
     "I have checked it.", "Let's assume 12.", '{"a": 1}', "Error: no", "**Total**: 3", "path/to/x", "May 20"]
)  # fmt: skip
_ROLES = st.sampled_from(["assistant", "user", "tool", "system"])
_VALUES = st.none() | st.booleans() | st.integers() | _TEXT | st.lists(_TEXT, max_size=2)
_CALLS = st.builds(
    ToolCall,
    name=_TEXT,
    arguments=st.none() | _VALUES | st.dictionaries(st.sampled_from(["id", "user_id", "amount", "x"]), _VALUES),
    result=st.none() | st.builds(ToolResult, text=_TEXT, is_error=st.none() | st.booleans()),
)
_STEPS = st.lists(
    st.builds(
        Step,
        index=st.just(0),
        actor=st.builds(
            Actor,
            role=st.sampled_from(["assistant", "user", "tool", "system"]),
            name=st.sampled_from(["", "A", "Bernd"]),
        ),
        kind=st.sampled_from(["message", "tool_call", "tool_result"]),
        parent=st.none() | st.integers(0, 3),
        text=_TEXT,
        tool_calls=st.lists(_CALLS, max_size=2).map(tuple),
    ),
    max_size=8,
)
_EXPECTED = (
    st.none()
    | _TEXT
    | st.fixed_dictionaries(
        {
            "actions": st.lists(
                st.fixed_dictionaries({"name": _TEXT, "kwargs": st.dictionaries(_TEXT, _VALUES)}) | _VALUES
            )
        },
        optional={"outputs": _VALUES},
    )
)


@given(_STEPS, _EXPECTED, _TEXT)
def test_any_transcript_has_a_log_with_quotes_of_its_own_steps(steps, expected, task):
    attempt, case = transcript(*steps, task=task, expected=expected)
    known = {step.index: step for step in attempt.steps}

    log = evidence_log(attempt, case)

    assert len(log) <= MOST
    assert all(one.step in known for one in log)
    assert log == evidence_log(attempt, case)


def test_of_several_wrong_actions_the_first_comes_first():
    expected = {"actions": [{"name": "book", "kwargs": {"id": "B", "seats": 1}}]}

    log = logged(agent("", call("cancel", id="A")), agent("", call("book", id="B", seats=2)), expected=expected)

    assert [(one.kind, one.step) for one in log] == [("action_unexpected", 0), ("action_differs", 1)]


REAL = [(attempt, case) for path in LOGS for attempt, case in read_all(path)]
SECRETS = list(made_secrets())


@settings(max_examples=60)
@given(st.integers(0, len(REAL) - 1), st.sampled_from(SECRETS), st.sampled_from(sorted(CARRIERS)), st.integers(0, 999))
def test_no_observation_of_a_real_log_holds_a_part_of_a_secret_wherever_that_is(at, secret, carrier, seed):
    """Observations quote values, sentences and beginnings of lines: each of them cuts the text it is from."""
    attempt, case = REAL[at]
    chance, carried = random.Random(seed), CARRIERS[carrier](secret.text)
    steps = tuple(_with(carried, step, chance) for step in attempt.steps)

    for one in evidence_log(replace(attempt, steps=steps), case):
        assert not leaks(secret, for_user(one.text)), one
        assert not leaks(secret, for_user(one.quote)), one


def _with(carried, step, chance):
    """Between two words of the text, and in the arguments and the result of each call."""
    calls = []
    for one in step.tool_calls:
        arguments = one.arguments | {"note": carried} if isinstance(one.arguments, dict) else one.arguments
        result = ToolResult(text=_placed(carried, one.result.text, chance)) if one.result is not None else None
        calls.append(replace(one, arguments=arguments, result=result))
    return replace(step, text=_placed(carried, step.text, chance), tool_calls=tuple(calls))


def _placed(carried, text, chance):
    words = text.split(" ")
    at = chance.choice((0, len(words), chance.randint(0, len(words))))
    return " ".join((*words[:at], carried, *words[at:]))


def test_the_answer_that_an_attempt_ends_in_is_quoted_without_half_a_token():
    token = make("", "Authorization: ApiKey LuZYPlenKKX0{48}", random.Random(3))
    text = CARRIERS["JSON"](token.text)

    log = logged(agent(text, call("bash", text)), agent(f"It is {text}"), expected="another")

    assert any(one.kind == "value_named" for one in log), log
    assert not any("LuZYPlen" in one.text + one.quote for one in log), log
