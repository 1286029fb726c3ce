"""ragas: the table of a result, as CSV or JSON lines."""

from collections.abc import Collection, Iterator
from pathlib import Path

from errata.model import Harness, Item
from errata.sources.base import Match, decode, head_of
from errata.text.lazy_regex import lazy_regex

NAME = "ragas"
TITLE = "ragas: the table of a result, as CSV or JSON lines"
HARNESS = Harness(name=NAME, title=NAME)

HEAD = 1024 * 1024
INPUT, ANSWER, REFERENCE, RETRIEVED = "user_input", "response", "reference", "retrieved_contexts"
SAMPLE = frozenset(
    (INPUT, ANSWER, REFERENCE, RETRIEVED, "reference_contexts", "retrieved_context_ids", "reference_context_ids",
     "multi_responses", "rubrics", "persona_name", "query_style", "query_length", "reference_tool_calls",
     "reference_topics", "synthesizer_name")
)  # fmt: skip
# column names before 0.2; these names alone are too common
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
NUMBERING = lazy_regex(r"(?:Unnamed: \d+|index|)")


def recognise(path: Path) -> Match | None:
    head = head_of(path, HEAD)
    if is_lines(head) or is_csv(head):
        return Match.sure("ragas samples with measures")
    return None


def fuller(path: Path) -> Path | None:
    """JSON lines beside a CSV that hold the same table: only they distinguish a list from a text."""
    if is_lines(head_of(path, HEAD)):
        return None
    from errata.sources.ragas.tables import same_table_beside

    return same_table_beside(path)


def is_lines(head: bytes) -> bool:
    first = head.partition(b"\n")[0].strip()
    try:
        row = decode(first) if first.startswith(b"{") else None
    except ValueError:
        return False
    return isinstance(row, dict) and are_results(row)


def is_csv(head: bytes) -> bool:
    first = head.partition(b"\n")[0].decode("utf-8", "replace").strip()
    return not first.startswith(("{", "[")) and are_results([one.strip().strip('"') for one in first.split(",")])


def are_results(names: Collection[str]) -> bool:
    """Samples with measures; a dataset has only the samples."""
    own = set(names) - SAMPLE - set(OLD)
    if INPUT in names and {ANSWER, REFERENCE, RETRIEVED, "multi_responses"} & set(names):
        return bool(own - set(IDS)) and not all(map(NUMBERING.fullmatch, own))
    return {"question", "answer"} <= set(names) and bool(own & _OLD_MEASURES)


def read(path: Path) -> Iterator[Item]:
    from errata.sources.ragas.reader import read as read_log

    return read_log(path)
