"""The first screen of a report about one run: the answer, score, owners, top causes and what to do."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from errata.model.output.report.run import Advice, AdviceKind, RunReport
from errata.render.document import Block, Line, Link, line
from errata.render.proof import proof_legend
from errata.report.front import SHOWN, advice_card, causes_card, owner_card, score_card, with_last
from errata.report.parts import answer_blocks
from errata.report.run_advice import HEADINGS, advice_line, heading_of
from errata.report.run_failure_section import CauseGroup, is_again, ranked_causes
from errata.report.run_prose import answer_sentences, owner_notes, range_words, regressed_words
from errata.report.score_doubts import doubt_card, doubts_of_run, doubts_to_do, findings_card
from errata.runs.without_failures import NO_ESTIMATE

CASES = 2
"""Cases in a recommendation."""
NOTED: tuple[AdviceKind, ...] = ("repeated", "fair", "supported")
"""Worth knowing, but nothing to do; their section has them."""
NOT_CUT: tuple[AdviceKind, ...] = ("model", "unknown", "infrastructure", "not_graded", "collateral", "missing")
"""Reviews and reruns are on the first screen, however many changes there are to make."""


def run_front(report: RunReport, groups: Sequence[CauseGroup], keys: Mapping[int, str]) -> Iterator[Block]:
    """The answer and the cards of the first screen."""
    doubts = doubts_of_run(report)
    yield from doubt_card(doubts)
    regressed = regressed_words(report.since) if report.since is not None else ""
    yield from findings_card(doubts)
    yield from answer_blocks([*answer_sentences(report), *filter(None, [regressed])])
    ends = range_words(report.bounds, report.subject) if report.bounds is not None else ""
    yield score_card(report.scores, [ends], doubt=_doubt(report))
    to_do = with_last([*doubts_to_do(doubts), *_to_do(report, cut=True)], list(_to_do(report, cut=False)))
    if not report.failures:
        if to_do:
            yield advice_card(to_do)
        return
    owners = Counter[str](one.owner for one in report.failures)
    proofs = Counter(one.proof for one in report.failures)
    yield owner_card(owners, owner_notes(report.failures), below=proof_legend(proofs["shown"], proofs["presumed"]))
    again = sum(map(is_again, report.failures))
    yield causes_card(list(islice(ranked_causes(groups, keys), SHOWN)), owners, again=again)
    rest = len(to_do) > SHOWN or any(one.kind in NOTED for one in report.advice)
    yield advice_card(to_do, line("All of them: ", Link("Recommendations", "#recommendations")) if rest else ())


def _to_do(report: RunReport, *, cut: bool) -> Iterator[Line]:
    """What may be cut off where there is too much of it, or what may not."""
    fresh = [one for title in HEADINGS for one in report.advice if heading_of(one) == title and one.done is None]
    back = {one.case for advice in fresh for one in advice.case_effects if one.worked == "no"}
    for advice in fresh:
        if advice.kind in NOTED or (advice.kind in NOT_CUT) == cut:
            continue
        if not _is_covered(advice, back):
            yield advice_line(advice, CASES)


def _is_covered(advice: Advice, back: set[str]) -> bool:
    """Whether it is only about cases that an action was to fix: finding out why it did not is the first step."""
    return advice.kind in ("grader", "task", "harness", "budget") and bool(advice.cases) and set(advice.cases) <= back


def _doubt(report: RunReport) -> str:
    """Why no figure is the best estimate."""
    return NO_ESTIMATE[report.no_estimate] if report.no_estimate else ""
