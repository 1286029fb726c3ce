"""What a run that is written is called, and where it lies: `data/<benchmark>/<developer>/<model>/<UUID>.json`."""

import re
from typing import NamedTuple
from uuid import UUID

from errata.model import Run
from errata.model.identity import fingerprint
from errata.text.private import for_others

SCHEMA = "0.3.0"
UNKNOWN = "unknown"

_NOT_PORTABLE = re.compile(r"[^A-Za-z0-9._-]+")


class Naming(NamedTuple):
    evaluation_id: str
    evaluation_name: str
    model_id: str
    developer: str
    folder: str
    stem: str
    suite: str


def naming_of(run: Run) -> Naming:
    """From the run alone: written again, it lies in the same place."""
    name = for_others(run.suite or run.name or run.source.name)
    model = for_others(run.subject.model or run.subject.agent or UNKNOWN)
    prefix, slash, rest = model.partition("/")
    developer = prefix if slash else for_others(run.subject.provider) or UNKNOWN
    folder = "/".join(("data", *map(_portable, (name, developer, rest if slash else model))))
    made = UUID(bytes=bytes.fromhex(fingerprint(run.id, size=16)), version=4)
    return Naming(f"{name}/{model.replace('/', '_')}/{run.id}", name, model, developer, folder, str(made), run.suite)


def _portable(name: str) -> str:
    told = _NOT_PORTABLE.sub("_", name).strip("._") or UNKNOWN
    return f"{told}_" if told == "data" else told
