"""A prediction and its review, as far as they are there, and what all samples of a subset share."""

from typing import Any, NamedTuple

import msgspec

from errata.model import Run, SourceRef
from errata.sources.base import Row
from errata.sources.evalscope.reports import Report
from errata.sources.shared.values import as_text, mapping, sequence


class Index(msgspec.Struct):
    """By which a prediction and its review find each other."""

    index: Any = None

    def key(self) -> Any:
        return self.index


class Reading(NamedTuple):
    """What all samples of a subset share."""

    run: Run
    report: Report
    subset: str
    is_alone: bool
    """Whether it is the only subset: then cases are not named after it."""
    repeats: int

    def case(self, number_: Any) -> str:
        return as_text(number_) if self.is_alone else f"{self.subset}/{as_text(number_)}"

    @property
    def primary(self) -> str:
        return self.report.primary.name if self.report.primary else ""


class Sample(NamedTuple):
    prediction: Row | None
    review: Row | None

    @property
    def row(self) -> Row:
        """One of them is always there."""
        row = self.review or self.prediction
        assert row is not None
        return row

    @property
    def ref(self) -> SourceRef:
        return self.row.ref

    @property
    def index(self) -> Any:
        return self.row.data["index"]

    @property
    def predicted(self) -> dict[str, Any]:
        return mapping(self.prediction.data) if self.prediction else {}

    @property
    def reviewed(self) -> dict[str, Any]:
        return mapping(self.review.data) if self.review else {}

    @property
    def output(self) -> dict[str, Any]:
        return mapping(self.predicted.get("model_output"))

    @property
    def scored(self) -> dict[str, Any]:
        return mapping(self.reviewed.get("sample_score"))

    @property
    def score(self) -> dict[str, Any]:
        return mapping(self.scored.get("score"))

    @property
    def messages(self) -> list[Any]:
        return sequence(self.predicted.get("messages")) or sequence(self.reviewed.get("messages"))

    @property
    def choice(self) -> dict[str, Any]:
        return mapping(next(iter(sequence(self.output.get("choices"))), None))
