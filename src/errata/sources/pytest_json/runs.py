"""The overall data of a report → the run."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from errata.model import Reported, Run, SourceInfo, Subject
from errata.sources.pytest_json import NAME
from errata.sources.shared.json_rows import LongDocument
from errata.sources.shared.values import (
    count,
    last_part,
    mapping,
    moment_since_1970,
    non_empty,
    number,
    rest,
    sequence,
    settings,
)

# exit codes of pytest; 0 and 1: all tests passed, or not
STATUS = {2: "interrupted", 3: "internal error", 4: "wrong usage", 5: "no tests"}
_HOMES = frozenset(("created", "duration", "exitcode", "root", "environment", "summary", "collectors", "warnings"))
# pytest-metadata adds environment variables; only their names are kept
_MACHINE = frozenset(("Python", "Platform", "Packages", "Plugins"))
MODELS_CAP = 2
PASSES = ("passed", "xpassed")
FAILURES = ("failed", "error")


class ReportSurvey(NamedTuple):
    names: frozenset[str]
    models: frozenset[str]
    """If there are several, none is the run's model."""
    expected: int = 0
    """Tests that ran and failed as expected: the summary adds them to those that did not run."""


class _Brief(msgspec.Struct):
    nodeid: Any = None
    outcome: Any = None
    call: msgspec.Raw = msgspec.Raw()
    user_properties: Any = None
    metadata: Any = None


_brief = msgspec.json.Decoder(_Brief)


def survey(document: LongDocument) -> ReportSurvey:
    names: set[str] = set()
    models: set[str] = set()
    expected = 0
    for item in document.items:
        try:
            brief = _brief.decode(bytes(item))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue  # the reader reports what is wrong with it
        names.add(str(brief.nodeid))
        expected += brief.outcome == "xfailed" and len(brief.call) > len("null")
        model = properties_of(brief.user_properties).get("model", mapping(brief.metadata).get("model"))
        if isinstance(model, str) and model and len(models) < MODELS_CAP:
            models.add(model)
    return ReportSurvey(frozenset(names), frozenset(models), expected)


def properties_of(properties: Any) -> dict[str, Any]:
    """Properties that tests record with `record_property`: a list of pairs, or of objects with one field each."""
    values: dict[str, Any] = {}
    for entry in sequence(properties):
        values |= (
            entry
            if isinstance(entry, dict)
            else {str(entry[0]): entry[1]}
            if isinstance(entry, list) and len(entry) == 2
            else {}
        )
    return values


def field(document: LongDocument, name: str) -> Any:
    """None if it is missing or can't be read."""
    try:
        return document.field(name)
    except (KeyError, ValueError):
        return None


def run_of(document: LongDocument, survey: ReportSurvey, path: Path) -> Run:
    created, lasted = field(document, "created"), number(field(document, "duration"))
    finished = moment_since_1970(created)
    name = last_part(field(document, "root")) or path.stem
    summary = mapping(field(document, "summary"))
    environment = mapping(field(document, "environment"))
    exitcode = field(document, "exitcode")
    return Run(
        # a report has no run id: its time distinguishes it from others
        native_id=f"{name}-{finished or path.stem}",
        source=SourceInfo(name=NAME),
        name=name,
        subject=Subject(model=next(iter(survey.models)) if len(survey.models) == 1 else ""),
        suite=name,
        expected_cases=_planned_count(summary),
        measured_attempts=_executed_count(summary) + survey.expected,
        started_at=moment_since_1970(created - lasted) if number(created) is not None and lasted is not None else None,
        finished_at=finished,
        native_status=STATUS.get(exitcode, "") if isinstance(exitcode, int) else "",
        reported=_reported(document, summary),
        environment=settings({key: value for key, value in environment.items() if key in _MACHINE}),
        origin=str(path.parent),
        extra=_extra(document, environment)
        | non_empty(exitcode=exitcode, root=field(document, "root"), seconds=lasted),
        ref=document.ref,
    )


def _planned_count(summary: dict[str, Any]) -> int | None:
    collected, deselected = count(summary.get("collected")), count(summary.get("deselected")) or 0
    return count(summary.get("total")) if collected is None else collected - deselected


def _executed_count(summary: dict[str, Any]) -> int:
    return _count(summary, PASSES) + _count(summary, FAILURES)


def _count(summary: dict[str, Any], outcomes: Iterable[str]) -> int:
    return sum(count(summary.get(outcome)) or 0 for outcome in outcomes)


def _reported(document: LongDocument, summary: dict[str, Any]) -> tuple[Reported, ...]:
    ref = document.ref.below("summary")
    passed, executed = _count(summary, PASSES), _executed_count(summary)
    rate = Reported(
        name="pass rate",
        metric="mean",
        value=passed / executed if executed else None,
        n=executed or None,
        headline=True,
        ref=ref,
    )
    # for pytest, errors count as failed, too: the checkup must not compare this number with its own
    metrics = {str(key): "count" if key == "failed" else str(key) for key in summary}
    listed = (Reported(name=key, metric=metrics[key], value=number(summary[key]), ref=ref) for key in metrics)
    return (rate, *listed)


def _extra(document: LongDocument, environment: dict[str, Any]) -> dict[str, Any]:
    others = {name: field(document, name) for name in document.fields if name not in _HOMES}
    warnings = sequence(field(document, "warnings"))
    return rest(others) | non_empty(warnings=warnings[:100], variables=sorted(environment.keys() - _MACHINE))
