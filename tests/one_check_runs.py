"""Runs of a table whose failures mostly differ only in the reason of their one check."""

import random

from errata.model import Case, Check, ErrorInfo, SourceRef
from errata.model.attempt import Output
from errata.store.importing import Importing
from errata.store.packing import pack_items, seal
from errata.store.runs import all_runs
from errata.testing import a_run, an_attempt

REASONS = [
    "expected 12 rows but the query returned 7",
    "expected 3 rows but the query returned 99",
    "request 0x1fa3 failed after 1234567 ms",
    "connection to host-3 reset by peer after 17 ms",
    "HTTP 429: rate limit of 12 requests",
    "Custom function threw error: SyntaxError: Unexpected token\n   at new Function (<anonymous>)",
    "two\nlines, of which the second says more",
    "é" * 90,
    "x" * 300,
    "",
    "  ",
    "password=hunter2hunter2 was refused",
]
OTHERS = [
    {"checks": (Check(name="answer", status="fail", kind="step", explanation="HTTP 503 from the registry"),)},
    {"checks": (Check(name="limit", status="fail", kind="limit", explanation="took 12 s"),)},
    {"native_status": "EMPTY_RESPONSE"},
    {"output": Output(text="the answer")},
    {"errors": (ErrorInfo(type="E", message="HTTP 503", phase="subject"),), "outcome": "none", "execution": "error"},
]


def a_log(run, chance):
    for case in range(12):
        described = {"input": "How many?", "expected": "7"} if case % 4 == 0 else {}
        yield Case(run=run.id, suite="suite", native_id=f"c{case}", **described)
    for at in range(240):
        given = {
            "run": run.id,
            "case": f"suite/c{at // 20}",
            "index": at % 20 + 1,
            "ref": SourceRef(file="log", line=at),
        }
        passed = chance.random() < 0.3 and at // 20 != 3
        check = Check(
            name="answer", status="pass" if passed else "fail", explanation="" if passed else chance.choice(REASONS)
        )
        given |= {"outcome": "pass" if passed else "fail", "checks": (check,)}
        yield an_attempt(**given | (chance.choice(OTHERS) if not passed and chance.random() < 0.2 else {}))


def stored_runs(store):
    for seed in range(3):
        run = a_run(native_id=f"run-{seed}")
        with Importing(store) as importing:
            for batch in seal(pack_items([run, *a_log(run, random.Random(seed))])):
                importing.add(batch)
            importing.finish()
    return all_runs(store)
