"""A markdown report → its run, failures and actions: exact for errata's own reports, best effort for others."""

import msgspec

from errata.memory.reading.actions import actions_in, patterns_in, recommendations_in
from errata.memory.reading.cases import Vocabulary
from errata.memory.reading.drafts import CaseNaming, is_gap
from errata.memory.reading.failures import FailureReader
from errata.memory.reading.head import head_of, parse_file_name
from errata.memory.reading.labels import LabelWords
from errata.memory.reading.markdown import pieces_of
from errata.memory.reading.memory_comment import from_memory, memory_in
from errata.memory.reading.sections import with_titles
from errata.model.prior_report import PriorReport


def read_report(
    text: str, *, path: str, below: str = "", digest: str = "", labels: LabelWords, cases: Vocabulary | None = None
) -> PriorReport:
    """`below` is its path from the folder of reports on; `labels` and `cases` are names that it may use."""
    pieces = list(with_titles(pieces_of(text)))
    known = Vocabulary(within=cases)
    head, models = head_of(pieces, parse_file_name(below or path), known)
    failures = tuple(FailureReader(CaseNaming(labels, known, models)).read(pieces).failures(path))
    visible = PriorReport(
        path=path,
        digest=digest,
        **msgspec.structs.asdict(head),
        failures=failures,
        actions=tuple(actions_in(pieces, known, path, date=head.date)),
        recommendations=tuple(recommendations_in(pieces, known, path)),
        patterns=tuple(patterns_in(pieces)),
        gaps=tuple(one.case for one in failures if is_gap(one.label)),
    )
    memory = memory_in(pieces)
    return visible if memory is None else from_memory(memory, visible)


def is_report(report: PriorReport) -> bool:
    """Whether it is about a run at all: a folder of reports holds other files, too."""
    return bool(report.failures or report.actions or (report.run and (report.model or report.total is not None)))
