"""A result → its case and its attempt. Allure distinguishes errors (`broken`) from failed assertions (`failed`)."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from errata.model import Actor, Artefact, Attempt, Case, ErrorInfo, Item, Run, SourceRef, Step, attempt_id, case_key
from errata.model.words import ArtefactRole, Phase
from errata.sources.allure import NAME
from errata.sources.allure.folder import (
    AllureFolder,
    AllureResult,
    Fixture,
    labels_of,
    name_of_test,
    parameters_of,
    run_of,
    survey,
)
from errata.sources.base import Row, convert_each, json_file, of_run
from errata.sources.shared.documents import Documents, output_artefact
from errata.sources.shared.exceptions import error_of, raised_in
from errata.sources.shared.facts import (
    EXPECTED,
    FAILED,
    NOT_EVEN_TRIED,
    NOT_MADE,
    PASSED,
    SKIPPED,
    UNFINISHED,
    Facts,
    FailedTestCheck,
    TestVerdict,
    failure_status,
)
from errata.sources.shared.steps import nested_steps
from errata.sources.shared.values import (
    as_text,
    last_part,
    mapping,
    moment_since_1970,
    non_empty,
    number,
    rest,
    sequence,
    text,
)

XFAIL = "XFAIL"
XPASS = "XPASS"
UNKNOWN = Facts("completed", "unscored", "none")
_RESULT = frozenset(
    ("uuid", "historyId", "testCaseId", "fullName", "name", "status", "statusDetails", "start", "stop", "parameters",
     "labels", "links", "steps", "attachments", "stage", "description")
)  # fmt: skip
# labels of the machine and the moment, not of the test
_OF_TRY = frozenset(("host", "thread"))
BROKEN = ("failed", "broken")
_STEP = ("name", "status", "statusDetails", "start", "stop", "steps", "attachments", "parameters", "stage")


class AllureContext(NamedTuple):
    run: Run
    folder: AllureFolder
    documents: Documents


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    root = path if path.is_dir() else path.parent
    documents = Documents(root, NAME, keep="end")
    folder = survey(path, documents)
    run = run_of(folder, path, documents)
    yield run
    rows = (json_file(one.path, source=NAME, root=root) for one in folder.results.values())
    context = AllureContext(run, folder, documents)
    yield from of_run(run.id, convert_each(rows, partial(items_of, context), source=NAME))
    yield from of_run(run.id, documents.problems())


def items_of(context: AllureContext, row: Row) -> Iterator[Item]:
    result, run = row.data, context.run
    name = name_of_test(result)
    own = context.folder.results[row.ref.file]
    if own.nth == 1:
        labels = {key: values for key, values in labels_of(result.get("labels")).items() if key not in _OF_TRY}
        yield Case(
            run=run.id,
            suite=run.suite,
            native_id=name,
            name=text(result.get("name")),
            category=labels.get("suite", [""])[0],
            tags=tuple(labels.get("tag", ())),
            input=parameters_of(result) or None,
            extra=non_empty(description=result.get("description"), labels=labels, test=result.get("testCaseId")),
            ref=row.ref,
        )
    yield _attempt(context, own, row)


def _attempt(context: AllureContext, own: AllureResult, row: Row) -> Attempt:
    result, run, documents = row.data, context.run, context.documents
    fixtures = context.folder.fixtures.get(text(result.get("uuid")), [])
    verdict = _with_afters(_verdict(result, fixtures, row.ref), fixtures)
    later = _superseded(context, own)
    start, stop = number(result.get("start")), number(result.get("stop"))
    details = mapping(result.get("statusDetails"))
    return Attempt(
        run=run.id,
        case=case_key(run.suite, own.name),
        native_id=text(result.get("uuid")),
        index=own.nth,
        superseded_by=later,
        provenance="retry" if own.nth > 1 else None,
        reported=float(result.get("status") == "passed") if later is None else None,
        reported_counted=later is None,
        checks=tuple(verdict.checks(row.ref)),
        steps=steps_of(result, row.ref),
        artefacts=(
            *output_artefact(
                "grader", "trace.txt", text(details.get("trace")), row.ref.below("statusDetails", "trace")
            ),
            *attachments_of(result, documents),
            *(one for fixture in fixtures for one in attachments_of(fixture.data, documents)),
        ),
        started_at=time(start),
        finished_at=time(stop),
        duration=(stop - start) / 1000 if start is not None and stop is not None else None,
        links=_links(result),
        extra=_extra(result, fixtures),
        ref=row.ref,
        **verdict.attempt_fields,
    )


def _superseded(context: AllureContext, own: AllureResult) -> str | None:
    last = context.folder.last[own.test]
    if last.path == own.path:
        return None
    return attempt_id(context.run.id, case_key(context.run.suite, last.name), index=last.nth)


def _verdict(result: dict[str, Any], fixtures: list[Fixture], ref: SourceRef) -> TestVerdict:
    status, details = text(result.get("status")), mapping(result.get("statusDetails"))
    reason = text(details.get("message")).strip()
    before = any(one.when == "befores" and text(one.data.get("status")) in BROKEN for one in fixtures)
    if status in BROKEN and before:
        return TestVerdict(NOT_MADE, status, reason, (error_in(result, "setup", ref),))
    if status == "broken":
        return TestVerdict(NOT_MADE, status, reason, (error_in(result, "", ref),))
    if status == "failed":
        refused = (FailedTestCheck(_kind(details), reason),)
        return TestVerdict(FAILED, failure_status(status, reason), reason, failed_checks=refused)
    if status == "skipped":
        return _skipped(result, reason, ref)
    if status == "passed":
        return TestVerdict(PASSED, "xpassed" if reason.startswith(XPASS) else status, reason)
    return TestVerdict(
        UNFINISHED if result.get("stop") is None else UNKNOWN, status or text(result.get("stage")), reason
    )


def _skipped(result: dict[str, Any], reason: str, ref: SourceRef) -> TestVerdict:
    """pytest's adapter writes expected failures as skipped, with the exception after an empty line."""
    if not reason.startswith(XFAIL) or NOT_EVEN_TRIED in reason:
        return TestVerdict(SKIPPED, "skipped", reason.removeprefix("Skipped: "))
    why, _, raised = reason.removeprefix(XFAIL).strip().partition("\n\n")
    trace = text(mapping(result.get("statusDetails")).get("trace"))
    exception = raised_in(trace, raised)
    if exception.type and not exception.is_verdict:
        return TestVerdict(NOT_MADE, "xfailed", why, (error_of(exception, "", traceback=trace, ref=ref),)).expected
    return TestVerdict(FAILED, "xfailed", why, failed_checks=(FailedTestCheck(EXPECTED, raised or why),)).expected


def _with_afters(verdict: TestVerdict, fixtures: list[Fixture]) -> TestVerdict:
    """An error in teardown does not change the verdict."""
    broken = [one for one in fixtures if one.when == "afters" and text(one.data.get("status")) in BROKEN]
    errors = [replace(error_in(one.data, "environment", one.ref), recovered=verdict.facts != PASSED) for one in broken]
    return verdict._replace(errors=(*verdict.errors, *errors))


def _kind(details: dict[str, Any]) -> str:
    return raised_in(text(details.get("trace")), text(details.get("message"))).type or "failed"


def _links(result: dict[str, Any]) -> dict[str, str]:
    listed = [mapping(link) for link in sequence(result.get("links"))]
    return {
        text(link.get("name")) or text(link.get("type")) or "link": as_text(link["url"])
        for link in listed
        if link.get("url")
    }


def _extra(result: dict[str, Any], fixtures: list[Fixture]) -> dict[str, Any]:
    flags = rest(mapping(result.get("statusDetails")), ("message", "trace"))
    of_try = {key: values for key, values in labels_of(result.get("labels")).items() if key in _OF_TRY}
    listed = [non_empty(when=one.when, name=one.data.get("name"), status=one.data.get("status")) for one in fixtures]
    return rest(result, _RESULT) | non_empty(
        history=result.get("historyId"), stage=result.get("stage"), flags=flags, labels=of_try, fixtures=listed
    )


def steps_of(result: dict[str, Any], ref: SourceRef) -> tuple[Step, ...]:
    return nested_steps(result, "steps", _step, ref)


def _step(step: dict[str, Any], index: int, parent: int | None, ref: SourceRef) -> Step:
    status = text(step.get("status"))
    return Step(
        index=index,
        actor=Actor(role="environment"),
        kind="log",
        parent=parent,
        text=text(step.get("name")),
        error=error_in(step, "", ref) if status in BROKEN else None,
        started_at=time(step.get("start")),
        ended_at=time(step.get("stop")),
        ref=ref,
        extra=rest(step, _STEP) | non_empty(status=status, parameters=parameters_of(step)),
    )


def error_in(holder: dict[str, Any], phase: Phase, ref: SourceRef) -> ErrorInfo:
    details = mapping(holder.get("statusDetails"))
    message, trace = text(details.get("message")).strip(), text(details.get("trace"))
    return error_of(raised_in(trace, message), phase, traceback=trace, ref=ref.below("statusDetails"))


def attachments_of(holder: dict[str, Any], documents: Documents) -> Iterator[Artefact]:
    """Attachments of a test and all its steps. Of a path that leads out of the folder only the file name is used."""
    for attachment in map(mapping, sequence(holder.get("attachments"))):
        kind, name = text(attachment.get("type")), last_part(attachment.get("source"))
        role: ArtefactRole = "screenshot" if kind.startswith("image/") else "transcript"
        artefact = documents.artefact(documents.root / name, role) if name else None
        labels = non_empty(name=attachment.get("name"), type=kind)
        if artefact is not None:
            yield replace(artefact, extra=artefact.extra | labels)
        elif name:
            yield Artefact(role=role, path=name, extra=labels | {"missing": True})
    for step in map(mapping, sequence(holder.get("steps"))):
        yield from attachments_of(step, documents)


def time(milliseconds: Any) -> str | None:
    number_ = number(milliseconds)
    return None if number_ is None else moment_since_1970(number_ / 1000)
