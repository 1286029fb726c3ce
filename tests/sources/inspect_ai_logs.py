"""Fixtures of the Inspect source, and what they say when they are read without it."""

import json
import sys
from pathlib import Path

from errata import sources
from errata.model import Attempt, Case, Run, Unreadable
from errata.sources import RecognisedPath, inspect_ai
from errata.sources.base import Match

if sys.version_info >= (3, 14):
    import zipfile
else:
    from backports.zstd import zipfile

FOLDER = Path(__file__).parent.parent / "fixtures" / "sources" / "inspect_ai"


def log(fixture, name="*"):
    (path,) = (FOLDER / fixture / "data").glob(name)
    return path


def items(path, kind=object):
    return [
        item for item in sources.read(RecognisedPath(path, inspect_ai, Match.sure("given"))) if isinstance(item, kind)
    ]


def run(path):
    return items(path, Run)[-1]


def attempts(path):
    return {(attempt.case.split("/", 1)[1], attempt.index): attempt for attempt in items(path, Attempt)}


def attempt(path, case, index=1):
    return attempts(path)[case, index]


def case(path, native_id):
    return next(case for case in items(path, Case) if case.native_id == native_id)


def unreadables(path):
    return items(path, Unreadable)


def raw(path):
    """Header and samples, read by the standard library alone."""
    if path.suffix == ".json":
        data = json.loads(path.read_text())
        return data, data.get("samples") or []
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        header = json.loads(archive.read("header.json" if "header.json" in names else "_journal/start.json"))
        return header, [json.loads(archive.read(name)) for name in names if name.startswith("samples/")]


def rezipped(path, to, change):
    """A copy with each member changed; a member for which `change` gives None is left out."""
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(to, "w") as new:
        for info in old.infolist():
            data = change(info.filename, old.read(info))
            if data is not None:
                new.writestr(info.filename, data, compress_type=info.compress_type)
    return to


def changed(path, to, **changes):
    """A copy of a JSON log in which `sample={...}` is laid over the first sample, and the rest over the header."""
    data = json.loads(path.read_text())
    sample = changes.pop("sample", {})
    if data.get("samples"):
        data["samples"][0] |= sample
    to.write_text(json.dumps(data | changes))
    return to


def first_with(tmp_path, **sample):
    """The first sample of a small log with other values, read."""
    path = changed(log("scorer_json"), tmp_path / "log.json", sample={"error": None, **sample})
    return attempt(path, "boom")


def scored(tmp_path, value, **more):
    return first_with(tmp_path, scores={"s": {"value": value, **more}})
