"""A gate for other tools: JUnit XML for test reports, SARIF 2.1.0 for code scanning."""

import os
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

import msgspec

from errata import __version__
from errata.compare.gate import CaseChange, ChangeKind, Gate
from errata.text.outgoing import short_line

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
MOST_RESULTS = 5_000
"""GitHub shows no more of one file."""
LONGEST = 1_000

_SKIPPED: dict[ChangeKind, str] = {
    "flaky": "flaky: mixed outcomes over equivalent attempts",
    "missing": "missing in this run",
    "edited": "the task was edited",
    "not_measured": "not measured in this run",
    "no_baseline_result": "fails, but was not measured in the baseline",
    "still_failing": "fails in the baseline too",
}

_RULES = {
    "new-failure": ("error", "A case that passed in the baseline fails."),
    "other-owner": ("warning", "A case that passed in the baseline fails, and the gate does not count its owner."),
    "infrastructure": ("note", "A case that passed in the baseline was not measured: infrastructure failed."),
    "flaky": ("note", "A case has mixed outcomes over equivalent attempts."),
}


def to_junit(gate: Gate) -> str:
    """Only new failures of the chosen owners are failures; infrastructure failures are errors of the test run.

    What the gate does not count is skipped, with the reason.
    """
    run = gate.given.run.run
    suites = Element("testsuites", name="errata gate")
    suite = SubElement(suites, "testsuite", name=_text(run.suite or run.source.name))
    counts = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    for change, tag, message in _test_cases(gate):
        case = SubElement(suite, "testcase", name=_text(change.name), classname=_text(run.suite or run.source.name))
        counts["tests"] += 1
        if tag:
            counts[{"failure": "failures", "error": "errors", "skipped": "skipped"}[tag]] += 1
            SubElement(case, tag, message=_text(message))
    for element in (suites, suite):
        for name, count in counts.items():
            element.set(name, str(count))
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(suites, encoding="unicode") + "\n"


def _test_cases(gate: Gate) -> Iterator[tuple[CaseChange, str, str]]:
    for change in gate.new:
        yield change, "failure", f"{change.failure.owner}: {change.failure.reason}"
    for change in gate.infrastructure:
        yield change, "error", f"{change.failure.owner}: {change.failure.reason}"
    for change in gate.others:
        yield change, "skipped", f"regressed, owner {change.failure.owner or 'unknown'}: {change.failure.reason}"
    for change in gate.allowed:
        yield change, "skipped", "regressed, on the allow-list"
    changes = gate.given.changes
    for kind, cases in changes.cases.items() if changes is not None else ():
        if kind in ("regressed", "infrastructure"):
            continue
        for change in cases:
            if kind == "added" and change.fails:
                yield change, "skipped", "fails, but is not in the baseline"
            else:
                yield (change, "skipped", _SKIPPED[kind]) if kind in _SKIPPED else (change, "", "")


def to_sarif(gate: Gate) -> str:
    changes = gate.given.changes
    listed = (
        *(("new-failure", one) for one in gate.new),
        *(("other-owner", one) for one in gate.others),
        *(("infrastructure", one) for one in gate.infrastructure),
        *(("flaky", one) for one in (changes.of("flaky") if changes is not None else ())),
    )
    driver = {
        "name": "errata",
        "version": __version__,
        "rules": [
            {"id": rule, "shortDescription": {"text": text}, "defaultConfiguration": {"level": level}}
            for rule, (level, text) in _RULES.items()
        ],
    }
    log = {
        "$schema": SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "results": [_result(gate, rule, one) for rule, one in listed[:MOST_RESULTS]],
                "properties": {"verdict": gate.verdict, "leftOut": max(0, len(listed) - MOST_RESULTS)},
            }
        ],
    }
    return msgspec.json.format(msgspec.json.encode(log), indent=2).decode() + "\n"


def _result(gate: Gate, rule: str, change: CaseChange) -> dict[str, Any]:
    failure = change.failure
    owner = f" (owner {failure.owner})" if failure.owner else ""
    reason = f": {failure.reason}" if failure.reason else ""
    return {
        "ruleId": rule,
        "level": _RULES[rule][0],
        "message": {"text": _text(f"{change.name}{owner}{reason}")},
        "locations": [
            {
                "physicalLocation": {"artifactLocation": {"uri": _uri(gate, failure.file)}},
                "logicalLocations": [{"fullyQualifiedName": _text(change.case), "kind": "function"}],
            }
        ],
        "partialFingerprints": {"errataCase/v1": blake2b(change.case.encode(), digest_size=16).hexdigest()},
    }


def _uri(gate: Gate, file: str) -> str:
    """The log, relative to the working folder where it lies below it."""
    origin = Path(gate.given.run.run.origin or ".")
    whole = origin if origin.is_file() or not file else origin / file
    relative = Path(os.path.relpath(whole))
    named = Path(file or origin.name) if relative.parts[:1] == ("..",) else relative
    return "/".join(_quoted(part) for part in named.parts if part != "/")


def _quoted(part: str) -> str:
    from urllib.parse import quote  # noqa: PLC0415 only SARIF needs it

    return quote(part)


def _text(text: str) -> str:
    """On one line, without what XML can't hold."""
    return short_line(text, LONGEST)
