"""Runs in the store, their analysis, and a finished one as `watch` passes it on."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, cast

import msgspec

from errata.compare.sessions import Timeline
from errata.json_output.scores import json_score
from errata.model import Run, StoredRun, UnreadFiles
from errata.model.counts import count_passes, holds_only_failures
from errata.model.gate import CodeRef
from errata.model.output.analyze import AnalysisOutput, CategoryCountOutput
from errata.model.output.compare import SessionsOutput
from errata.model.output.gate import WatchOutput
from errata.model.output.memory import (
    AmbiguousNameOutput,
    EarlierReportOutput,
    EffectOutput,
    RunHistoryOutput,
    UnreadReportOutput,
)
from errata.model.output.runs import CheckOutput, ListedRunOutput
from errata.runs.standings import owner_of
from errata.runs.summary import Analysis
from errata.runs.suspicions import SuspiciousCount, counted_before
from errata.runs.view import RunView
from errata.verbs.gate import code_refs_of
from errata.verbs.store import Store, all_runs
from errata.verbs.watch import FinishedRun


def run_outputs(store: Store) -> Iterator[ListedRunOutput]:
    """Every run, the newest first."""
    refs = code_refs_of(store)
    for stored in all_runs(store):
        yield run_output(stored, counted_before(stored, store), refs.get(stored.run.id))


def run_output(stored: StoredRun, suspicious: SuspiciousCount | None, ref: CodeRef | None = None) -> ListedRunOutput:
    """`ref` is the branch and commit that were noted at import."""
    branch, commit = (ref.branch or None, ref.commit or None) if ref is not None else (None, None)
    return ListedRunOutput(**fields_of(stored, suspicious), branch=branch, commit=commit)


def check_output(view: RunView) -> CheckOutput:
    run, health = view.run, view.overview.health
    return CheckOutput(run=run.native_id, run_id=run.id, fit=health.fit, doubts=health.doubts, findings=health.findings)


def sessions_output(run: Run, timeline: Timeline) -> SessionsOutput:
    named = {"run": run.native_id, "run_id": run.id}
    return msgspec.convert(named | msgspec.to_builtins(timeline), SessionsOutput)


def fields_of(stored: StoredRun, suspicious: SuspiciousCount | None) -> dict[str, Any]:
    """The fields of a run in every JSON output."""
    run = stored.run
    return {
        "run": run.native_id,
        "run_id": run.id,
        "model": run.subject.model,
        "agent": run.subject.agent or None,
        "source": run.source.name,
        "suite": run.suite,
        "variant": run.variant,
        "group": run.group or None,
        "started_at": run.started_at,
        "native_status": run.native_status or None,
        "revision": run.revision,
        "imported_at": stored.imported_at,
        "origin": run.origin,
        "excluded": run.excluded,
        "expected_cases": run.expected_cases,
        "counts": stored.counts,
        "passes_without_rows": count_passes(stored).without_rows,
        "suspicious": suspicious.suspicious if suspicious is not None else None,
    }


def watch_output(run: FinishedRun) -> WatchOutput:
    view, counts = run.view, run.view.stored.counts
    standings = view.standings
    owners = Counter(
        owner_of(attribution, standings[attempt].standing if attempt in standings else None)
        for attempt, attribution in view.attributions.items()
    )
    return WatchOutput(
        run=view.run.native_id,
        run_id=view.run.id,
        change=cast(Literal["new", "grown"], run.change),
        source=run.source,
        path=run.path,
        model=view.run.subject.model,
        suite=view.run.suite,
        attempts=counts.attempts_in_log,
        failures=counts.failures,
        fit=view.health.fit,
        owners=dict(owners.most_common()),
        scores={policy: json_score(score) for policy, score in view.scores().scores.items()},
    )


def analysis_output(analysis: Analysis, report: Path | None, unread: Sequence[UnreadFiles] = ()) -> AnalysisOutput:
    stored, odd = analysis.stored, analysis.suspicious
    whole = not holds_only_failures(stored)
    return AnalysisOutput(
        **fields_of(stored, odd),
        passed=analysis.passed,
        total=analysis.total,
        unit=analysis.unit,
        by_harness=analysis.by_harness,
        without_failures=analysis.nothing_failed,
        fit=analysis.health.fit,
        doubts=analysis.health.doubts,
        no_estimate=analysis.no_estimate,
        unavailable=analysis.unavailable is not None,
        first_failed_checks=dict(analysis.first_failed),
        other_checks=analysis.other_checks,
        categories={
            name: CategoryCountOutput(failed=failed, cases=cases if whole else None, unscored=unscored)
            for name, failed, cases, unscored in analysis.categories
        },
        overlap=analysis.overlap,
        findings=analysis.health.findings,
        reviewed=analysis.reviewed,
        inherited=analysis.inherited,
        owners={one.owner: one.count for one in analysis.owners},
        shown=sum(one.shown for one in analysis.owners),
        presumed={why: often for one in analysis.owners for why, often in one.presumed.items()},
        passed_by_nobody=analysis.passed_by_nobody,
        suspects=analysis.suspects,
        causes=analysis.causes,
        **msgspec.structs.asdict(history_output(analysis)),
        scores={policy: json_score(score) for policy, score in analysis.scores.scores.items()},
        report=str(report) if report is not None else None,
        unread=tuple(unread),
    )


def history_output(analysis: Analysis) -> RunHistoryOutput:
    history = analysis.remembered
    return RunHistoryOutput(
        earlier_reports=tuple(
            EarlierReportOutput(
                report=report.path,
                date=report.date,
                run=report.run,
                passed=report.passed,
                total=report.total,
                own=report.own,
            )
            for report in history.reports.same_model
        ),
        reports_of_other_models=len(history.reports.others),
        reports_not_read=tuple(
            UnreadReportOutput(path=str(report.path), why=report.why) for report in history.report_files.skipped
        ),
        repeats=analysis.repeated,
        ambiguous_names=tuple(
            AmbiguousNameOutput(name=mention.text, report=mention.report, line=mention.line, cases=keys)
            for mention, keys in history.mentions.ambiguous
        ),
        actions=tuple(map(EffectOutput.of, history.effects)),
    )
