"""A comparison as plain values: all of the page, every cell of the matrix and every pair."""

from collections.abc import Iterable, Sequence
from typing import Any

from errata.cli.score_json import json_score
from errata.compare.categories import CategoryCount
from errata.compare.checks import CountByRun
from errata.compare.comparability import Difference
from errata.compare.comparison import Compared, Comparison, Sets
from errata.compare.matrix import Row
from errata.compare.pairs import Pairing, Tally
from errata.compare.scores import Policy
from errata.compare.sets import Uniques
from errata.model.run import case_name

POLICIES: tuple[Policy, ...] = ("strict", "as_reported", "clean")


def json_comparison(comparison: Comparison) -> dict[str, Any]:
    matrix, shown = comparison.matrix, comparison.shown
    called = _Names(comparison)
    labels = [column.label for column in matrix.columns]
    return {
        "suites": list(dict.fromkeys(column.run.suite for column in matrix.columns)),
        "cases": len(matrix.rows),
        "common": comparison.options.common,
        "by_model": comparison.options.by_model,
        "category": comparison.options.category or None,
        "runs": [_run(one, comparison, at) for at, one in enumerate(comparison.runs)],
        "left_out_runs": [
            {"run": one.run.native_id, "run_id": one.run.id, "model": one.run.subject.model, "why": why}
            for one, why in comparison.left_out
        ],
        "differences": [_difference(one, called) for one in comparison.differences],
        "columns": [_column(one) for one in comparison.columns],
        "matrix": [_row(case, row, comparison) for case, row in shown.rows.items()],
        **_sets(comparison.sets, called),
        "pairs": [_pair(one) for one in comparison.pairings],
        "failed_checks": [_counted(one, labels) for one in comparison.checks],
        "patterns": [_counted(one, labels) for one in comparison.patterns],
        "categories": [_category(one, labels) for one in comparison.categories],
    }


class _Names:
    """Cases as their harness names them."""

    def __init__(self, comparison: Comparison) -> None:
        self._run = comparison.matrix.columns[0].run

    def of(self, cases: Iterable[str]) -> list[str]:
        return [case_name(self._run, case) for case in cases]

    def by(self, found: dict[str, tuple[str, ...]]) -> dict[str, list[str]]:
        return {name: self.of(cases) for name, cases in found.items()}


def _run(one: Compared, comparison: Comparison, at: int) -> dict[str, Any]:
    (stored,) = one.runs
    cells = [cell for row in comparison.matrix.rows.values() if (cell := row[at]) is not None]
    passed, failed = sum(cell.passed for cell in cells), sum(cell.failed for cell in cells)
    return {
        "label": one.label,
        "model": stored.run.subject.model,
        "agent": stored.run.subject.agent or None,
        "variant": stored.run.variant,
        "subject": comparison.matrix.columns[at].subject,
        "run": stored.run.native_id,
        "run_id": stored.run.id,
        "started_at": stored.run.started_at,
        "passed": passed,
        "failed": failed,
        "neither": len(cells) - passed - failed,
        "scores": {policy: json_score(one.scores[policy]) for policy in POLICIES},
    }


def _column(one: Compared) -> dict[str, Any]:
    return {
        "label": one.label,
        "run_ids": [stored.run.id for stored in one.runs],
        "scores": {policy: json_score(one.scores[policy]) for policy in POLICIES},
    }


def _row(case: str, row: Row, comparison: Comparison) -> dict[str, Any]:
    """States in the order of the columns, null where a run does not have the case; tries where there are several."""
    facts = comparison.cases[case]
    told: dict[str, Any] = {
        "case": facts.name,
        "case_key": case,
        "categories": facts.categories,
        "edited": case in comparison.edited,
        "states": [cell.state if cell else None for cell in row],
    }
    if any(cell is not None and cell.attempts > 1 for cell in row):
        told["passes"] = [cell.passes if cell else None for cell in row]
        told["attempts"] = [cell.attempts if cell else None for cell in row]
    return told


def _sets(sets: Sets, called: _Names) -> dict[str, Any]:
    everywhere, flips = sets.failed_by_all, sets.flips
    return {
        "failed_by_all": {
            "runs": called.of(everywhere.runs),
            "models_in_some_run": called.of(everywhere.subjects_in_some_run),
            "models_in_every_run": called.of(everywhere.subjects_in_every_run),
        },
        "unique": {"runs": _uniques(sets.of_runs, called), "models": _uniques(sets.of_subjects, called)},
        "instability": {
            subject: {
                "runs": one.runs,
                "unstable": called.of(one.unstable),
                "failed_in_every_run": called.of(one.failed_in_every_run),
            }
            for subject, one in sets.instability.items()
        },
        "flips": {
            "from": flips.first,
            "to": flips.second,
            **{kind: called.of(cases) for kind, cases in flips.by_kind.items()},
        }
        if flips
        else None,
    }


def _uniques(found: Uniques, called: _Names) -> dict[str, Any]:
    return {"fails": called.by(found.fails), "passes": called.by(found.passes)}


def _difference(one: Difference, called: _Names) -> dict[str, Any]:
    return {"what": one.what, "refuses": one.refuses, "values": one.values, "cases": called.of(one.cases)}


def _pair(one: Pairing) -> dict[str, Any]:
    return {
        "first": one.first,
        "second": one.second,
        "all": _tally(one.all),
        "clean": _tally(one.clean),
        "shares": one.shares,
    }


def _tally(one: Tally) -> dict[str, Any]:
    fields: Sequence[str] = one.__struct_fields__
    return {name: getattr(one, name) for name in fields} | {"differs": one.differs}


def _counted(one: CountByRun, labels: Sequence[str]) -> dict[str, Any]:
    return {"name": one.name, "runs": dict(zip(labels, one.by_run, strict=True)), "all": one.total}


def _category(one: CategoryCount, labels: Sequence[str]) -> dict[str, Any]:
    return {
        "name": one.name,
        "cases": one.cases,
        "failed_rows": one.failed_rows,
        "runs": dict(zip(labels, one.by_run, strict=True)),
        "tried": one.tried,
        "hard": one.hard,
        "p": one.p,
        "adjusted": one.adjusted,
        "harder": one.harder,
    }
