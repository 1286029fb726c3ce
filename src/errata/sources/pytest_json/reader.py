"""A report → its tests with their three stages, files that could not be collected, and tests that never ran.

An exception in a test body is a measurement only if it is an assertion, although pytest calls all of them failures. An
exception in a fixture is an error of the setup or of the teardown.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from errata.model import Artefact, Attempt, Case, ErrorInfo, Item, Run, SourceRef, Unreadable, case_key
from errata.model.words import Phase
from errata.sources.base import Numbering, Row, convert_each, of_run
from errata.sources.pytest_json import NAME
from errata.sources.pytest_json.runs import PASSES, field, properties_of, run_of, survey
from errata.sources.shared.documents import output_artefact
from errata.sources.shared.exceptions import Raised, error_of, raised_in
from errata.sources.shared.facts import (
    FAILED,
    MISSING,
    NOT_MADE,
    PASSED,
    SKIPPED,
    UNFINISHED,
    Facts,
    FailedTestCheck,
    TestVerdict,
    failure_status,
)
from errata.sources.shared.json_rows import LongDocument, long_document
from errata.sources.shared.values import as_text, count, mapping, name_of, non_empty, number, rest, sequence, text

OUTCOMES = ("passed", "failed", "skipped")
STAGES = ("setup", "call", "teardown")
UNKNOWN = Facts("completed", "unscored", "none")
_TEST = frozenset(("nodeid", "lineno", "outcome", "keywords", "user_properties", *STAGES))
_STAGE = frozenset(("duration", "outcome", "crash", "traceback", "longrepr", "stdout", "stderr", "log"))


class Stage(NamedTuple):
    data: dict[str, Any]
    ref: SourceRef

    @property
    def outcome(self) -> str:
        return text(self.data.get("outcome"))

    @property
    def longrepr(self) -> str:
        return text(self.data.get("longrepr"))

    @property
    def message(self) -> str:
        return text(mapping(self.data.get("crash")).get("message"))

    @property
    def raised(self) -> Raised:
        last = mapping(next(iter(sequence(self.data.get("traceback"))[-1:]), {}))
        raised = raised_in(self.longrepr, self.message or self.longrepr.partition("\n")[0])
        type_name = text(last.get("message"))
        return (
            raised if raised.type or not type_name.isidentifier() else Raised(type_name, raised.message, raised.frame)
        )

    def error(self, phase: Phase) -> ErrorInfo:
        return error_of(self.raised, phase, traceback=self.longrepr, ref=self.ref)


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    document = long_document(path, "tests", source=NAME, root=path.parent)
    if isinstance(document, Unreadable):
        yield document
        return
    summary = survey(document)
    run = run_of(document, summary, path)
    yield run
    yield from of_run(run.id, convert_each(document.rows(), partial(items_of, run, Numbering()), source=NAME))
    yield from of_run(run.id, document.problems())
    yield from uncollected_items(run, document)
    yield from never_run(run, document, summary.names)


def items_of(run: Run, numbering: Numbering, row: Row) -> Iterator[Item]:
    test = row.data
    name = name_of(test["nodeid"])
    index = numbering.next(name)
    if index == 1:
        file = name.partition("::")[0]
        extra = non_empty(line=test.get("lineno"), keywords=test.get("keywords"))
        yield Case(run=run.id, suite=run.suite, native_id=name, category=file, extra=extra, ref=row.ref)
    yield _attempt(run, name, index, row)


def _attempt(run: Run, name: str, index: int, row: Row) -> Attempt:
    test = row.data
    stages = {stage: Stage(mapping(test.get(stage)), row.ref.below(stage)) for stage in STAGES if test.get(stage)}
    outcome = text(test.get("outcome"))
    verdict = _with_teardown(_verdict(stages, outcome), stages.get("teardown"))
    # a test that was rerun is counted separately, as neither passed nor failed
    counted = verdict.is_counted and outcome != "rerun"
    properties = properties_of(test.get("user_properties"))
    durations = {
        name: seconds
        for name, stage_data in stages.items()
        if (seconds := number(stage_data.data.get("duration"))) is not None
    }
    return Attempt(
        run=run.id,
        case=case_key(run.suite, name),
        native_id=name,
        index=index,
        reported=float(outcome in PASSES) if counted else None,
        reported_counted=counted,
        checks=tuple(verdict.checks(row.ref, properties.get("score"))),
        artefacts=tuple(stage_data for name, stage in stages.items() for stage_data in _artefacts(name, stage)),
        duration=sum(durations.values()) if durations else None,
        durations=durations,
        extra=rest(test, _TEST) | non_empty(properties=properties, stages=_rest_of(stages)),
        ref=row.ref,
        **verdict.attempt_fields,
    )


def _verdict(stages: dict[str, Stage], outcome: str) -> TestVerdict:
    setup, call = stages.get("setup"), stages.get("call")
    if setup is not None and setup.outcome == "failed":
        return TestVerdict(NOT_MADE, outcome, setup.message, (setup.error("setup"),))
    if setup is not None and setup.outcome == "skipped":
        return TestVerdict(SKIPPED, outcome, _why_skipped(setup))
    if call is None:
        return TestVerdict(UNFINISHED, outcome)
    if call.outcome == "failed":
        return _verdict_of_failure(call, outcome)
    if call.outcome == "skipped":
        # pytest also writes an expected failure as skipped
        tried = outcome == "xfailed"
        return (
            _verdict_of_failure(call, outcome).expected if tried else TestVerdict(SKIPPED, outcome, _why_skipped(call))
        )
    return TestVerdict(PASSED if call.outcome == "passed" else UNKNOWN, outcome)


def _verdict_of_failure(call: Stage, outcome: str) -> TestVerdict:
    raised, reason = call.raised, call.message or call.longrepr.partition("\n")[0]
    if raised.type and not raised.is_verdict:
        return TestVerdict(NOT_MADE, outcome, reason, (call.error(""),))
    return TestVerdict(
        FAILED,
        failure_status(outcome, call.longrepr),
        reason,
        failed_checks=(FailedTestCheck(raised.type or "call", reason),),
    )


def _with_teardown(verdict: TestVerdict, teardown: Stage | None) -> TestVerdict:
    if teardown is None or teardown.outcome != "failed":
        return verdict
    return verdict.torn_down([teardown.error("environment")])


def _why_skipped(stage: Stage) -> str:
    """`('/where/test_x.py', 12, 'Skipped: no key')`."""
    return stage.longrepr.rpartition("Skipped: ")[2].removesuffix("')").removesuffix('")')


def _artefacts(name: str, stage: Stage) -> Iterator[Artefact]:
    if stage.outcome != "skipped" or stage.message:
        yield from output_artefact("grader", f"{name}.txt", stage.longrepr, stage.ref)
    for stream in ("stdout", "stderr", "log"):
        output = stage.data.get(stream)
        # the output of a test includes that of its subject: it is not a harness log
        printed = "\n".join(map(_line, output)) if isinstance(output, list) else text(output)
        yield from output_artefact("transcript", f"{name}.{stream}.txt", printed, stage.ref)


def _line(entry: Any) -> str:
    """A log record, which is an object with all its fields."""
    record = mapping(entry)
    return " ".join(as_text(record[key]) for key in ("levelname", "name", "msg") if record.get(key) is not None)


def _rest_of(stages: dict[str, Stage]) -> dict[str, Any]:
    """Fields without a place of their own: the crash location, and an outcome that pytest itself does not use."""
    others = {
        name: rest(stage.data, _STAGE)
        | non_empty(crash=_place(stage), outcome=stage.outcome if stage.outcome not in OUTCOMES else None)
        for name, stage in stages.items()
    }
    return {name: one for name, one in others.items() if one}


def _place(stage: Stage) -> dict[str, Any]:
    crash = mapping(stage.data.get("crash"))
    return non_empty(path=crash.get("path"), line=crash.get("lineno"), frames=stage.data.get("traceback"))


def uncollected_items(run: Run, document: LongDocument) -> Iterator[Item]:
    for at, collector in enumerate(_collectors(document)):
        if collector.get("outcome") != "failed" or not text(collector.get("nodeid")):
            continue
        ref = document.ref.below("collectors", at)
        longrepr = text(collector.get("longrepr"))
        last = longrepr.strip().rpartition("\n")[2].removeprefix("E").strip()
        raised = raised_in(longrepr, last)
        error = ErrorInfo(
            type=raised.type or "CollectError",
            message=raised.message or last,
            traceback=longrepr,
            phase="setup",
            ref=ref,
        )
        case, attempt = _unexecuted(run, text(collector["nodeid"]), NOT_MADE, ref)
        yield case
        artefacts = output_artefact("grader", "collection.txt", longrepr, ref)
        yield replace(attempt, native_status="not collected", native_reason=last, errors=(error,), artefacts=artefacts)


def never_run(run: Run, document: LongDocument, names: frozenset[str]) -> Iterator[Item]:
    """If more tests ran than there are rows, the missing ones are unknown; then only the run has their number."""
    if (count(mapping(field(document, "summary")).get("total")) or 0) > len(document.items):
        return
    collectors = list(_collectors(document))
    groups = {text(one.get("nodeid")) for one in collectors}
    seen = names | groups
    for collector in collectors:
        for planned in map(mapping, sequence(collector.get("result"))):
            name = text(planned.get("nodeid"))
            if name and name not in seen and "::" in name and planned.get("deselected") is not True:
                seen |= {name}
                yield from _unexecuted(run, name, MISSING, document.ref)


def _collectors(document: LongDocument) -> Iterator[dict[str, Any]]:
    return map(mapping, sequence(field(document, "collectors")))


def _unexecuted(run: Run, name: str, facts: Facts, ref: SourceRef) -> tuple[Case, Attempt]:
    case = Case(run=run.id, suite=run.suite, native_id=name, category=name.partition("::")[0], ref=ref)
    attempt = Attempt(
        run=run.id,
        case=case_key(run.suite, name),
        execution=facts.execution,
        measurement=facts.measurement,
        outcome=facts.outcome,
        reported_counted=False,
        ref=ref,
    )
    return case, attempt
