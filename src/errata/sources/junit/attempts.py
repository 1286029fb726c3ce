"""A test of a report → its case, and an attempt for each time that it was tried."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from errata.model import Artefact, Attempt, Case, Item, Run, attempt_id, case_key
from errata.sources.base import Numbering, number_or_none
from errata.sources.junit.problems import verdict_of
from errata.sources.junit.survey import Test
from errata.sources.shared.documents import captured
from errata.sources.shared.values import known, moment
from errata.sources.shared.xml_elements import Element

_HOMES = frozenset(("classname", "class", "name", "time", "timestamp"))
_SKIPPED = frozenset(("notrun", "disabled", "skipped", "suppressed"))
_OUTPUT = ("system-out", "system-err")


class Try(NamedTuple):
    """One time that a test was tried: what went wrong, and the element that holds what was printed meanwhile."""

    problems: list[Element]
    printed: Element


def items_of(run: Run, numbering: Numbering, test: Test) -> Iterator[Item]:
    name = _name(run, test)
    tries = _tries(test)
    indices = [numbering.next((run.id, name)) for _ in tries]
    if indices[0] == 1:
        yield Case(
            run=run.id,
            suite=run.suite,
            native_id=name,
            category=test.key[0] if test.key[0] != run.name else "",
            ref=test.ref,
        )
    last = attempt_id(run.id, case_key(run.suite, name), index=indices[-1])
    for one, index in zip(tries, indices, strict=True):
        yield _attempt(run, test, name, one, index, None if index == indices[-1] else last)


def _name(run: Run, test: Test) -> str:
    around, name = test.key
    if not name and not around:
        raise ValueError("a test without a name")
    # promptfoo repeats the name of the suite
    return f"{around}.{name}" if around and around != run.name and name else name or around


def _tries(test: Test) -> list[Try]:
    """Surefire keeps what failed before a pass as `flaky…`, and what failed again after a failure as `rerun…`."""
    element = test.element
    own = element.all("failure", "error", "skipped")
    if test.teardown is not None:
        own += test.teardown.all("error")
    before = [Try([one], one) for one in element.all("flakyFailure", "flakyError")]
    after = [Try([one], one) for one in element.all("rerunFailure", "rerunError")]
    return [*before, Try(own, element), *after]


def _attempt(run: Run, test: Test, name: str, one: Try, index: int, superseded_by: str | None) -> Attempt:
    element = test.element
    verdict = verdict_of(one.problems, test.ref, skipped=_is_skipped(element))
    final = superseded_by is None
    counted = final and verdict.is_counted
    return Attempt(
        run=run.id,
        case=case_key(run.suite, name),
        index=index,
        superseded_by=superseded_by,
        reported=float(verdict.status == "passed") if counted else None,
        reported_counted=counted,
        checks=tuple(verdict.checks(test.ref, test.properties.get("score") if final else None)),
        artefacts=tuple(_artefacts(one, test)),
        started_at=moment(element.get("timestamp")),
        duration=number_or_none(element.get("time")) if final else number_or_none(one.printed.get("time")),
        extra=_extra(test),
        ref=test.ref,
        **verdict.told,
    )


def _is_skipped(element: Element) -> bool:
    """As googletest and others say it: by a word, not by an element."""
    return element.get("status").lower() in _SKIPPED or element.get("result").lower() in _SKIPPED


def _artefacts(one: Try, test: Test) -> Iterator[Artefact]:
    for problem in one.problems:
        shown = [problem.text, *(child.text for child in problem.all("stackTrace"))]
        yield from captured("grader", f"{problem.tag}.txt", "\n".join(filter(None, shown)), test.ref)
    for element in one.printed.all(*_OUTPUT):
        # what a test prints are the words of its subject, too: no log of the harness
        yield from captured("transcript", f"{element.tag}.txt", element.text, test.ref)


def _extra(test: Test) -> dict[str, Any]:
    others = {name: value for name, value in test.element.attributes.items() if name not in _HOMES}
    return known(properties=test.properties, suite=" / ".join(filter(None, test.suites)), attributes=others)
