"""The tests of a JUnit report in order, its overall data, and its runs: one, or one per column of promptfoo."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import Reported, Run, SourceInfo, SourceRef, Subject, Unreadable
from errata.sources.base import Numbering, number_or_none
from errata.sources.junit import NAME
from errata.sources.shared.facts import EXPECTED, NOT_EVEN_TRIED
from errata.sources.shared.runs import hash_of_content
from errata.sources.shared.values import moment, non_empty, settings
from errata.sources.shared.xml_elements import Element, ElementEnd, ElementStart, xml_events
from errata.text.lazy_regex import lazy_regex

WHOLE = frozenset(("testcase", "properties"))
SMALL = 256 * 1024
"""Bytes of a report whose elements are kept in memory."""
SUITES_CAP = 100_000
MODELS_CAP = 2
COUNTS = ("tests", "failures", "errors", "skipped", "disabled")

# pytest counts a test twice if it fails and its teardown fails, too, and writes two elements for it
TEARDOWN = lazy_regex(r"failed on teardown with|test teardown failure")
_COLUMN = lazy_regex(r"\[(?P<provider>.+?)\] (?P<prompt>.+)", re.DOTALL)
_HOMES = frozenset(("name", "timestamp", "hostname", "time", *COUNTS))


class Suite:
    """A `testsuite`, or the `testsuites` around them."""

    def __init__(self, tag: str, attributes: dict[str, str], ref: SourceRef, names: tuple[str, ...]) -> None:
        self.tag, self.attributes, self.ref = tag, attributes, ref
        self.names = names
        """The names of the enclosing suites and its own."""
        self.properties: dict[str, str] = {}

    @property
    def name(self) -> str:
        return self.attributes.get("name", "")

    def count(self, what: str) -> int | None:
        value = self.attributes.get(what, "")
        return int(value) if value.isascii() and value.isdigit() and len(value) < 12 else None


class Test(NamedTuple):
    element: Element
    key: tuple[str, str]
    """Its class and its name."""
    properties: dict[str, str]
    suites: tuple[str, ...]
    ref: SourceRef
    teardown: Element | None = None
    """The second element of a test that failed and whose teardown failed."""

    @property
    def failed_as_expected(self) -> bool:
        """pytest counts it as skipped, although it ran."""
        reasons = [one.get("message") for one in self.element.all("skipped") if one.get("type") == EXPECTED]
        return self.teardown is None and bool(reasons) and not reasons[0].startswith(NOT_EVEN_TRIED)


class ReportColumn:
    """The tests of one run: all tests of a report, or those of one suite."""

    def __init__(self) -> None:
        self.suites: list[Suite] = []
        self.models: set[str] = set()
        self.tests = self.repeated = self.twice = self.expected = 0
        self._numbering = Numbering()

    def add(self, test: Test) -> None:
        self.tests += 1
        self.repeated += self._numbering.next(test.key) > 1
        self.twice += test.teardown is not None
        self.expected += test.failed_as_expected
        model = test.properties.get("model")
        if model and len(self.models) < MODELS_CAP:
            self.models.add(model)


class JUnitReport:
    def __init__(self, path: Path, data: bytes | None) -> None:
        self.ref = SourceRef(file=path.name)
        self.data = data
        """What is in the file, if it was read before."""
        self.root: Suite | None = None
        self.columns: dict[str, ReportColumn] = {}

    @property
    def is_promptfoo(self) -> bool:
        """Its suites are columns: each is one provider with one prompt, and all have the same tests."""
        return self.root is not None and self.root.tag == "testsuites" and self.root.name == "promptfoo"

    def column(self, test: Test) -> str:
        return test.suites[0] if self.is_promptfoo and test.suites else ""

    def take(self, entry: Suite | Test) -> None:
        if isinstance(entry, Test):
            self.columns.setdefault(self.column(entry), ReportColumn()).add(entry)
        elif self.root is None and entry.tag == "testsuites":
            self.root = entry
        elif len(entry.names) == 1:
            column = self.columns.setdefault(entry.name if self.is_promptfoo else "", ReportColumn())
            if len(column.suites) < SUITES_CAP:
                column.suites.append(entry)


Entries = Iterable[Suite | Test | Unreadable]


def entries_of(path: Path, data: bytes | None) -> Callable[[], Entries]:
    """What is in a report, as often as it is asked for; a small one is read once. `data` if it was read before."""
    try:
        is_small = data is not None or path.stat().st_size <= SMALL
    except OSError:
        is_small = True
    if not is_small:
        return partial(_walk, path, None)
    entries = list(_walk(path, data))
    return lambda: entries


def survey(path: Path, entries: Entries, data: bytes | None) -> JUnitReport:
    report = JUnitReport(path, data)
    for entry in entries:
        if not isinstance(entry, Unreadable):
            report.take(entry)
    report.columns = report.columns or {"": ReportColumn()}
    return report


def tests_of(entries: Entries) -> Iterator[Test | Unreadable]:
    return (found for found in entries if not isinstance(found, Suite))


def properties_of(elements: list[Element]) -> dict[str, str]:
    listed = [one for element in elements for one in element.all("property")]
    return {one.get("name"): one.attributes.get("value", one.text) for one in listed if one.get("name")}


def _walk(path: Path, data: bytes | None) -> Iterator[Suite | Test | Unreadable]:
    waiting: Test | None = None
    for entry in _in_order(path, data):
        if isinstance(entry, Test) and waiting is not None and _is_second_half(entry, waiting):
            yield waiting._replace(teardown=entry.element)
            waiting = None
            continue
        if waiting is not None:
            yield waiting
        waiting = entry if isinstance(entry, Test) else None
        if not isinstance(entry, Test):
            yield entry
    if waiting is not None:
        yield waiting


def _is_second_half(test: Test, before: Test) -> bool:
    errors = test.element.all("error")
    return bool(test.key == before.key and errors and TEARDOWN.match(errors[0].get("message"))) and bool(
        before.element.all("failure", "error", "skipped")
    )


def _in_order(path: Path, data: bytes | None) -> Iterator[Suite | Test | Unreadable]:
    suites: list[Suite] = []
    file = path.name
    for event in xml_events(path, WHOLE, source=NAME, root=path.parent, data=data):
        if isinstance(event, ElementStart):
            ref = SourceRef(file=file, line=event.line)
            names = suites[-1].names if suites else ()
            if event.tag in ("testsuite", "testsuites"):
                own = (event.attributes.get("name", ""),) if event.tag == "testsuite" else ()
                suites.append(Suite(event.tag, event.attributes, ref, (*names, *own)))
                yield suites[-1]
        elif isinstance(event, ElementEnd):
            if suites and event.tag == suites[-1].tag:
                suites.pop()
        elif isinstance(event, Unreadable):
            yield event
        elif event.tag == "testcase":
            yield _test(event, suites[-1].names if suites else (), SourceRef(file=file, line=event.line))
        elif suites:
            suites[-1].properties |= properties_of([event])


def _test(element: Element, suites: tuple[str, ...], ref: SourceRef) -> Test:
    key = element.get("classname") or element.get("class"), element.get("name")
    return Test(element, key, properties_of(element.all("properties")), suites, ref)


def runs_of(report: JUnitReport, path: Path) -> dict[str, Run]:
    """Runs by column; there is one even if the report holds no test."""
    return {name: _run(report, name, column, path) for name, column in report.columns.items()}


def _run(report: JUnitReport, name: str, column: ReportColumn, path: Path) -> Run:
    around = [one for one in (report.root, *column.suites) if one is not None]
    started = next((time for one in around if (time := moment(one.attributes.get("timestamp")))), None)
    suite = _suite(report, column)
    counts = _counts(report, column)
    match = _COLUMN.match(name)
    return Run(
        # a report has no run id: its time distinguishes it from others or, without a time, a hash of its content
        native_id=f"{suite or path.stem}-{started or hash_of_content(path, report.data)}",
        group=suite if name else "",
        source=SourceInfo(name=NAME),
        name=name or suite or path.stem,
        subject=Subject(model=match["provider"] if match else _model(column)),
        variant={"prompt": match["prompt"]} if match else {"column": name} if name else {},
        suite=suite,
        expected_cases=max(counts["tests"] - column.repeated, 0) if "tests" in counts else None,
        measured_attempts=_measured_count(counts, column) if "tests" in counts else None,
        started_at=started,
        reported=_reported(counts, column, around[0].ref if around else report.ref),
        environment=non_empty(
            hostname=next((host for one in around if (host := one.attributes.get("hostname"))), None)
        ),
        origin=str(path.parent),
        extra=_extra(report, column),
        ref=(column.suites[0].ref if name and column.suites else around[0].ref) if around else report.ref,
    )


def _suite(report: JUnitReport, column: ReportColumn) -> str:
    names = {one.name for one in column.suites}
    if report.root is not None and (report.is_promptfoo or len(names) != 1):
        return report.root.name
    return names.pop() if len(names) == 1 else ""


def _model(column: ReportColumn) -> str:
    """The model, if tests record the property `model` and all have the same one."""
    models = column.models | {model for one in column.suites if (model := one.properties.get("model"))}
    return models.pop() if len(models) == 1 else ""


def _counts(report: JUnitReport, column: ReportColumn) -> dict[str, int]:
    """Counts of the whole report if it has any, otherwise the sums over its suites, which include nested ones."""
    root = report.root
    if root is not None and root.count("tests") is not None and not report.is_promptfoo:
        return _summed_counts([root])
    return _summed_counts(column.suites) if all(one.count("tests") is not None for one in column.suites) else {}


def _summed_counts(suites: list[Suite]) -> dict[str, int]:
    counts = {what: [one.count(what) for one in suites] for what in COUNTS}
    return {
        what: sum(one or 0 for one in values)
        for what, values in counts.items()
        if any(one is not None for one in values)
    }


def _reported(counts: dict[str, int], column: ReportColumn, ref: SourceRef) -> tuple[Reported, ...]:
    listed = tuple(Reported(name=what, metric=what, value=value, ref=ref) for what, value in counts.items())
    bad = counts.get("failures", 0) + counts.get("errors", 0) - column.twice
    executed = _executed_count(counts)
    rate = (executed - bad) / executed if executed > 0 and 0 <= bad <= executed else None
    return (Reported(name="pass rate", metric="mean", value=rate, n=executed or None, headline=True, ref=ref), *listed)


def _executed_count(counts: dict[str, int]) -> int:
    return counts.get("tests", 0) - counts.get("skipped", 0) - counts.get("disabled", 0)


def _measured_count(counts: dict[str, int], column: ReportColumn) -> int:
    return max(_executed_count(counts) + column.expected - column.repeated, 0)


def _extra(report: JUnitReport, column: ReportColumn) -> dict[str, Any]:
    """Suite properties mostly describe the machine; only the names of environment variables are kept."""
    around = [one for one in (report.root, *column.suites[:100]) if one is not None]
    properties = {name: value for one in around for name, value in one.properties.items()}
    variables = sorted(name for name in properties if name.startswith("env."))
    return non_empty(
        properties=settings({name: value for name, value in properties.items() if name not in variables}),
        variables=variables,
        suites=[one.name for one in column.suites[:1000]] if len(column.suites) > 1 else None,
        seconds=sum(number_or_none(one.attributes.get("time")) or 0 for one in column.suites) or None,
        others={name: value for one in around for name, value in one.attributes.items() if name not in _HOMES},
    )
