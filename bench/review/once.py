"""One review of a whole run in a process of its own, with its cost in time and memory."""

import json
import resource
import sys
import time
from pathlib import Path

from soak.reviewing import planned, reviewed

from errata.llm.spec import ModelSpec
from errata.review.spending import Limits
from errata.store.database import open_store
from errata.store.runs import all_runs


def main(path: str, url: str, parallel: str) -> None:
    store = open_store(Path(path))
    (stored,) = all_runs(store)
    started = time.perf_counter()
    plan = planned(store, stored, ModelSpec(name="m", base_url=url), Limits(parallel=int(parallel)))
    begun, spent = time.perf_counter(), time.process_time()
    tally = reviewed(store, plan)
    figures = {
        "reviewed": tally.reviewed,
        "planning": begun - started,
        "seconds": time.perf_counter() - begun,
        "cpu": time.process_time() - spent,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main(*sys.argv[1:])
