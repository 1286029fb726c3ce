"""The analysis of a run as `errata analyze --json` prints it."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from errata.cli.render.history import history_output
from errata.cli.render.score_json import json_score
from errata.cli.runs import fields_of
from errata.model import UnreadFiles
from errata.model.coverage import holds_only_failures
from errata.model.output.analyze import AnalysisOutput, CategoryCountOutput
from errata.runs.summary import Analysis
from errata.runs.without_failures import without_failures


def output_of(analysis: Analysis, report: Path | None, unread: Sequence[UnreadFiles] = ()) -> AnalysisOutput:
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
            name: CategoryCountOutput(failures=failed, attempts=total if whole else None)
            for name, failed, total in analysis.categories
        },
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
