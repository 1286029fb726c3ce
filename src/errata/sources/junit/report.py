"""The tests of a report in order, what the report says as a whole, and its runs: one, or one a column of promptfoo."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import Reported, Run, SourceInfo, SourceRef, Subject, Unreadable
from errata.sources.base import Numbering, number_or_none
from errata.sources.junit import NAME
from errata.sources.shared.facts import EXPECTED, NOT_EVEN_TRIED
from errata.sources.shared.runs import hash_of_content
from errata.sources.shared.values import moment, non_empty, settings
from errata.sources.shared.xml_elements import Closed, Element, Opened, xml_events

WHOLE = frozenset(("testcase", "properties"))
SUITES_CAP = 100_000
MODELS_CAP = 2
COUNTS = ("tests", "failures", "errors", "skipped", "disabled")

# pytest counts a test that fails and then can't be torn down twice, and gives it two elements
TEARDOWN = re.compile(r"failed on teardown with|test teardown failure")
_COLUMN = re.compile(r"\[(?P<provider>.+?)\] (?P<prompt>.+)", re.DOTALL)
_HOMES = frozenset(("name", "timestamp", "hostname", "time", *COUNTS))


class Suite:
    """A `testsuite`, or the `testsuites` around them."""

    def __init__(self, tag: str, attributes: dict[str, str], ref: SourceRef, names: tuple[str, ...]) -> None:
        self.tag, self.attributes, self.ref = tag, attributes, ref
        self.names = names
        """Of the suites around it and its own."""
        self.properties: dict[str, str] = {}

    @property
    def name(self) -> str:
        return self.attributes.get("name", "")

    def count(self, what: str) -> int | None:
        told = self.attributes.get(what, "")
        return int(told) if told.isascii() and told.isdigit() and len(told) < 12 else None


class Test(NamedTuple):
    element: Element
    key: tuple[str, str]
    """Its class and its name."""
    properties: dict[str, str]
    suites: tuple[str, ...]
    ref: SourceRef
    teardown: Element | None = None
    """The second element of a test that failed and could not be torn down."""

    @property
    def failed_as_expected(self) -> bool:
        """pytest counts it among the skipped ones, although it was made."""
        told = [one.get("message") for one in self.element.all("skipped") if one.get("type") == EXPECTED]
        return self.teardown is None and bool(told) and not told[0].startswith(NOT_EVEN_TRIED)


class Column:
    """What belongs to one run: all tests of a report, or those of one suite."""

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


class Report:
    def __init__(self, path: Path) -> None:
        self.ref = SourceRef(file=path.name)
        self.root: Suite | None = None
        self.columns: dict[str, Column] = {}

    @property
    def is_promptfoo(self) -> bool:
        """Its suites are columns: one provider with one prompt each, all with the same tests."""
        return self.root is not None and self.root.tag == "testsuites" and self.root.name == "promptfoo"

    def column(self, test: Test) -> str:
        return test.suites[0] if self.is_promptfoo and test.suites else ""

    def take(self, found: Suite | Test) -> None:
        if isinstance(found, Test):
            self.columns.setdefault(self.column(found), Column()).add(found)
        elif self.root is None and found.tag == "testsuites":
            self.root = found
        elif len(found.names) == 1:
            column = self.columns.setdefault(found.name if self.is_promptfoo else "", Column())
            if len(column.suites) < SUITES_CAP:
                column.suites.append(found)


def survey(path: Path) -> Report:
    report = Report(path)
    for found in _walk(path):
        if not isinstance(found, Unreadable):
            report.take(found)
    report.columns = report.columns or {"": Column()}
    return report


def tests_of(path: Path) -> Iterator[Test | Unreadable]:
    return (found for found in _walk(path) if not isinstance(found, Suite))


def properties_of(elements: list[Element]) -> dict[str, str]:
    listed = [one for element in elements for one in element.all("property")]
    return {one.get("name"): one.attributes.get("value", one.text) for one in listed if one.get("name")}


def _walk(path: Path) -> Iterator[Suite | Test | Unreadable]:
    waiting: Test | None = None
    for found in _in_order(path):
        if isinstance(found, Test) and waiting is not None and _is_second_half(found, waiting):
            yield waiting._replace(teardown=found.element)
            waiting = None
            continue
        if waiting is not None:
            yield waiting
        waiting = found if isinstance(found, Test) else None
        if not isinstance(found, Test):
            yield found
    if waiting is not None:
        yield waiting


def _is_second_half(test: Test, before: Test) -> bool:
    errors = test.element.all("error")
    return bool(test.key == before.key and errors and TEARDOWN.match(errors[0].get("message"))) and bool(
        before.element.all("failure", "error", "skipped")
    )


def _in_order(path: Path) -> Iterator[Suite | Test | Unreadable]:
    suites: list[Suite] = []
    for event in xml_events(path, WHOLE, source=NAME, root=path.parent):
        if isinstance(event, Opened):
            ref = SourceRef(file=path.name, line=event.line)
            names = suites[-1].names if suites else ()
            if event.tag in ("testsuite", "testsuites"):
                own = (event.attributes.get("name", ""),) if event.tag == "testsuite" else ()
                suites.append(Suite(event.tag, event.attributes, ref, (*names, *own)))
                yield suites[-1]
        elif isinstance(event, Closed):
            if suites and event.tag == suites[-1].tag:
                suites.pop()
        elif isinstance(event, Unreadable):
            yield event
        elif event.tag == "testcase":
            yield _test(event, suites[-1].names if suites else (), SourceRef(file=path.name, line=event.line))
        elif suites:
            suites[-1].properties |= properties_of([event])


def _test(element: Element, suites: tuple[str, ...], ref: SourceRef) -> Test:
    key = element.get("classname") or element.get("class"), element.get("name")
    return Test(element, key, properties_of(element.all("properties")), suites, ref)


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
        native_id=f"{suite or path.stem}-{started or hash_of_content(path)}",
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
        environment=non_empty(
            hostname=next((host for one in around if (host := one.attributes.get("hostname"))), None)
        ),
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
    return non_empty(
        properties=settings({name: value for name, value in told.items() if name not in variables}),
        variables=variables,
        suites=[one.name for one in column.suites[:1000]] if len(column.suites) > 1 else None,
        seconds=sum(number_or_none(one.attributes.get("time")) or 0 for one in column.suites) or None,
        others={name: value for one in around for name, value in one.attributes.items() if name not in _HOMES},
    )
