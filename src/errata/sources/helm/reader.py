"""The documents of a run folder → the run with its statistics, then its instances."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import Item, Reported, Run, Scorer, SourceInfo, SourceRef, Subject, Unreadable
from errata.sources.base import Row, convert_each, is_file, json_file, of_run
from errata.sources.helm import NAME, HelmFiles, files_of, run_name
from errata.sources.helm.instances import InstanceContext, RequestKey, StatsKey, items_of
from errata.sources.helm.stats import Stat, main_measure, stats_of
from errata.sources.helm.without_requests import Inputs, measured_items
from errata.sources.shared.documents import Documents
from errata.sources.shared.json_rows import LongDocument, long_document
from errata.sources.shared.row_groups import ItemGroups
from errata.sources.shared.runs import CaseNumbering
from errata.sources.shared.values import mapping, moment_since_1970, non_empty, plain, rest, sequence, settings, text
from errata.text.lazy_regex import lazy_regex

_MODEL = lazy_regex(r"(?<=[:,])model(?:_deployment)?=[^,]*,?")
_SPEC = ("name", "scenario_spec", "adapter_spec", "groups", "metric_specs")
_TESTED = ("test", "valid")


class Folder(NamedTuple):
    """The documents of a run, except the long lists of requests and their statistics."""

    path: Path
    files: HelmFiles
    spec: dict[str, Any]
    scenario: dict[str, Any]
    stats: tuple[Stat, ...]
    state_spec: dict[str, Any]
    """The `adapter_spec` beside the requests."""
    since: Any
    """The time of the first request."""
    in_rows: tuple[Stat, ...] = ()
    """The statistics of the first instance, for a run without statistics of its own."""

    @property
    def adapter(self) -> dict[str, Any]:
        return mapping(self.spec.get("adapter_spec")) or self.state_spec

    @property
    def groups(self) -> list[str]:
        return [text(one) for one in sequence(self.spec.get("groups"))]

    @property
    def main(self) -> str:
        known = self.stats or self.in_rows
        return main_measure(self.groups, (one.name for one in known if one.is_measure and one.value is not None))

    @property
    def split(self) -> str:
        """Leaderboards show the test split."""
        splits = {one.split for one in self.stats or self.in_rows}
        return next((name for name in _TESTED if name in splits), "")


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    files, root = files_of(path), path if path.is_dir() else path.parent
    documents = Documents(root, NAME)
    problems: list[Unreadable] = []
    state = _long(files.state, "request_states", problems)
    measured, predictions = _long(files.measured, "", problems), _long(files.predictions, "", problems)
    folder = Folder(
        path=path,
        files=files,
        spec=documents.get(files.spec) if files.spec else {},
        scenario=documents.get(files.scenario) if files.scenario else {},
        stats=tuple(stats_of(_list(files.stats, problems))),
        state_spec=_adapter(state),
        since=_since(state),
        in_rows=_first_stats(measured, predictions),
    )
    run = run_of(folder)
    yield run
    yield from of_run(run.id, (*documents.problems(), *problems))
    items = _groups(measured)
    if state is not None:
        context = InstanceContext(run, folder.adapter, folder.main, folder.split, items or _groups(predictions))
        rows = ItemGroups(state, RequestKey, RequestKey.key).together()
        yield from of_run(run.id, convert_each(rows, partial(items_of, context, CaseNumbering()), source=NAME))
    elif (rows_alone := items or _groups(predictions)) is not None:
        shown = _groups(predictions) if items else None
        context = InstanceContext(run, folder.adapter, folder.main, folder.split, shown)
        inputs = Inputs(_list(files.inputs, problems))
        convert = partial(measured_items, context, inputs, CaseNumbering())
        yield from of_run(run.id, convert_each(rows_alone.together(), convert, source=NAME))
    for document in (measured, predictions):
        if document is not None:
            yield from of_run(run.id, document.problems())


def _groups(document: LongDocument | None) -> ItemGroups | None:
    return ItemGroups(document, StatsKey, StatsKey.key) if document is not None else None


def _first_stats(*documents: LongDocument | None) -> tuple[Stat, ...]:
    for document in documents:
        first = document.row(0) if document is not None and document.items else None
        if isinstance(first, Row):
            return tuple(stats_of(mapping(first.data).get("stats")))
    return ()


def _long(path: Path | None, listed: str, problems: list[Unreadable]) -> LongDocument | None:
    """None if there is no such file, or it can't be read."""
    if path is None or not is_file(path):
        return None
    read = long_document(path, listed, source=NAME, root=path.parent)
    if isinstance(read, Unreadable):
        problems.append(read)
        return None
    return read


def _list(path: Path | None, problems: list[Unreadable]) -> Any:
    read = json_file(path, source=NAME, root=path.parent) if path is not None and is_file(path) else None
    if isinstance(read, Unreadable):
        problems.append(read)
    return read.data if isinstance(read, Row) else None


def _adapter(state: LongDocument | None) -> dict[str, Any]:
    try:
        return mapping(state.field("adapter_spec")) if state is not None else {}
    except (KeyError, ValueError):
        return {}


def _since(state: LongDocument | None) -> Any:
    first = state.row(0) if state is not None and state.items else None
    data = first.data if isinstance(first, Row) else None
    return mapping(mapping(data).get("result")).get("request_datetime")


def run_of(folder: Folder) -> Run:
    name = text(folder.spec.get("name"))
    suite = suite_of(name) or text(folder.scenario.get("name")) or "".join(folder.groups[:1])
    since = moment_since_1970(folder.since)
    return Run(
        native_id="_".join(filter(None, (name or suite, since))) or _name_of(folder.path),
        source=SourceInfo(name=NAME),
        name=name,
        subject=_subject(folder.adapter),
        suite=suite,
        expected_cases=_expected(folder),
        measured_attempts=_expected(folder),
        measured_unit="cases",
        started_at=since,
        reported=tuple(_reported(folder)),
        scorers=tuple(Scorer(name=one) for one in dict.fromkeys(one.name for one in folder.stats if one.is_measure)),
        origin=str(folder.path if folder.path.is_dir() else folder.path.parent),
        extra=_extra(folder),
        ref=SourceRef(file=_file_name(folder.files.spec if folder.spec else folder.files.first)),
    )


def _name_of(path: Path) -> str:
    """For a file beside those of other runs, the name without the words for its content."""
    return path.name if path.is_dir() else run_name(path) or f"{path.parent.name}.{path.stem}"


def _file_name(path: Path | None) -> str:
    return path.name if path is not None else ""


def suite_of(name: str) -> str:
    """The name of a run without its model: `mmlu:subject=philosophy`."""
    return _MODEL.sub("", name).rstrip(",:")


def _subject(adapter: dict[str, Any]) -> Subject:
    model, deployment = text(adapter.get("model")), text(adapter.get("model_deployment"))
    params: dict[str, Any] = settings(rest(adapter, ("model", "model_deployment")))
    return Subject(
        model=model or deployment,
        provider=deployment.partition("/")[0],
        params=params,
        extra=non_empty(model_deployment=deployment if deployment != model else None),
    )


def _expected(folder: Folder) -> int | None:
    """HELM's own count; None for runs with perturbed copies of instances."""
    if sequence(mapping(folder.spec.get("data_augmenter_spec")).get("perturbation_specs")):
        return None
    counts = [one.value for one in folder.stats if one.name == "num_instances" and one.value and not one.perturbation]
    return int(sum(counts)) if counts else None


def _reported(folder: Folder) -> Iterator[Reported]:
    """Means over trials of means over instances; with the same instances in each trial that is the mean of all."""
    main, split = folder.main, folder.split
    for stat in folder.stats:
        if stat.is_measure and stat.value is not None:
            plainly = (stat.name, stat.split, stat.sub_split, stat.perturbation) == (main, split, "", "")
            yield Reported(
                name=stat.name,
                metric="mean",
                filter=" ".join(filter(None, (stat.split, stat.sub_split, stat.perturbation))),
                value=stat.value,
                headline=plainly,
                ref=SourceRef(file=_file_name(folder.files.stats), pointer=f"/{stat.place}"),
            )


def _extra(folder: Folder) -> dict[str, Any]:
    beside = {one.label: one.value for one in folder.stats if not one.is_measure and one.value is not None}
    other = folder.state_spec if folder.spec and folder.state_spec != folder.adapter else None
    return rest(folder.spec, _SPEC) | non_empty(
        scenario=folder.scenario,
        scenario_spec=plain(folder.spec.get("scenario_spec")),
        metric_specs=plain(folder.spec.get("metric_specs")),
        groups=folder.groups,
        stats=beside,
        adapter_of_requests=other,
    )
