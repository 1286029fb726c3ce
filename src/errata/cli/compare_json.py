"""A comparison as plain values: all of the page, every cell of the matrix and every pair."""

from collections.abc import Mapping, Sequence
from typing import Any

from errata.cli.score_json import json_score
from errata.compare.categories import CategoryCount
from errata.compare.dimensions import CountByRun
from errata.compare.flips import Flips
from errata.compare.matrix import Row
from errata.compare.pairings import Pairing
from errata.compare.sets import Cases, Uniques
from errata.compare.suites import Difference
from errata.pipeline.comparing import Compared, Comparison


def json_comparison(comparison: Comparison) -> dict[str, Any]:
    told = _Told(comparison)
    sets = comparison.sets
    return {
        "suites": list(dict.fromkeys(column.run.suite for column in comparison.matrix.columns)),
        "cases": len(comparison.matrix.rows),
        "common": comparison.wish.common,
        "by_model": comparison.wish.by_model,
        "category": comparison.wish.category or None,
        "runs": [told.run(at, one) for at, one in enumerate(comparison.runs)],
        "left_out_runs": [
            {"run": one.run.native_id, "run_id": one.run.id, "model": one.run.subject.model, "why": why}
            for one, why in comparison.left_out
        ],
        "differences": [told.difference(one) for one in comparison.differences],
        "columns": [told.column(one) for one in comparison.columns],
        "matrix": [told.row(case, row) for case, row in comparison.shown.rows.items()],
        "passed_everywhere": told.names(comparison.shown.passed_everywhere_in_order),
        "failed_by_all": {
            "runs": told.names(sets.failed_by_all.runs),
            "models_in_some_run": told.names(sets.failed_by_all.subjects_in_some_run),
            "models_in_every_run": told.names(sets.failed_by_all.subjects_in_every_run),
        },
        "unique": {"runs": told.uniques(sets.of_runs), "models": told.uniques(sets.of_subjects)},
        "instability": {
            subject: {
                "runs": one.runs,
                "unstable": told.names(one.unstable),
                "failed_in_every_run": told.names(one.failed_in_every_run),
            }
            for subject, one in sets.instability.items()
        },
        "flips": told.flips(sets.flips) if sets.flips else None,
        "pairs": [_pair(one) for one in comparison.pairings],
        "failed_checks": told.counts(comparison.checks),
        "patterns": told.counts(comparison.patterns),
        "categories": [told.category(one) for one in comparison.categories],
    }
