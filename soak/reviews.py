"""Reviews by a hostile provider, killed with SIGKILL at random moments: nothing is paid twice, nothing is forgotten."""

import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from errata.model import StoredRun
from errata.review.passages import fold
from errata.review.redaction import redacted
from errata.store.database import Store
from errata.store.ledger import calls_of
from errata.store.reviews import refusals_of, verdicts_of
from errata.verbs.review import packets_of
from soak.answers import PLANT
from soak.books import KILLED, compare, requests_in
from soak.failing_run import failing_run

PARALLEL = 8
TIMEOUT = 3.0
START = 3.0
"""Seconds that a review takes to start, about."""


class Ends(NamedTuple):
    reviewed: int
    refused: int
    failed: int


def run(folder: Path, seed: str, *, packets: int = 50, kills: int = 1) -> Counter[str]:
    with TemporaryDirectory(dir=folder) as place:
        return _review_all(Path(place), random.Random(seed), packets, kills)


def _review_all(place: Path, chance: random.Random, packets: int, kills: int) -> Counter[str]:
    """The provider lives through all of it, as providers do."""
    store, stored = failing_run(place, packets)
    log = place / "provider.jsonl"
    in_flight: list[set[str]] = []
    with provider("hostile", log, seed=chance.randrange(10**6)) as url:
        for _ in range(kills):
            in_flight.append(_killed(store, url, chance, packets // (kills + 1)) - set().union(*in_flight))
        last = _to_the_end(store, url)
    ends = _every_packet_ended(store, stored, last)
    calls = list(calls_of(store))
    known = set().union(*in_flight)
    lost = {call.id for call in calls if call.why == KILLED}
    assert lost == known, f"{len(known)} calls were in flight when it was killed, {len(lost)} are reported as lost"
    assert max(map(len, in_flight), default=0) <= PARALLEL, "more calls were in flight than are allowed"
    assert not any(call.state == "intended" for call in calls), "a call is neither answered nor reported as lost"
    requests = requests_in(log)
    compare(calls, requests)
    _nothing_false_is_kept(store, stored)
    return Counter(
        {
            "packets": packets, "kills": kills, "reviewed": ends.reviewed, "refused": ends.refused,
            "failed with a reason": ends.failed, "requests": len(requests), "calls lost to kills": len(lost),
        }
    )  # fmt: skip


@contextmanager
def provider(plan: str, log: Path, latency: float = 0.05, seed: int = 1) -> Iterator[str]:
    """Its address, while it runs."""
    options = ("--plan", plan, "--log", str(log), "--latency", str(latency), "--seed", str(seed))
    command = [sys.executable, "-m", "soak.provider", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def _review(store: Store, url: str) -> subprocess.Popen[str]:
    limits = ("--parallel", str(PARALLEL), "--timeout", str(TIMEOUT))
    command = [sys.executable, "-m", "soak.reviewing", str(store.path), url, *limits]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _killed(store: Store, url: str, chance: random.Random, most: int) -> set[str]:
    """The calls in flight. It is killed during its start, or shortly after this many reviews have ended."""
    with _review(store, url) as process:
        assert process.stdout is not None
        if chance.random() < 0.1:
            time.sleep(chance.uniform(0, START))
        else:
            for _ in range(chance.randint(0, most)):
                if not process.stdout.readline():
                    break
            time.sleep(chance.uniform(0, 0.3))
        process.send_signal(signal.SIGKILL)
        process.wait()
    return {call.id for call in calls_of(store) if call.state == "intended"}


def _to_the_end(store: Store, url: str) -> dict[str, Any]:
    """The summary in its last line."""
    with _review(store, url) as process:
        output, problems = process.communicate()
    assert process.returncode == 0, problems
    return dict(json.loads(output.splitlines()[-1]))


def _every_packet_ended(store: Store, stored: StoredRun, last: dict[str, Any]) -> Ends:
    run_id = stored.run.id
    reviewed = {verdict.attempt for verdict in verdicts_of(store, run_id)}
    refusals = refusals_of(store, run_id)
    refused = {refusal.attempt for refusal in refusals}
    rest = {packet.attempt_id for packet in packets_of(stored, store)} - reviewed - refused
    assert len(rest) == last["failed"], f"{len(rest)} packets have no end, {last['failed']} are reported as failed"
    assert not rest or last["reasons"], "packets failed without a reason"
    assert not last["stopped"], last["stopped"]
    assert all(refusal.reasons for refusal in refusals), "a refusal without a reason"
    assert len(refusals) == len(refused), "a refusal was counted twice"
    assert not reviewed & refused, "reviewed and refused"
    return Ends(len(reviewed), len(refused), len(rest))


def _nothing_false_is_kept(store: Store, stored: StoredRun) -> None:
    """Every quote is at its place, and none of them instructs the reviewer."""
    verdicts = {verdict.attempt: verdict for verdict in verdicts_of(store, stored.run.id)}
    for packet in map(redacted, packets_of(stored, store)):
        texts = {place.place: fold(place.text) for place in packet.places}
        verdict = verdicts.get(packet.attempt_id)
        for quote in verdict.evidence if verdict else ():
            assert fold(quote.quote) in texts[quote.place], f"{packet.id}: {quote} is not in its place"
            assert PLANT not in quote.quote, f"{packet.id}: a planted instruction is evidence"
        planted = any(PLANT in text for text in texts.values())
        assert verdict is None or verdict.needs_second == planted, f"{packet.id}: the plant was not seen"
