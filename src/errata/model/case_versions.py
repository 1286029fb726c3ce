"""Several descriptions of one case: whether they contradict each other, and what one adds to another."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

from msgspec.structs import replace

from errata.model.attempt import Attempt
from errata.model.case import Case
from errata.model.identity import fingerprint

ASKING = frozenset(("task", "expected", "grader"))
FACTS = ("input", "choices", "expected")
"""What a case asks and expects, beside its files."""
NO_FACTS = "none"
CHECKSUM = "task_checksum"
SEVERAL = "several descriptions"
"""In place of a task: the rows of a case differ, so it is the same as no other."""
Wrapper = tuple[str, str]
Wrappers = Collection[Wrapper | None]
NO_WRAPPER = frozenset({("", "")})


def same_task(case: Case, other: Case, wrappers: Wrappers = NO_WRAPPER) -> bool | None:
    """Whether two descriptions under one key mean the same task; none where they have no fact in common.

    What one side lacks never counts as a difference: many harnesses keep only the files of failed cases.
    """
    if case.digest == other.digest:
        return bool(case.digest) or None
    return False if differing_facts(case, other, wrappers) else bool(_facts_of(case) & _facts_of(other)) or None


def _facts_of(case: Case) -> set[Any]:
    return {*_files(case), *(name for name in FACTS if not _is_missing(getattr(case, name)))}


def differing_facts(case: Case, other: Case, wrappers: Wrappers = NO_WRAPPER) -> list[str]:
    """Which facts both descriptions have, and have differently: `input`, `choices`, `expected`, or a file's path.

    Choices in another order, with another letter for the right one, are the same question.
    """
    different = [name for name in FACTS if _differ(getattr(case, name), getattr(other, name))]
    if "input" in different and wrapper_of(case, other) in wrappers:
        different.remove("input")
    if "choices" in different and sorted(case.choices) == sorted(other.choices):
        different = [name for name in different if name == "input"]
    files, others = _files(case), _files(other)
    return [*different, *(name[1] for name in sorted(files.keys() & others.keys()) if files[name] != others[name])]


def _differ(value: Any, other: Any) -> bool:
    if _is_missing(value) or _is_missing(other):
        return False
    return bool(_comparable(task_of(value)) != _comparable(task_of(other)))


def asked_in(given: Any) -> str:
    """The words of a text or of messages, whose keys beside these make no other task; empty for other data."""
    if isinstance(given, list | tuple):
        texts = [one.get("content") for one in given if isinstance(one, dict)]
        words = [text for text in texts if isinstance(text, str)]
        given = "\n".join(words) if len(words) == len(given) else ""
    return " ".join(given.split()) if isinstance(given, str) else ""


def wrapper_of(case: Case, other: Case) -> Wrapper | None:
    """What one text has before and after the other; an agent has it around many cases, an edit around one."""
    short, long = sorted((asked_in(case.input), asked_in(other.input)), key=len)
    before, within, after = long.partition(short) if short else ("", "", "")
    return (before, after) if within else None


def _comparable(value: Any) -> Any:
    """A number is the same as its text: a table may hold either."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip() if isinstance(value, int | float | str) else value


def is_changed(cases: Iterable[Case], wrappers: Wrappers = NO_WRAPPER) -> bool:
    different = list({case.digest: case for case in cases if case.digest}.values())
    return any(same_task(*pair, wrappers) is False for pair in combinations(different, 2))


def tasks_of(described: Mapping[int, Sequence[Case]], wrappers: Wrappers) -> dict[int, str]:
    """Run → its task, where descriptions of a case contradict each other; empty where all may mean one task.

    A run whose own rows differ has a task of its own. What fits several tasks is none of them: its name is empty.
    """
    own = {run: f"{SEVERAL} of run {run}" for run, cases in described.items() if is_changed(cases, wrappers)}
    known = {case.digest: case for run, cases in described.items() if run not in own for case in cases if case.digest}
    groups: list[list[Case]] = []
    for case in sorted(known.values(), key=lambda case: (-len(_facts_of(case)), -len(str(case.input)), case.digest)):
        fits = [group for group in groups if all(same_task(case, other, wrappers) is not False for other in group)]
        if not fits:
            groups.append([case])
        elif len(fits) == 1:
            fits[0].append(case)
    if not own and len(groups) < 2:
        return {}
    names = {case.digest: group[0].digest for group in groups for case in group if len(groups) > 1}
    first = {run: next((case.digest for case in cases if case.digest), "") for run, cases in described.items()}
    return {run: own.get(run) or names.get(first[run], "") for run in described}


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
    """A chat of one message of the user's asks what the text alone asks: which of both a model gets is not the task.

    Ids of messages are new in every run.
    """
    if isinstance(given, list | tuple) and all(isinstance(part, dict) for part in given):
        given = [{key: value for key, value in part.items() if key != "id"} for part in given]
    if isinstance(given, list) and len(given) == 1 and isinstance(given[0], dict):
        message = given[0]
        if message.get("role") == "user" and isinstance(message.get("content"), str):
            return message["content"]
    return given


def _is_missing(value: Any) -> bool:
    return value is None or value in ("", (), [], {})


def _files(case: Case) -> dict[tuple[str, str], str]:
    files: dict[tuple[str, str], str] = {
        (file.role, file.path): file.blob or file.text or "" for file in case.artefacts if file.role in ASKING
    }
    if CHECKSUM in case.extra:  # of all files of the task together
        files["task", CHECKSUM] = str(case.extra[CHECKSUM])
    return files


class CaseBook:
    """The cases of a run, as each attempt had them."""

    def __init__(self, cases: Iterable[Case], versions: Iterable[tuple[str, Case]]) -> None:
        """`versions`: later descriptions, each with the name of its version."""
        self._first = {case.key: case for case in cases}
        self._versions = {(case.key, version): case for version, case in versions}

    def of(self, attempt: Attempt) -> Case | None:
        own = self._versions.get((attempt.case, attempt.case_version)) if attempt.case_version else None
        return own or self._first.get(attempt.case)
