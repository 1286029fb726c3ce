"""A report of pydantic-evals → the run. The file has no overall number; the share of assertions is only printed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from errata.model import Evidence, Reported, Run, Scorer, SourceInfo, Subject, Unreadable
from errata.model.identity import fingerprint
from errata.sources.base import Row, describe, unreadable
from errata.sources.pydantic_evals import NAME
from errata.sources.shared.json_rows import LongDocument
from errata.sources.shared.values import as_text, mapping, non_empty, number, rest, sequence, settings, text

CASES, FAILURES = "cases", "failures"

_REPORT = frozenset(
    ("name", "dataset_name", FAILURES, "analyses", "report_evaluator_failures", "experiment_metadata", "trace_id",
     "span_id")
)  # fmt: skip
_MEASURES = ("assertions", "scores", "labels")


class PydanticReport:
    """The report is read twice: the deciding scorers and the name of the run depend on all cases."""

    def __init__(self, document: LongDocument) -> None:
        self.ref = document.ref
        self.fields: dict[str, Any] = {}
        self.problems: list[Unreadable] = list(document.problems())
        self._document = document
        for name in document.fields:
            try:
                self.fields[name] = document.field(name)
            except ValueError as error:
                self.problems.append(unreadable(NAME, document.ref.below(name), describe(error)))
        self._survey()

    def rows(self) -> Iterator[Row | Unreadable]:
        """Cases whose task raised come last."""
        yield from self._document.rows()
        for at, failure in enumerate(sequence(self.fields.get(FAILURES))):
            yield Row(failure, self.ref.below(FAILURES, at))

    def _survey(self) -> None:
        self.scorers: dict[str, str] = {}
        """Each measure and its evaluator."""
        self.deciding: set[str] = set()
        self.only_informative: set[str] = set()
        """Evaluators that only give scores and labels, which nothing fails by."""
        self.model, self.sizes, marks = "", {}, []  # type: str, dict[str, set[int]], list[Any]
        for row in self.rows():
            case = mapping(row.data) if isinstance(row, Row) else {}
            for kind in _MEASURES:
                for name, result in mapping(case.get(kind)).items():
                    source = text(mapping(mapping(result).get("source")).get("name"))
                    self.scorers.setdefault(name, source)
                    (self.deciding if kind == "assertions" else self.only_informative).add(source)
            self.model = self.model or text(mapping(case.get("attributes")).get("model"))
            if "assertions" in case:
                source_case = case.get("source_case_name")
                self.sizes.setdefault(text(source_case), set()).add(len(mapping(case["assertions"])))
            marks.append([case.get("name"), case.get("total_duration"), case.get("error_message")])
        self.only_informative -= self.deciding
        self.mark = fingerprint(as_text(marks), size=6)

    @property
    def are_alike(self) -> bool:
        """Whether the mean over the cases equals the share of all assertions: cases of a group have equally many."""
        return all(len(sizes) == 1 for sizes in self.sizes.values())


def run_of(report: PydanticReport, root: Path) -> Run:
    fields = report.fields
    metadata: dict[str, Any] = settings(mapping(fields.get("experiment_metadata")))
    trace = text(fields.get("trace_id"))
    name = text(fields.get("name"))
    model = metadata.get("model")
    return Run(
        # without tracing, all digits of an id are zero
        native_id=trace if trace.strip("0") else f"{name or 'report'}-{report.mark}",
        source=SourceInfo(name=NAME),
        name=name,
        subject=Subject(model=model if isinstance(model, str) else report.model),
        suite=text(fields.get("dataset_name")),
        reported=tuple(_reported(report)),
        scorers=tuple(Scorer(name=measure, extra=non_empty(evaluator=one)) for measure, one in report.scorers.items()),
        log_evidence=tuple(_broken(report)),
        origin=str(root),
        extra=rest(fields, _REPORT)
        | non_empty(
            experiment_metadata=metadata,
            analyses=fields.get("analyses"),
            report_evaluator_failures=fields.get("report_evaluator_failures"),
            trace_id=trace,
            span_id=fields.get("span_id"),
        ),
        ref=report.ref,
    )


def _reported(report: PydanticReport) -> Iterator[Reported]:
    repeated = any(report.sizes) and "" not in report.sizes
    if report.deciding:
        yield Reported(
            name="assertions",
            metric="mean" if report.are_alike else "share of all assertions",
            reducer="mean" if repeated else "",
            headline=True,
            ref=report.ref.below(CASES),
        )
    elif report.only_informative:
        first = next(iter(report.scorers), "")
        yield Reported(name=first, metric="mean", reducer="mean" if repeated else "", headline=True, ref=report.ref)
    for at, analysis in enumerate(sequence(report.fields.get("analyses"))):
        if mapping(analysis).get("type") == "scalar":
            yield Reported(
                name=text(analysis.get("title")),
                metric="analysis",
                value=number(analysis.get("value")),
                extra=rest(analysis, ("type", "title", "value")),
                ref=report.ref.below("analyses", at),
            )


def _broken(report: PydanticReport) -> Iterator[Evidence]:
    """Evaluators of the whole report that raised: a number is missing, but no case is affected."""
    for at, failure in enumerate(sequence(report.fields.get("report_evaluator_failures"))):
        message = f"{text(mapping(failure).get('name'))}: {text(mapping(failure).get('error_message'))}"
        place = report.ref.below("report_evaluator_failures", at)
        yield Evidence(name="report evaluator failed", quote=message, ref=place)
