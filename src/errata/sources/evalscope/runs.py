"""A dataset that a model was tested on → its run."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from errata.model import Artefact, Evidence, Run, Scorer, SourceInfo, SourceRef, Subject
from errata.sources.base import READ_SIZE, head_of
from errata.sources.evalscope.layout import CONFIG, LOG, NAME, Config, Dataset
from errata.sources.evalscope.reports import Report
from errata.sources.shared.documents import Documents, is_file
from errata.sources.shared.values import as_text, known, mapping, moment, rest, sequence, settings, text
from errata.text.clean import one_line
from errata.text.redact import redact

MOST_ERRORS = 20
LONGEST = 500
_ERROR = b" - ERROR: "
_TIME = re.compile(rb"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
_REPORT = frozenset(
    ("metrics", "schema_version", "dataset_name", "model_name", "dataset_pretty_name", "primary_metric_identity",
     "execution_summary")
)  # fmt: skip


def run_of(root: Path, dataset: Dataset, report: Report, config: Config, measured: list[str]) -> Run:
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
        measured_attempts=report.measured_in_all,
        started_at=_started(root),
        native_status="incomplete" if _is_incomplete(report) else "",
        reported=tuple(report.reported(measured)),
        scorers=tuple(Scorer(name=name, lower_is_better=_is_lower(report, name)) for name in measured),
        context=tuple(_context(documents, root)),
        log_evidence=tuple(_errors(root)),
        origin=str(root),
        extra=_extra(report, dataset),
        ref=report.ref,
    )


def _started(root: Path) -> str | None:
    """The first line of the log, in the time of its machine."""
    told = _TIME.match(head_of(root / LOG, 64))
    return moment(told[0].decode()) if told else None


def _expected(report: Report, config: Config) -> int | None:
    """Every repeat is a sample of its own to evalscope."""
    asked = report.asked_in_all
    return None if asked is None else asked // config.repeats


def _is_incomplete(report: Report) -> bool:
    return mapping(report.data.get("execution_summary")).get("incomplete") is True


def _is_lower(report: Report, name: str) -> bool:
    told = [mapping(one.data.get("semantics")).get("direction") for one in report.measures if one.name == name]
    return "lower_is_better" in told


def _context(documents: Documents, root: Path) -> Iterator[Artefact]:
    made = documents.artefact(root / CONFIG, "config", name="task_config.yaml", clean=True)
    if made is not None:
        yield made


def _errors(root: Path) -> Iterator[Evidence]:
    """A sample that broke leaves no row; only the log says why."""
    path, found = root / LOG, 0
    if not is_file(path):
        return
    try:
        with path.open("rb", buffering=READ_SIZE) as file:
            for number, line in enumerate(iter(lambda: file.readline(READ_SIZE), b""), start=1):
                if _ERROR in line and found < MOST_ERRORS:
                    found += 1
                    quote = one_line(redact(line.decode("utf-8", "replace")), LONGEST)
                    yield Evidence(name="error", quote=quote, ref=SourceRef(file=LOG, line=number))
    except OSError:
        return


def _extra(report: Report, dataset: Dataset) -> dict[str, Any]:
    told: dict[str, Any] = settings(rest(report.data, _REPORT))
    other = report.data.get("model_name") if report.data.get("model_name") != dataset.model else None
    execution = rest(mapping(report.data.get("execution_summary")))
    return told | known(
        model_folder=dataset.model if other else None,
        execution_summary=execution,
        primary_metric=report.data.get("primary_metric_identity"),
    )
