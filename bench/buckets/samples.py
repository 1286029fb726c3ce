"""Failures with a known cause: labelled samples, reasons of annotators, faults injected into genuine logs."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from bench.buckets.reading import Read, Reader
from bench.triage.logs import FIXTURES, Target, copy_of
from bench.triage.samples import Sample, fresh, injected, place_of
from bench.triage.soundness import is_meant
from errata.buckets.failure import FailureToGroup
from errata.model import Reviewer, Verdict

HERE = Path(__file__).parent
FAULTS = {"tune": injected, "held-out": injected, "fresh": fresh}
NOBODY = Reviewer(kind="person", name="annotator")


class Labelled(NamedTuple):
    failing: FailureToGroup
    cause: str
    harness: str = ""


class Set(NamedTuple):
    name: str
    rows: list[Labelled]


def labelled(reader: Reader) -> list[Set]:
    sets: dict[str, list[Labelled]] = {}
    for run in tomllib.loads((HERE / "labels.toml").read_text(encoding="utf-8"))["run"]:
        read_failures = reader.read(FIXTURES / run["fixture"] / "data")
        for cause, cases in run["causes"].items():
            rows = [one for case in cases for one in read_failures if _is_of(one, case, run["run"])]
            sets.setdefault(run["set"], []).extend(_labelled(one, cause, run["fixture"]) for one in rows)
    texts_only = [
        row._replace(failing=msgspec.structs.replace(row.failing, cluster="")) for row in sets["conversation-bench"]
    ]
    by_name = {"conversation-bench, no clusters": texts_only, "who and when": reasons()}
    return [Set(name, rows) for name, rows in (sets | by_name).items()]


def reasons() -> list[Labelled]:
    """As if each failure had been read by somebody who wrote this sentence and named no bucket."""
    rows = tomllib.loads((HERE / "who_and_when.toml").read_text(encoding="utf-8"))["reason"]
    return [Labelled(_read(str(one["number"]), one["text"]), one["cause"]) for one in rows]


def faults(part: str, reader: Reader) -> Set:
    """Without decoys and twins, which have no fault: what is wrong with these is known to nobody."""
    wanted = [one for one in FAULTS[part]() if one.part == part and one.kind == "fault"]
    return Set(part, [row for sample in wanted for row in _injected(sample, reader)])


def _injected(sample: Sample, reader: Reader) -> Iterator[Labelled]:
    assert sample.template is not None
    copied = copy_of(sample.fixture, reader.scratch)
    target = place_of(sample).inject(copied, sample.template)
    for item in reader.read(copied):
        if is_meant(item.failing.attempt, item.run, target):
            changes = {"attempt": sample.name, "suite": "faults", "follows": None}
            failing = msgspec.structs.replace(item.failing, **changes)
            yield Labelled(failing, f"{sample.owner}: {sample.template.kind}", sample.harness)
            return


def _is_of(item: Read, case: str, run: str) -> bool:
    if not item.run.native_id.endswith(run):
        return False
    return case == "*" or is_meant(item.failing.attempt, item.run, Target(case, index=0))


def _labelled(item: Read, cause: str, fixture: str) -> Labelled:
    """Runs of two fixtures may have the same id."""
    follows = f"{fixture} {item.failing.follows}" if item.failing.follows else None
    changes = {"attempt": f"{fixture} {item.failing.attempt}", "follows": follows}
    return Labelled(msgspec.structs.replace(item.failing, **changes), cause)


def _read(number: str, text: str) -> FailureToGroup:
    verdict = Verdict(
        id=number, attempt=number, taxonomy="", label="", owner="model", cause=text, confidence="certain",
        reviewer=NOBODY,
    )  # fmt: skip
    return FailureToGroup(
        attempt=number, suite="who-and-when", owner="model", texts=(text,), verdict=verdict, final=True
    )
