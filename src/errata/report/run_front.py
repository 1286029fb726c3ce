"""The first screen of a report about one run: the answer, score, owners, top causes and what to do."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from errata.model.output.report.run import RunReport
from errata.render.document import Block, Link, line, paragraph
from errata.render.proof import SHOWN_OR_PRESUMED
from errata.report.front import SHOWN, advice_card, causes_card, findings_card, owner_card, score_card, suspicious_card
from errata.report.run_advice import HEADINGS, advice_line, heading_of
from errata.report.run_groups import CauseGroup, ranked_causes
from errata.report.run_prose import answer_of, bounds_words, owner_notes, regressed_words

CASES = 2
"""Cases in a recommendation."""


def run_front(report: RunReport, groups: Sequence[CauseGroup], keys: Mapping[int, str]) -> Iterator[Block]:
    """The answer and the cards of the first screen."""
    yield paragraph(answer_of(report))
    if report.since is not None and (regressed := regressed_words(report.since)):
        yield paragraph(regressed)
    yield from findings_card(report.findings)
    yield from suspicious_card(report.suspicious)
    between = _between(report)
    yield score_card(report.scores, between)
    if not report.failures:
        return
    owners: dict[str, int] = {}
    for failure in report.failures:
        owners[failure.owner] = owners.get(failure.owner, 0) + 1
    has_proofs = any(failure.proof for failure in report.failures)
    yield owner_card(owners, owner_notes(report.failures), below=SHOWN_OR_PRESUMED if has_proofs else ())
    yield causes_card(list(islice(ranked_causes(groups, keys), SHOWN)), total=len(report.failures))
    fresh = [one for title in HEADINGS for one in report.advice if heading_of(one) == title and one.done is None]
    more = line("All of them: ", Link("Recommendations", "#recommendations")) if len(fresh) > SHOWN else ()
    yield advice_card([advice_line(one, CASES) for one in fresh], more)


def _between(report: RunReport) -> str:
    """The bounds of the score, in half a line."""
    return bounds_words(report.bounds, report.subject.unit) if report.bounds is not None else ""
