"""A server is killed while runs are reported to it: whatever it acknowledged is there after it starts again."""

import random
import threading
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx2

from errata.verbs.store import all_runs, open_store
from errata.verbs.tokens import create_token
from soak.served import server_process


def run(folder: Path, seed: str, *, kills: int = 3) -> Counter[str]:
    with TemporaryDirectory(dir=folder) as place:
        return _killed(Path(place) / "live.db", random.Random(seed), kills)


def _killed(path: Path, chance: random.Random, kills: int) -> Counter[str]:
    store = open_store(path)
    token = create_token("ci", ["report"], store, now=datetime.now(UTC)).secret
    acknowledged: set[str] = set()
    for number in range(kills):
        with server_process(path) as (server, url):
            reporting = threading.Thread(target=_report, args=(url, token, number, acknowledged))
            reporting.start()
            enough, until = len(acknowledged) + chance.randint(5, 60), time.monotonic() + 60
            while len(acknowledged) < enough and time.monotonic() < until:
                time.sleep(0.01)
            server.kill()
            reporting.join()
    with server_process(path) as (_, url):
        _post(url, token, "finish", {"run": _start(url, token)})
    [stored] = all_runs(store)
    assert acknowledged
    assert stored.counts.attempts >= len(acknowledged), (stored.counts.attempts, len(acknowledged))
    store.engine.dispose()
    return Counter({"servers killed": kills, "acknowledged reports kept": len(acknowledged)})


def _report(url: str, token: str, number: int, acknowledged: set[str]) -> None:
    """Until the server is gone."""
    try:
        run = _start(url, token)
        for at in range(100_000):
            case = f"case-{number}-{at}"
            _post(url, token, "attempts", {"run": run, "attempts": [{"key": case, "case": case, "outcome": "fail"}]})
            acknowledged.add(case)
    except httpx2.TransportError:
        return


def _start(url: str, token: str) -> str:
    return str(_post(url, token, "runs", {"key": "killed", "suite": "tides"})["run"])


def _post(url: str, token: str, what: str, body: object) -> dict[str, object]:
    headers = {"Authorization": f"Bearer {token}"}
    answer = httpx2.post(f"{url}/api/live/{what}", json=body, headers=headers, timeout=60)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())
