"""Several descriptions of one case: whether they contradict each other, and what one adds to another."""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from errata.model.attempt import Attempt
from errata.model.case import Case
from errata.model.identity import fingerprint

ASKING = frozenset(("task", "expected", "grader"))
FACTS = ("input", "choices", "expected")
"""What a case asks and expects, beside its files."""
NO_FACTS = "none"


def contradict(case: Case, other: Case) -> bool:
    """Missing information never counts as a difference: many harnesses keep only the files of failed cases."""
    return case.digest != other.digest and bool(differing_facts(case, other))


def differing_facts(case: Case, other: Case) -> list[str]:
    """Which facts both descriptions have, and have differently: `input`, `choices`, `expected`, or a file's path.

    Choices in another order, with another letter for the right one, are the same question.
    """
    different = [name for name in FACTS if _differ(getattr(case, name), getattr(other, name))]
    if "choices" in different and sorted(case.choices) == sorted(other.choices):
        different = [name for name in different if name == "input"]
    files, others = _files(case), _files(other)
    return [*different, *(name[1] for name in sorted(files.keys() & others.keys()) if files[name] != others[name])]


def _differ(value: Any, other: Any) -> bool:
    if _is_missing(value) or _is_missing(other):
        return False
    return bool(_comparable(task_of(value)) != _comparable(task_of(other)))


def _comparable(value: Any) -> Any:
    """A number is the same as its text: a table may hold either."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip() if isinstance(value, int | float | str) else value


def is_changed(cases: Iterable[Case]) -> bool:
    different = list({case.digest: case for case in cases if case.digest}.values())
    return any(contradict(one, other) for at, one in enumerate(different) for other in different[at + 1 :])


def completed(cases: Sequence[Case]) -> list[Case]:
    """Each with the facts that it lacks, where all descriptions that do not contradict it agree on them.

    The result does not depend on the order of the descriptions.
    """
    return [_completed(case, cases) for case in cases]


def _completed(case: Case, every: Sequence[Case]) -> Case:
    missing = [name for name in FACTS if _is_missing(getattr(case, name))]
    if not missing:
        return case
    fitting = [other for other in every if not differing_facts(case, other)]
    added = {}
    for name in missing:
        values = {fingerprint(value): value for one in fitting if not _is_missing(value := getattr(one, name))}
        if len(values) == 1:
            added[name] = next(iter(values.values()))
    return replace(case, **added, digest="") if added else case


def is_same_description(case: Case, other: Case) -> bool:
    """Whether one description can stand for the other."""
    facts = [[getattr(one, name) for name in FACTS] for one in (case, other)]
    return facts[0] == facts[1] and _files(case) == _files(other)


def task_of(given: Any) -> Any:
    """A chat of one message of the user's asks what the text alone asks: which of both a model gets is not the task."""
    if isinstance(given, list | tuple) and len(given) == 1 and isinstance(given[0], dict):
        message = given[0]
        if message.get("role") == "user" and isinstance(message.get("content"), str):
            return message["content"]
    return given


def _is_missing(value: Any) -> bool:
    return value is None or value in ("", (), [], {})


def _files(case: Case) -> dict[tuple[str, str], str]:
    return {(one.role, one.path): one.blob or one.text or "" for one in case.artefacts if one.role in ASKING}


class CaseBook:
    """The cases of a run, as each attempt had them."""

    def __init__(self, cases: Iterable[Case], versions: Iterable[tuple[str, Case]]) -> None:
        """`versions`: later descriptions, each with the name of its version."""
        self._first = {case.key: case for case in cases}
        self._versions = {(case.key, version): case for version, case in versions}

    def of(self, attempt: Attempt) -> Case | None:
        own = self._versions.get((attempt.case, attempt.case_version)) if attempt.case_version else None
        return own or self._first.get(attempt.case)
