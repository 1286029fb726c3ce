"""What the tools do: each takes a record of `arguments.py` and answers with what its command prints as JSON."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from errata.compare.comparison import ComparisonOptions
from errata.json_output.comparison import json_comparison
from errata.json_output.review import (
    accepted_output,
    action_output,
    added_output,
    bucket_output,
    details_output,
    next_output,
    nothing_output,
    rejected_output,
    report_output,
    rerun_output,
    status_output,
)
from errata.json_output.runs import analysis_output, check_output, run_outputs, sessions_output
from errata.json_output.scores import json_scores
from errata.mcp import arguments as takes
from errata.mcp.outgoing import outgoing, outgoing_text
from errata.mcp.paging import Cursor, ToolPage, page_of, read_cursor
from errata.memory.actions import ActionRequest
from errata.model import Packet, Reviewer
from errata.model.attempt import Attempt
from errata.model.filters import Filters
from errata.model.output.act import RerunOutput
from errata.model.output.analyze import AnalysisOutput
from errata.model.output.buckets import BucketDetailsOutput, BucketOutput
from errata.model.output.compare import ComparisonOutput, SessionsOutput
from errata.model.output.failures import FailureOutput
from errata.model.output.memory import ActionAddOutput, ActionListOutput
from errata.model.output.report import (
    BatchReportOutput,
    ComparisonReportOutput,
    RunReportOutput,
    TranscriptReportOutput,
)
from errata.model.output.review import (
    AcceptedOutput,
    NextOutput,
    NothingOutput,
    RejectedOutput,
    ReleaseOutput,
    StatusOutput,
)
from errata.model.output.runs import CheckOutput, ListedRunOutput
from errata.model.output.score import RunScoresOutput
from errata.model.output.show import ShownAttemptOutput, ShownRunOutput
from errata.model.record import Struct
from errata.model.step import Step
from errata.model.times import to_text
from errata.model.token import Caller, Scope
from errata.model.verdict import word_for
from errata.review.stored.lease import LeaseRequest, NothingWaiting
from errata.review.submit import RejectedVerdict, read_submission
from errata.settings import Settings
from errata.verbs import action as recording
from errata.verbs import analyze as analyzing
from errata.verbs import compare as comparing
from errata.verbs import rerun as rerunning
from errata.verbs import review as reviewing
from errata.verbs.buckets import bucket_named, buckets_of_runs, show_bucket
from errata.verbs.report import planned_reports, write_reports
from errata.verbs.store import Store


class Call(Struct):
    """What every tool needs beside its arguments."""

    store: Store
    settings: Settings
    now: datetime
    caller: Caller | None = None
    """Over HTTP."""
    is_cancelled: Callable[[], bool] = lambda: False


def _paged(items: Iterable[Any], given: Any, name: str) -> ToolPage:
    start = read_cursor(given.cursor, name, _without_cursor(given))
    return page_of(items, start, prepare=outgoing)


def _without_cursor(given: Any) -> dict[str, Any]:
    return {name: value for name, value in msgspec.structs.asdict(given).items() if name != "cursor"}


def _whole(record: object) -> ToolPage:
    return page_of([record], Cursor(of=""), prepare=outgoing)


# looking


def runs(call: Call, given: takes.RunsArguments) -> ToolPage:
    wanted = given.model.lower()
    runs = (run for run in run_outputs(call.store) if wanted in run.model.lower())
    return _paged(runs, given, "runs")


def analyze(call: Call, given: takes.RunArguments) -> ToolPage:
    views = analyzing.analyze_named([given.run], call.store)
    return _paged((analysis_output(view.summary, None) for view in views), given, "analyze")


def failures(call: Call, given: takes.FailuresArguments) -> ToolPage:
    filters = Filters(
        case=given.case,
        category=given.category,
        failed_check=given.failed_check,
        owner=given.owner or "",
        bucket=given.bucket,
    )
    failures = analyzing.list_failures(given.run, call.store, filters)
    return _paged((failure.as_json() for failure in failures), given, "failures")


def show(call: Call, given: takes.ShowArguments) -> ToolPage:
    shown = analyzing.show(given.thing, call.store).as_json()
    if isinstance(shown, ShownAttemptOutput):
        shown = msgspec.structs.replace(shown, attempt=msgspec.structs.replace(shown.attempt, steps=()))
    return _paged([shown], given, "show")


def steps_of(call: Call, attempt: str) -> tuple[Step, ...]:
    return _attempt(call, attempt).steps


def packet_of(call: Call, attempt: str) -> Packet:
    return reviewing.packet_of(_attempt(call, attempt).id, call.store)


def _attempt(call: Call, thing: str) -> Attempt:
    return analyzing.attempt_named(thing, call.store)


def check(call: Call, given: takes.RunArguments) -> ToolPage:
    return _paged(map(check_output, analyzing.views_named([given.run], call.store)), given, "check")


def sessions(call: Call, given: takes.RunArguments) -> ToolPage:
    timelines = comparing.sessions_named([given.run], call.store)
    return _paged([sessions_output(run, timeline) for run, timeline in timelines], given, "sessions")


def rerun(call: Call, given: takes.RerunArguments) -> ToolPage:
    """Only the plan: nothing is executed."""
    plans = rerunning.plan_reruns([given.run], call.store, cases=given.cases, owners=given.owners)
    return _paged([rerun_output(plan) for _, plan in plans], given, "rerun")


def transcript(call: Call, given: takes.AttemptArguments) -> ToolPage:
    return _paged(steps_of(call, given.attempt), given, "transcript")


def packet(call: Call, given: takes.AttemptArguments) -> ToolPage:
    return _paged([packet_of(call, given.attempt)], given, "packet")


def score(call: Call, given: takes.RunArguments) -> ToolPage:
    scores = comparing.score_named(given.run, call.store, timeouts=call.settings.timeouts)
    return _paged([json_scores(scores)], given, "score")


def compare(call: Call, given: takes.CompareArguments) -> ToolPage:
    options = ComparisonOptions(
        common=given.common, by_model=given.by_model, category=given.category, timeouts=call.settings.timeouts
    )
    comparison = comparing.compare_named(given.runs, call.store, options)
    return _paged([json_comparison(comparison)], given, "compare")


def buckets(call: Call, given: takes.BucketsArguments) -> ToolPage:
    if given.bucket:
        details = show_bucket(bucket_named(given.bucket, call.store), call.store, most=None)
        return _paged([details_output(details)], given, "buckets")
    table = buckets_of_runs(given.runs, call.store, alone=given.alone)
    return _paged(map(bucket_output, table.listed), given, "buckets")


# reviewing


def _reader(call: Call, given: takes.ReviewerArguments) -> Reviewer:
    return reviewing.reader_for(given.reviewer, call.settings, kind="agent", model=given.model, caller=call.caller)


def next_packet(call: Call, given: takes.NextArguments) -> ToolPage:
    """A further page is of the packet that the first one leased."""
    cursor = read_cursor(given.cursor, "next_packet", _without_cursor(given))
    who = _reader(call, given)
    request = LeaseRequest(
        reviewer=who,
        filters=Filters(case=given.case, owner=given.owner or "", bucket=given.bucket),
        another=given.another and not given.cursor,
        second=given.second,
        adjudicate=given.adjudicate,
        tasks=given.tasks,
        taxonomy=given.taxonomy,
        blind=given.blind,
    )
    leased = reviewing.lease_next(cursor.about or given.thing, call.store, request, now=call.now)
    if isinstance(leased, NothingWaiting):
        return _whole(nothing_output(leased, request))
    if call.is_cancelled() and not leased.again:  # nobody will see it: the next one may have it
        reviewing.release(leased.packet.attempt_id, call.store, who, now=call.now)
    attempt = leased.packet.attempt_id
    # without it, the next page is found by the lease
    start = msgspec.structs.replace(cursor, about=attempt if outgoing_text(attempt) == attempt else "")
    return page_of([next_output(leased, who)], start, prepare=outgoing)


def submit_verdict(call: Call, given: takes.SubmitArguments) -> ToolPage:
    submission = read_submission(msgspec.json.encode(given.verdict).decode("utf-8"))
    who = _reader(call, given)
    result = reviewing.submit_verdict(submission, call.store, who, now=call.now)
    return _whole(rejected_output(result) if isinstance(result, RejectedVerdict) else accepted_output(result))


def release(call: Call, given: takes.ReleaseArguments) -> ToolPage:
    who = _reader(call, given)
    released = reviewing.release(given.thing, call.store, who, now=call.now)
    return _whole(ReleaseOutput(reviewer=word_for(who), released=tuple(released)))


def review_status(call: Call, given: takes.RunArguments) -> ToolPage:
    status = reviewing.status_of(given.run, call.store, now=to_text(call.now))
    return _paged([status_output(status)], given, "review_status")


# acting


def report(call: Call, given: takes.ReportArguments) -> ToolPage:
    planned = planned_reports(
        given.runs, call.store, profile=given.profile or None, compared=given.profile == "comparison"
    )
    output = Path(given.output) if given.output else None
    written = write_reports(planned, day=call.now.date().isoformat(), output=output)
    return _paged([report_output(*one) for one in written], given, "report")


def action(call: Call, given: takes.ActionArguments) -> ToolPage:
    request = ActionRequest(
        what=given.what,
        path=given.path,
        addresses=given.cases,
        run=given.run,
        date=given.date,
        expected=given.expected,
        author=call.settings.author,
    )
    record = recording.add_action(request, call.store, now=call.now, dry_run=given.dry_run)
    return _whole(added_output(record, dry_run=given.dry_run))


def actions(call: Call, given: takes.Arguments) -> ToolPage:
    return _paged(map(action_output, recording.list_actions(call.store)), given, "actions")


# the tools that the server offers


class ServedTool(Struct):
    name: str
    description: str
    takes: type
    gives: tuple[type, ...]
    """The records of `items`."""
    run: Callable[[Call, Any], ToolPage]
    writes: str = ""
    """What it changes: the `store`, the `summary` of a run in it, or `files`; empty where it only looks."""
    scope: Scope
    """What the token of a caller has to allow."""


_SCOPES: Mapping[str, Scope] = {"": "read", "summary": "read", "store": "review", "files": "admin"}
"""By what a tool writes. The summary of a run is derived from its logs, and is the same for everybody."""
_REPORTS = (RunReportOutput, ComparisonReportOutput, BatchReportOutput, TranscriptReportOutput)

TOOLS: Mapping[str, ServedTool] = {
    name: ServedTool(
        name=name, description=text, takes=given, gives=gives, run=function, writes=writes, scope=_SCOPES[writes]
    )
    for name, function, given, gives, writes, text in (
        ("runs", runs, takes.RunsArguments, (ListedRunOutput,), "", "List the runs in the store, newest first."),
        (
            "analyze",
            analyze,
            takes.RunArguments,
            (AnalysisOutput,),
            "summary",
            "Import and summarise a run: fitness, scores, owners, causes, history. Writes no report.",
        ),
        (
            "failures",
            failures,
            takes.FailuresArguments,
            (FailureOutput,),
            "",
            "List failures with owner and evidence. Owners from rules are provisional.",
        ),
        (
            "show",
            show,
            takes.ShowArguments,
            (ShownRunOutput, ShownAttemptOutput),
            "",
            "Show a run or an attempt with its evidence; `transcript` has the steps of an attempt.",
        ),
        (
            "check",
            check,
            takes.RunArguments,
            (CheckOutput,),
            "",
            "Check whether a run is complete and fit for comparison. Do so before you quote a score.",
        ),
        (
            "sessions",
            sessions,
            takes.RunArguments,
            (SessionsOutput,),
            "",
            "List the sessions of a resumed run, the results that each replaced, and knock-on failures.",
        ),
        (
            "rerun",
            rerun,
            takes.RerunArguments,
            (RerunOutput,),
            "",
            "Plan the harness's commands that repeat what broke. Runs nothing; ask your user before you run them.",
        ),
        (
            "transcript",
            transcript,
            takes.AttemptArguments,
            (Step,),
            "",
            "List the steps of an attempt: messages, tool calls and results.",
        ),
        (
            "packet",
            packet,
            takes.AttemptArguments,
            (Packet,),
            "",
            "Show the packet of a failure without leasing it.",
        ),
        (
            "next_packet",
            next_packet,
            takes.NextArguments,
            (NextOutput, NothingOutput),
            "store",
            "Lease the next failure to review, for an hour. Read every page, fill in `answer`, submit it.",
        ),
        (
            "submit_verdict",
            submit_verdict,
            takes.SubmitArguments,
            (AcceptedOutput, RejectedOutput),
            "store",
            "Submit a verdict. It is refused with reasons if a quote is not in its place; fix it and submit again.",
        ),
        (
            "release",
            release,
            takes.ReleaseArguments,
            (ReleaseOutput,),
            "store",
            "Return leased failures that you will not review.",
        ),
        (
            "review_status",
            review_status,
            takes.RunArguments,
            (StatusOutput,),
            "",
            "Show the progress of the review of a run.",
        ),
        (
            "compare",
            compare,
            takes.CompareArguments,
            (ComparisonOutput,),
            "",
            "Compare runs case by case, with significance tests.",
        ),
        (
            "buckets",
            buckets,
            takes.BucketsArguments,
            (BucketOutput, BucketDetailsOutput),
            "",
            "List causes with counts and status, or show one with its members.",
        ),
        (
            "score",
            score,
            takes.RunArguments,
            (RunScoresOutput,),
            "",
            "Show the scores of a run under every policy. Name the policy when you quote one.",
        ),
        (
            "report",
            report,
            takes.ReportArguments,
            _REPORTS,
            "files",
            "Write the report about runs; nothing else is changed.",
        ),
        (
            "action",
            action,
            takes.ActionArguments,
            (ActionAddOutput,),
            "files",
            "Record a change that was made, in the store and in the run's report.",
        ),
        (
            "actions",
            actions,
            takes.Arguments,
            (ActionListOutput,),
            "",
            "List recorded changes, and whether each worked.",
        ),
    )
}


def tools_for(*, is_remote: bool) -> Mapping[str, ServedTool]:
    """Callers on other machines get no tool that writes files."""
    return {name: tool for name, tool in TOOLS.items() if not is_remote or tool.writes != "files"}
