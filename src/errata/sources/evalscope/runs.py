"""A dataset that a model was tested on → its run: its files, its report, and the report's numbers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import Artefact, Evidence, Reported, Run, Scorer, SourceInfo, SourceRef, Subject
from errata.sources.base import READ_SIZE, children, folders, head_of, is_file, text_file
from errata.sources.evalscope import NAME
from errata.sources.shared.documents import Documents
from errata.sources.shared.values import (
    as_text,
    count,
    last_part,
    mapping,
    moment,
    non_empty,
    number,
    rest,
    sequence,
    settings,
    text,
)
from errata.text.clean import one_line
from errata.text.lazy_regex import lazy_regex
from errata.text.redact import redact

MOST_ERRORS = 20
LONGEST = 500
_ERROR = b" - ERROR: "
_TIME = lazy_regex(rb"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
_REPORT = frozenset(
    ("metrics", "schema_version", "dataset_name", "model_name", "dataset_pretty_name", "primary_metric_identity",
     "execution_summary")
)  # fmt: skip
_OLD_NAME = lazy_regex(r"(?P<how>mean|pass_at_k|pass_hat_k|vote_at_k)_(?P<name>.+)")
_METRIC = ("identity", "name", "score", "num", "categories", "macro_score", "semantics")
CONFIG = "configs/task_config.yaml"
LOG = "logs/eval_log.log"
CONFIG_CAP = 1024 * 1024
_REPEATS = lazy_regex(r"(?m)^repeats:\s*([1-9]\d{0,5})\s*$")
_WORK = lazy_regex(r"(?m)^work_dir:\s*['\"]?([^'\"\n]+)")
_DATASETS = lazy_regex(r"(?m)^datasets:\n((?:- [^\n]+\n)+)")


class ReportMetric(NamedTuple):
    """One of the metrics of a report."""

    name: str
    how: str
    """How the samples were aggregated."""
    dimensions: dict[str, Any]
    data: dict[str, Any]
    ref: SourceRef


class EvalscopeReport:
    def __init__(self, data: dict[str, Any], ref: SourceRef) -> None:
        self.data = data
        self.ref = ref
        self.measures = [
            _measure(mapping(metric), ref.below("metrics", at))
            for at, metric in enumerate(sequence(data.get("metrics")))
        ]

    @property
    def primary(self) -> ReportMetric | None:
        wanted = mapping(self.data.get("primary_metric_identity"))
        if wanted:
            return next((one for one in self.measures if mapping(one.data.get("identity")) == wanted), None)
        return None if text(self.data.get("primary_metric_unavailable_reason")) else next(iter(self.measures), None)

    def requested(self, subset: str) -> int | None:
        counts = mapping(mapping(self._execution.get("subsets")).get(subset))
        return count(counts.get("requested"))

    def errored(self, subset: str) -> int:
        return count(mapping(mapping(self._execution.get("subsets")).get(subset)).get("errored")) or 0

    def succeeded(self, subset: str) -> int:
        return count(mapping(mapping(self._execution.get("subsets")).get(subset)).get("succeeded")) or 0

    @property
    def total_succeeded(self) -> int | None:
        return count(self._execution.get("succeeded"))

    @property
    def total_requested(self) -> int | None:
        return count(self._execution.get("requested"))

    @property
    def _execution(self) -> dict[str, Any]:
        return mapping(self.data.get("execution_summary"))

    def reported(self, value_names: list[str]) -> Iterator[Reported]:
        """`value_names` are the names of the samples' values: only these metrics can be recomputed."""
        primary = self.primary
        for measure in self.measures:
            how = _reported(measure, value_names)
            yield Reported(
                name=measure.name,
                metric=how.metric,
                reducer=how.reducer,
                filter=", ".join(f"{name}={as_text(value)}" for name, value in measure.dimensions.items())
                if how.metric != "mean" or not how.reducer
                else "",
                value=number(measure.data.get("score")),
                n=count(measure.data.get("num")),
                headline=measure is primary,
                extra=rest(measure.data, _METRIC)
                | non_empty(macro_score=measure.data.get("macro_score"), semantics=measure.data.get("semantics")),
                ref=measure.ref,
            )
            yield from _of_subsets(measure, how)


class _How(NamedTuple):
    metric: str
    reducer: str


class Subset(NamedTuple):
    """One part of a dataset: its predictions and their reviews."""

    name: str
    predictions: Path | None
    reviews: Path | None


class Dataset(NamedTuple):
    model: str
    name: str
    report: Path | None
    subsets: tuple[Subset, ...]


class Config(NamedTuple):
    """Values from the YAML configuration, which is also kept as a file."""

    repeats: int
    work: str
    datasets: tuple[str, ...]


def run_of(root: Path, dataset: Dataset, report: EvalscopeReport, config: Config, value_names: list[str]) -> Run:
    judges = [as_text(one) for one in sequence(mapping(report.data.get("judge_summary")).get("judge_models"))]
    documents = Documents(root, NAME)
    return Run(
        native_id="_".join(filter(None, (dataset.name, dataset.model, config.work or root.name))),
        group=config.work,
        source=SourceInfo(name=NAME, format_version=as_text(report.data.get("schema_version") or "")),
        name=text(report.data.get("dataset_pretty_name")),
        subject=Subject(model=text(report.data.get("model_name")) or dataset.model),
        roles={"judge": judges[0]} if len(judges) == 1 else {},
        suite=text(report.data.get("dataset_name")) or dataset.name,
        expected_cases=_expected(report, config),
        measured_attempts=report.total_succeeded,
        started_at=_started(root),
        native_status="incomplete" if mapping(report.data.get("execution_summary")).get("incomplete") is True else "",
        reported=tuple(report.reported(value_names)),
        scorers=tuple(Scorer(name=name, lower_is_better=_is_lower(report, name)) for name in value_names),
        context=tuple(_context(documents, root)),
        log_evidence=tuple(_errors(root)),
        origin=str(root),
        extra=_extra(report, dataset),
        ref=report.ref,
    )


def _started(root: Path) -> str | None:
    """The time of the first log line, local to its machine."""
    time = _TIME.match(head_of(root / LOG, 64))
    return moment(time[0].decode()) if time else None


def _expected(report: EvalscopeReport, config: Config) -> int | None:
    """evalscope counts every repeat as a sample."""
    requested = report.total_requested
    return None if requested is None else requested // config.repeats


def _is_lower(report: EvalscopeReport, name: str) -> bool:
    directions = [mapping(one.data.get("semantics")).get("direction") for one in report.measures if one.name == name]
    return "lower_is_better" in directions


def _context(documents: Documents, root: Path) -> Iterator[Artefact]:
    config = documents.artefact(root / CONFIG, "config", name="task_config.yaml", clean=True)
    if config is not None:
        yield config


def _errors(root: Path) -> Iterator[Evidence]:
    """A sample that failed has no row; its error is only in the log."""
    path, errors = root / LOG, 0
    if not is_file(path):
        return
    try:
        with path.open("rb", buffering=READ_SIZE) as file:
            for number, line in enumerate(iter(lambda: file.readline(READ_SIZE), b""), start=1):
                if _ERROR in line and errors < MOST_ERRORS:
                    errors += 1
                    quote = one_line(redact(line.decode("utf-8", "replace")), LONGEST)
                    yield Evidence(name="error", quote=quote, ref=SourceRef(file=LOG, line=number))
    except OSError:
        return


def _extra(report: EvalscopeReport, dataset: Dataset) -> dict[str, Any]:
    fields: dict[str, Any] = settings(rest(report.data, _REPORT))
    other = report.data.get("model_name") if report.data.get("model_name") != dataset.model else None
    execution = rest(mapping(report.data.get("execution_summary")))
    return fields | non_empty(
        model_folder=dataset.model if other else None,
        execution_summary=execution,
        primary_metric=report.data.get("primary_metric_identity"),
    )


def _measure(data: dict[str, Any], ref: SourceRef) -> ReportMetric:
    identity = mapping(data.get("identity"))
    if identity:
        name, how = text(identity.get("name")), text(identity.get("aggregation"))
        return ReportMetric(name, how, mapping(identity.get("dimensions")), data, ref)
    # old reports have both in one name
    parts = _OLD_NAME.fullmatch(text(data.get("name")))
    return ReportMetric(
        parts["name"] if parts else text(data.get("name")), parts["how"] if parts else "", {}, data, ref
    )


def _reported(measure: ReportMetric, value_names: list[str]) -> _How:
    k = count(measure.dimensions.get("k"))
    if value_names and measure.name not in value_names:
        return _How(measure.name, "")
    if measure.how == "mean":
        return _How("mean", "")
    reducers = {"pass_at_k": f"pass_at_{k}", "pass_hat_k": f"pass_k_{k}"}
    return (
        _How("mean", reducers[measure.how]) if k and measure.how in reducers else _How(measure.how or measure.name, "")
    )


def _of_subsets(measure: ReportMetric, aggregation: _How) -> Iterator[Reported]:
    categories = [mapping(category) for category in sequence(measure.data.get("categories"))]
    for at, category in enumerate(categories):
        subsets = [mapping(subset) for subset in sequence(category.get("subsets"))]
        place = measure.ref.below("categories", at)
        beside = rest(category, ("name", "subsets"))
        for number_, subset in enumerate(subsets):
            yield Reported(
                name=measure.name,
                metric=aggregation.metric,
                reducer=aggregation.reducer,
                filter=" · ".join((*map(as_text, sequence(category.get("name"))), text(subset.get("name")))),
                value=number(subset.get("score")),
                n=count(subset.get("num")),
                extra=rest(subset, ("name", "score", "num")) | non_empty(category=beside),
                ref=place.below("subsets", number_),
            )


def config_of(root: Path) -> Config:
    config = text_file(root / CONFIG, cap=CONFIG_CAP) or ""
    repeats, work, listed = _REPEATS.search(config), _WORK.search(config), _DATASETS.search(config)
    names = [line.removeprefix("- ").strip() for line in listed[1].splitlines()] if listed else []
    return Config(int(repeats[1]) if repeats else 1, last_part(work[1].strip()) if work else "", tuple(names))


def name_alone(path: Path) -> str:
    above = path.absolute().parents
    parts = [folder.name for folder in above[:3]] if above[1].name in ("predictions", "reviews") else [above[0].name]
    return ".".join((*reversed(parts), path.stem))


def datasets_of(root: Path, config: Config) -> list[Dataset]:
    models = sorted({folder.name for part in ("reports", "reviews", "predictions") for folder in folders(root / part)})
    return [dataset for model in models for dataset in _of_model(root, model, config)]


def _of_model(root: Path, model: str, config: Config) -> list[Dataset]:
    """File names are `<dataset>_<subset>`: the names of datasets come from reports and the configuration."""
    reports = {file.stem: file for file in children(root / "reports" / model) if file.suffix == ".json"}
    known = sorted((*reports, *config.datasets), key=len, reverse=True)
    rows: dict[str, dict[str, Subset]] = {name: {} for name in reports}
    for part in ("predictions", "reviews"):
        for file in children(root / part / model):
            if file.suffix != ".jsonl" or not is_file(file):
                continue
            name = next((one for one in known if file.stem.startswith(f"{one}_")), file.stem)
            subset = file.stem.removeprefix(name).removeprefix("_")
            before = rows.setdefault(name, {}).get(subset, Subset(subset, None, None))
            rows[name][subset] = (
                before._replace(predictions=file) if part == "predictions" else before._replace(reviews=file)
            )
    return [Dataset(model, name, reports.get(name), tuple(subsets.values())) for name, subsets in sorted(rows.items())]
