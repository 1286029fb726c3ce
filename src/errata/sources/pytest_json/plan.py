"""What pytest meant to run: files that it could not collect, and tests that it collected and never ran."""

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from errata.model import Attempt, Case, ErrorInfo, Item, Run, SourceRef, case_key
from errata.sources.pytest_json.runs import field
from errata.sources.shared.documents import captured
from errata.sources.shared.exceptions import raised_in
from errata.sources.shared.facts import MISSING, NOT_MADE, Facts
from errata.sources.shared.json_rows import LongDocument
from errata.sources.shared.values import count, mapping, sequence, text


def not_collected(run: Run, document: LongDocument) -> Iterator[Item]:
    for at, collector in enumerate(_collectors(document)):
        if collector.get("outcome") != "failed" or not text(collector.get("nodeid")):
            continue
        ref = document.ref.below("collectors", at)
        shown = text(collector.get("longrepr"))
        last = shown.strip().rpartition("\n")[2].removeprefix("E").strip()
        raised = raised_in(shown, last)
        error = ErrorInfo(
            type=raised.type or "CollectError", message=raised.message or last, traceback=shown, phase="setup", ref=ref
        )
        case, attempt = _unmade(run, text(collector["nodeid"]), NOT_MADE, ref)
        yield case
        told = captured("grader", "collection.txt", shown, ref)
        yield replace(attempt, native_status="not collected", native_reason=last, errors=(error,), artefacts=told)


def never_run(run: Run, document: LongDocument, names: frozenset[str]) -> Iterator[Item]:
    """Where more tests were run than there are rows, nobody knows which: then the run says how many."""
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
                yield from _unmade(run, name, MISSING, document.ref)


def _collectors(document: LongDocument) -> Iterator[dict[str, Any]]:
    return map(mapping, sequence(field(document, "collectors")))


def _unmade(run: Run, name: str, facts: Facts, ref: SourceRef) -> tuple[Case, Attempt]:
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
