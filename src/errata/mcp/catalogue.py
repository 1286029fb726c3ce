"""The tools that the server offers: name, arguments, records and description."""

from collections.abc import Callable, Mapping
from typing import Any

from errata.mcp import arguments as takes
from errata.mcp import tools
from errata.mcp.paging import ToolPage
from errata.model import Packet
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
from errata.model.token import Scope


class ServedTool(Struct):
    name: str
    description: str
    takes: type
    gives: tuple[type, ...]
    """The records of `items`."""
    run: Callable[[tools.Call, Any], ToolPage]
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
        ("runs", tools.runs, takes.RunsArguments, (ListedRunOutput,), "", "List the runs in the store, newest first."),
        (
            "analyze",
            tools.analyze,
            takes.RunArguments,
            (AnalysisOutput,),
            "summary",
            "Import and summarise a run: fitness, scores, owners, causes, history. Writes no report.",
        ),
        (
            "failures",
            tools.failures,
            takes.FailuresArguments,
            (FailureOutput,),
            "",
            "List failures with owner and evidence. Owners from rules are provisional.",
        ),
        (
            "show",
            tools.show,
            takes.ShowArguments,
            (ShownRunOutput, ShownAttemptOutput),
            "",
            "Show a run or an attempt with its evidence; `transcript` has the steps of an attempt.",
        ),
        (
            "check",
            tools.check,
            takes.RunArguments,
            (CheckOutput,),
            "",
            "Check whether a run is complete and fit for comparison. Do so before you quote a score.",
        ),
        (
            "sessions",
            tools.sessions,
            takes.RunArguments,
            (SessionsOutput,),
            "",
            "List the sessions of a resumed run, the results that each replaced, and knock-on failures.",
        ),
        (
            "rerun",
            tools.rerun,
            takes.RerunArguments,
            (RerunOutput,),
            "",
            "Plan the harness's commands that repeat what broke. Runs nothing; ask your user before you run them.",
        ),
        (
            "transcript",
            tools.transcript,
            takes.AttemptArguments,
            (Step,),
            "",
            "List the steps of an attempt: messages, tool calls and results.",
        ),
        (
            "packet",
            tools.packet,
            takes.AttemptArguments,
            (Packet,),
            "",
            "Show the packet of a failure without leasing it.",
        ),
        (
            "next_packet",
            tools.next_packet,
            takes.NextArguments,
            (NextOutput, NothingOutput),
            "store",
            "Lease the next failure to review, for an hour. Read every page, fill in `answer`, submit it.",
        ),
        (
            "submit_verdict",
            tools.submit_verdict,
            takes.SubmitArguments,
            (AcceptedOutput, RejectedOutput),
            "store",
            "Submit a verdict. It is refused with reasons if a quote is not in its place; fix it and submit again.",
        ),
        (
            "release",
            tools.release,
            takes.ReleaseArguments,
            (ReleaseOutput,),
            "store",
            "Return leased failures that you will not review.",
        ),
        (
            "review_status",
            tools.review_status,
            takes.RunArguments,
            (StatusOutput,),
            "",
            "Show the progress of the review of a run.",
        ),
        (
            "compare",
            tools.compare,
            takes.CompareArguments,
            (ComparisonOutput,),
            "",
            "Compare runs case by case, with significance tests.",
        ),
        (
            "buckets",
            tools.buckets,
            takes.BucketsArguments,
            (BucketOutput, BucketDetailsOutput),
            "",
            "List causes with counts and status, or show one with its members.",
        ),
        (
            "score",
            tools.score,
            takes.RunArguments,
            (RunScoresOutput,),
            "",
            "Show the scores of a run under every policy. Name the policy when you quote one.",
        ),
        (
            "report",
            tools.report,
            takes.ReportArguments,
            _REPORTS,
            "files",
            "Write the report about runs; nothing else is changed.",
        ),
        (
            "action",
            tools.action,
            takes.ActionArguments,
            (ActionAddOutput,),
            "files",
            "Record a change that was made, in the store and in the run's report.",
        ),
        (
            "actions",
            tools.actions,
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
