"""A markdown file → what it states about a run."""

import msgspec

from errata.memory.reading.actions import ActionReader
from errata.memory.reading.advice import patterns_in, recommendations_in
from errata.memory.reading.cases import sibling_names
from errata.memory.reading.drafts import CaseNaming, is_gap
from errata.memory.reading.failures import FailureReader
from errata.memory.reading.head import head_of
from errata.memory.reading.labels import LabelWords
from errata.memory.reading.markdown import MarkdownPiece, pieces_of
from errata.memory.reading.memory_comment import from_memory, memory_in
from errata.memory.reading.records import with_records
from errata.memory.reading.results import with_results
from errata.memory.reading.sections import with_titles, with_topics
from errata.memory.reading.vocabulary import Vocabulary
from errata.memory.report_names import parse_file_name
from errata.model.prior_report import PriorReport


def read_report(
    text: str, *, path: str, below: str = "", digest: str = "", labels: LabelWords, cases: Vocabulary | None = None
) -> PriorReport:
    """`below` is its path from the folder of reports on; `labels` and `cases` are names that it may use."""
    titled = list(with_titles(with_records(pieces_of(text))))
    explained = labels.explained_in(text)
    pieces = list(with_results(with_topics(titled, lambda piece: bool(explained.find(_text_of(piece))))))
    known = Vocabulary(within=cases)
    known.learn_categories(pieces)
    head, runs = head_of(pieces, parse_file_name(below or path), known)
    models = [head.model, *(one.model for one in runs.drafts), *(one.id for one in runs.drafts)]
    labels = labels.explained_in(text, other=runs.aliases)
    for name in sibling_names(pieces, labels):
        known.add(name)
    reader = FailureReader(CaseNaming(labels, known, models), runs)
    failures = tuple(reader.read(pieces).failures(path))
    actions = ActionReader(known, path, date=head.date, subjects=reader.subjects, failures=failures)
    visible = PriorReport(
        path=path,
        digest=digest,
        **msgspec.structs.asdict(head),
        runs=tuple(one.record() for one in runs.drafts),
        failures=failures,
        actions=tuple(actions.read(pieces)),
        recommendations=tuple(recommendations_in(pieces, known, path)),
        patterns=tuple(patterns_in(pieces)),
        gaps=tuple(one.case for one in failures if is_gap(one.label)),
    )
    memory = memory_in(pieces)
    return visible if memory is None else from_memory(memory, visible)


def _text_of(piece: MarkdownPiece) -> str:
    return " ".join(cell.text for cell in piece.cells) or piece.text


def is_report(report: PriorReport) -> bool:
    """Whether it is about a run at all: a folder of reports holds other files, too."""
    return bool(report.failures or report.actions or (report.run and (report.model or report.total is not None)))
