"""Which folders are runs of HELM: by the first bytes of a few files, whose names HELM gives."""

import re
from pathlib import Path

from errata.sources.base import Match, head_of
from errata.sources.helm.layout import INSTANCES, SPEC, STATE
from errata.sources.shared.documents import is_file

HEAD = 64 * 1024

_SPEC = tuple(re.compile(rb'(?<!\\)"' + key + rb'"\s*:\s*[{\[]') for key in (b"scenario_spec", b"adapter_spec"))
_STATE = re.compile(rb'\s*\{\s*"adapter_spec"\s*:\s*\{')
_REQUESTS = re.compile(rb'(?<!\\)"request_states"\s*:')
_INSTANCES = re.compile(rb'\s*\[\s*\{\s*"instance_id"\s*:')


def recognise(path: Path) -> Match | None:
    try:
        if not path.is_dir():
            return None
        if _is_state(path / STATE):
            return Match.sure(f"`adapter_spec` and `request_states` in `{STATE}`")
        spec = head_of(path / SPEC, HEAD)
        made = is_file(path / STATE) or is_file(path / INSTANCES)
        if made and all(key.search(spec) for key in _SPEC):
            return Match.sure(f"`scenario_spec` and `adapter_spec` in `{SPEC}`")
    except (OSError, ValueError):
        return None
    return None


def explain(path: Path) -> str | None:
    """A hint for what belongs to HELM and is no run."""
    try:
        head = head_of(path, HEAD)
        if _is_state(path) or _INSTANCES.match(head) or all(key.search(head) for key in _SPEC):
            return "this is one file of a HELM run: name the folder that it lies in"
        if path.is_dir() and all(key.search(head_of(path / SPEC, HEAD)) for key in _SPEC):
            return f"this HELM run was planned and not made: it has no `{STATE}`"
    except (OSError, ValueError):
        return None
    return None


def _is_state(file: Path) -> bool:
    head = head_of(file, HEAD)
    return bool(_STATE.match(head) and _REQUESTS.search(head))
