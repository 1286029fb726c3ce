"""Readers and reviewers on one server while a log is imported: nobody gets an error, and verdicts are heard of in time.

`python -m soak.served` prints the times of requests (`LOG_MB=8` imports a smaller log); `make soak` runs a short pass.
"""

import json
import os
import random
import statistics
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2
import msgspec
from bench import generate
from bench.measure import errata

from errata.json_output.review import next_output
from errata.model import Reviewer
from errata.model.verdict import word_for
from errata.review.stored.lease import LeaseRequest, NothingWaiting
from errata.review.submit import RejectedVerdict, read_submission
from errata.verbs.analyze import import_logs
from errata.verbs.review import lease_next, submit_verdict
from errata.verbs.store import all_runs, bundled_example, open_store

MB = 1024 * 1024
READERS, REVIEWERS = 20, 4
VERDICTS, LONGEST = 20, 60.0
"""It ends with this many verdicts, or this many seconds after the import."""
PAGES = ("/", "/api/runs", "/api/runs/{run}", "/api/runs/{run}/scores", "/api/buckets", "/api/compare?runs={run},{run}")


class Load:
    """What happens until the import has ended."""

    def __init__(self, url: str, store: Path, run: str) -> None:
        self.url, self.store, self.run = url, store, run
        self.is_over, self.is_heard = threading.Event(), threading.Event()
        self.times: list[tuple[str, float]] = []
        self.verdicts: dict[tuple[str, str], float] = {}
        self.heard: dict[tuple[str, str], float] = {}
        self.problems: list[str] = []

    def guarded(self, work: Callable[[int], None], number: int) -> None:
        try:
            work(number)
        except Exception as error:  # noqa: BLE001 it is counted as a failure of the test
            self.problems.append(repr(error))

    def read(self, number: int) -> None:
        chance = random.Random(number)
        with httpx2.Client(base_url=self.url, timeout=90) as client:
            while not self.is_over.is_set():
                page = chance.choice(PAGES)
                began = time.perf_counter()
                answer = client.get(page.format(run=self.run))
                self.times.append((page, time.perf_counter() - began))
                if answer.status_code >= 500 or (answer.status_code >= 400 and "compare" not in page):
                    self.problems.append(f"{page}: {answer.status_code} {answer.text[:200]}")
                time.sleep(chance.random() * 0.4)

    def review(self, number: int) -> None:
        """As somebody at a terminal does it, in a process of its own as far as the store can tell."""
        who, store = Reviewer(kind="agent", name=f"reviewer-{number}"), open_store(self.store)
        self.is_heard.wait(60)
        time.sleep(1)
        with store.kept_open():
            while not self.is_over.is_set():
                leased = lease_next(self.run, store, LeaseRequest(reviewer=who, second=number > 0), now=_now())
                if isinstance(leased, NothingWaiting):
                    time.sleep(0.2)
                    continue
                handed = msgspec.to_builtins(next_output(leased, who))
                submission = read_submission(json.dumps(_answer(handed)))
                result = submit_verdict(submission, store, who, now=_now())
                if isinstance(result, RejectedVerdict):
                    self.problems.append(f"refused: {result.reasons}")
                    return
                self.verdicts[leased.packet.attempt_id, word_for(who)] = time.monotonic()
                time.sleep(0.2)
        store.engine.dispose()

    def listen(self, _: int) -> None:
        with (
            httpx2.Client(base_url=self.url, timeout=30) as client,
            client.stream("GET", "/events") as stream,
        ):
            for line in stream.iter_lines():
                self.is_heard.set()
                if line.startswith("data: "):
                    change = json.loads(line.removeprefix("data: "))
                    if change["kind"] == "verdict" and change["attempt"]:
                        self.heard.setdefault((change["attempt"], change["by"]), time.monotonic())
                if self.is_over.is_set():
                    return


def _now() -> datetime:
    return datetime.now(UTC)


def _answer(handed: dict[str, Any]) -> dict[str, Any]:
    places = [place for place in handed["packet"]["places"] if place["text"].strip()]
    wanted = [place for place in places if place["place"].startswith(("output", "error", "status", "run.log"))]
    place = (wanted or places)[0]
    return handed["answer"] | {
        "label": "MODEL_FAULT",
        "cause": "The code does something else than the task asks for",
        "reasoning": "The quoted line shows it. The task asks for something else.",
        "evidence": [{"place": place["place"], "quote": max(place["text"].split("\n"), key=len).strip()}],
        "confidence": "likely",
    }


@contextmanager
def server_process(store: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server of its own process, and its address."""
    command = errata("serve", "--port", "0", "--store", store, *options)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server, server.stdout.readline().strip().rstrip("/")
        finally:
            server.terminate()


def measure(folder: Path, *, size: int, seed: int = 1) -> Load:
    """20 readers and 4 reviewers, for as long as it takes to import a log of this size."""
    store, log = folder / "served.db", generate.judged_run(folder / "log", size, seed=seed)
    opened = open_store(store)
    import_logs([bundled_example()], opened)
    run = all_runs(opened)[0].run.id
    opened.engine.dispose()
    with server_process(store) as (_, url):
        load = Load(url, store, run)
        workers = [(load.read, number) for number in range(READERS)]
        workers += [(load.review, number) for number in range(REVIEWERS)] + [(load.listen, 0)]
        threads = [threading.Thread(target=load.guarded, args=worker, daemon=True) for worker in workers]
        for thread in threads:
            thread.start()
        done = subprocess.run(errata("import", log, "--store", store), capture_output=True, text=True, check=False)
        until = time.monotonic() + LONGEST
        while len(load.verdicts) < VERDICTS and time.monotonic() < until:
            time.sleep(0.2)
        time.sleep(3)
        load.is_over.set()
        for thread in threads[:-1]:
            thread.join()
    assert done.returncode == 0, done.stderr
    return load


def run(folder: Path, seed: str, *, size: int = 4 * MB) -> Counter[str]:
    with TemporaryDirectory(dir=folder) as place:
        load = measure(Path(place), size=size, seed=random.Random(seed).randrange(10**6))
    assert not load.problems, load.problems[0]
    assert load.times
    assert load.verdicts
    return Counter({"requests to a server": len(load.times), "verdicts beside them": len(load.verdicts)})


def main() -> None:
    with TemporaryDirectory() as folder:
        load = measure(Path(folder), size=int(os.environ.get("LOG_MB", "64")) * MB)
    every = sorted(seconds for _, seconds in load.times)
    print(f"{len(every)} requests, {len(load.verdicts)} verdicts, {len(load.problems)} errors")
    for page in PAGES:
        own = sorted(seconds for asked, seconds in load.times if asked == page)
        if len(own) > 1:
            cut = statistics.quantiles(own, n=20)
            print(f"{page:40} p50 {cut[9] * 1000:6.0f} ms   p95 {cut[18] * 1000:6.0f} ms   of {len(own)}")
    late = sorted(at - load.verdicts[key] for key, at in load.heard.items() if key in load.verdicts)
    if late:
        print(f"verdicts heard of: {len(late)} of {len(load.verdicts)}; at the latest after {late[-1]:.2f} s")
    for problem in load.problems[:5]:
        print(problem)


if __name__ == "__main__":
    main()
