"""Places in an attempt as addresses: `#step-20`, `#check-tests`, `#verifier-17`.

Triage names a place by the field (`steps[20]`, `checks[tests].explanation`, `verifier/test-stdout.txt:17`), a reviewer
by the place of a packet (`steps/20`, `log/verifier/test-stdout.txt`). Both lead to the same anchor.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from errata.text.lazy_regex import lazy_regex
from errata.text.outgoing import name_without_secrets

LONGEST = 60
_FIELD = lazy_regex(r"^(steps|checks|errors|judgements)\[(.*?)\](?:$|[.\[])")
_PACKET = lazy_regex(r"^(steps|checks|judge_reasoning)/(.+)$")
_LINE = lazy_regex(r"^(.*?):(\d+)(?:-\d+)?$")
_PLAIN = {
    "task": "task",
    "input": "task",
    "choices": "task",
    "output": "output",
    "expected": "expected",
    "reference": "expected",
    "error": "error-1",
    "judge_reasoning": "judges",
}
FACTS = "facts"
"""Where the status, limits and other single facts stand."""


def slug(text: str) -> str:
    made = re.sub(r"[^\w.]+", "-", name_without_secrets(text).lower()).strip("-.")[:LONGEST]
    return made or "unnamed"


def log_names(paths: Iterable[str]) -> dict[str, str]:
    """Path → a short name for addresses: its first folder below what all share, else its own name."""
    every = [PurePosixPath(path) for path in dict.fromkeys(paths)]
    shared = _shared([path.parts[:-1] for path in every]) if len(every) > 1 else ()
    tails = [path.parts[len(shared) :] for path in every]
    choices = [(tail[0] if len(tail) > 1 else path.stem, path.stem) for path, tail in zip(every, tails, strict=True)]
    first, stem = (Counter(slug(one[at]) for one in choices) for at in (0, 1))
    names = {}
    for path, (folder, own) in zip(every, choices, strict=True):
        name = slug(folder) if first[slug(folder)] == 1 else slug(own) if stem[slug(own)] == 1 else slug(str(path))
        names[str(path)] = f"log-{name}" if name.startswith(("step-", "check-", "error-")) else name
    return names


def _shared(folders: list[tuple[str, ...]]) -> tuple[str, ...]:
    shared = folders[0] if folders else ()
    for folder in folders[1:]:
        while shared != folder[: len(shared)]:
            shared = shared[:-1]
    return shared


def anchor_of(where: str, logs: Mapping[str, str]) -> str:
    """The anchor of a place; that of the facts where it has none of its own."""
    where = where.removeprefix("log/") if where.startswith("log/") else where
    if where in logs:
        return logs[where]
    if (line := _LINE.match(where)) is not None and line[1] in logs:
        return f"{logs[line[1]]}-{line[2]}"
    if (field := _FIELD.match(where) or _PACKET.match(where)) is not None:
        return _of_field(field[1], field[2])
    return _PLAIN.get(re.split(r"[/.\[:]", where, maxsplit=1)[0], FACTS)


def _of_field(field: str, name: str) -> str:
    match field:
        case "steps":
            number = re.match(r"\d+", name)
            return f"step-{number[0]}" if number else FACTS
        case "checks":
            return f"check-{slug(name)}"
        case "errors":
            return f"error-{int(name) + 1}" if name.isdecimal() else FACTS
        case _:
            return f"judge-{slug(name)}"
