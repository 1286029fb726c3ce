"""A folder of Allure: its results, containers with fixtures and attachments, and what lies beside them → the run."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import Reported, Run, SourceInfo, SourceRef, Subject
from errata.sources.allure import HEAD, NAME, files_in, is_result
from errata.sources.base import Numbering, decode, head_of, json_file, text_file
from errata.sources.shared.documents import LISTING_CAP, Documents, is_file
from errata.sources.shared.values import (
    as_text,
    mapping,
    moment_since_1970,
    name_of,
    non_empty,
    number,
    rest,
    sequence,
    settings,
    text,
)

_CONTAINER = re.compile(rb'(?<!\\)"(?:befores|afters|children)"\s*:\s*\[')
PROPERTIES = "environment.properties"
PROPERTIES_CAP = 64 * 1024
_EXECUTOR = ("buildName", "buildUrl", "reportName", "name")


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


def survey(path: Path, documents: Documents) -> Survey:
    if path.is_file():
        return _survey([_result(path)], {})
    results: list[Result] = []
    fixtures: dict[str, list[Fixture]] = {}
    found = files_in(path)
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


def run_of(found: Survey, path: Path, documents: Documents) -> Run:
    root = documents.root
    executor = documents.get(root / "executor.json") if path.is_dir() else {}
    results = list(found.results.values())
    starts, stops = [one.start for one in results if one.start], [one.stop for one in results if one.stop]
    # which files were run is a choice of the day; what ran them stays
    suite = next((one.framework for one in results if one.framework), NAME)
    began = moment_since_1970(min(starts) / 1000) if starts else None
    name = text(executor.get("reportName")) or text(executor.get("name")) or root.name
    told = _environment(root) if path.is_dir() else {}
    # one test is not the whole, and two of them may begin at once
    alone = "" if path.is_dir() else path.stem.removesuffix("-result")
    return Run(
        # a folder names no run: its build does, or else when it began
        native_id="-".join(filter(None, (text(executor.get("buildName")) or suite, began or root.name, alone))),
        external_id=text(executor.get("buildUrl")),
        source=SourceInfo(name=NAME),
        name=name,
        subject=Subject(model=as_text(told["model"]) if told.get("model") else ""),
        suite=suite,
        started_at=began,
        finished_at=moment_since_1970(max(stops) / 1000) if stops else None,
        # no file states it: a report that is made of the results says so many of all
        reported=(Reported(name="passed of all", metric="mean", headline=True, ref=documents.ref(path)),),
        environment=told,
        origin=str(root),
        extra=rest(settings(executor), _EXECUTOR)
        | non_empty(build=executor.get("name"), categories=_categories(root) if path.is_dir() else None),
        ref=documents.ref(path),
    )


def _environment(root: Path) -> dict[str, Any]:
    written = text_file(root / PROPERTIES, cap=PROPERTIES_CAP) if is_file(root / PROPERTIES) else None
    lines = [line.partition("=") for line in (written or "").splitlines() if "=" in line and not line.startswith("#")]
    made: dict[str, Any] = settings({key.strip(): value.strip() for key, _, value in lines})
    return made


def _categories(root: Path) -> Any:
    """Patterns by which the report sorts failures: kept, and not applied."""
    file = root / "categories.json"
    return getattr(json_file(file, source=NAME, root=root), "data", None) if is_file(file) else None
