"""A secret in the name of a case: the texts of a packet are redacted when it is made, its ids where it leaves."""

import random

import pytest
from a_packet import CONVEX, a_packet
from soak.secret_strings import leaks, make

from errata.mcp.outgoing import outgoing
from errata.model import Attempt, Case, Check, Output, Signal, case_key
from errata.review.facts import signals_of
from errata.review.prompts import prompt_for
from errata.review.redaction import redact_text
from errata.sources.errata_jsonl.lines import write_lines
from errata.testing import a_run
from terminal import done

SECRET = make("", "DEPLOY_KEY={32}", random.Random(4))
SOFT = "\xad".join(SECRET.text[at : at + 4] for at in range(0, len(SECRET.text), 4))
MARKER = "0a1b2c3d4e5f6071"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """One failure, with a secret in the name of its case and in the value of its check."""
    folder = tmp_path_factory.mktemp("ids")
    run = a_run()
    name = f"case {SECRET.text}"
    case = Case(run=run.id, suite="suite", native_id=name, input=f"Use {SOFT}")
    attempt = Attempt(
        run=run.id,
        case=case_key("suite", name),
        execution="completed",
        measurement="scored",
        outcome="fail",
        output=Output(text=f"I used {SOFT}"),
        checks=(Check(name="key", status="fail", value=SECRET.text), Check(name="soft", status="fail", value=SOFT)),
    )
    (folder / "run.jsonl").write_bytes(b"".join(write_lines([run, case, attempt])))
    done("import", folder / "run.jsonl", "--store", folder / "errata.db")
    return attempt.id, ("--store", folder / "errata.db")


@pytest.mark.parametrize(
    "words",
    [
        ["show", "ATTEMPT"],
        ["show", "ATTEMPT", "--full"],
        ["show", "ATTEMPT", "--json"],
        ["show", "ATTEMPT", "--packet", "--format", "text"],
        ["show", "ATTEMPT", "--packet", "--format", "json"],
        ["review", "next", "ATTEMPT", "--format", "text", "--reviewer", "ada"],
        ["review", "next", "ATTEMPT", "--format", "json", "--reviewer", "ada"],
        ["review", "run", "latest", "--dry-run", "--command", "true"],
    ],
    ids=" ".join,
)
def test_no_page_about_the_failure_holds_it(store, words):
    attempt, options = store
    shown = done(*(attempt if word == "ATTEMPT" else word for word in words), *options)

    assert not leaks(SECRET, shown.out + shown.err)
    assert "[redacted:named]" in shown.out


def test_with_raw_the_packet_is_shown_as_it_is(store):
    attempt, options = store

    assert leaks(SECRET, done("show", attempt, "--packet", "--format", "text", "--raw", *options).out)


def test_no_prompt_holds_it():
    prompt = prompt_for(a_packet(case_key=f"suite/{SECRET.text}"), marker=MARKER)

    assert not leaks(SECRET, prompt.text)


def test_no_packet_that_an_agent_gets_holds_it():
    packet = a_packet(case_key=SECRET.text, attempt_id=f"run:{SOFT}#1", id=f"run/{SECRET.text}#1")

    assert not leaks(SECRET, str(outgoing(packet)))
    assert outgoing(CONVEX)["places"] == [
        {"place": one.place, "source": one.source, "text": one.text} for one in CONVEX.places
    ]


def test_a_quote_whose_first_word_is_left_out_is_redacted_before():
    secret = make("", "Authorization: ApiKey {60}", random.Random(5))
    texts = [f"\x1b[1;31m{secret.text}\x1b[0m done"]
    (signal,) = signals_of(
        [Signal(name="judge_error", where="error", quote=f"{secret.text} was rejected, ok", strength="likely")],
        texts,
        redact_text,
    )

    assert not leaks(secret, signal.quote)
