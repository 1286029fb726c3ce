"""Which columns of a table are ragas's samples, which are its measures, and which are somebody's own."""

import re
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from errata.sources.base import number_or_none

INPUT, ANSWER, REFERENCE, RETRIEVED = "user_input", "response", "reference", "retrieved_contexts"
SAMPLE = frozenset(
    (INPUT, ANSWER, REFERENCE, RETRIEVED, "reference_contexts", "retrieved_context_ids", "reference_context_ids",
     "multi_responses", "rubrics", "persona_name", "query_style", "query_length", "reference_tool_calls",
     "reference_topics", "synthesizer_name")
)  # fmt: skip
# what the columns were called before 0.2; these names alone are anybody's
OLD = {
    "question": INPUT,
    "answer": ANSWER,
    "contexts": RETRIEVED,
    "ground_truth": REFERENCE,
    "ground_truths": REFERENCE,
}
_OLD_MEASURES = frozenset(
    ("faithfulness", "answer_relevancy", "context_precision", "context_recall", "answer_correctness",
     "answer_similarity", "context_entity_recall", "context_relevancy")
)  # fmt: skip
IDS = ("id", "sample_id", "question_id", "case_id")
_NUMBERING = re.compile(r"(?:Unnamed: \d+|index|)")


def are_results(names: Collection[str]) -> bool:
    """Samples with something measured of them; a data set has only the samples."""
    own = set(names) - SAMPLE - set(OLD)
    if INPUT in names and {ANSWER, REFERENCE, RETRIEVED, "multi_responses"} & set(names):
        return bool(own - set(IDS)) and not all(map(_NUMBERING.fullmatch, own))
    return {"question", "answer"} <= set(names) and bool(own & _OLD_MEASURES)


class Columns(NamedTuple):
    measures: tuple[str, ...]
    """In the order of the table."""
    ident: str
    """The column that names a row; empty where none does."""

    @property
    def primary(self) -> str:
        return self.measures[0] if self.measures else ""


def columns_of(rows: Iterable[dict[str, Any]]) -> Columns:
    """A measure holds nothing but numbers and gaps. One that is all gaps was measured of no row."""
    names: dict[str, bool] = {}
    told: set[str] = set()
    for row in rows:
        for name, value in row.items():
            if value is None or value == "":
                names.setdefault(name, True)
                continue
            told.add(name)
            names[name] = names.get(name, True) and (_is_gap(value) or number_or_none(value) is not None)
    own = [name for name in names if name not in SAMPLE and name not in OLD]
    ident = next((name for name in IDS if name in told), "")
    return Columns(tuple(one for one in own if names[one] and one not in IDS and not _NUMBERING.fullmatch(one)), ident)


def _is_gap(value: Any) -> bool:
    return value != value or (isinstance(value, str) and value.lower() == "nan")
