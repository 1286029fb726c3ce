"""Who is who: ids that stay the same when the same content is read again.

A run id is a short hash. An attempt id is readable and is taken apart again by `split_attempt_id`:
`<run id>:<case key>#<session>.<index>/<path of a child>`, where `<session>.` and `/<path>` may be absent.
"""

from hashlib import blake2b

import msgspec
from msgspec import json


def fingerprint(*parts: object, size: int = 8) -> str:
    """A hash over values that JSON can hold; the same for equal values, whatever their order in a dict."""
    try:
        data = json.encode(parts, order="deterministic")
    except UnicodeEncodeError:  # a file name may be no text at all
        data = repr(parts).encode("utf-8", "backslashreplace")
    return blake2b(data, digest_size=size).hexdigest()


def run_id(source: str, native_id: str, subject: object, variant: object) -> str:
    return fingerprint(source, native_id, subject, variant)


def case_key(suite: str, name: str) -> str:
    return f"{suite}/{name}" if suite else name


def case_key_of_input(suite: str, content: object) -> str:
    """For a case without a name: a hash of what was asked."""
    return case_key(suite, f"input-{fingerprint(content, size=6)}")


def attempt_id(run: str, case: str, *, session: int | None = None, index: int = 1, path: str = "") -> str:
    number = f"{session}.{index}" if session is not None else str(index)
    if "#" in case or "%" in case:
        case = _escape(case)
    if not path:
        return f"{run}:{case}#{number}"
    return f"{run}:{case}#{number}/{_escape(path)}"


TASK = "task"


def task_id(run: str, case: str) -> str:
    """Of a task as such, in the place of an attempt at it: for what a reader finds of the task itself."""
    return attempt_id(run, case, index=0, path=TASK)


def is_task_id(text: str) -> bool:
    return ":" in text and text.endswith(f"#0/{TASK}")


class AttemptParts(msgspec.Struct, frozen=True):
    run: str
    case: str
    session: int | None
    index: int
    path: str


def split_attempt_id(text: str) -> AttemptParts:
    run, colon, rest = text.partition(":")
    case, hash_, tail = rest.rpartition("#")
    number, _, path = tail.partition("/")
    session, dot, index = number.rpartition(".")
    if not (colon and hash_ and index.isdigit() and (session.isdigit() if dot else not session)):
        raise ValueError(f"not an attempt id: {text}")
    return AttemptParts(run, _unescape(case), int(session) if dot else None, int(index), _unescape(path))


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("#", "%23")


def _unescape(text: str) -> str:
    return text.replace("%23", "#").replace("%25", "%")
