"""What lies in a folder of Allure: results, containers with their fixtures, and attachments, all named by chance."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import SourceRef
from errata.sources.base import Numbering, decode, head_of
from errata.sources.shared.documents import LISTING_CAP, Documents, children, is_file
from errata.sources.shared.values import as_text, mapping, name_of, number, sequence, text

NAME = "allure"

HEAD = 64 * 1024
LOOKS = 200
_RESULT = tuple(
    re.compile(rb'(?<!\\)"(?:' + keys + rb')"\s*:')
    for keys in (rb"uuid", rb"status|stage", rb"historyId|testCaseId|fullName", rb"start|labels|steps")
)
_CONTAINER = re.compile(rb'(?<!\\)"(?:befores|afters|children)"\s*:\s*\[')


class Result(NamedTuple):
    path: Path
    test: str
    """Tries at the same test have the same."""
    name: str
    start: float
    stop: float
    framework: str
    nth: int = 0
    """Which of those of this name it is."""


class Fixture(NamedTuple):
    when: str
    """befores or afters."""
    data: dict[str, Any]
    ref: SourceRef


class Survey(NamedTuple):
    results: dict[str, Result]
    """By the name of their files, in the order in which they began."""
    last: dict[str, Result]
    """Test → the try that counts."""
    fixtures: dict[str, list[Fixture]]
    """By the result that they are of."""


def listed(folder: Path) -> list[Path]:
    """Its files, those first that bear the usual name of a result."""
    return sorted(children(folder), key=lambda path: not path.name.endswith("-result.json"))


def is_result(path: Path) -> bool:
    head = head_of(path, HEAD)
    return head.lstrip().startswith(b"{") and all(sign.search(head) for sign in _RESULT)


def survey(path: Path, documents: Documents) -> Survey:
    if path.is_file():
        return _survey([_result(path)], {})
    results: list[Result] = []
    fixtures: dict[str, list[Fixture]] = {}
    found = listed(path)
    if len(found) >= LISTING_CAP:
        documents.refuse(documents.ref(path), f"more than {LISTING_CAP} files: the rest was left out")
    for file in filter(is_file, found):
        if is_result(file):
            results.append(_result(file))
        elif _is_container(file):
            for result, fixture in _fixtures(documents.get(file), documents.ref(file)):
                fixtures.setdefault(result, []).append(fixture)
    return _survey(results, fixtures)


def _survey(results: list[Result], fixtures: dict[str, list[Fixture]]) -> Survey:
    numbering = Numbering()
    ordered = sorted(results, key=lambda one: (one.start, one.path.name))
    numbered = {one.path.name: one._replace(nth=numbering.next(one.name)) for one in ordered}
    return Survey(numbered, {one.test: one for one in numbered.values()}, fixtures)


def _is_container(path: Path) -> bool:
    head = head_of(path, HEAD)
    return head.lstrip().startswith(b"{") and bool(_CONTAINER.search(head))


def _result(path: Path) -> Result:
    """What can't be read of it is told when it is read as a whole."""
    try:
        data = mapping(decode(path.read_bytes()))
        name = name_of_test(data)
    except (OSError, ValueError, RecursionError):
        data, name = {}, ""
    history, uuid = data.get("historyId"), text(data.get("uuid"))
    framework = labels_of(data.get("labels")).get("framework", [""])[0]
    start, stop = (number(data.get(key)) or 0 for key in ("start", "stop"))
    return Result(path, as_text(history) if history else uuid or path.name, name, start, stop, framework)


def name_of_test(result: dict[str, Any]) -> str:
    """Tests that differ in nothing but their parameters have one full name."""
    told = ", ".join(f"{key}={value}" for key, value in parameters_of(result).items())
    return name_of(result.get("fullName") or result.get("name")) + (f"[{told}]" if told else "")


def parameters_of(told: dict[str, Any]) -> dict[str, str]:
    """Values that the author of a test has hidden stay hidden."""
    listed = [mapping(one) for one in sequence(told.get("parameters"))]
    return {
        text(one.get("name")): as_text(one.get("value")) if one.get("mode") not in ("hidden", "masked") else "[hidden]"
        for one in listed
    }


def labels_of(labels: Any) -> dict[str, list[str]]:
    """A label may come several times."""
    made: dict[str, list[str]] = {}
    for label in map(mapping, sequence(labels)):
        if text(label.get("name")) and label.get("value") is not None:
            made.setdefault(text(label["name"]), []).append(as_text(label["value"]))
    return made


def _fixtures(container: dict[str, Any], ref: SourceRef) -> Iterator[tuple[str, Fixture]]:
    for when in ("befores", "afters"):
        for at, told in enumerate(sequence(container.get(when))):
            for child in sequence(container.get("children")):
                if isinstance(child, str):
                    yield child, Fixture(when, mapping(told), ref.below(when, at))
