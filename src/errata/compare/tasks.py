"""Whether two logs ask the same of a case, as far as both tell it."""

from collections.abc import Iterable

from errata.model import Case

ASKING = frozenset(("task", "expected", "grader"))


def contradict(one: Case, other: Case) -> bool:
    """What only one of them tells contradicts nothing: many harnesses keep the files of failed cases alone."""
    if one.digest == other.digest:
        return False
    told = ((one.input, other.input), (one.expected, other.expected), (one.choices, other.choices))
    if any(first and second and first != second for first, second in told):
        return True
    files, others = _files(one), _files(other)
    return any(files[name] != others[name] for name in files.keys() & others.keys())


def is_changed(cases: Iterable[Case]) -> bool:
    """Whether any two of them contradict each other."""
    different = list({case.digest: case for case in cases if case.digest}.values())
    return any(contradict(one, other) for at, one in enumerate(different) for other in different[at + 1 :])


def _files(case: Case) -> dict[tuple[str, str], str]:
    return {(one.role, one.path): one.blob or one.text or "" for one in case.artefacts if one.role in ASKING}
