"""What a file is, by its first bytes: a report, a verdict about one instance, a trajectory, predictions."""

import re
from pathlib import Path
from typing import Literal

from errata.sources.base import BYTE_ORDER_MARK, head_of

HEAD = 64 * 1024
TAIL = 4 * 1024

Kind = Literal["report", "instance", "map", "swe-agent", "mini-swe-agent", "openhands", "predictions"]

TRAJECTORIES: tuple[Kind, ...] = ("swe-agent", "mini-swe-agent", "openhands")

# keys of the document itself: inside of a text they would be escaped
_KEY = rb'(?<!\\)"%s"\s*:\s*'
_INSTANCE = rb'"[\w.-]{1,200}__[\w.-]{1,200}-\w[\w.-]{0,200}"'


def _key(name: bytes, value: bytes = b"") -> re.Pattern[bytes]:
    return re.compile(_KEY % name + value)


_SIGNS: tuple[tuple[Kind, tuple[re.Pattern[bytes], ...]], ...] = (
    ("report", (_key(b"submitted_instances"), _key(b"resolved_instances"))),
    ("report", (_key(b"submitted_ids", rb"\["), _key(b"resolved_ids", rb"\["))),
    ("instance", (_key(b"patch_successfully_applied"), _key(b"resolved"))),
    ("map", (re.compile(rb"\A\s*\{\s*" + _INSTANCE + rb"\s*:\s*(?:true|false)\s*[,}]"),)),
    ("openhands", (re.compile(rb'\A\s*\{\s*"instance_id"\s*:'), _key(b"test_result"))),
    ("swe-agent", (_key(b"trajectory", rb'\[\s*\{\s*"(?:action|query|messages|observation|response)"'),)),
    ("swe-agent", (_key(b"trajectory", rb"\[\s*\]"), _key(b"history", rb"\["))),
    ("mini-swe-agent", (_key(b"trajectory_format", rb'"mini-swe-agent'),)),
    ("mini-swe-agent", (_key(b"info", rb"\{"), _key(b"model_stats"), _key(b"mini_version"))),
    ("predictions", (_key(b"instance_id"), _key(b"model_patch"))),
)
_LAST = _key(b"trajectory_format", rb'"mini-swe-agent')


def kind_of_file(path: Path) -> Kind | None:
    head = head_of(path, HEAD)
    if head.lstrip()[:1] not in (b"{", b"["):
        return None
    for kind, signs in _SIGNS:
        if all(sign.search(head) for sign in signs):
            return kind
    # mini-swe-agent writes the name of its format last
    return "mini-swe-agent" if len(head) == HEAD and _LAST.search(_tail_of(path)) else None


def _tail_of(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - TAIL - len(BYTE_ORDER_MARK)))
            return file.read(TAIL + len(BYTE_ORDER_MARK))
    except (OSError, ValueError):
        return b""
