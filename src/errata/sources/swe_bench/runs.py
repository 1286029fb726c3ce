"""A run as a whole: its model, its evaluation, the numbers that SWE-bench reports, and the submitted patches.

Predictions are JSON lines, a list, or an object by instance. A patch is read when it is needed.
"""

from collections.abc import Container, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import FileConflict, Output, Reported, Run, SourceInfo, SourceRef, Subject, Unreadable
from errata.model.run import FOLDER
from errata.sources.base import BYTE_ORDER_MARK, LINE_CAP, READ_SIZE, decode, describe, head_of, relative, unreadable
from errata.sources.shared.json_rows import long_document
from errata.sources.shared.values import count, mapping, non_empty, number, rest, text
from errata.sources.swe_bench import NAME
from errata.sources.swe_bench.trajectory import AgentTrajectory

SUITE = "SWE-bench"
LISTS = (
    "resolved",
    "unresolved",
    "error",
    "empty_patch",
    "incomplete",
    "infra_failure",
    "ambiguous_failure",
    "completed",
    "submitted",
)
_COUNTS = ("total", *LISTS)
_NOT_MEASURED = frozenset(("incomplete", "submitted"))
_HOMES = frozenset(
    [*(f"{name}_ids" for name in LISTS), *(f"{name}_instances" for name in _COUNTS), "failure_reasons"]
) | frozenset(["schema_version"])
FIRST = 64 * 1024
LISTED_CAP = 20


class SweBenchEvaluation(NamedTuple):
    """The evaluated model and its evaluation. `model` is spelled as in paths."""

    run: str
    model: str = ""
    logs: Path | None = None


class SweBenchRun(NamedTuple):
    """What is known about a run before its instances are read."""

    native: str
    model: str
    origin: Path
    ref: SourceRef
    suite: str = SUITE
    report: dict[str, Any] = {}
    reported: tuple[Reported, ...] = ()
    first: AgentTrajectory | None = None
    """One of its trajectories: all are from one agent."""
    left_over: list[str] = []
    """Predictions that match none of its instances."""
    predictions: str = ""
    """`gold` where the reference patches were evaluated."""
    conflicts: tuple[FileConflict, ...] = ()
    total: int | None = None
    """How many instances were evaluated, where the report does not say."""
    folder: str = ""
    """Where another run has its name."""


class PatchPlace(NamedTuple):
    ref: SourceRef
    path: Path
    at: int = 0
    piece: bytes | None = None


def _differ(earlier: "PatchPlace", place: "PatchPlace", row: dict[str, Any]) -> bool:
    """Agents write the same patch into several files; another patch, or two rows in one file, are not such copies."""
    return earlier.ref.file == place.ref.file or _row(earlier).get("model_patch") != row.get("model_patch")


class Predictions:
    """Predictions by model, spelled as in paths, and by instance."""

    def __init__(self, files: Iterable[Path], root: Path) -> None:
        self.names: dict[str, str] = {}
        """The model as spelled in paths → as spelled in the predictions."""
        self._places: dict[tuple[str, str], PatchPlace] = {}
        self._problems: list[Unreadable] = []
        for path in files:
            for place in _places(path, root, self._problems):
                self._note(place)

    def patch(self, model: str, instance: str) -> Output:
        """Without a text if nothing was submitted."""
        place = self._places.get((model, instance))
        given = _row(place).get("model_patch") if place else None
        return Output(text=given, ref=place.ref) if place and isinstance(given, str) else Output()

    def instances(self) -> set[str]:
        return {instance for _, instance in self._places}

    def left_over(self, model: str, names: Container[str]) -> list[str]:
        """Patches without an instance in the run: submitted for others, or never evaluated."""
        others = (
            " of ".join(filter(None, (name, model_name)))
            for model_name, name in self._places
            if model_name != model or name not in names
        )
        return [*islice(others, LISTED_CAP)]

    def problems(self) -> Iterator[Unreadable]:
        problems, self._problems = self._problems, []
        yield from problems

    def _note(self, place: PatchPlace) -> None:
        try:
            row = _row(place)
        except ValueError as error:
            self._problems.append(unreadable(NAME, place.ref, describe(error)))
            return
        model, instance = text(row.get("model_name_or_path")), text(row.get("instance_id")) or _last(place.ref)
        self.names.setdefault(in_path(model), model)
        earlier = self._places.setdefault((in_path(model), instance), place)
        if earlier is not place and _differ(earlier, place, row):
            why = f"repeats the prediction for {instance}, which is also at {earlier.ref}: only that one is read"
            self._problems.append(unreadable(NAME, place.ref, why))


def evaluation_of(report: Path, logs: list[Path], predictions: Predictions, rows: list[Path]) -> SweBenchEvaluation:
    """The report names neither: the folder of its logs does, otherwise the predictions, otherwise its own name.

    `rows` are results of OpenHands, which names the report after them, and the folder after the run.
    """
    if any(path.parent == report.parent for path in rows):
        return SweBenchEvaluation(report.parent.name)
    for folder in logs:
        if report.name == f"{folder.name}.{folder.parent.name}.json":
            return SweBenchEvaluation(folder.parent.name, folder.name, folder)
    beside = [folder for folder in logs if folder.parent == report.parent]
    if len(beside) == 1:
        return SweBenchEvaluation(report.parent.name, beside[0].name, beside[0])
    stem = report.name.removesuffix(".json")
    for model in predictions.names:
        if model and stem.startswith(f"{model}."):
            return SweBenchEvaluation(stem.removeprefix(f"{model}."), model)
    model, _, run = stem.rpartition(".")
    return SweBenchEvaluation(run, model)


def run_of(facts: SweBenchRun) -> Run:
    first = facts.first
    return Run(
        native_id=facts.native,
        source=SourceInfo(name=NAME, format_version=_version(facts.report)),
        name=facts.native,
        subject=Subject(
            model=facts.model or (first.model if first else ""),
            agent=first.agent if first else "",
            agent_version=first.version if first else "",
        ),
        variant=non_empty(predictions=facts.predictions, **{FOLDER: facts.folder}),
        suite=facts.suite,
        expected_cases=facts.total or count(facts.report.get("total_instances")),
        measured_attempts=facts.total or _measured_count(facts.report),
        measured_unit="cases",
        reported=facts.reported or tuple(_reported(facts.report, facts.ref)),
        conflicts=facts.conflicts,
        origin=str(facts.origin),
        ref=facts.ref,
        extra=rest(facts.report, _HOMES) | non_empty(predictions_left_over=facts.left_over),
    )


def lists_of(document: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """Instance → the report's lists that name it."""
    lists: dict[str, list[str]] = {}
    for name in LISTS:
        ids = document.get(f"{name}_ids")
        for instance in ids if isinstance(ids, list) else []:
            lists.setdefault(text(instance) or str(instance), []).append(name)
    return {instance: tuple(lists[instance]) for instance in sorted(lists)}


def _measured_count(document: dict[str, Any]) -> int | None:
    """Set if the report counts more instances than it names; instances without a patch are measured, too."""
    counts = {name: count(document.get(f"{name}_instances")) or 0 for name in ("completed", "empty_patch", "error")}
    listed = {name for name, lists in lists_of(document).items() if not set(lists) <= _NOT_MEASURED}
    return sum(counts.values()) if sum(counts.values()) > len(listed) else None


def _version(document: dict[str, Any]) -> str:
    version = document.get("schema_version")
    return "" if version is None else str(version)


def _reported(document: dict[str, Any], ref: SourceRef) -> Iterator[Reported]:
    """Resolved out of all instances: those not submitted or not measured stay in the denominator."""
    if not document:
        return
    total, resolved = number(document.get("total_instances")), number(document.get("resolved_instances"))
    value = resolved / total if total and resolved is not None else None
    n = count(document.get("total_instances"))
    yield Reported(name="resolved", metric="pass_rate", value=value, n=n, headline=True, ref=ref)
    for name in _COUNTS:
        key = f"{name}_instances"
        if (amount := number(document.get(key))) is not None:
            metric = "passed" if name == "resolved" else "count"
            yield Reported(name=key, metric=metric, value=amount, ref=ref.below(key))


def in_path(model: str) -> str:
    """SWE-bench's spelling of a model in paths."""
    return model.replace("/", "__")


def _row(place: PatchPlace) -> dict[str, Any]:
    if place.piece is not None:
        return mapping(decode(place.piece))
    with place.path.open("rb") as file:
        file.seek(place.at)
        return mapping(decode(file.readline(LINE_CAP)))


def _places(path: Path, root: Path, problems: list[Unreadable]) -> Iterator[PatchPlace]:
    head = head_of(path, FIRST).lstrip()
    if head.startswith(b"{") and _is_row(head.partition(b"\n")[0]):
        yield from _lines(path, root)
        return
    document = long_document(path, "" if head.startswith(b"[") else " ", source=NAME, root=root)
    if isinstance(document, Unreadable):
        problems.append(document)
        return
    problems.extend(document.problems())
    yield from (PatchPlace(document.ref.below(at), path, piece=bytes(one)) for at, one in enumerate(document.items))
    yield from (PatchPlace(document.ref.below(name), path, piece=one) for name, one in document.fields.items())


def _lines(path: Path, root: Path) -> Iterator[PatchPlace]:
    name, at, number = relative(path, root), 0, 0
    with path.open("rb", buffering=READ_SIZE) as file:
        for line in file:
            number += 1
            if line.strip().removeprefix(BYTE_ORDER_MARK):
                yield PatchPlace(SourceRef(file=name, line=number), path, at)
            at += len(line)


def _is_row(line: bytes) -> bool:
    """Whether it is a row; a line may be longer than the head of the file, and is then cut off."""
    try:
        return "instance_id" in mapping(decode(line))
    except ValueError:
        return line.lstrip(b"{ ").startswith((b'"instance_id"', b'"model_name_or_path"', b'"model_patch"'))


def _last(ref: SourceRef) -> str:
    return ref.pointer.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
