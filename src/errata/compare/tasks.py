"""Whether two logs ask the same of a case, as far as both tell it."""

from collections.abc import Iterable
from typing import Any

from errata.model import Case

ASKING = frozenset(("task", "expected", "grader"))


def contradict(one: Case, other: Case) -> bool:
    """What only one of them tells contradicts nothing: many harnesses keep the files of failed cases alone."""
    if one.digest == other.digest:
        return False
    asked = (_asked(one.input), _asked(other.input))
    told = (asked, (one.expected, other.expected), (one.choices, other.choices))
    if any(first and second and first != second for first, second in told):
        return True
    files, others = _files(one), _files(other)
    return any(files[name] != others[name] for name in files.keys() & others.keys())


def _asked(given: Any) -> Any:
    """A chat of one message of the user's asks what the text alone asks: which of both a model gets is not the task."""
    if isinstance(given, list | tuple) and len(given) == 1 and isinstance(given[0], dict):
        message = given[0]
        if message.get("role") == "user" and isinstance(message.get("content"), str):
            return message["content"]
    return given


def is_changed(cases: Iterable[Case]) -> bool:
    """Whether any two of them contradict each other."""
    different = list({case.digest: case for case in cases if case.digest}.values())
    return any(contradict(one, other) for at, one in enumerate(different) for other in different[at + 1 :])


def _files(case: Case) -> dict[tuple[str, str], str]:
    return {(one.role, one.path): one.blob or one.text or "" for one in case.artefacts if one.role in ASKING}
