"""What speaks against a task that nobody passes: signals of its failures, and what the subjects' results share."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

import msgspec

from errata.model import Attempt, Case, Signal
from errata.model.suspects import FAULTS_OF_TESTS, FEWEST, EvidenceKind, TaskEvidence
from errata.text.clean import one_line
from errata.text.lazy_regex import lazy_regex
from errata.triage.across import answer_form, is_open_answer, short_answer
from errata.triage.demands import unnamed_demands
from errata.triage.expected import expected_texts, task_text
from errata.triage.runner_output import FailedTest, failed_tests
from errata.triage.verifiers import unreachable

QUOTE = 160
REFERENCE = "the reference"
"""Whose failures are listed beside those of the subjects."""
K = TypeVar("K")
V = TypeVar("V")
_KINDS: dict[str, EvidenceKind] = {
    **dict.fromkeys(FAULTS_OF_TESTS, "tests_cannot_run"),
    "other_path": "unnamed_demand",
    "unnamed_demand": "unnamed_demand",
    "reference_fails": "reference_fails",
    "prompt_contradicts_expected": "contradiction",
    "expected_contradicts_data": "contradiction",
    "all_fail": "refused_alike",
    "strict_match": "strict_grader",
    "format_reject": "strict_grader",
    "answer_equals_reference": "strict_grader",
    "other_tasks_checks": "other_tasks_checks",
    "service_down": "unreachable",
}
_OF_THE_TASK: frozenset[EvidenceKind] = frozenset(("contradiction", "reference_fails"))
"""The task shows it by itself, however many subjects tried it."""
_OF_SOME: frozenset[EvidenceKind] = frozenset(("unnamed_demand",))
"""A part of the subjects is enough: the others failed before the tests came to it."""
_ORDER: tuple[EvidenceKind, ...] = (
    "reference_fails",
    "tests_cannot_run",
    "unreachable",
    "other_tasks_checks",
    "contradiction",
    "unnamed_demand",
    "agree_on_another",
    "strict_grader",
    "refused_alike",
)


class SubjectFailure(NamedTuple):
    """What triage saw in one failed attempt of a subject."""

    attempt: str
    signals: tuple[Signal, ...]


Failures = Mapping[str, Sequence[SubjectFailure]]
"""By subject."""
Attempts = Mapping[str, Attempt]
"""By subject: one failed attempt of each, with the texts of its files."""


def evidence_against(
    failures: Failures,
    attempts: Attempts,
    case: Case | None,
    *,
    passed: int = 0,
    own_name: str = "",
    names: Collection[str] = (),
) -> tuple[TaskEvidence, ...]:
    """Of a task that nobody passes, the strongest first; at most one of each kind.

    `passed` subjects passed it all the same; `names` are those of all tasks of the suite.
    """
    every = [*_agreement(attempts, case), *_missing_names(attempts, case, passed)] if case is not None else []
    every += [*_from_signals(failures)]
    every += [
        *_unreachable(attempts),
        *_collection_errors(attempts, case),
        *_same_check(attempts),
        *_foreign_checks(attempts, own_name, names),
    ]
    best: dict[EvidenceKind, TaskEvidence] = {}
    for evidence in sorted(every, key=lambda one: (one.strength != "likely", -one.subjects)):
        best.setdefault(evidence.kind, evidence)
    return tuple(sorted(best.values(), key=lambda one: (one.strength != "likely", _ORDER.index(one.kind))))


def as_doubts(evidence: Iterable[TaskEvidence]) -> tuple[TaskEvidence, ...]:
    """With too few subjects, evidence that comes from their results is a doubt at most."""
    doubts = [msgspec.structs.replace(one, strength="weak") if 0 < one.subjects < FEWEST else one for one in evidence]
    return tuple(sorted(doubts, key=lambda one: one.strength != "likely"))


def _from_signals(failures: Failures) -> Iterator[TaskEvidence]:
    seen: dict[EvidenceKind, dict[str, tuple[str, Signal]]] = {}
    for subject, every in failures.items():
        for failure in every:
            for signal in failure.signals:
                kind = _KINDS.get(signal.name)
                if kind is None or (signal.name == "all_fail" and signal.strength == "weak"):
                    continue
                known = seen.setdefault(kind, {}).get(subject)
                if known is None or (known[1].strength == "weak" and signal.strength != "weak"):
                    seen[kind][subject] = failure.attempt, signal
    failed = len(failures.keys() - {REFERENCE})
    for kind, by_subject in seen.items():
        if kind not in _OF_THE_TASK:
            by_subject.pop(REFERENCE, None)
        strong = {subject: one for subject, one in by_subject.items() if one[1].strength != "weak"}
        if not by_subject:
            continue
        attempt, signal = next(iter((strong or by_subject).values()))
        is_likely = bool(strong) if kind in _OF_THE_TASK else _suffices(kind, len(strong), failed)
        yield TaskEvidence(
            kind=kind,
            strength="likely" if is_likely else "weak",
            subjects=0 if kind in _OF_THE_TASK else len(by_subject),
            failed=failed,
            where=signal.where,
            quote=signal.quote,
            stated=signal.stated,
            attempt=attempt,
        )


def _suffices(kind: EvidenceKind, shown: int, failed: int) -> bool:
    """Most of those who failed, or for some kinds a third of them."""
    return shown >= 2 and (3 * shown >= failed if kind in _OF_SOME else 3 * shown >= 2 * failed)


def _agreement(attempts: Attempts, case: Case) -> Iterator[TaskEvidence]:
    """Most subjects, or half of them, give the same answer, and it is not the expected one."""
    wanted = tuple(expected_texts(case))
    if not wanted or len(attempts) < FEWEST:
        return
    right = [answer_form(text, case) for text in wanted]
    forms = {subject: answer_form(short_answer(attempt), case) for subject, attempt in attempts.items()}
    counts = Counter(form for form in forms.values() if form is not None and form not in right)
    if not counts:
        return
    form, often = counts.most_common(1)[0]
    is_most = 3 * often >= 2 * len(attempts)
    if often >= FEWEST and 2 * often >= len(attempts):
        attempt = next(attempts[subject] for subject, given in forms.items() if given == form)
        yield TaskEvidence(
            kind="agree_on_another",
            # among few possible answers even strangers agree by chance
            strength="likely" if is_most and is_open_answer(form, case) else "weak",
            subjects=often,
            failed=len(attempts),
            where="output",
            quote=_short(short_answer(attempt)),
            stated=_short(f"expected {wanted[0]}, answered"),
            attempt=attempt.id,
        )


_MISSING_NAME = lazy_regex(
    r"No module named '([\w.]+)'|cannot import name '(\w+)'|has no attribute '(\w+)'"
    r"|name '(\w+)' is not defined|got an unexpected keyword argument '(\w+)'"
)


def _unnamed(message: str, task: str) -> str:
    """The name that a test does not find, where the task does not mention it."""
    match = _MISSING_NAME.search(message) if task.strip() else None
    name = next((part for part in match.groups() if part), "") if match else ""
    return "" if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", task) else name


def _missing_names(attempts: Attempts, case: Case, passed: int) -> Iterator[TaskEvidence]:
    """A test opens or calls what the task does not mention, and subjects do not have it.

    Whoever passed had it: then it may be found out, and is a doubt.
    """
    task = task_text(case)

    def missing(attempt: Attempt) -> dict[str, tuple[str, str]]:
        demands = {name: (one.where, one.quote) for name, one in unnamed_demands(attempt, case).items()}
        tests = [(_unnamed(test.message, task), where, test) for where, test in failed_tests(attempt)]
        return demands | {name: (where, test.message) for name, where, test in tests if name and test.is_collected}

    for attempt, often, (where, quote) in _shared(attempts, missing):
        yield TaskEvidence(
            kind="unnamed_demand",
            strength="weak" if passed else "likely",
            subjects=often,
            failed=len(attempts),
            where=where,
            quote=_short(quote),
            attempt=attempt.id,
        )


def _collection_errors(attempts: Attempts, case: Case | None) -> Iterator[TaskEvidence]:
    """The same test file can't be collected, for the same reason, whoever did the work."""
    task = task_text(case) if case is not None else ""
    shapes = _shared(attempts, lambda attempt: {test.shape: (where, test) for where, test in _uncollected(attempt)})
    for attempt, often, (where, test) in shapes:
        is_unnamed = bool(_unnamed(test.message, task))
        yield TaskEvidence(
            kind="tests_cannot_run",
            strength="likely" if is_unnamed else "weak",
            subjects=often,
            failed=len(attempts),
            where=where,
            quote=_short(test.message),
            stated=test.name,
            attempt=attempt.id,
        )


def _unreachable(attempts: Attempts) -> Iterator[TaskEvidence]:
    """No test reaches the server, whoever wrote and started it: it may not outlive the subject's session."""
    for attempt, often, (where, quote) in _shared(attempts, unreachable):
        yield TaskEvidence(
            kind="unreachable",
            strength="weak",
            subjects=often,
            failed=len(attempts),
            where=where,
            quote=_short(quote),
            attempt=attempt.id,
        )


def _uncollected(attempt: Attempt) -> Iterator[tuple[str, FailedTest]]:
    if any(check.kind == "tests" and check.status == "pass" for check in attempt.checks):
        return
    yield from ((where, test) for where, test in failed_tests(attempt) if not test.is_collected)


def _same_check(attempts: Attempts) -> Iterator[TaskEvidence]:
    """Everybody passes all checks but one, and it is the same one."""

    def only_failed(attempt: Attempt) -> dict[str, tuple[str, int]]:
        counted = [check for check in attempt.checks if check.counts and check.status in ("pass", "fail")]
        failed = [check for check in counted if check.status == "fail"]
        return {failed[0].name: (failed[0].name, len(counted))} if len(failed) == 1 and len(counted) > 2 else {}

    for attempt, often, (name, checks) in _shared(attempts, only_failed):
        yield TaskEvidence(
            kind="refused_alike",
            strength="weak",
            subjects=often,
            failed=len(attempts),
            where=f"checks[{name}]",
            quote=_short(name),
            stated=f"the only failed check of {checks}",
            attempt=attempt.id,
        )


_NAME = lazy_regex(r"[\w.-]{6,}")
_TELLING = lazy_regex(r"[\W_\d]")


def _foreign_checks(attempts: Attempts, own_name: str, names: Collection[str]) -> Iterator[TaskEvidence]:
    def foreign(attempt: Attempt) -> dict[str, str]:
        words = {word for check in attempt.checks if check.failed for word in _NAME.findall(check.name)}
        if own_name in words:
            return {}
        return {word: word for word in words if word in names and word not in own_name and _TELLING.search(word)}

    for attempt, often, name in _shared(attempts, foreign) if names else ():
        yield TaskEvidence(
            kind="other_tasks_checks",
            strength="likely",
            subjects=often,
            failed=len(attempts),
            where="checks",
            quote=_short(name),
            stated="a failed check is named after the task",
            attempt=attempt.id,
        )


def _shared(attempts: Attempts, shapes_of: Callable[[Attempt], Mapping[K, V]]) -> Iterator[tuple[Attempt, int, V]]:
    """What most subjects share: an attempt that has it, how many have it, and it."""
    counts: Counter[K] = Counter()
    first: dict[K, tuple[Attempt, V]] = {}
    for attempt in attempts.values():
        for key, value in shapes_of(attempt).items():
            counts[key] += 1
            first.setdefault(key, (attempt, value))
    for key, often in counts.most_common(1):
        if often >= FEWEST and 3 * often >= 2 * len(attempts):
            yield first[key][0], often, first[key][1]


def _short(text: str) -> str:
    return one_line(text, QUOTE)
