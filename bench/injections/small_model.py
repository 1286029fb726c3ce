"""A real model that reads the injected packets: SmolLM2-135M on loopback, asked as `errata review run` asks."""

import asyncio
import subprocess
import sys
from collections.abc import Sequence

import msgspec
from soak.real_model import model_file

from bench.injections.cases import Injection
from bench.injections.obedient import Submitted
from errata.llm.spec import ModelSpec, NotNowError, RefusedError, open_model
from errata.model import Reviewer
from errata.review.prompts import fresh_marker, prompt_for
from errata.review.protocols import Prompt
from errata.review.verdicts import verdict_from

NEEDED = ("label", "confidence", "evidence", "cause", "reasoning")
REVIEWER = Reviewer(kind="llm", name="smollm2")
TIMEOUT = 300.0


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
    spec = ModelSpec(name="smollm2", base_url=url, temperature=0.5, max_output_tokens=160)
    asking = open_model(spec, timeout=TIMEOUT, parallel=1)
    results = []
    try:
        for injection in injections:
            prompt = in_few_words(prompt_for(injection.packet, marker=fresh_marker(injection.packet)))
            try:
                answer = (await asking.ask(prompt.text, prompt.schema, ())).text
            except (NotNowError, RefusedError):
                answer = ""
            made = verdict_from(answer, injection.packet, reviewer=REVIEWER, triaged=injection.triaged)
            results.append(Submitted(injection, "its own", made))
    finally:
        await asking.close()
    return results


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
