"""The tests of a report one after the other, and what the report says of them as a whole."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from errata.model import SourceRef, Unreadable
from errata.sources.base import Numbering
from errata.sources.shared.facts import EXPECTED, NOT_EVEN_TRIED
from errata.sources.shared.xml_elements import Closed, Element, Opened, xml_events

NAME = "junit"

WHOLE = frozenset(("testcase", "properties"))
SUITES_CAP = 100_000
MODELS_CAP = 2
COUNTS = ("tests", "failures", "errors", "skipped", "disabled")

# pytest counts a test that fails and then can't be torn down twice, and gives it two elements
TEARDOWN = re.compile(r"failed on teardown with|test teardown failure")


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
