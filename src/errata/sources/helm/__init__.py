"""HELM: run folders with requests, their statistics and the results. Files are known by content, not by name."""

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

from errata.model import Harness, Item
from errata.sources.base import Match, files, head_of, is_file
from errata.text.lazy_regex import lazy_regex

NAME = "helm"
TITLE = "HELM: run folders with scenario_state.json and per_instance_stats.json, or such files under other names"
HARNESS = Harness(name=NAME, title="HELM")

HEAD = 64 * 1024
LOOKS = 40
Kind = Literal["spec", "state", "measured", "predictions", "inputs", "stats", "scenario"]
"""Run specification, requests, statistics per instance, displayed predictions, instances, statistics, scenario."""

USUAL: dict[Kind, str] = {
    "spec": "run_spec.json",
    "state": "scenario_state.json",
    "measured": "per_instance_stats.json",
    "predictions": "display_predictions.json",
    "inputs": "instances.json",
    "stats": "stats.json",
    "scenario": "scenario.json",
}
SPEC, STATE, MEASURED = USUAL["spec"], USUAL["state"], USUAL["measured"]
ANSWERS: tuple[Kind, ...] = ("state", "measured", "predictions")
"""Each of these holds the instances of a run; the first is the fullest."""

_KEY = rb'"(?<!\\")%s"\s*:\s*'


def _key(name: bytes, value: bytes = b"") -> re.Pattern[bytes]:
    return lazy_regex(_KEY % name + value)


_DOCUMENT = lazy_regex(rb'\A\s*\{\s*"(?:adapter_spec|request_states)"\s*:\s*[{\[]')
_ROW = lazy_regex(rb'\A\s*\[\s*\{\s*"(?:instance_id|train_trial_index|predicted_text|stats)"\s*:')
_SIGNS: tuple[tuple[Kind, re.Pattern[bytes], tuple[re.Pattern[bytes], ...]], ...] = (
    ("state", _DOCUMENT, (_key(b"request_states", rb"\["),)),
    ("spec", lazy_regex(rb"\A\s*\{"), (_key(b"scenario_spec", rb"[{\[]"), _key(b"adapter_spec", rb"[{\[]"))),
    ("measured", _ROW, (_key(b"instance_id"), _key(b"stats", rb'\[\s*(?:\]|\{\s*"name"\s*:\s*\{)'))),
    ("predictions", _ROW, (_key(b"instance_id"), _key(b"predicted_text"), _key(b"stats", rb"\{"))),
    ("inputs", lazy_regex(rb'\A\s*\[\s*\{\s*"input"\s*:\s*\{'), (_key(b"references", rb"\["), _key(b"split"))),
    ("stats", lazy_regex(rb'\A\s*\[\s*\{\s*"name"\s*:\s*\{\s*"name"\s*:'), (_key(b"count"),)),
)
# what the usual names say about the content, behind or before the name of a run
_ROLE = lazy_regex(
    r"(?:(?<![-_.])[-_.]++)?(?:scenario_state|per_instance_stats|display_predictions|display_requests|run_spec|scenario|instances"
    r"|predictions|stats|state|spec)[-_.]*",
    re.IGNORECASE,
)


class HelmFiles(NamedTuple):
    """The files of one run."""

    spec: Path | None = None
    state: Path | None = None
    measured: Path | None = None
    predictions: Path | None = None
    inputs: Path | None = None
    stats: Path | None = None
    scenario: Path | None = None

    @property
    def first(self) -> Path | None:
        """The fullest file with instances."""
        return self.state or self.measured or self.predictions


def recognise(path: Path) -> Match | None:
    try:
        if path.is_dir():
            return _recognise_folder(path)
        kind = kind_of_file(path)
        if kind in ANSWERS and _recognise_folder(path.parent) is None:
            return Match.sure(f"{USUAL[kind].removesuffix('.json')} of HELM")
    except (OSError, ValueError):
        return None
    return None


def explain(path: Path) -> str | None:
    """A hint for a path that belongs to HELM and is not a run."""
    try:
        if kind_of_file(path) in ("state", "measured", "spec", "predictions"):
            return "this is one file of a HELM run: import its folder"
        if path.is_dir() and kind_of_file(path / SPEC) == "spec":
            return f"this HELM run never started: it has no `{STATE}`"
    except (OSError, ValueError):
        return None
    return None


def read_with(path: Path) -> Path | None:
    """The fullest file of the same run, in a folder with files of several runs."""
    first = files_of(path).first if path.is_file() else None
    return first if first != path else None


def belongs_to(path: Path, readable: Collection[Path]) -> bool:
    """Whether a specification or statistics are read with one of these."""
    kind = kind_of_file(path)
    return kind is not None and kind not in ANSWERS and files_of(path).first in readable


def read(path: Path) -> Iterator[Item]:
    from errata.sources.helm.reader import read as read_log

    return read_log(path)


def kind_of_file(path: Path) -> Kind | None:
    head = head_of(path, HEAD)
    if head.lstrip()[:1] not in (b"{", b"["):
        return None
    for kind, start, signs in _SIGNS:
        if start.match(head) and all(sign.search(head) for sign in signs):
            return kind
    return "scenario" if path.name.lower().endswith(USUAL["scenario"]) else None


def files_of(path: Path) -> HelmFiles:
    """The files of a run folder; for a file, those that are named after the same run."""
    if path.is_dir():
        return HelmFiles(**{kind: files[0] for kind, files in _by_kind(_documents(path)).items()})
    named = [file for file in _json_files(path.parent) if run_name(file) == run_name(path)]
    beside = {kind: files[0] for kind, files in _by_kind(named).items() if len(files) == 1}
    return HelmFiles(**beside | {kind: path for kind in [kind_of_file(path)] if kind})


def run_name(file: Path) -> str:
    """The name of a file without the words for its content."""
    return _ROLE.sub("", file.stem)


def _recognise_folder(folder: Path) -> Match | None:
    kinds = _by_kind(_documents(folder))
    answers = [kinds[kind][0] for kind in ANSWERS if kind in kinds]
    spec = kinds.get("spec", [])[:1]
    # a damaged file has its name only: beside a specification that is enough
    if not any(map(kind_of_file, (*answers, *spec))) or not answers:
        return None
    # under other names a folder is one run if it has one file of each kind
    if any(len(files) > 1 and files[0].name != USUAL[kind] for kind, files in kinds.items()):
        return None
    return Match.sure(f"instances of HELM in {', '.join(f'`{file.name}`' for file in answers)}")


def _documents(folder: Path) -> list[Path]:
    usual = [file for name in USUAL.values() if is_file(file := folder / name)]
    return list(dict.fromkeys([*usual, *islice(_json_files(folder), LOOKS)]))


def _json_files(folder: Path) -> Iterator[Path]:
    return (file for file in files(folder) if file.suffix.lower() == ".json")


def _by_kind(files: Iterable[Path]) -> dict[Kind, list[Path]]:
    """The usual file of a kind comes first; it has its name although it may be damaged."""
    kinds: dict[Kind, list[Path]] = {}
    names = {name: kind for kind, name in USUAL.items()}
    for file in files:
        kind = names.get(file.name) or kind_of_file(file)
        if kind:
            kinds.setdefault(kind, []).append(file)
    return kinds
