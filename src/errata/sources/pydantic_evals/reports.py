"""A report of pydantic-evals → the run. It states no number; what it prints is the share of assertions that hold."""

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


class Report:
    """Gone through twice: who decides, and what the run is called, depends on all cases."""

    def __init__(self, document: LongDocument) -> None:
        self.ref = document.ref
        self.told: dict[str, Any] = {}
        self.problems: list[Unreadable] = list(document.problems())
        self._document = document
        for name in document.fields:
            try:
                self.told[name] = document.field(name)
            except ValueError as error:
                self.problems.append(unreadable(NAME, document.ref.below(name), describe(error)))
        self._survey()

    def rows(self) -> Iterator[Row | Unreadable]:
        """Those that broke last."""
        yield from self._document.rows()
        for at, one in enumerate(sequence(self.told.get(FAILURES))):
            yield Row(one, self.ref.below(FAILURES, at))

    def _survey(self) -> None:
        self.scorers: dict[str, str] = {}
        """Each measure, and the evaluator that gives it."""
        self.deciding: set[str] = set()
        self.only_telling: set[str] = set()
        """Evaluators that give scores and labels alone: nothing fails by these."""
        self.model, self.sizes, marks = "", {}, []  # type: str, dict[str, set[int]], list[Any]
        for row in self.rows():
            case = mapping(row.data) if isinstance(row, Row) else {}
            for kind in _MEASURES:
                for name, told in mapping(case.get(kind)).items():
                    source = text(mapping(mapping(told).get("source")).get("name"))
                    self.scorers.setdefault(name, source)
                    (self.deciding if kind == "assertions" else self.only_telling).add(source)
            self.model = self.model or text(mapping(case.get("attributes")).get("model"))
            if "assertions" in case:
                asked = case.get("source_case_name")
                self.sizes.setdefault(text(asked), set()).add(len(mapping(case["assertions"])))
            marks.append([case.get("name"), case.get("total_duration"), case.get("error_message")])
        self.only_telling -= self.deciding
        self.mark = fingerprint(as_text(marks), size=6)

    @property
    def are_alike(self) -> bool:
        """Whether the mean over the cases is the share of all assertions: all of a group have equally many."""
        return all(len(sizes) == 1 for sizes in self.sizes.values())


def run_of(report: Report, root: Path) -> Run:
    told = report.told
    given: dict[str, Any] = settings(mapping(told.get("experiment_metadata")))
    trace = text(told.get("trace_id"))
    name = text(told.get("name"))
    model = given.get("model")
    return Run(
        # without tracing all digits of an id are zero
        native_id=trace if trace.strip("0") else f"{name or 'report'}-{report.mark}",
        source=SourceInfo(name=NAME),
        name=name,
        subject=Subject(model=model if isinstance(model, str) else report.model),
        suite=text(told.get("dataset_name")),
        reported=tuple(_reported(report)),
        scorers=tuple(Scorer(name=measure, extra=non_empty(evaluator=one)) for measure, one in report.scorers.items()),
        log_evidence=tuple(_broken(report)),
        origin=str(root),
        extra=rest(told, _REPORT)
        | non_empty(
            experiment_metadata=given,
            analyses=told.get("analyses"),
            report_evaluator_failures=told.get("report_evaluator_failures"),
            trace_id=trace,
            span_id=told.get("span_id"),
        ),
        ref=report.ref,
    )


def _reported(report: Report) -> Iterator[Reported]:
    repeated = any(report.sizes) and "" not in report.sizes
    if report.deciding:
        yield Reported(
            name="assertions",
            metric="mean" if report.are_alike else "share of all assertions",
            reducer="mean" if repeated else "",
            headline=True,
            ref=report.ref.below(CASES),
        )
    elif report.only_telling:
        first = next(iter(report.scorers), "")
        yield Reported(name=first, metric="mean", reducer="mean" if repeated else "", headline=True, ref=report.ref)
    for at, one in enumerate(sequence(report.told.get("analyses"))):
        if mapping(one).get("type") == "scalar":
            yield Reported(
                name=text(one.get("title")),
                metric="analysis",
                value=number(one.get("value")),
                extra=rest(one, ("type", "title", "value")),
                ref=report.ref.below("analyses", at),
            )


def _broken(report: Report) -> Iterator[Evidence]:
    """Evaluators of the whole report that raised: a number is missing, and no case is the worse for it."""
    for at, one in enumerate(sequence(report.told.get("report_evaluator_failures"))):
        said = f"{text(mapping(one).get('name'))}: {text(mapping(one).get('error_message'))}"
        place = report.ref.below("report_evaluator_failures", at)
        yield Evidence(name="report evaluator failed", quote=said, ref=place)
