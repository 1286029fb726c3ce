"""HELM: run folders with requests, their statistics and the results."""

import re
from collections.abc import Iterator
from pathlib import Path

from errata.model import Harness, Item
from errata.sources.base import Match, head_of, is_file

NAME = "helm"
TITLE = "HELM: run folders with scenario_state.json and per_instance_stats.json"
HARNESS = Harness(name=NAME, title=NAME)

HEAD = 64 * 1024
SPEC = "run_spec.json"
STATE = "scenario_state.json"
INSTANCES = "per_instance_stats.json"

_SPEC = tuple(re.compile(rb'"(?<!\\")' + key + rb'"\s*:\s*[{\[]') for key in (b"scenario_spec", b"adapter_spec"))
_STATE = re.compile(rb'\s*\{\s*"adapter_spec"\s*:\s*\{')
_REQUESTS = re.compile(rb'"(?<!\\")request_states"\s*:')
_INSTANCES = re.compile(rb'\s*\[\s*\{\s*"instance_id"\s*:')


def recognise(path: Path) -> Match | None:
    try:
        if not path.is_dir():
            return None
        if _is_state(path / STATE):
            return Match.sure(f"`adapter_spec` and `request_states` in `{STATE}`")
        has_answers = any(is_file(path / name) for name in (STATE, INSTANCES))
        if has_answers and _is_spec(head_of(path / SPEC, HEAD)):
            return Match.sure(f"`scenario_spec` and `adapter_spec` in `{SPEC}`")
    except (OSError, ValueError):
        return None
    return None


def explain(path: Path) -> str | None:
    """A hint for a path that belongs to HELM and is not a run."""
    try:
        head = head_of(path, HEAD)
        if _is_state(path) or _INSTANCES.match(head) or _is_spec(head):
            return "this is one file of a HELM run: import its folder"
        if path.is_dir() and _is_spec(head_of(path / SPEC, HEAD)):
            return f"this HELM run never started: it has no `{STATE}`"
    except (OSError, ValueError):
        return None
    return None


def read(path: Path) -> Iterator[Item]:
    from errata.sources.helm.reader import read as read_log

    return read_log(path)


def _is_state(file: Path) -> bool:
    head = head_of(file, HEAD)
    return bool(_STATE.match(head) and _REQUESTS.search(head))


def _is_spec(head: bytes) -> bool:
    return all(key.search(head) for key in _SPEC)
