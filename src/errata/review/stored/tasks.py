"""Reviews of tasks: a packet with the task, its reference and the answers of several subjects; one verdict for all.

A verdict that the task or its tests are at fault is inherited by the failures of that task, whoever the subject is.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from secrets import token_hex

import msgspec

from errata.model import Attempt, Packet, Reviewer, Signal, Verdict
from errata.model.identity import fingerprint, split_attempt_id
from errata.model.standing import is_same, standing
from errata.model.suspects import SuspectTask
from errata.model.times import to_microseconds, to_text
from errata.model.verdict import OF_TASK, Lease, word_for
from errata.model.words import Owner
from errata.review.answers import NO_LABEL, ParsedAnswer, read_answer
from errata.review.labels import TASK_QUESTION
from errata.review.material import Material, RunContext
from errata.review.packet import packet_for
from errata.review.redaction import packet_hash, redacted
from errata.review.stored.lease import LASTS, LeasedPacket, LeaseRequest, NothingWaiting
from errata.review.stored.task_reviews import home_of, reviews_of_tasks
from errata.review.stored.verdicts import keep, refusal_of, verdicts_on
from errata.review.submit import AcceptedVerdict, RejectedVerdict, Submission, refuse_without_lease, rejected
from errata.review.verdicts import AnswerInfo, Rejection, judge
from errata.store.attempts import attempt_by_id, run_with_texts
from errata.store.case_versions import tasks_apart
from errata.store.database import Store
from errata.store.failures import listed_failures, loaded, number_of
from errata.store.reviews import (
    end_lease,
    keep_refusal,
    keep_verdicts,
    lease_on,
    remove_verdicts,
    take_lease,
    verdicts_of,
)

SUBJECTS = 6
"""Other subjects whose answers are shown."""
AT_FAULT: frozenset[Owner] = frozenset(("task", "grader"))
"""Owners that a verdict on a task passes on to its failures."""

ContextOf = Callable[[str], RunContext]
"""By a run's id."""


# packets


def task_packet(task: SuspectTask, place: str, contexts: ContextOf, store: Store, *, blind: bool = False) -> Packet:
    """Redacted. The attempt that shows the most comes first, then different ones of other subjects.

    `place` is the task's id.
    """
    first, *others = _different(task, store)
    context = contexts(split_attempt_id(first.id).run)
    stored = context.stored
    seq = number_of(store, stored.pk, split_attempt_id(first.id))
    failure = loaded(store, stored.pk, [seq] if seq is not None else [])[0]
    material = Material(
        run=run_with_texts(store, stored),
        handle=context.handle,
        attempt=failure.attempt,
        case=failure.case,
        subjects=tuple(_with_names(others[:SUBJECTS], contexts, blind=blind)),
        history=context.history([task.case_key]).get(task.case_key, ()),
    )
    packet = packet_for(material, TASK_QUESTION, blind=blind)
    changed = msgspec.structs.replace(
        packet,
        id=place,
        attempt=0,
        attempt_id=place,
        facts=_facts(task),
        signals=tuple(_signals(task)),
        failure_key=None,
    )
    return redacted(changed)


def _with_names(attempts: Sequence[Attempt], contexts: ContextOf, *, blind: bool) -> Iterator[tuple[str, Attempt]]:
    for number, attempt in enumerate(attempts, 2):
        subject = contexts(attempt.run).stored.run.subject
        named = "" if blind else " + ".join(part for part in (subject.agent, subject.model) if part)
        yield named or f"subject {number}", attempt


def _different(task: SuspectTask, store: Store) -> list[Attempt]:
    """The attempt that evidence names first; then those that differ most from what is already chosen."""
    named = [one.attempt for one in task.evidence if one.attempt in task.attempt_ids]
    ids = list(dict.fromkeys((*named, *task.attempt_ids)))
    attempts = [attempt_by_id(store, one) for one in ids]
    seen: set[str] = set()
    new: list[Attempt] = []
    alike: list[Attempt] = []
    for attempt in attempts:
        failed = sorted(check.name for check in attempt.checks if check.failed)
        shape = fingerprint(attempt.output.answer or attempt.output.text or "", failed)
        (alike if shape in seen else new).append(attempt)
        seen.add(shape)
    return [*new, *alike]


def _facts(task: SuspectTask) -> dict[str, object]:
    return {
        "subjects": task.subjects,
        "subjects_passed": task.passed,
        "attempts": task.attempts,
        "attempts_passed": task.passes,
        "p": round(task.p, 4),
        "category": task.category,
    }


def _signals(task: SuspectTask) -> Iterator[Signal]:
    for evidence in task.evidence:
        yield Signal(
            name=evidence.kind,
            where=evidence.where,
            quote=evidence.quote,
            stated=evidence.stated,
            strength=evidence.strength,
        )


# leases


def lease_task(
    tasks: Sequence[SuspectTask], contexts: ContextOf, store: Store, request: LeaseRequest, *, now: datetime
) -> LeasedPacket | NothingWaiting:
    """What the reviewer has in hand already, else the first task that waits."""
    word, at, until = word_for(request.reviewer), to_text(now), to_text(now + LASTS)
    given = reviews_of_tasks(store, {split_attempt_id(one).run for task in tasks for one in task.attempt_ids})
    places = {task.case_key: home_of(task, given.get(task.case_key, ())) for task in tasks}
    held = {key: lease for key, place in places.items() if (lease := lease_on(store, place, reviewer=word, now=at))}
    waiting = [task for task in tasks if _waits(given.get(task.case_key, ()), request)]
    lease, chosen = None, None
    if held and not request.another:
        chosen = next(task for task in tasks if task.case_key in held)
        lease = held[chosen.case_key]
    for task in waiting if lease is None else ():
        wanted = Lease("", token_hex(8), until)
        run_id = split_attempt_id(places[task.case_key]).run
        if take_lease(store, run_id, [places[task.case_key]], reviewer=word, lease=wanted, now=at):
            lease, chosen = wanted._replace(attempt=places[task.case_key]), task
            break
    if lease is None or chosen is None:
        others = sum(bool(verdicts) for verdicts in given.values())
        return NothingWaiting(failures=len(tasks), read=others, others=others, in_hand=len(held))
    return LeasedPacket(
        packet=task_packet(chosen, lease.attempt, contexts, store, blind=request.blind),
        case=chosen.case,
        token=lease.token,
        until=lease.until,
        again=chosen.case_key in held,
        returned=False,
        also=tuple(task.case for task in tasks if task.case_key in held and task is not chosen),
        waiting=sum(task is not chosen and task.case_key not in held for task in waiting),
    )


def _waits(verdicts: Sequence[Verdict], request: LeaseRequest) -> bool:
    if any(is_same(one.reviewer, request.reviewer) for one in verdicts):
        return False
    stood = standing(verdicts)
    return bool(verdicts) if request.second else stood is None or not stood.final


# verdicts


def submit_task(
    submission: Submission,
    task: SuspectTask,
    contexts: ContextOf,
    store: Store,
    reviewer: Reviewer,
    run_ids: Sequence[str],
    *,
    now: datetime,
) -> AcceptedVerdict | RejectedVerdict:
    """`run_ids`: the runs that the task was tried in, whose failures inherit the verdict."""
    place = submission.which
    earlier = verdicts_on(store, place, withdrawn=True)
    word = word_for(reviewer)
    lease = lease_on(store, place, reviewer=word, now=to_text(now))
    refuse_without_lease(submission.lease, f"{task.case} (task)", reviewer, earlier, lease)
    packet, blind = _leased(submission, task, contexts, store)
    at = to_microseconds(now)
    by = AnswerInfo(reviewer=reviewer, at=at, blind=blind, triaged=_named_by_evidence(task))
    verdict = judge(submission.answer, packet, by, earlier)
    answer = read_answer(submission.answer)
    if isinstance(verdict, Rejection):
        keep_refusal(store, refusal_of(submission.answer, verdict.reasons, packet, by))
        return rejected(answer, verdict, packet)
    kept = keep(verdict, store)
    inherited = pass_on(task.case_key, contexts, store, run_ids, at=at)
    end_lease(store, place, reviewer=word)
    ignored = answer.ignored if isinstance(answer, ParsedAnswer) else ()
    return AcceptedVerdict(kept=kept, case=f"{task.case} (task)", inherited=inherited, ignored=ignored)


def _named_by_evidence(task: SuspectTask) -> tuple[Owner, ...]:
    """Whom the evidence against a task names: what rules found is the second opinion on a verdict against it."""
    return ("task", "grader") if any(one.strength == "likely" for one in task.evidence) else ()


def _leased(submission: Submission, task: SuspectTask, contexts: ContextOf, store: Store) -> tuple[Packet, bool]:
    packet = task_packet(task, submission.which, contexts, store)
    if submission.packet_hash and packet_hash(packet) != submission.packet_hash:
        blind = task_packet(task, submission.which, contexts, store, blind=True)
        if packet_hash(blind) == submission.packet_hash:
            return blind, True
    return packet, False


def pass_on(case: str, contexts: ContextOf, store: Store, run_ids: Sequence[str], *, at: str) -> int:
    """Give the standing verdict on a task to its failures in these runs, and take back what older ones gave.

    A failure that somebody has reviewed keeps its own verdict. How many failures have inherited it.
    """
    verdicts = reviews_of_tasks(store, run_ids).get(case, [])
    stood = standing(verdicts)
    source = stood.verdict if stood is not None and stood.final and stood.verdict.owner in AT_FAULT else None
    inherited = 0
    home = contexts(split_attempt_id(source.attempt).run).stored.pk if source is not None else None
    for run_id in run_ids:
        context = contexts(run_id)
        failed = [one.id for one in listed_failures(store, context.stored.pk, run_id) if one.case == case]
        old = [_inherited_id(verdict, attempt) for verdict in verdicts for attempt in failed if verdict is not source]
        remove_verdicts(store, old)
        pk = context.stored.pk
        is_edited = home not in (None, pk) and case in tasks_apart(store, (home or pk, pk))
        if source is not None and failed and not is_edited:
            read = {one.attempt for one in verdicts_of(store, run_id) if one.inherited_from is None}
            copies = [_copy(source, attempt, context, at) for attempt in failed if attempt not in read]
            keep_verdicts(store, copies)
            inherited += len(copies)
    return inherited


def _inherited_id(verdict: Verdict, attempt: str) -> str:
    return fingerprint(verdict.id, attempt)


def _copy(verdict: Verdict, attempt: str, context: RunContext, at: str) -> Verdict:
    """In the words of the run's own taxonomy; quotes and snippets stay with the verdict on the task."""
    question = context.question("")
    label = next((choice.label for choice in question.labels if choice.owner == verdict.owner), NO_LABEL)
    return msgspec.structs.replace(
        verdict,
        id=_inherited_id(verdict, attempt),
        attempt=attempt,
        taxonomy=question.taxonomy,
        taxonomy_version=question.version,
        label=label,
        inherited_from=verdict.id,
        supersedes=None,
        usage=None,
        decisive_step=None,
        error_line="",
        model_snippet="",
        expected_snippet="",
        fix=None,
        bucket="",
        evidence=(),
        at=at,
        extra={OF_TASK: verdict.attempt},
    )
