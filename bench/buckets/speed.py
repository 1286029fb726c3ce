"""How long it takes to group very many failures: errors with changing numbers, and reasons, no two of them alike."""

import itertools
import random
import time
from collections.abc import Iterator
from typing import NamedTuple

from bench.triage.templates import faults
from errata.buckets.failure import FailureToGroup
from errata.buckets.suggest import suggest
from errata.model import FailureKey

FAILURES = 100_000
WORDS, CASES = 8_000, 2_000


class Speed(NamedTuple):
    what: str
    failures: int
    seconds: float
    cpu: float
    buckets: int


def speeds(failures: int = FAILURES) -> Iterator[Speed]:
    for what, made in (("errors", _errors(failures)), ("reasons, no two alike", _reasons(failures))):
        given = list(made)
        started, used = time.perf_counter(), time.process_time()
        suggested = suggest(given)
        seconds, cpu = time.perf_counter() - started, time.process_time() - used
        assert len(suggested.places) == failures
        yield Speed(what, failures, seconds, cpu, len(suggested.buckets))


def _errors(failures: int) -> Iterator[FailureToGroup]:
    chance = random.Random(7)
    thrown = [template for template in faults() if template.type and template.text]
    for number in range(failures):
        template = thrown[number % len(thrown)]
        text = f"{template.text} (request {chance.randrange(10**9)})"
        key = FailureKey(exact=f"subject:{template.type}:{text[:140]}", coarse=f"subject:{template.type}")
        yield _failing(number, key, text, template.owner, chance)


def _reasons(failures: int) -> Iterator[FailureToGroup]:
    """Sentences of words that are as unevenly frequent as those of a language."""
    chance = random.Random(7)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(3, 9))) for _ in range(WORDS)]
    frequent = list(itertools.accumulate(1 / rank for rank in range(1, WORDS + 1)))
    for number in range(failures):
        text = " ".join(chance.choices(words, cum_weights=frequent, k=16))
        yield _failing(number, FailureKey(exact=f"judge:{text[:140]}", coarse="judge"), text, "model", chance)


def _failing(number: int, key: FailureKey, text: str, owner: str, chance: random.Random) -> FailureToGroup:
    return FailureToGroup(
        attempt=f"run:case-{number}#1",
        case=f"case-{number % CASES}",
        suite="speed",
        owner=owner,
        key=key,
        texts=(text,),
        parameters={"provider": chance.choice("abc"), "model": chance.choice("xyz")},
    )
