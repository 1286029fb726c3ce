"""The rows of a file grouped by trace, and a first pass over them → the runs of its experiments."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from errata.model import Run, SourceInfo, SourceRef, Subject, Unreadable
from errata.sources.base import Row, decode, head_of
from errata.sources.braintrust import NAME
from errata.sources.shared.json_rows import LongDocument, long_document
from errata.sources.shared.row_groups import ItemGroups, read_groups
from errata.sources.shared.runs import hash_of_content
from errata.sources.shared.scores import ScorerCounts
from errata.sources.shared.values import mapping, non_empty, number, rest, text
from errata.text.lazy_regex import lazy_regex

MODELS_CAP = 2
_SUMMARY = frozenset(("project_name", "experiment_name", "experiment_id", "experiment_url", "scores", "comparison"))
HEAD = 64 * 1024
_LISTED = lazy_regex(rb'(?<!\\)"(results|events|data)"\s*:\s*\[')


class BraintrustExperiment:
    def __init__(self, ref: SourceRef, scorers: Iterable[str]) -> None:
        self.ref = ref
        self.seen = ScorerCounts(scorers)
        self.models: set[str] = set()
        self.project = ""

    def add(self, root: dict[str, Any], rows: tuple[Row, ...]) -> None:
        for name, value in mapping(root.get("scores")).items():
            self.seen.add(name, value)
        for name in mapping(mapping(root.get("metadata")).get("scorer_errors")):
            self.seen.add(name, None)
        self.project = self.project or text(root.get("project_id"))
        for row in rows:
            model = text(mapping(mapping(row.data).get("metadata")).get("model"))
            if model and len(self.models) < MODELS_CAP:
                self.models.add(model)


class ExperimentFile(NamedTuple):
    experiments: dict[str, BraintrustExperiment]
    summary: dict[str, Any]


def survey(path: Path) -> ExperimentFile:
    summary, ref = _summary(path)
    names = mapping(summary.get("scores")).keys()
    experiments: dict[str, BraintrustExperiment] = {}
    for group in groups_of(path):
        if isinstance(group, Row) and any(isinstance(row.data, dict) for row in group.data):
            root = root_of(group.data)
            experiments.setdefault(experiment_of(root), BraintrustExperiment(root.ref, names)).add(
                root.data, group.data
            )
    return ExperimentFile(experiments or {"": BraintrustExperiment(ref, names)}, summary)


def experiment_of(row: Row) -> str:
    return text(row.data.get("experiment_id"))


def _summary(path: Path) -> tuple[dict[str, Any], SourceRef]:
    ref = SourceRef(file=path.name)
    document = document_at(path)
    if not isinstance(document, LongDocument):
        return {}, ref
    try:
        return mapping(document.field("summary")), ref.below("summary")
    except (KeyError, ValueError):
        return {}, ref


def runs_of(file: ExperimentFile, path: Path) -> dict[str, Run]:
    return {name: _run(name, experiment, file.summary, path) for name, experiment in file.experiments.items()}


def _run(ident: str, experiment: BraintrustExperiment, summary: dict[str, Any], path: Path) -> Run:
    name = text(summary.get("experiment_name"))
    known_as = text(summary.get("experiment_id")) or ident
    ref = SourceRef(file=path.name, pointer="/summary") if summary else experiment.ref
    return Run(
        native_id=_native(name, known_as, path),
        external_id=known_as,
        source=SourceInfo(name=NAME),
        name=name,
        subject=Subject(model=next(iter(experiment.models)) if len(experiment.models) == 1 else ""),
        suite=text(summary.get("project_name")) or experiment.project,
        reported=experiment.seen.reported(ref, _summary_scores(summary)),
        scorers=experiment.seen.scorers,
        origin=str(path.parent),
        extra=rest(summary, _SUMMARY) | non_empty(url=summary.get("experiment_url"), scores=_further(summary)),
        ref=experiment.ref,
    )


def _native(name: str, known_as: str, path: Path) -> str:
    """A local experiment has only the name of its project, which all experiments of the project share."""
    if known_as:
        return name or known_as
    return f"{name or path.stem}-{hash_of_content(path)}"


def _summary_scores(summary: dict[str, Any]) -> dict[str, float | None]:
    return {name: number(mapping(told).get("score")) for name, told in mapping(summary.get("scores")).items()}


def _further(summary: dict[str, Any]) -> dict[str, Any]:
    """Improvements and regressions against another experiment."""
    scores = {name: rest(mapping(score), ("name", "score")) for name, score in mapping(summary.get("scores")).items()}
    return {
        name: score
        for name, score in scores.items()
        if any(score.get(key) for key in ("improvements", "regressions", "diff"))
    }


class _Trace(msgspec.Struct):
    root_span_id: Any = None

    def key(self) -> Any:
        return self.root_span_id if isinstance(self.root_span_id, str) and self.root_span_id else None


def groups_of(path: Path) -> Iterator[Row | Unreadable]:
    """One `Row` per trace; its data are the rows of the trace."""
    document = document_at(path)
    if document is None:
        yield from read_groups(path, _Trace, _Trace.key, source=NAME, root=path.parent)
    elif isinstance(document, Unreadable):
        yield document
    else:
        yield from ItemGroups(document, _Trace, _Trace.key).together()


def document_at(path: Path) -> LongDocument | Unreadable | None:
    """None for a file of lines."""
    head = head_of(path, HEAD).lstrip()
    if head.startswith(b"["):
        return long_document(path, "", source=NAME, root=path.parent)
    if _is_line(head):
        return None
    listed = _LISTED.search(head)
    return long_document(path, listed[1].decode() if listed else "results", source=NAME, root=path.parent)


def _is_line(head: bytes) -> bool:
    """Whether the first line is a row, and not a document or its beginning."""
    line, end, _ = head.partition(b"\n")
    try:
        first = decode(line)
    except ValueError:
        # a damaged row is followed by other rows; a document continues in the next line
        return line.strip() != b"{" and (bool(end) or b'"summary"' not in line) and b'"results"' not in line
    return isinstance(first, dict) and not any(
        isinstance(first.get(key), list) for key in ("results", "events", "data")
    )


def root_of(rows: tuple[Row, ...]) -> Row:
    """The root span of a trace; it need not come first."""
    objects = [row for row in rows if isinstance(row.data, dict)]
    return next((row for row in objects if _is_root(row.data)), objects[0])


def _is_root(row: dict[str, Any]) -> bool:
    return row.get("is_root") is True or (
        row.get("span_id") is not None and row.get("span_id") == row.get("root_span_id")
    )
