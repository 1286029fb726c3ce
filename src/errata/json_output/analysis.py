"""The analysis of a run."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from errata.json_output.runs import fields_of
from errata.json_output.scores import json_score
from errata.model import UnreadFiles
from errata.model.coverage import holds_only_failures
from errata.model.output.analyze import AnalysisOutput, CategoryCountOutput
from errata.model.output.memory import (
    AmbiguousNameOutput,
    EarlierReportOutput,
    EffectOutput,
    RepeatsOutput,
    RunHistoryOutput,
    UnreadReportOutput,
)
from errata.runs.summary import Analysis
from errata.runs.without_failures import without_failures


def analysis_output(analysis: Analysis, report: Path | None, unread: Sequence[UnreadFiles] = ()) -> AnalysisOutput:
    stored, odd = analysis.stored, analysis.suspicious
    whole = not holds_only_failures(stored)
    return AnalysisOutput(
        **fields_of(stored, odd),
        passed=analysis.passed,
        total=analysis.total,
        unit=analysis.unit,
        by_harness=analysis.by_harness,
        without_failures=without_failures(stored, suspicious=odd.suspicious) if analysis.without_failures else None,
        fit=analysis.health.fit,
        unavailable=analysis.unavailable is not None,
        first_failed_checks=dict(analysis.first_failed),
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
    history, repeated = analysis.remembered, analysis.repeated
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
        repeats=RepeatsOutput(
            in_reports=repeated.in_reports,
            in_runs=repeated.in_runs,
            otherwise=repeated.otherwise,
            should_be_gone=repeated.should_be_gone,
        ),
        ambiguous_names=tuple(
            AmbiguousNameOutput(name=mention.text, report=mention.report, line=mention.line, cases=keys)
            for mention, keys in history.mentions.ambiguous
        ),
        actions=tuple(map(EffectOutput.of, history.effects)),
    )
