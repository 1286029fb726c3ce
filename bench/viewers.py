"""The page of a run beside Inspect's own viewer, for one and the same log: `make bench-viewers`.

Both servers run on this machine and were started before. Every visit is the first one of its browser. errata has
imported the log, and its background work is done; Inspect's viewer reads the log when it is asked for.
"""

import argparse
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bench.server import Paint, paint, serving
from errata.settings import Settings, using_store
from errata.verbs.analyze import import_logs
from errata.verbs.pages import derive_run
from errata.verbs.store import open_store

SAMPLES = 10_000
CALLS = "1"
"""Of a tool, in each sample: four messages."""
WRONG = "nothing"
"""The expected answer, which no sample gives."""
PATIENCE = 120.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", type=Path, required=True, help="a Python that has inspect-ai")
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--log", type=Path, help="a log that was made before")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="errata-viewers-") as made:
        log = chosen.log or _log(chosen.python, Path(made) / "logs", chosen.samples)
        print(f"{log.stat().st_size / 2**20:.0f} MB; milliseconds to the first contentful paint, and to the first row")
        say("errata, the page of the run", *ours(log, Path(made)))
        say("inspect view, the log", *theirs(chosen.python, log))


def _log(python: Path, folder: Path, samples: int) -> Path:
    command = [str(python), "-m", "bench.inspect.generate", str(folder), str(samples), CALLS, WRONG]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (made,) = folder.glob("*.eval")
    return made


def say(what: str, painted: Paint, note: str) -> None:
    print(f"  {what:<30}{painted.first:10,.0f}{painted.rows:10,.0f}   {note}", flush=True)


def ours(log: Path, folder: Path) -> tuple[Paint, str]:
    path = folder / "viewers.db"
    store = open_store(path)
    began = time.perf_counter()
    with using_store(path), store.kept_open():
        [stored], _ = import_logs([log], store)
        derive_run(stored.run.id, store, lambda *_: None)
    note = f"{stored.counts.failures:,} failures; imported and derived in {time.perf_counter() - began:.0f} s before"
    store.engine.dispose()
    with serving(Settings(store=path)) as url:
        return paint(f"{url}/runs/{stored.run.id}", "tr.fail"), note


def theirs(python: Path, log: Path) -> tuple[Paint, str]:
    with inspect_view(python, log.parent) as url:
        return paint(f"{url}/#/logs/{log.name}/samples", "text=case-00000"), f"{log.name[:19]}"


@contextmanager
def inspect_view(python: Path, folder: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(python.parent / "inspect"), "view", "start", "--log-dir", str(folder), "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and process.poll() is None:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    main()
