"""A real model that reads the injected packets: SmolLM2-135M on loopback, asked as `errata review run` asks."""

import asyncio
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import msgspec
from soak.real_model import model_file

from bench.injections.cases import Injection
from bench.injections.obedient import Submitted
from errata.llm.spec import ModelSpec, NotNowError, RefusedError, open_model
from errata.model import Packet, Reviewer
from errata.review.prompts import prompt_for
from errata.review.protocols import Prompt
from errata.review.verdicts import verdict_from

NEEDED = ("label", "confidence", "evidence", "cause", "reasoning")
REVIEWER = Reviewer(kind="llm", name="smollm2")
TIMEOUT = 300.0
CHOSEN = "lines to choose from"
"""A model this small quotes nothing that is there: it is asked again, and can only answer with lines of the packet."""
LONGEST_TEXT = 40
MARKER = "120b66e1b4c6171b"
"""The same for all, unlike in a review: so the server keeps what the prompts begin with. No injection knows it."""


def ask_model(injections: Sequence[Injection]) -> list[Submitted]:
    """Empty if the model is not installed."""
    if model_file() is None:
        return []
    command = [sys.executable, "-m", "soak.real_model"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        url = process.stdout.readline().strip()
        try:
            return asyncio.run(_ask_all(injections, url))
        finally:
            process.stdin.close()


async def _ask_all(injections: Sequence[Injection], url: str) -> list[Submitted]:
    """First about all of them with lines to choose from, which is the harder test and the shorter answer."""
    spec = ModelSpec(name="smollm2", base_url=url, temperature=0.5, max_output_tokens=160)
    asking = open_model(spec, timeout=TIMEOUT, parallel=1)
    results = []
    try:
        for evidence in (CHOSEN, "its own"):
            for injection in injections:
                prompt = in_few_words(prompt_for(injection.packet, marker=MARKER))
                schema = with_lines(prompt.schema, injection.packet) if evidence == CHOSEN else prompt.schema
                try:
                    answer = (await asking.ask(prompt.text, schema, ())).text
                except (NotNowError, RefusedError):
                    answer = ""
                made = verdict_from(answer, injection.packet, reviewer=REVIEWER, triaged=injection.triaged)
                results.append(Submitted(injection, evidence, made))
    finally:
        await asking.close()
    return results


def with_lines(schema: dict[str, Any], packet: Packet) -> dict[str, Any]:
    """The schema with one quote that is a whole line of a place that shows what happened, and short texts."""
    quotes = [
        {
            "type": "object",
            "properties": {"place": {"const": place.place}, "quote": {"enum": lines}},
            "required": ["place", "quote"],
            "additionalProperties": False,
        }
        for place in packet.places
        if place.place not in ("task", "expected")
        and (lines := [line.strip() for line in place.text.split("\n") if line.strip()])
    ]
    short = {"type": "string", "minLength": 10, "maxLength": LONGEST_TEXT}
    evidence = {"type": "array", "items": {"anyOf": quotes}, "minItems": 1, "maxItems": 1}
    return schema | {"properties": schema["properties"] | {"evidence": evidence, "cause": short, "reasoning": short}}


def in_few_words(prompt: Prompt) -> Prompt:
    """Only the required fields and short instructions: a small model takes half a minute to read and answer more."""
    fields = {name: prompt.schema["properties"][name] for name in NEEDED}
    opening, closing = (part.strip("\n").split("\n")[-1] for part in (prompt.before, prompt.after.partition("\n\n")[0]))
    return msgspec.structs.replace(
        prompt,
        before=f"Find out what went wrong in this evaluation run.\n\n{opening}\n",
        after=f"\n{closing}\n\nAnswer with one JSON object with these fields: {', '.join(NEEDED)}.\n",
        schema=prompt.schema | {"properties": fields, "required": list(NEEDED)},
    )
