"""What lies beside the results → the run: who executed it, in which environment, with which categories of failures."""

from pathlib import Path
from typing import Any

from errata.model import Reported, Run, SourceInfo, Subject
from errata.sources.allure.layout import NAME, Survey
from errata.sources.base import json_file, text_file
from errata.sources.shared.documents import Documents, is_file
from errata.sources.shared.values import as_text, known, moment_since_1970, rest, settings, text

PROPERTIES = "environment.properties"
PROPERTIES_CAP = 64 * 1024
_EXECUTOR = ("buildName", "buildUrl", "reportName", "name")


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
        | known(build=executor.get("name"), categories=_categories(root) if path.is_dir() else None),
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
