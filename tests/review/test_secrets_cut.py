"""Texts are redacted before they are cut: no secret comes through in halves, wherever it stands and whatever is cut."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from errata.model import (
    Actor,
    Artefact,
    Case,
    Check,
    ErrorInfo,
    Judgement,
    Output,
    Packet,
    Signal,
    Step,
    ToolCall,
    ToolResult,
)
from errata.review.material import Material
from errata.review.packets import packet_for
from errata.review.question import OWNERS
from errata.review.redaction import LONG, told
from errata.review.seams import REACH, Seams, in_short
from errata.testing import a_run, an_attempt
from errata.triage import attribute, built_in, observe

CORPUS = tomllib.loads((Path(__file__).parents[1] / "fixtures/review/secrets.toml").read_text(encoding="utf-8"))
SECRETS = [(one["text"].replace("·", ""), one["gone"]) for one in CORPUS["secret"]]
PIECE = 8
LINE = "the ferry left the pier at noon and the tide was high\n"
RULES = built_in()
TRIGGERS = ("", "openai.RateLimitError: Error code: 429 - too many requests", "No space left on device", "Error:" * 20)
"""What triage quotes, and cuts for that."""
BUDGETS = (1, 700, 2_000, 12_000)


def a_log(size: int) -> str:
    return LINE * (size // len(LINE))


def placed(secret: str, at: int, size: int, beside: str = "") -> str:
    text = a_log(size)
    at = at % (len(text) + 1)
    return f"{text[:at]} {beside} {secret} {beside} {text[at:]}"


ATTEMPTS = {
    "output": lambda text: an_attempt(output=Output(text=text)),
    "answer": lambda text: an_attempt(output=Output(text="x", answer=text)),
    "status": lambda text: an_attempt(native_status=text, native_reason=text, stop_reason=text),
    "error": lambda text: an_attempt(errors=(ErrorInfo(type="E", message=text, phase="subject", traceback=text),)),
    "crash": lambda text: an_attempt(
        execution="error", outcome="none", errors=(ErrorInfo(type=text, message=text, phase="subject"),)
    ),
    "check": lambda text: an_attempt(checks=(Check(name="tests", status="fail", explanation=f"Error: {text}"),)),
    "value": lambda text: an_attempt(checks=(Check(name=text, status="fail", value=text),)),
    "judge": lambda text: an_attempt(judgements=(Judgement(judge="j", reasoning=text),)),
    "log": lambda text: an_attempt(artefacts=(Artefact(role="log", path="run.log", text=f"{text}\nError: it broke"),)),
    "file": lambda text: an_attempt(artefacts=(Artefact(role="output", path=f"src/{text}.ts", text=text),)),
    "step": lambda text: an_attempt(
        steps=(
            Step(
                index=0,
                actor=Actor(role="assistant"),
                text=text,
                reasoning=text,
                tool_calls=(ToolCall(name="sh", arguments={"cmd": text}, result=ToolResult(text=text, exit_code=1)),),
            ),
        )
    ),
}


def the_packet(text: str, field: str, budget: int, *, blind: bool = False) -> Packet:
    attempt = ATTEMPTS[field](text)
    case = Case(run=attempt.run, suite="s", native_id="c", input=text, expected=text)
    run = a_run(context=(Artefact(role="context", path="system_prompt.txt", text=text),), variant={"flags": text})
    history = ({"report": "r.md", "text": text},)
    said = attribute(attempt, observe(run, attempt, case, None, RULES), rules=RULES)
    material = Material(run=run, attempt=attempt, case=case, attribution=said, history=history, before=(attempt,))
    return packet_for(material, OWNERS, budget=budget, blind=blind)


def texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for pair in value.items() for item in pair for text in texts_in(item))
    elif isinstance(value, list):
        yield from (text for item in value for text in texts_in(item))


def pieces_left(gone: str, packet: Packet) -> list[str]:
    pieces = {gone[at : at + PIECE] for at in range(max(len(gone) - PIECE, 0) + 1)}
    told = "\0".join(texts_in(msgspec.to_builtins(packet)))
    return [piece for piece in pieces if piece in told]


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(SECRETS),
    st.integers(0, 20_000),
    st.sampled_from([400, 3_000, 20_000]),
    st.sampled_from(sorted(ATTEMPTS)),
    st.sampled_from(BUDGETS),
    st.sampled_from(TRIGGERS),
    st.booleans(),
)
def test_no_piece_of_a_secret_comes_through_wherever_it_stands(secret, at, size, field, budget, beside, blind):
    text, gone = secret

    assert pieces_left(gone, the_packet(placed(text, at, size, beside), field, budget, blind=blind)) == []
