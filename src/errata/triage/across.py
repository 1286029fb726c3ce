"""Signals that need more than the run itself: other runs of the same suite, and known gaps on record."""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from errata.model import Attempt, Case
from errata.model.action import RecordedGap
from errata.model.suspects import FEWEST, allowed_passes
from errata.model.words import Confidence, Owner
from errata.text.answers import final_answers
from errata.text.equivalence import Canonical, canonical
from errata.triage.demands import nearly_passed, unnamed_demands
from errata.triage.expected import choice_of
from errata.triage.keys import failure_key
from errata.triage.observed import Observed, signal

SHORT = 400
_YES_NO = frozenset(("yes", "no", "true", "false", "none", "unknown"))


class CaseElsewhere(msgspec.Struct, frozen=True):
    """How one case went with every subject that was measured on the very same task."""

    failed: tuple[str, ...] = ()
    """Subjects that were measured and never passed it."""
    passed: int = 0
    """How many subjects passed it, if only in part."""
    reference: Attempt | None = None
    """The attempt of a reference solution, where that was measured and failed."""
    same_task: bool = True
    """Whether it is known, not only likely, that the task was the same: by a digest of it."""
    demanded: Mapping[str, int] = {}
    """A file or key that the tests demand and the task does not name → how many subjects failed for want of it."""
    refused: Mapping[tuple[tuple[str, str], ...], int] = {}
    """Failed tests and their masked messages → how many subjects failed just these and passed more than they failed."""

    @property
    def is_failed_by_all(self) -> bool:
        """Or by all but one or two of very many."""
        return self.passed <= allowed_passes(len(self.failed) + self.passed)

    def with_tests(
        self, demanded: Mapping[str, int], refused: Mapping[tuple[tuple[str, str], ...], int]
    ) -> "CaseElsewhere":
        return msgspec.structs.replace(self, demanded=demanded, refused=refused)


class Across:
    """What other runs, and the run's own context, show about its cases."""

    def __init__(
        self,
        cases: Mapping[str, CaseElsewhere] | None = None,
        *,
        passed_by: Mapping[str, str] | None = None,
        differing: frozenset[str] = frozenset(),
        version: str = "",
    ) -> None:
        self.cases = cases or {}
        self.passed_by = passed_by or {}
        """Case → a subject that passed it; empty where others were measured and none of them passed."""
        self.differing = differing
        """Cases that others were measured on only with another task, reference or grader."""
        self.version = version
        """Changes with what they show; empty where they show nothing."""

    def __bool__(self) -> bool:
        return bool(self.cases or self.passed_by or self.differing)

    def may_observe(self, attempt: Attempt) -> bool:
        """False for most: nothing is known of the case, and the attempt has no files."""
        return attempt.case in self.cases or bool(attempt.artefacts)

    def observe(self, attempt: Attempt, case: Case | None) -> Iterator[Observed]:
        elsewhere = self.cases.get(attempt.case)
        if case is not None and attempt.artefacts and not self.passed_by.get(attempt.case):
            yield from _unnamed_demand(elsewhere, attempt, case)
        # what was not measured failed for a reason of its own
        if elsewhere is not None and attempt.outcome == "fail" and attempt.measurement == "scored":
            yield from _reference_fails(elsewhere, attempt)
            if elsewhere.is_failed_by_all:
                yield from _all_fail(elsewhere, attempt)


def _passes_in_another_file(gold: Attempt) -> bool:
    """Another report of the same run lists the attempt as resolved: then nobody knows that it failed."""
    beside = [check for check in gold.checks if not check.counts and check.name.endswith(": resolved")]
    return any(check.status == "pass" for check in beside)


def _reference_fails(elsewhere: CaseElsewhere, attempt: Attempt) -> Iterator[Observed]:
    """A reference that fails its own grader proves one of the two wrong, unless somebody else passed.

    What it failed of is open where the failure is its own: the task, the grader, or where it ran.
    """
    gold = elsewhere.reference
    if gold is None or _passes_in_another_file(gold):
        return
    strength: Confidence = "weak" if elsewhere.passed else "likely"
    failed = next((check for check in gold.checks if check.failed), None)
    quote = failed.explanation if failed else ""
    stated = "" if quote else gold.native_status or gold.outcome
    seen = signal("reference_fails", strength, f"run {gold.run}", quote, gold.ref, stated=stated)
    if attempt.run == gold.run:
        also: tuple[Owner, ...] = ("task", "grader", "environment")
        yield Observed(signal=seen, owner="unknown", also=also, is_specific=True)
    else:
        yield Observed(signal=seen, owner="task", also=("grader",), is_specific=elsewhere.same_task)


def _all_fail(elsewhere: CaseElsewhere, attempt: Attempt) -> Iterator[Observed]:
    """Hardly anybody passes. That is a strong sign only where several subjects pass nearly all else and fail alike."""
    if len(elsewhere.failed) < FEWEST:
        return
    count = len(elsewhere.failed)
    who = f"{count} of {count + elsewhere.passed}" if elsewhere.passed else f"all {count}"
    subjects = f"{who} subjects: {', '.join(elsewhere.failed)}"
    refused = nearly_passed(attempt) if elsewhere.refused else ()
    alike = elsewhere.refused.get(refused, 0)
    if alike >= FEWEST:
        test, message = refused[0]
        stated = f"{alike} of {len(elsewhere.failed)} subjects pass all but {test}"
        seen = signal("all_fail", "likely", "other runs", message, attempt.ref, stated=stated)
        yield Observed(signal=seen, owner="task")
    else:
        # the counts do not tell a broken task from a hard one: they name no owner
        yield Observed(signal=signal("all_fail", "weak", "other runs", "", stated=subjects), owner=None)


PAIR = 2


def _unnamed_demand(elsewhere: CaseElsewhere | None, attempt: Attempt, case: Case) -> Iterator[Observed]:
    """A test demands what the task does not name. The subject may have been given it elsewhere: alone it is a doubt."""
    if attempt.outcome not in ("fail", "partial") or attempt.measurement != "scored":
        return
    for demand, evidence in unnamed_demands(attempt, case).items():
        subjects = elsewhere.demanded.get(demand, 0) if elsewhere else 0
        strength: Confidence = "likely" if subjects >= PAIR else "weak"
        seen = signal("unnamed_demand", strength, evidence.where, evidence.quote, attempt.ref)
        yield Observed(signal=seen, owner="task")
        return


def short_answer(attempt: Attempt) -> str:
    """What can be compared between subjects: the answer that was taken, a short text, or what a text ends in."""
    output = attempt.output
    if output.answer:
        return output.answer if len(output.answer) <= SHORT else ""
    text = output.text or ""
    if len(text) <= SHORT:
        return text
    return next((final.text for final in final_answers(text) if final.marked), "")


def answer_form(text: str, case: Case) -> Canonical | None:
    """What two answers that say the same share; none where that is unknown."""
    if not text.strip():
        return None
    if case.choices:
        named = choice_of(text, case.choices)
        return None if named is None else Canonical("choice", named)
    return canonical(text)


def is_open_answer(form: Canonical, case: Case) -> bool:
    """Whether there are enough possible answers for agreement to mean something."""
    if case.choices or form.value in _YES_NO:
        return False
    return len(str(form.value)) > 1 if form.kind == "number" else len(str(form.value)) > 2


def failing_everywhere(tried: Iterable[tuple[str, bool, bool]]) -> tuple[tuple[str, ...], int]:
    """Of (subject, passed, failed) for each run: the subjects that never passed, and how many of them did."""
    passed: dict[str, bool] = {}
    for subject, has_passed, has_failed in tried:
        if has_passed or has_failed:
            passed[subject] = passed.get(subject, False) or has_passed
    return tuple(sorted(name for name, ever in passed.items() if not ever)), sum(passed.values())


SHOWN = 8
"""Records that are named one by one."""


class KnownGaps:
    def __init__(self, cases: Mapping[str, tuple[RecordedGap, ...]] | None = None, *, version: str = "") -> None:
        self.cases = cases or {}
        """By the case's key."""
        self.version = version
        """Changes with the records; empty where there is none."""

    def __bool__(self) -> bool:
        return bool(self.cases)

    def observe(self, attempt: Attempt) -> Iterator[Observed]:
        """Only for measured attempts: a gap of the case does not explain a crash."""
        if attempt.outcome not in ("fail", "partial") or attempt.measurement != "scored":
            return
        for gap in [one for one in self.cases.get(attempt.case, ()) if _covers(one, attempt)][:SHOWN]:
            yield Observed(signal=signal("known_gap", "likely", gap.where, gap.quote, gap.ref), owner="task")


def _covers(gap: RecordedGap, attempt: Attempt) -> bool:
    """Whether it is this failure: of the same check, and for another model also with the same key."""
    failed = {check.name for check in attempt.checks if check.status not in ("pass", "not_run")}
    if gap.checks and failed and gap.checks.isdisjoint(failed):
        return False
    return gap.keys is None or failure_key(attempt).exact in gap.keys


def not_the_models(observed: Iterable[Observed]) -> list[Observed]:
    """For the run of a reference solution: no model took part, so no signal may name it."""
    return [one for one in observed if one.owner != "model"]
