"""What a report says as a whole → its runs: one, or one for each column of promptfoo."""

import re
from pathlib import Path
from typing import Any

from errata.model import Reported, Run, SourceInfo, SourceRef, Subject
from errata.sources.base import number_or_none
from errata.sources.junit.survey import COUNTS, NAME, Column, Report, Suite
from errata.sources.shared.runs import named_by_content
from errata.sources.shared.values import known, moment, settings

_COLUMN = re.compile(r"\[(?P<provider>.+?)\] (?P<prompt>.+)", re.DOTALL)
_HOMES = frozenset(("name", "timestamp", "hostname", "time", *COUNTS))


def runs_of(report: Report, path: Path) -> dict[str, Run]:
    """By the name of the column; there is a run also where the report holds no test."""
    return {name: _run(report, name, column, path) for name, column in report.columns.items()}


def _run(report: Report, name: str, column: Column, path: Path) -> Run:
    around = [one for one in (report.root, *column.suites) if one is not None]
    started = next((told for one in around if (told := moment(one.attributes.get("timestamp")))), None)
    suite = _suite(report, column)
    counts = _counts(report, column)
    of = _COLUMN.match(name)
    return Run(
        # a report names no run: when it was made tells it from others, and where that is not told, what it holds
        native_id=f"{suite or path.stem}-{started or named_by_content(path)}",
        group=suite if name else "",
        source=SourceInfo(name=NAME),
        name=name or suite or path.stem,
        subject=Subject(model=of["provider"] if of else _model(column)),
        variant={"prompt": of["prompt"]} if of else {"column": name} if name else {},
        suite=suite,
        expected_cases=max(counts["tests"] - column.repeated, 0) if "tests" in counts else None,
        measured_attempts=_measured(counts, column) if "tests" in counts else None,
        started_at=started,
        reported=_reported(counts, column, around[0].ref if around else report.ref),
        environment=known(hostname=next((host for one in around if (host := one.attributes.get("hostname"))), None)),
        origin=str(path.parent),
        extra=_extra(report, column),
        ref=(column.suites[0].ref if name and column.suites else around[0].ref) if around else report.ref,
    )


def _suite(report: Report, column: Column) -> str:
    names = {one.name for one in column.suites}
    if report.root is not None and (report.is_promptfoo or len(names) != 1):
        return report.root.name
    return names.pop() if len(names) == 1 else ""


def _model(column: Column) -> str:
    """Where tests record the property `model`, and all the same one."""
    told = column.models | {model for one in column.suites if (model := one.properties.get("model"))}
    return told.pop() if len(told) == 1 else ""


def _counts(report: Report, column: Column) -> dict[str, int]:
    """Those of the whole where it has any, else the sums over its suites; suites inside of these are counted there."""
    root = report.root
    if root is not None and root.count("tests") is not None and not report.is_promptfoo:
        return _told([root])
    return _told(column.suites) if all(one.count("tests") is not None for one in column.suites) else {}


def _told(suites: list[Suite]) -> dict[str, int]:
    found = {what: [one.count(what) for one in suites] for what in COUNTS}
    return {what: sum(one or 0 for one in told) for what, told in found.items() if any(one is not None for one in told)}


def _reported(counts: dict[str, int], column: Column, ref: SourceRef) -> tuple[Reported, ...]:
    listed = tuple(Reported(name=what, metric=what, value=value, ref=ref) for what, value in counts.items())
    bad = counts.get("failures", 0) + counts.get("errors", 0) - column.twice
    made = _made(counts)
    rate = (made - bad) / made if made > 0 and 0 <= bad <= made else None
    return (Reported(name="pass rate", metric="mean", value=rate, n=made or None, headline=True, ref=ref), *listed)


def _made(counts: dict[str, int]) -> int:
    return counts.get("tests", 0) - counts.get("skipped", 0) - counts.get("disabled", 0)


def _measured(counts: dict[str, int], column: Column) -> int:
    return max(_made(counts) + column.expected - column.repeated, 0)


def _extra(report: Report, column: Column) -> dict[str, Any]:
    """Properties of a suite are mostly those of a machine; of variables of the environment only the names are kept."""
    around = [one for one in (report.root, *column.suites[:100]) if one is not None]
    told = {name: value for one in around for name, value in one.properties.items()}
    variables = sorted(name for name in told if name.startswith("env."))
    return known(
        properties=settings({name: value for name, value in told.items() if name not in variables}),
        variables=variables,
        suites=[one.name for one in column.suites[:1000]] if len(column.suites) > 1 else None,
        seconds=sum(number_or_none(one.attributes.get("time")) or 0 for one in column.suites) or None,
        others={name: value for one in around for name, value in one.attributes.items() if name not in _HOMES},
    )
