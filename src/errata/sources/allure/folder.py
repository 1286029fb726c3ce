"""An Allure results folder: its results, fixtures, attachments and environment → the run."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import Reported, Run, SourceInfo, SourceRef, Subject
from errata.sources.allure import HEAD, NAME, files_in, is_result
from errata.sources.base import Numbering, decode, head_of, is_file, json_file, text_file
from errata.sources.paths import LISTING_CAP
from errata.sources.shared.documents import Documents
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
from errata.text.lazy_regex import lazy_regex

_CONTAINER = lazy_regex(rb'(?<!\\)"(?:befores|afters|children)"\s*:\s*\[')
PROPERTIES = "environment.properties"
PROPERTIES_CAP = 64 * 1024
_EXECUTOR = ("buildName", "buildUrl", "reportName", "name")


class AllureResult(NamedTuple):
    path: Path
    test: str
    """The same for all tries at one test."""
    name: str
    start: float
    stop: float
    framework: str
    nth: int = 0
    """Its number among the results of this name."""


class Fixture(NamedTuple):
    when: str
    """`befores` or `afters`."""
    data: dict[str, Any]
    ref: SourceRef


class AllureFolder(NamedTuple):
    results: dict[str, AllureResult]
    """By file name, ordered by start."""
    last: dict[str, AllureResult]
    """Test → the try that counts."""
    fixtures: dict[str, list[Fixture]]
    """By the uuid of their result."""


def survey(path: Path, documents: Documents) -> AllureFolder:
    if path.is_file():
        return _survey([_result(path)], {})
    results: list[AllureResult] = []
    fixtures: dict[str, list[Fixture]] = {}
    listed = files_in(path)
    if len(listed) >= LISTING_CAP:
        documents.refuse(documents.ref(path), f"more than {LISTING_CAP} files: the rest was skipped")
    for file in filter(is_file, listed):
        if is_result(file):
            results.append(_result(file))
        elif _is_container(file):
            for result, fixture in _fixtures(documents.get(file), documents.ref(file)):
                fixtures.setdefault(result, []).append(fixture)
    return _survey(results, fixtures)


def _survey(results: list[AllureResult], fixtures: dict[str, list[Fixture]]) -> AllureFolder:
    numbering = Numbering()
    ordered = sorted(results, key=lambda one: (one.start, one.path.name))
    numbered = {one.path.name: one._replace(nth=numbering.next(one.name)) for one in ordered}
    return AllureFolder(numbered, {one.test: one for one in numbered.values()}, fixtures)


def _is_container(path: Path) -> bool:
    head = head_of(path, HEAD)
    return head.lstrip().startswith(b"{") and bool(_CONTAINER.search(head))


def _result(path: Path) -> AllureResult:
    """A quick first look; errors are reported when the whole file is read."""
    try:
        data = mapping(decode(path.read_bytes()))
        name = name_of_test(data)
    except (OSError, ValueError, RecursionError):
        data, name = {}, ""
    history, uuid = data.get("historyId"), text(data.get("uuid"))
    framework = labels_of(data.get("labels")).get("framework", [""])[0]
    start, stop = (number(data.get(key)) or 0 for key in ("start", "stop"))
    return AllureResult(path, as_text(history) if history else uuid or path.name, name, start, stop, framework)


def name_of_test(result: dict[str, Any]) -> str:
    """With parameters: tests that differ only in these share one full name."""
    parameters = ", ".join(f"{key}={value}" for key, value in parameters_of(result).items())
    return name_of(result.get("fullName") or result.get("name")) + (f"[{parameters}]" if parameters else "")


def parameters_of(holder: dict[str, Any]) -> dict[str, str]:
    """Values that the test hides stay hidden."""
    listed = [mapping(parameter) for parameter in sequence(holder.get("parameters"))]
    return {
        text(parameter.get("name")): as_text(parameter.get("value"))
        if parameter.get("mode") not in ("hidden", "masked")
        else "[hidden]"
        for parameter in listed
    }


def labels_of(labels: Any) -> dict[str, list[str]]:
    """A label may occur several times."""
    made: dict[str, list[str]] = {}
    for label in map(mapping, sequence(labels)):
        if text(label.get("name")) and label.get("value") is not None:
            made.setdefault(text(label["name"]), []).append(as_text(label["value"]))
    return made


def _fixtures(container: dict[str, Any], ref: SourceRef) -> Iterator[tuple[str, Fixture]]:
    for when in ("befores", "afters"):
        for at, fixture in enumerate(sequence(container.get(when))):
            for child in sequence(container.get("children")):
                if isinstance(child, str):
                    yield child, Fixture(when, mapping(fixture), ref.below(when, at))


def run_of(folder: AllureFolder, path: Path, documents: Documents) -> Run:
    root = documents.root
    executor = documents.get(root / "executor.json") if path.is_dir() else {}
    results = list(folder.results.values())
    starts, stops = [one.start for one in results if one.start], [one.stop for one in results if one.stop]
    # the selected files change from run to run; the framework does not
    suite = next((one.framework for one in results if one.framework), NAME)
    began = moment_since_1970(min(starts) / 1000) if starts else None
    name = text(executor.get("reportName")) or text(executor.get("name")) or root.name
    environment = _environment(root) if path.is_dir() else {}
    # a single test is not the whole run, and two tests may start at the same time
    alone = "" if path.is_dir() else path.stem.removesuffix("-result")
    return Run(
        # the folder's name is not an id: use the build, or else the start time
        native_id="-".join(filter(None, (text(executor.get("buildName")) or suite, began or root.name, alone))),
        external_id=text(executor.get("buildUrl")),
        source=SourceInfo(name=NAME),
        name=name,
        subject=Subject(model=as_text(environment["model"]) if environment.get("model") else ""),
        suite=suite,
        started_at=began,
        finished_at=moment_since_1970(max(stops) / 1000) if stops else None,
        # in no file: Allure's report computes passed / total from the results
        reported=(Reported(name="passed of all", metric="mean", headline=True, ref=documents.ref(path)),),
        environment=environment,
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
    """The report's failure categories: kept, not applied."""
    file = root / "categories.json"
    return getattr(json_file(file, source=NAME, root=root), "data", None) if is_file(file) else None
