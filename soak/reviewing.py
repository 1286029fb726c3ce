"""A review of a whole run by a model, as `errata review run` does it: `python -m soak.reviewing STORE URL`.

Prints one line of JSON for each packet when its review has ended and is stored.
"""

import argparse
import asyncio
import json
import secrets
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from errata.llm.opening import open_model
from errata.llm.spec import ModelSpec
from errata.model import Packet, Reviewer, StoredRun, Usage, Verdict
from errata.pipeline.failures import Filters
from errata.pipeline.judging import Answered, judge, keep, keep_refused
from errata.pipeline.packeting import packets_of
from errata.pipeline.review_queue import queue_of
from errata.review.estimate import estimate_of
from errata.review.fan_out import Ended, fan_out
from errata.review.limits import Limits, Purse
from errata.review.pacing import Pace
from errata.review.prompts import fresh_marker, prompt_for, repair_prompt
from errata.review.protocols import Answer, Prompt
from errata.review.redaction import redacted
from errata.review.reviewers.llm import ModelReviewer
from errata.review.verdicts import Refused
from errata.review.work import Work
from errata.store.database import Store, open_store
from errata.store.ledger import find_lost, open_ledger
from errata.store.reviews import word_for
from errata.store.runs import all_runs

Narrowed = Callable[[Prompt], Prompt]
"""For a model that can't do all that it is asked for."""
WHO = Reviewer(kind="llm", name="m")


def now() -> str:
    return datetime.now(UTC).isoformat()


def waiting(stored: StoredRun, store: Store) -> Iterator[Packet]:
    """What this reviewer has not read yet, ready to leave the machine."""
    ids = [one.attempt for one in queue_of(stored, store, WHO, Filters(), "unread").waiting]
    return map(redacted, packets_of(stored, store, attempts=ids))


async def review(
    store: Store, packets: Iterable[Packet], spec: ModelSpec, limits: Limits, narrowed: Narrowed = lambda prompt: prompt
) -> AsyncIterator[Ended]:
    """What ended is stored when it is told."""
    asking = open_model(spec, timeout=limits.timeout, parallel=limits.parallel)
    try:
        with open_ledger(store) as ledger:
            work = Work(
                reviewer=ModelReviewer(asking, WHO),
                word=word_for(WHO),
                ledger=ledger,
                prompt=lambda packet: narrowed(prompt_for(packet, marker=fresh_marker(packet))),
                repair=_repair,
                judge=partial(_judge, store),
                estimate=lambda prompt: estimate_of(prompt, lambda _in, _out: None),
                most=partial(_most, spec),
                now=now,
                new_id=partial(secrets.token_hex, 8),
                limits=limits,
                pace=Pace(limits, clock=time.monotonic),
                purse=Purse(limits),
            )
            async for ended in fan_out(packets, work):
                _keep(ended, store)
                yield ended
    finally:
        await asking.close()


def _repair(packet: Packet, prompt: Prompt, answer: str, reasons: tuple[str, ...]) -> Prompt:
    return repair_prompt(prompt, answer, reasons, marker=fresh_marker(packet, prompt.text, answer))


def _judge(store: Store, packet: Packet, prompt: Prompt, answer: Answer) -> Verdict | Refused:
    by = Answered(reviewer=WHO, at=now(), prompt_hash=prompt.hash, usage=answer.usage)
    return judge(answer.text, packet, by, store)


def _most(spec: ModelSpec, prompt: Prompt) -> Usage:
    """No token is less than a byte."""
    return Usage(input=len(prompt.text.encode()) + len(json.dumps(prompt.schema)), output=spec.max_output_tokens)


def _keep(ended: Ended, store: Store) -> None:
    if ended.verdict is not None:
        keep(ended.verdict, store)
    elif ended.end == "refused":
        keep_refused(ended.answer, ended.reasons, ended.packet, Answered(reviewer=WHO, at=now()), store)


async def run(path: Path, url: str, limits: Limits) -> None:
    store = open_store(path)
    (stored,) = all_runs(store)
    find_lost(store, now=now())
    spec = ModelSpec(name="m", base_url=url)
    async for ended in review(store, waiting(stored, store), spec, limits):
        told = {"attempt": ended.packet.attempt_id, "end": ended.end, "reasons": ended.reasons}
        print(json.dumps(told), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store", type=Path)
    parser.add_argument("url")
    parser.add_argument("--parallel", type=int, default=4)
    parser.add_argument("--timeout", type=float, default=180.0)
    chosen = parser.parse_args()
    limits = Limits(parallel=chosen.parallel, timeout=chosen.timeout)
    asyncio.run(run(chosen.store, chosen.url, limits))


if __name__ == "__main__":
    main()
