"""Texts are redacted before they are cut: no secret comes through in halves, wherever it stands and whatever is cut."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.length import LONG as IS_LONG_PASS
from tests.length import every

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
from errata.review.excerpts import NAMED, REACH, CutPoints, in_short
from errata.review.facts import signals_of
from errata.review.labels import OWNERS
from errata.review.material import Material
from errata.review.packet import packet_for
from errata.review.redaction import LONG, redact_text
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
    result = attribute(attempt, observe(run, attempt, case, None, RULES), rules=RULES)
    material = Material(run=run, attempt=attempt, case=case, attribution=result, history=history, before=(attempt,))
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
    result = "\0".join(texts_in(msgspec.to_builtins(packet)))
    return [piece for piece in pieces if piece in result]


@settings(max_examples=1_000 if IS_LONG_PASS else 100, deadline=None)
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


def test_a_packet_is_redacted_when_it_is_made():
    packet = the_packet("DB_PASSWORD=hunter2hunter2", "output", 12_000)

    assert packet.redacted
    assert "DB_PASSWORD=[redacted:named]" in [place.text for place in packet.places]


def test_a_raw_packet_says_so_and_holds_all():
    attempt = an_attempt(output=Output(text="DB_PASSWORD=hunter2hunter2"))
    packet = packet_for(Material(run=a_run(), attempt=attempt), OWNERS, raw=True)

    assert not packet.redacted
    assert packet.places[0].text == "DB_PASSWORD=hunter2hunter2"


def test_the_budget_holds_for_what_is_sent_not_for_what_was_there():
    """A redaction may be longer than what it stands for."""
    text = "PIN_TOKEN=123abc " * 2_000
    packet = packet_for(Material(run=a_run(), attempt=an_attempt(output=Output(text=text))), OWNERS, budget=4_000)

    assert packet.size["tokens_estimated"] <= 4_000
    assert packet.size["characters"] == sum(len(place.text) for place in packet.places)


# --- texts that are too long to be redacted as a whole ---------------------------------------------------------------

PRIVATE_KEY = "\n".join(("-----BEGIN RSA PRIVATE KEY-----", *["Ab1+" * 16] * 60, "-----END RSA PRIVATE KEY-----"))
LONG_ONES = [
    *SECRETS,
    (PRIVATE_KEY, "Ab1+Ab1+Ab1+"),
    (f"Authorization: Bearer {'Zz9.' * 600}", "Zz9.Zz9.Zz9."),
    ('{"password": "correct horse battery staple, with many words more"}', "battery staple, with"),
]


@pytest.mark.parametrize("budget", every(2, [400, 2_000]))
@pytest.mark.parametrize(("secret", "gone"), LONG_ONES)
def test_no_piece_of_a_secret_is_left_where_a_very_long_text_is_cut(secret, gone, budget):
    """The secret is moved over every place where the text is cut."""
    text = a_log(LONG + 10_000)
    whole = CutPoints(text, redact_text)
    plain = packet_for(Material(run=a_run(), attempt=an_attempt(output=Output(text=text))), OWNERS, budget=budget)
    first = plain.places[0].text.index("\n[…")
    last = len(text) - (len(plain.places[0].text) - plain.places[0].text.rindex("…]\n") - 2)
    assert whole.before(first, 0) == first  # in a plain text any place is a seam
    for edge in (first, last):
        for off in range(-len(secret) - 2, 3, max(len(secret) // (12 if IS_LONG_PASS else 3), 1)):
            at = edge + off
            attempt = an_attempt(output=Output(text=f"{text[:at]} {secret} {text[at:]}"))
            packet = packet_for(Material(run=a_run(), attempt=attempt), OWNERS, budget=budget)
            assert pieces_left(gone, packet) == [], off


@settings(max_examples=1_000 if IS_LONG_PASS else 100, deadline=None)
@given(st.sampled_from(LONG_ONES), st.floats(0, 1), st.integers(0, 3_000))
def test_no_seam_is_inside_of_a_secret(secret, part, before):
    told_of, gone = secret
    text = f"{a_log(4_000)[:before]} {told_of} {a_log(4_000)}"
    at = before + 1 + int(part * len(told_of))
    seams = CutPoints(text, redact_text)
    starts, ends = seams.after(at, len(text)), seams.before(at, 0)

    for shown in (redact_text(text[starts:]), redact_text(text[:ends])):
        assert not [piece for at in range(max(len(gone) - PIECE, 0) + 1) if (piece := gone[at : at + PIECE]) in shown]


def test_of_a_very_long_text_only_what_is_near_is_looked_at():
    looked_at = 0

    def counting(text: str) -> str:
        nonlocal looked_at
        looked_at += len(text)
        return redact_text(text)

    text = a_log(3_000_000)
    CutPoints(text, counting).after(1_500_000, len(text))

    assert 0 < looked_at <= 4 * (REACH + NAMED + len(LINE))


def test_a_name_that_is_masked_is_not_cut_either():
    run = a_run()
    model = run.subject.model
    text = a_log(LONG + 10_000)
    for at in range(700, 760):
        attempt = an_attempt(output=Output(text=f"{text[:at]} {model} {text[at:]}"))
        packet = packet_for(Material(run=run, attempt=attempt), OWNERS, budget=400, blind=True)
        shown = packet.places[0].text
        assert not any(model[: len(model) - cut] in shown for cut in range(len(model) - 5))


def test_what_is_cut_to_one_line_is_redacted_before():
    text = f"{'x ' * 140}ghp_{'A1b2' * 10} and more"

    for width in range(270, 340):
        assert "A1b2A1b2" not in in_short(text, width, redact_text)


def test_what_is_cut_to_one_line_says_so():
    assert in_short("a b c", 300, redact_text) == "a b c"
    assert in_short("word " * 1_000, 20, redact_text) == "word word word word…"
    assert in_short("DB_PASSWORD=" + "x" * 300, 100, redact_text) == "DB_PASSWORD=[redacted:named]…"


# --- what triage cut before ------------------------------------------------------------------------------------------


def test_a_quote_of_triage_is_cut_anew_where_it_was_taken_from():
    error = ErrorInfo(type="E", message=f"{'word ' * 30}ghp_{'A1b2' * 10} was refused", phase="subject")
    signal = Signal(name="s", where="errors[0].message", quote=error.message[:170])
    (told_as,) = signals_of([signal], [error.message], redact_text)

    assert told_as.quote == ("word " * 30).strip()


@pytest.mark.parametrize(
    ("first", "last"),
    [("b2A1b2A1b2", "ghp_A1b2A1b2A1"), ("etly-kept", "very-secr"), ("x" * 24, "y" * 24)],
    ids=["digits", "parts of words", "long"],
)
def test_a_quote_that_stands_nowhere_loses_a_word_that_may_be_half_of_one(first, last):
    signal = Signal(name="s", quote=f"{first} was refused, {'word ' * 10} and {last}")
    (told_as,) = signals_of([signal], ["it is secretly-kept", "it is very-secretly kept"], redact_text)

    assert told_as.quote.startswith("… was refused,") and told_as.quote.endswith("and …")


def test_what_errata_says_itself_keeps_its_words():
    result = "passed by three other models of this suite, and failed by none of them"
    (told_as,) = signals_of([Signal(name="s", where="other runs", quote=result)], ["passed by otters"], redact_text)

    assert told_as.quote == result


def test_a_short_quote_stays_as_it_is():
    (told_as,) = signals_of([Signal(name="s", quote="429 too many requests")], [], redact_text)

    assert told_as.quote == "429 too many requests"


def test_a_key_made_of_a_message_with_a_secret_is_told_as_a_hash():
    crash = {"execution": "error", "outcome": "none"}
    hidden = an_attempt(errors=(ErrorInfo(type="E", message="AGE-SECRET-KEY-1" + "Q" * 30, phase="subject"),), **crash)
    plain = an_attempt(errors=(ErrorInfo(type="E", message="refused", phase="subject"),), **crash)
    keys = [
        packet_for(Material(run=a_run(), attempt=one, attribution=attribute(one, ())), OWNERS).failure_key
        for one in (hidden, plain)
    ]

    assert "QQQQ" not in keys[0].exact
    assert keys[1].exact == "subject:E:refused"
