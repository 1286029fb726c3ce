"""A consistency study as plain values: everything that its page and its tables say, texts apart."""

from collections.abc import Mapping
from typing import Any

from errata.compare.consistency import CaseTries, Consistency, StudyColumn, passing


def json_study(found: Consistency) -> dict[str, Any]:
    study, run, counts = found.study, found.columns[0].stored.run, found.study.counts
    return {
        "subject": found.subject,
        "model": run.subject.model,
        "agent": run.subject.agent or None,
        "variant": run.variant,
        "suite": found.suite,
        "suite_version": found.suite_version or None,
        "columns": [_column(one, counts[one.index]) for one in found.columns],
        "rows": study.rows,
        "passing": passing(study.repeated),
        "reliability": study.reliability,
        "flaky": [found.name_of(one.case) for one in study.cases if one.repeated.is_flaky],
        "unstable": [found.name_of(one.case) for one in study.cases if one.repeated.is_unstable],
        "always_fail": [found.name_of(one.case) for one in study.cases if one.repeated.always_fails],
        "cases": [_case(found, one) for one in study.cases],
        "duplicates": [{"column": column, "case": found.name_of(case)} for column, case in study.duplicates],
        "judged_twice": found.judged_twice,
        "changed": [found.name_of(case) for case in study.changed],
        "without_a_row": [{"column": column, "case": found.name_of(case)} for column, case in study.absent],
    }


def _column(column: StudyColumn, counts: Mapping[str, int]) -> dict[str, Any]:
    return {
        "index": column.index,
        "run": column.stored.run.native_id,
        "run_id": column.stored.run.id,
        "epoch": column.epoch,
        "passed": counts.get("pass", 0),
        "failed": counts.get("fail", 0),
        "incomplete": counts.get("incomplete", 0),
    }


def _case(found: Consistency, one: CaseTries) -> dict[str, Any]:
    repeated = one.repeated
    return {
        "case": found.name_of(one.case),
        "case_key": one.case,
        "pattern": one.pattern,
        "passed": repeated.passed,
        "failed": repeated.failed,
        "incomplete": repeated.incomplete,
        "frequency": repeated.frequency,
        "flaky": repeated.is_flaky,
        "unstable": repeated.is_unstable,
        "metric_flips": [
            {
                "metric": flip.metric,
                "pattern": flip.pattern,
                "passed": flip.counts["pass"],
                "failed": flip.counts["fail"],
                "na": flip.counts["na"],
            }
            for flip in one.flips
        ],
    }
