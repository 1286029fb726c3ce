"""A gate as JUnit XML, for tools that show test reports."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element, SubElement, tostring

from errata.compare.gate import CaseChange, ChangeKind, Gate
from errata.text.outgoing import short_line

LONGEST = 1_000

_SKIPPED: dict[ChangeKind, str] = {
    "flaky": "flaky: mixed outcomes over equivalent attempts",
    "missing": "missing in this run",
    "edited": "the task was edited",
    "not_measured": "not measured in this run",
    "no_baseline_result": "fails, but was not measured in the baseline",
    "still_failing": "fails in the baseline too",
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


def _text(text: str) -> str:
    """On one line, without what XML can't hold."""
    return short_line(text, LONGEST)
