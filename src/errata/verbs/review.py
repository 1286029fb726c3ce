"""`review`: find the runs, collect what other stages found, and pass it to the review stage."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from errata.errors import ErrataError, NotFoundError, SettingsError
from errata.model import Packet, Question, ReviewBatch, Reviewer, StoredRun, Verdict
from errata.model.filters import Filters
from errata.model.identity import is_task_id, split_attempt_id
from errata.model.output.agreement import AgreementOutput
from errata.model.output.consistency import JudgesOutput
from errata.model.output.store import TaxonomyLabelOutput, TaxonomyOutput
from errata.model.run import case_name
from errata.model.suspects import SuspectTask, SuspectTasks
from errata.model.times import to_text
from errata.model.token import Caller
from errata.model.verdict import word_for
from errata.model.words import ReviewerKind
from errata.review import agreement, calibrate, human_labels, judge_agreement
from errata.review.import_answers import BadRow, FilledRow, ImportRequest, KeptRow, UnusableRow, read_answers
from errata.review.labels import OWNERS, TASK_QUESTION
from errata.review.material import RunContext
from errata.review.packet import PacketOptions
from errata.review.status import Status
from errata.review.stored import lease, packets, queue, submit, tasks
from errata.review.stored.lease import LeasedPacket, LeaseRequest, NothingWaiting
from errata.review.submit import AcceptedVerdict, RejectedVerdict, Submission
from errata.review.tables import ExportRow, export_row, rows_in_order
from errata.runs.addresses import ReviewTarget, locate, locate_known, review_target
from errata.runs.bucketing import buckets_of_run
from errata.runs.failures import refuse_unknown
from errata.runs.names import are_judged_turns, handle_of, known_run, run_named
from errata.runs.review_context import as_question, context_of, labels_by_taxonomy, question_for
from errata.runs.suspect_tasks import runs_beside, suspect_tasks, task_of
from errata.runs.view import RunView
from errata.settings import Settings, machine_user
from errata.store.attempts import attempts_of
from errata.store.database import Store
from errata.store.ledger import OPEN, batches_of
from errata.store.reviews import end_lease, held_by, verdicts_of
from errata.store.runs import all_runs, run_by_id
from errata.text.clean import one_line
from errata.text.shell import shell_word
from errata.triage.rulesets import taxonomies_in_use

if TYPE_CHECKING:
    from errata.review.batch import BatchAccount
    from errata.review.plan import ReviewPlan, ReviewRequest
    from errata.review.protocols import Prompt
    from errata.review.run import ReviewTally


def reader_for(
    name: str,
    settings: Settings,
    *,
    kind: ReviewerKind,
    model: str = "",
    caller: Caller | None = None,
) -> Reviewer:
    """Whoever calls is one reader under all names: the token, else the model, else the user of this machine."""
    name = name.strip()
    if caller is not None and caller.token:
        named = name if name.startswith(f"{caller.name}/") else f"{caller.name}/{name}"
        own = caller.name if name in ("", caller.name) else named
        return Reviewer(kind=kind, name=own, caller=f"token:{caller.name}@{caller.token}")
    if model and kind != "person":
        called, _, version = model.partition("@")
        if not (called.strip() and version.strip()):
            raise SettingsError(f"`{model}` names no version", hint="give both: `--model claude-opus-4-1@20250805`")
        return Reviewer(kind=kind, name=name or called, caller=f"model:{model}")
    name = name or (settings.author if kind == "person" else "") or kind
    who = f"{'user' if kind == 'person' else 'program'}:{machine_user()}"
    return Reviewer(kind=kind, name=name, caller=who if kind == "agent" else f"{who}/{name}")


def context_for(stored: StoredRun, store: Store) -> RunContext:
    """What a review takes from the other stages about this run."""
    return context_of(RunView(stored, store))


# packets


def packet_of(attempt: str, store: Store, *, options: PacketOptions | None = None) -> Packet:
    """Of one attempt, also of one that did not fail."""
    try:
        run_id = split_attempt_id(attempt).run
    except ValueError:
        hint = "`errata failures RUN --json` gives ids"
        raise NotFoundError(f"`{attempt}` is not the id of an attempt", hint=hint) from None
    return packets.packet_of(attempt, context_for(run_by_id(store, run_id), store), store, options=options)


def packets_of(
    stored: StoredRun,
    store: Store,
    filters: Filters | None = None,
    *,
    attempts: Collection[str] | None = None,
    options: PacketOptions | None = None,
) -> Iterator[Packet]:
    """Of every failure that is wanted, in the order of the conversation or suite, else of the log."""
    yield from packets.packets_of(context_for(stored, store), store, filters, attempts=attempts, options=options)


def export(
    runs: Sequence[StoredRun], store: Store, filters: Filters | None = None, *, options: PacketOptions | None = None
) -> Iterator[ExportRow]:
    """One failure after the other; judged turns by model and turn, everything else run by run."""

    def rows(context: RunContext) -> Iterator[ExportRow]:
        reviews = RunView(context.stored, store).standings
        for packet, attribution in packets.attributed_packets(context, store, filters, options=options):
            review = reviews.get(packet.attempt_id)
            yield export_row(packet, attribution, review.standing if review is not None else None)

    streams = [rows(context_for(stored, store)) for stored in runs]
    return rows_in_order(streams) if are_judged_turns(runs) else chain.from_iterable(streams)


def has_failures(runs: Sequence[StoredRun], store: Store, filters: Filters) -> bool:
    if any(packets.has_failures(context_for(stored, store), store, filters) for stored in runs):
        return True
    refuse_unknown(filters, [RunView(stored, store) for stored in runs])
    return False


# one failure at a time


def lease_next(thing: str, store: Store, request: LeaseRequest, *, now: datetime) -> LeasedPacket | NothingWaiting:
    """What this reviewer has in hand already, else the next that waits: of a run, the runs of a comparison folder or of
    a bucket; of RUN/CASE or an attempt's id that one."""
    target = review_target(thing, store)
    if request.tasks:
        return tasks.lease_task(_tasks_at(target, store), _contexts(store), store, request, now=now)
    if target.bucket:
        filters = msgspec.structs.replace(request.filters, bucket=target.bucket)
        request = msgspec.structs.replace(request, filters=filters)
    attempt = _failure_in(target, thing, store)
    word, empty = word_for(request.reviewer), []
    runs = target.runs
    if len(runs) > 1 and not request.another:
        in_hand = {one.run.id for one in runs if held_by(store, one.run.id, reviewer=word, now=to_text(now))}
        runs = tuple(sorted(runs, key=lambda one: one.run.id not in in_hand))
    for at, stored in enumerate(runs):
        leased = lease.lease_packet(context_for(stored, store), store, request, attempt=attempt, now=now)
        if isinstance(leased, LeasedPacket):
            more = sum(lease.count_waiting(context_for(one, store), store, request) for one in runs[at + 1 :])
            return msgspec.structs.replace(leased, waiting=leased.waiting + more)
        empty.append(leased)
    if not any(one.failures for one in empty) and not attempt:
        refuse_unknown(request.filters, [RunView(stored, store) for stored in runs])
    return NothingWaiting(
        failures=sum(one.failures for one in empty),
        read=sum(one.read for one in empty),
        others=sum(one.others for one in empty),
        in_hand=sum(one.in_hand for one in empty),
    )


def _tasks_at(target: ReviewTarget, store: Store) -> Sequence[SuspectTask]:
    """The task of the case that is named, else the suspect tasks of the runs, or of one run's suite."""
    if target.attempt is not None:
        return [task_of(target.attempt.case, runs_beside(target.runs[0], store), store)]
    return suspects_of(target.runs, store).tasks


def suspects_of(runs: Sequence[StoredRun], store: Store) -> SuspectTasks:
    """Suspect tasks of several runs, or of the suite of one."""
    if len(runs) == 1:
        return RunView(runs[0], store).suspects
    for stored in runs:
        RunView(stored, store).ensure_triaged()
    return suspect_tasks(runs, store)


def _contexts(store: Store) -> Callable[[str], RunContext]:
    @cache
    def context(run_id: str) -> RunContext:
        return context_for(run_by_id(store, run_id), store)

    return context


def _failure_in(target: ReviewTarget, thing: str, store: Store) -> str:
    """The one that is asked for by name; empty where a run is named."""
    if target.attempt is None:
        return ""
    if not target.attempt.is_failure:
        problem = f"`{thing}` did not fail: there is nothing to review"
        raise NotFoundError(
            problem, hint=f"`errata failures {shell_word(handle_of(target.runs[0], store))}` lists the failures"
        )
    return target.attempt.id


def release(thing: str, store: Store, reviewer: Reviewer, *, now: datetime) -> list[str]:
    """The ids of what this reviewer had in hand: of a RUN all of it, of RUN/CASE or an attempt's id that one."""
    target = review_target(thing, store)
    attempt = target.attempt.id if target.attempt else ""
    released = (lease.release_leases(store, one.run.id, reviewer, attempt=attempt, now=now) for one in target.runs)
    return [attempt for some in released for attempt in some]


@contextmanager
def released_if_interrupted(leased: LeasedPacket, store: Store, reviewer: Reviewer) -> Iterator[None]:
    """Whoever stops in the middle of a packet leaves it to the next."""
    try:
        yield
    except BaseException:
        end_lease(store, leased.packet.attempt_id, reviewer=word_for(reviewer))
        raise


def submit_verdict(
    submission: Submission, store: Store, reviewer: Reviewer, *, now: datetime
) -> AcceptedVerdict | RejectedVerdict:
    """A verdict that can't be taken changes nothing: the packet stays with whoever has it in hand."""
    if is_task_id(submission.which):
        return _submit_task(submission, store, reviewer, now=now)
    stored, attempt, case = _submitted_failure(submission.which, store)
    name = f"{handle_of(stored, store)}/{case_name(stored.run, case)}"
    context = context_for(stored, store)
    return submit.submit(submission, context, store, reviewer, attempt=attempt, name=name, now=now)


def _submit_task(
    submission: Submission, store: Store, reviewer: Reviewer, *, now: datetime
) -> AcceptedVerdict | RejectedVerdict:
    parts = split_attempt_id(submission.which)
    beside = runs_beside(run_by_id(store, parts.run), store)
    task = task_of(parts.case, beside, store)
    ids = [one.run.id for one in beside]
    return tasks.submit_task(submission, task, _contexts(store), store, reviewer, ids, now=now)


def _submitted_failure(which: str, store: Store) -> tuple[StoredRun, str, str]:
    """Its run, its id and its case. Of this store: what an answer names is never imported."""
    try:
        located = locate_known(which, store)
    except NotFoundError as error:
        empty = "" if all_runs(store) else " and holds no runs"
        hint = f"this store is `{store.path}`{empty}; `--store FILE` names another"
        raise NotFoundError(error.message, hint=hint if empty else f"{hint}\n{error.hint}") from None
    if located.attempt is None or not located.attempt.is_failure:
        problem = f"`{one_line(which, 200)}` does not name a failure"
        raise SettingsError(problem, hint="`attempt_id` and `id` of a packet do")
    return located.stored, located.attempt.id, located.attempt.case


def list_taxonomies() -> list[TaxonomyOutput]:
    """Built-in ones, those of the settings, the owners, which serve every source that has none, and that of tasks."""
    listed = [(as_question(taxonomy), taxonomy, file) for taxonomy, file in taxonomies_in_use()]
    return [
        TaxonomyOutput(
            name=question.taxonomy,
            version=question.version,
            sources=taxonomy.sources if taxonomy else (),
            opt_in=bool(taxonomy and taxonomy.opt_in),
            file=str(file) if file else None,
            labels=msgspec.convert(question.labels, tuple[TaxonomyLabelOutput, ...], from_attributes=True),
        )
        for question, taxonomy, file in [*listed, (OWNERS, None, None), (TASK_QUESTION, None, None)]
    ]


# answers from a file


def import_answers(path: Path, store: Store, request: ImportRequest) -> Iterator[KeptRow | BadRow]:
    """Bad rows that are about nothing we know come first, then the others run by run."""
    by_run: dict[str, dict[str, list[FilledRow]]] = {}
    for row in read_answers(path):
        attempt = BadRow(row.line, "", (row.why,)) if isinstance(row, UnusableRow) else _attempt_of(row, store)
        if isinstance(attempt, BadRow):
            yield attempt
        elif isinstance(row, FilledRow):
            by_run.setdefault(split_attempt_id(attempt).run, {}).setdefault(attempt, []).append(row)
    for run, rows in by_run.items():
        yield from submit.import_rows(rows, context_for(run_by_id(store, run), store), store, request)


def _attempt_of(row: FilledRow, store: Store) -> str | BadRow:
    try:
        located = locate_known(row.which, store)
    except ErrataError as error:
        return BadRow(row.line, one_line(row.which, 200), (error.message,))
    if located.attempt is not None and located.attempt.is_failure:
        return located.attempt.id
    return BadRow(row.line, one_line(row.which, 200), (f"`{one_line(row.which, 200)}` does not name a failure",))


def inherit(verdicts: Sequence[Verdict], store: Store, at: str) -> int:
    """What identical failures that nobody has reviewed inherit; how many they are."""
    by_run: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        by_run.setdefault(split_attempt_id(verdict.attempt).run, []).append(verdict)
    return sum(
        submit.inherit(given, context_for(run_by_id(store, run), store), store, at) for run, given in by_run.items()
    )


# a whole review


def review_status(stored: StoredRun, store: Store, *, now: str) -> Status:
    return queue.review_status(context_for(stored, store), store, buckets_of_run(RunView(stored, store)), now=now)


def status_of(selector: str, store: Store, *, now: str) -> Status:
    return review_status(run_named(selector, store), store, now=now)


def agreement_of(runs: Sequence[StoredRun], store: Store) -> list[AgreementOutput]:
    return agreement.agreement_of((stored, verdicts_of(store, stored.run.id)) for stored in runs)


def judges_agreement(runs: Sequence[StoredRun], store: Store) -> JudgesOutput:
    return judge_agreement.judges_agreement((stored, attempts_of(store, stored.pk)) for stored in runs)


def calibrate_reviewers(path: Path, run: str, store: Store, *, taxonomy: str = "") -> calibrate.CalibrationResult:
    """Cases in the table belong to RUN, unless it names another."""

    def find(thing: str) -> tuple[str, Question] | None:
        located = locate(thing, store)
        question = question_for(located.stored.run.source.name, taxonomy)
        return (located.attempt.id, question) if located.attempt else None

    run_id = known_run(run, store).run.id if run else ""
    labels = human_labels.read_labels(path, find, run=run_id)
    human_labels.refuse_unusable(labels, path, labels_by_taxonomy())
    return _calibrated(labels, store, taxonomy)


def calibrate_from_log(run: str, store: Store, *, taxonomy: str = "") -> calibrate.CalibrationResult:
    """Against the steps and agents that the log itself marks as decisive."""
    stored = known_run(run, store)
    by_attempt = human_labels.annotated(attempts_of(store, stored.pk))
    if not by_attempt:
        hint = "give a table: `errata review calibrate LABELS.csv RUN`"
        raise NotFoundError(f"The log of `{stored.run.native_id}` has no labels by people", hint=hint)
    questions = {stored.run.id: question_for(stored.run.source.name, taxonomy)}
    return _calibrated(human_labels.HumanLabels(by_attempt, (), questions), store, taxonomy)


def _calibrated(labels: human_labels.HumanLabels, store: Store, taxonomy: str) -> calibrate.CalibrationResult:
    """In the words of one taxonomy: the given one, or that of the first run's source."""
    runs = sorted(labels.questions)
    verdicts = (verdict for each in runs for verdict in verdicts_of(store, each))
    words = taxonomy or labels.questions[runs[0]].taxonomy
    return calibrate.calibrate_reviewers(labels, verdicts, taxonomy=words)


def plan_review(runs: Sequence[StoredRun], store: Store, request: "ReviewRequest", *, now: str) -> "ReviewPlan":
    """Which failures would be reviewed, and what that would cost. A filter that no run knows is refused."""
    from errata.review.stored import run  # noqa: PLC0415 only these verbs need asyncio and the reviewers

    plan = run.plan_review([context_for(stored, store) for stored in runs], store, request, now=now)
    if not any(part.queue.failures for part in plan.parts):
        refuse_unknown(request.filters, [RunView(stored, store) for stored in runs])
    return plan


def first_prompt(plan: "ReviewPlan", store: Store) -> "Prompt | None":
    """What would be sent first."""
    from errata.review.stored import run  # noqa: PLC0415

    return run.first_prompt(plan, store)


def run_review(
    plan: "ReviewPlan",
    store: Store,
    tally: "ReviewTally",
    on_end: Callable[["ReviewTally"], None],
    *,
    account: "BatchAccount | None" = None,
    may_submit: bool = True,
) -> None:
    """Every verdict is committed when it is there; an interrupted review goes on without paying twice.

    With an account, answers come from batches, and what is not answered goes into one if it may be submitted.
    """
    from errata.review.stored import run  # noqa: PLC0415

    run.review(plan, store, tally, on_end, account=account, may_submit=may_submit)


def collect_batches(
    runs: Sequence[StoredRun], store: Store, request: "ReviewRequest", account: "BatchAccount", *, cancel: bool = False
) -> None:
    """Store the answers of this reviewer's batches that have ended, or cancel the open ones."""
    from errata.review.stored import batch_plan  # noqa: PLC0415

    step = batch_plan.cancel_batches if cancel else batch_plan.collect_batches
    step([stored.run.id for stored in runs], store, request, account)


def open_review_batches(runs: Sequence[StoredRun], store: Store, *, reviewer: str = "") -> list[ReviewBatch]:
    """Submitted and not collected, oldest first; of one reviewer or of all."""
    return batches_of(store, [stored.run.id for stored in runs], reviewer=reviewer, states=OPEN)
