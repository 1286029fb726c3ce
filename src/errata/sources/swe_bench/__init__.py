"""SWE-bench: reports and logs, joined by instance with the trajectories of SWE-agent, mini-swe-agent or OpenHands."""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

from errata.model import Harness, Item
from errata.sources.base import BYTE_ORDER_MARK, Match, files, folders, head_of, is_file
from errata.text.lazy_regex import lazy_regex

NAME = "swe-bench"
TITLE = "SWE-bench: reports, logs, SWE-bench Pro verdicts; trajectories of SWE-agent, mini-swe-agent, OpenHands"
HARNESS = Harness(name=NAME, title="SWE-bench")

REPORT = "report.json"
INSTANCE_LOG = "run_instance.log"
HEAD = 64 * 1024
TAIL = 4 * 1024
LOOKS = 40

Kind = Literal["report", "lists", "instance", "map", "swe-agent", "mini-swe-agent", "openhands", "predictions"]
"""The kind of a file: a report, lists as reports of 2024 have them, a verdict about one instance, verdicts by instance,
a trajectory, or predictions."""

TRAJECTORIES: tuple[Kind, ...] = ("swe-agent", "mini-swe-agent", "openhands")

_BECAUSE: dict[Kind, str] = {
    "report": "a report of SWE-bench",
    "lists": "a report of SWE-bench as of 2024",
    "instance": "logs of an evaluation by SWE-bench",
    "map": "verdicts of SWE-bench Pro",
    "swe-agent": "trajectories of SWE-agent",
    "mini-swe-agent": "trajectories of mini-swe-agent",
    "openhands": "results of OpenHands",
}
# keys of the document itself: inside of a text they would be escaped. The quote comes before the lookbehind, because
# a pattern that begins with a literal is found 30 times faster
_KEY = rb'"(?<!\\")%s"\s*:\s*'
_INSTANCE = rb'"[\w.-]{1,200}__[\w.-]{1,200}-\w[\w.-]{0,200}"'


class _Sign(NamedTuple):
    literal: bytes
    """A part of what the pattern finds: most files do not have it, and that is found out fastest."""
    pattern: re.Pattern[bytes]

    def is_in(self, head: bytes) -> bool:
        return self.literal in head and self.pattern.search(head) is not None


def _key(name: bytes, value: bytes = b"") -> _Sign:
    return _Sign(b'"%s"' % name, lazy_regex(_KEY % name + value))


_SIGNS: tuple[tuple[Kind, tuple[_Sign, ...]], ...] = (
    ("report", (_key(b"submitted_instances"), _key(b"resolved_instances"))),
    ("report", (_key(b"submitted_ids", rb"\["), _key(b"resolved_ids", rb"\["))),
    ("lists", (_key(b"no_generation", rb"\["), _key(b"generated", rb"\["))),
    ("lists", (_key(b"generated", rb"\["), _key(b"with_logs", rb"\["))),
    ("lists", (_key(b"no_generation", rb"\["), _key(b"no_logs", rb"\["), _key(b"resolved", rb"\["))),
    ("instance", (_key(b"patch_successfully_applied"), _key(b"resolved"))),
    ("map", (_Sign(b"__", lazy_regex(rb"\A\s*\{\s*" + _INSTANCE + rb"\s*:\s*(?:true|false)\s*[,}]")),)),
    ("openhands", (_Sign(b'"instance_id"', lazy_regex(rb'\A\s*\{\s*"instance_id"\s*:')), _key(b"test_result"))),
    ("swe-agent", (_key(b"trajectory", rb'\[\s*\{\s*"(?:action|query|messages|observation|response)"'),)),
    ("swe-agent", (_key(b"trajectory", rb"\[\s*\]"), _key(b"history", rb"\["))),
    ("mini-swe-agent", (_key(b"trajectory_format", rb'"mini-swe-agent'),)),
    ("mini-swe-agent", (_key(b"info", rb"\{"), _key(b"model_stats"), _key(b"mini_version"))),
    ("predictions", (_key(b"instance_id"), _key(b"model_patch"))),
)
_LAST = _key(b"trajectory_format", rb'"mini-swe-agent')


def recognise(path: Path) -> Match | None:
    try:
        if path.is_dir():
            kind = None if is_instance_folder(path) else _kind_of_folder(path)
        else:
            kind = kind_of_file(path)
            kind = None if kind == "instance" else kind
    except (OSError, ValueError):
        return None
    because = _BECAUSE.get(kind) if kind else None
    return Match.sure(because) if because else None


def explain(path: Path) -> str | None:
    try:
        kind = kind_of_file(path)
        if kind == "instance" or is_instance_folder(path):
            return "this is the verdict about one instance: import the model's folder, or the folder with the report"
        if kind == "predictions":
            return "these are predictions for SWE-bench: import the folder with the report about them, or the logs"
    except (OSError, ValueError):
        return None
    return None


def read(path: Path) -> Iterator[Item]:
    from errata.sources.swe_bench.reader import read as read_log

    return read_log(path)


def kind_of_file(path: Path) -> Kind | None:
    """Decided by its first bytes."""
    head = head_of(path, HEAD)
    if head.lstrip()[:1] not in (b"{", b"["):
        return None
    for kind, signs in _SIGNS:
        if all(sign.is_in(head) for sign in signs):
            return kind
    # mini-swe-agent writes the name of its format at the end
    return "mini-swe-agent" if len(head) == HEAD and _LAST.is_in(_tail_of(path)) else None


def is_log_folder(folder: Path) -> bool:
    return any(is_instance_folder(child) for child in islice(folders(folder), LOOKS))


def is_instance_folder(folder: Path) -> bool:
    """The folder of one patch that SWE-bench evaluated, or tried to."""
    log = folder / INSTANCE_LOG
    return (log.is_file() and not log.is_symlink()) or kind_of_file(folder / REPORT) == "instance"


def _kind_of_folder(folder: Path) -> Kind | None:
    """What makes a folder a run, by its first few files: a report takes precedence over the files it covers."""
    kinds = {kind_of_file(file) for file in islice(files(folder), LOOKS)}
    for kind in ("report", "lists", "map", *TRAJECTORIES):
        if kind in kinds:
            return kind
    if _is_submission(folder):
        return "lists"
    if is_log_folder(folder):
        return "instance"
    for child in islice(folders(folder), LOOKS):
        for name in (f"{child.name}.traj", f"{child.name}.traj.json"):
            if (trajectory := kind_of_file(child / name)) is not None and trajectory in TRAJECTORIES:
                return trajectory
    return None


def _is_submission(folder: Path) -> bool:
    """A published submission: its report in `results`, its logs or its predictions beside that."""
    report = next((file for name in ("results.json", REPORT) if is_file(file := folder / "results" / name)), None)
    if report is None or kind_of_file(report) != "lists":
        return False
    beside = islice(files(folder), LOOKS)
    return (folder / "logs").is_dir() or any(kind_of_file(file) == "predictions" for file in beside)


def _tail_of(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - TAIL - len(BYTE_ORDER_MARK)))
            return file.read(TAIL + len(BYTE_ORDER_MARK))
    except (OSError, ValueError):
        return b""
