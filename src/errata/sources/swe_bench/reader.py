"""The runs at a path: one per report, per folder of logs without a report, and per map of verdicts."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePath
from typing import Any

from errata.model import Item, Reported, Run, SourceRef
from errata.sources.base import Row, convert_each, folders, of_run
from errata.sources.shared.documents import Documents
from errata.sources.shared.row_groups import copied_row
from errata.sources.shared.values import mapping, text
from errata.sources.swe_bench import NAME, REPORT, is_instance_folder, lists_2024
from errata.sources.swe_bench.instances import Instance, attempt_of, case_of
from errata.sources.swe_bench.runs import (
    Predictions,
    SweBenchEvaluation,
    SweBenchRun,
    evaluation_of,
    in_path,
    lists_of,
    run_of,
)
from errata.sources.swe_bench.trajectories import SweBenchFiles, Trajectories, TrajectoryPlace, name_alone, survey
from errata.sources.swe_bench.trajectory import AgentTrajectory
from errata.sources.swe_bench.verdict import PatchVerdict, verdict_of

PRO = "SWE-bench Pro"


class RunReader:
    """What the runs of one path share: documents, predictions and trajectories."""

    def __init__(self, files: SweBenchFiles) -> None:
        self._files = files
        self._documents = Documents(files.root, NAME, keep="end")
        self._predictions = Predictions(files.of("predictions"), files.root)
        self._trajectories = Trajectories(files, self._documents)
        self._submissions: dict[str, list[tuple[Run, Any]]] = {}
        """Name → the runs with it, each with its report."""

    def evaluation(self, report: Path) -> SweBenchEvaluation:
        return evaluation_of(report, self._files.logs, self._predictions, self._files.of("openhands"))

    def report(self, report: Path, evaluation: SweBenchEvaluation) -> Iterator[Item]:
        document = self._documents.get(report)
        ref = self._documents.ref(report)
        lists, reasons = lists_of(document), mapping(document.get("failure_reasons"))
        logged_names = (
            {child.name for child in folders(evaluation.logs) if is_instance_folder(child)}
            if evaluation.logs
            else set()
        )
        names = sorted({*lists, *logged_names})
        model = self._predictions.names.get(evaluation.model, evaluation.model)
        alone = len(self._files.of("report")) == 1
        joined = self._join(evaluation, report.parent, alone=alone)
        left_over = self._predictions.left_over(evaluation.model, names) if alone else []
        first = self._first(names, joined)
        facts = SweBenchRun(
            evaluation.run, model, self._files.root, ref, report=document, first=first, left_over=left_over
        )

        def instance(name: str) -> Instance:
            return self._instance(name, ref, evaluation, joined)._replace(
                listed=ref, lists=lists.get(name, ()), reason=text(reasons.get(name)), counted=name in lists
            )

        yield from self._run(facts, names, instance)

    def logs(self, folder: Path) -> Iterator[Item]:
        """An evaluation that was not finished, or whose report is elsewhere."""
        evaluation = SweBenchEvaluation(folder.parent.name, folder.name, folder)
        joined = self._join(evaluation, self._files.root, alone=len(self._files.logs) == 1)
        names = [child.name for child in folders(folder) if is_instance_folder(child)]
        model = self._predictions.names.get(evaluation.model, evaluation.model)
        ref = self._documents.ref(folder)
        facts = SweBenchRun(evaluation.run, model, self._files.root, ref, first=self._first(names, joined))
        yield from self._run(facts, names, lambda name: self._instance(name, ref, evaluation, joined))

    def lists(self, report: Path, others: Sequence[Path], folder: Path | None, name: str) -> Iterator[Item]:
        """A report of 2024. The run is named after its folder, or else has the `name` of the report.

        `others` are reports beside it about the same run, `folder` has the logs of its instances where it is of later.
        A submission with copies in several folders is read once; where they differ, they are several runs.
        """
        document, ref = self._documents.get(report), self._documents.ref(report)
        name = name or lists_2024.run_folder(report).name
        known = self._submissions.setdefault(name, [])
        for earlier, content in known:
            if content == document:
                yield from of_run(earlier.id, [copied_row(NAME, ref, earlier.native_id, earlier.ref)])
                return
        logs, logged = lists_2024.logs_beside(report), folders(folder) if folder else ()
        total = lists_2024.total_of(report, document)
        own = {*logs, *(one.name for one in logged if is_instance_folder(one))}
        evaluated = own | {*self._predictions.instances()}
        lists = lists_2024.lists_by_instance(document, evaluated)
        if total is not None and len(lists) > total:
            # the predictions are of other submissions, too
            lists = lists_2024.lists_by_instance(document, own)
        model = lists_2024.model_of(name, logs, self._predictions.names.values())
        other_reports = {other.name: self._documents.get(other) for other in others}
        resolved = {file: {*lists_2024.resolved_in(other)} for file, other in other_reports.items()}
        facts = SweBenchRun(
            name,
            model,
            self._files.root,
            ref,
            reported=tuple(lists_2024.numbers_of(document, ref, total)),
            predictions=lists_2024.predictions_of(model),
            conflicts=tuple(lists_2024.conflicts_of(document, ref, other_reports)),
            total=total,
            folder=str(PurePath(ref.file).parent) if known else "",
        )
        known.append((run_of(facts), document))
        if lists_2024.is_short(document) and total is None and not evaluated:
            self._documents.refuse(ref, lists_2024.NO_FAILURES)

        def instance(name: str) -> Instance:
            built = lists_2024.instance_of(
                *(name, lists[name], logs.get(name), self._documents, ref),
                patch=self._predictions.patch(in_path(model), name),
                elsewhere={file: name in ids for file, ids in resolved.items()},
            )
            if folder is None or not is_instance_folder(folder / name):
                return built
            verdict = verdict_of(folder / name, self._documents)
            return built._replace(verdict=verdict, ref=verdict.ref or ref)

        yield from self._run(facts, list(lists), instance)

    def verdicts(self, path: Path) -> Iterator[Item]:
        """SWE-bench Pro: instance → whether it is resolved. The model is the name of the folder."""
        document = self._documents.get(path)
        evaluation = SweBenchEvaluation(path.parent.name, path.parent.name)
        joined = self._join(evaluation, path.parent, alone=len(self._files.of("map")) == 1)
        ref = self._documents.ref(path)
        headline = Reported(name="accuracy", metric="pass_rate", headline=True, ref=ref)
        first = self._first(document, joined)
        facts = SweBenchRun(
            evaluation.run, evaluation.model, self._files.root, ref, suite=PRO, reported=(headline,), first=first
        )

        def instance(name: str) -> Instance:
            resolved = document[name]
            if not isinstance(resolved, bool):
                raise ValueError(f"expected true or false, not {resolved!r:.40}")
            built = self._instance(name, ref.below(name), evaluation, joined)
            return built._replace(lists=("resolved" if resolved else "unresolved",), counted=True)

        yield from self._run(facts, list(document), instance)

    def trajectories_alone(self, path: Path) -> Iterator[Item]:
        names = [*self._trajectories.instances()]
        joined = self._join(SweBenchEvaluation(""), self._files.root, alone=True)
        ref = self._documents.ref(path)
        facts = SweBenchRun(name_alone(path), "", self._files.root, ref, first=self._first(names, joined))
        yield from self._run(facts, names, lambda name: self._instance(name, ref, SweBenchEvaluation(""), joined))

    def _run(self, facts: SweBenchRun, names: list[str], instance: Callable[[str], Instance]) -> Iterator[Item]:
        run = run_of(facts)
        yield run

        def items(row: Row) -> Iterator[Item]:
            entry = instance(row.data)
            yield case_of(run, entry)
            yield attempt_of(run, entry)

        rows = (Row(name, facts.ref) for name in names)
        for item in convert_each(rows, items, source=NAME):
            yield from of_run(run.id, (item, *self._documents.problems(), *self._predictions.problems()))
        yield from of_run(run.id, (*self._documents.problems(), *self._predictions.problems()))

    def _instance(
        self, name: str, ref: SourceRef, evaluation: SweBenchEvaluation, joined: "TrajectoryJoin"
    ) -> Instance:
        verdict = verdict_of(evaluation.logs / name, self._documents) if evaluation.logs else PatchVerdict()
        trajectory, others = joined(name)
        return Instance(
            name=name,
            ref=verdict.ref or (trajectory.ref if trajectory and not ref.pointer else ref),
            verdict=verdict,
            patch=self._predictions.patch(evaluation.model, name),
            trajectory=trajectory,
            others=others,
        )

    def _first(self, names: Any, joined: "TrajectoryJoin") -> AgentTrajectory | None:
        return next(filter(None, (joined(name)[0] for name in names)), None)

    def _join(self, evaluation: SweBenchEvaluation, below: Path, *, alone: bool) -> "TrajectoryJoin":
        return TrajectoryJoin(self._trajectories, evaluation, below, alone)


class TrajectoryJoin:
    """Finds the trajectory of an instance for a run: the only one, or one whose path names the run or its model."""

    def __init__(self, trajectories: Trajectories, evaluation: SweBenchEvaluation, below: Path, alone: bool) -> None:
        self._trajectories = trajectories
        self._words = {word for word in (evaluation.run, evaluation.model) if word}
        self._below = below
        self._alone = alone

    def __call__(self, instance: str) -> tuple[AgentTrajectory | None, tuple[str, ...]]:
        places = self._trajectories.places(instance, self._below)
        own = [place for place in places if self._names_the_run(place)]
        if not own and self._alone:
            own = places
        if not own:
            return None, ()
        others = tuple(place.path.relative_to(self._below).as_posix() for place in own[1:])
        return self._trajectories.read(own[0]), others

    def _names_the_run(self, place: TrajectoryPlace) -> bool:
        return bool(self._words & set(place.path.relative_to(self._below).parts))


_SAME_RUN = ("report", "result", "results")


def read(path: Path) -> Iterator[Item]:
    files = survey(path.absolute())
    runs = RunReader(files)
    read_logs: set[Path] = set()
    for report in files.of("report"):
        evaluation = runs.evaluation(report)
        read_logs |= {evaluation.logs} if evaluation.logs else set()
        yield from runs.report(report, evaluation)
    for report, others, name in _by_run(files.of("lists")):
        folder = next((one for one in files.logs if one.parent == lists_2024.run_folder(report)), None)
        read_logs |= {folder} if folder else set()
        yield from runs.lists(report, others, folder, name)
    for verdicts in files.of("map"):
        yield from runs.verdicts(verdicts)
    for folder in files.logs:
        if folder not in read_logs:
            yield from runs.logs(folder)
    if not (files.of("report", "lists", "map") or files.logs):
        yield from runs.trajectories_alone(path.absolute())


def _by_run(reports: list[Path]) -> Iterator[tuple[Path, list[Path], str]]:
    """The report that counts and those that repeat it: `results.json` may lie beside `report.json`.

    Beside others, a report with a name of its own is another run.
    """
    folders: dict[Path, list[Path]] = {}
    for report in sorted(reports):
        folders.setdefault(report.parent, []).append(report)
    for files in folders.values():
        alike = [path for path in files if path.stem in _SAME_RUN] if len(files) > 1 else files
        if alike:
            first, *others = sorted(alike, key=lambda path: path.name != REPORT)
            yield first, others, ""
        yield from ((path, [], path.stem) for path in files if path not in alike)
