"""Which failures are settled, so that a harness's log can be corrected, and on whose authority."""

from collections import Counter
from collections.abc import Iterator
from typing import Literal

from errata.errors import SettingsError
from errata.model import Attempt, Attribution, Quote, StoredRun
from errata.model.output.act import WhyLeft
from errata.model.record import Struct
from errata.model.run import case_name
from errata.model.standing import AttemptReview, Standing
from errata.model.verdict import word_for
from errata.model.words import NOT_THE_SUBJECTS
from errata.runs.explanation import meaning_of
from errata.runs.standings import is_stale
from errata.runs.view import RunView
from errata.text.outgoing import line_for_user
from errata.triage.rulebook import names_the_cause

RULE = (
    "a final, undisputed verdict whose owner is neither the model nor the budget; for failures without a review, a "
    "certain or likely rule that names the cause and whose owner is provider, environment, harness, simulator or "
    "collateral, or that shows that the measurement broke"
)
KEPT: dict[str, WhyLeft] = {"model": "owner_model", "budget": "owner_budget", "unknown": "owner_unknown"}
"""Owners whose failures count under every policy, or whose failures nobody understands yet."""

HARNESSES = ("inspect-ai", "promptfoo")
QUOTED, WORDS, QUOTES = 300, 500, 3


class FailureOpinion(Struct):
    """The owner of a failure, by the verdict in force or, without a review, by triage."""

    owner: str
    confidence: str
    by: Literal["verdict", "rule"]
    author: str
    """The reviewer, or the rule that decided."""
    version: str = ""
    cause: str = ""
    quotes: tuple[Quote, ...] = ()
    verdict: str = ""
    doubt: WhyLeft | None = None
    """Why the verdict is not reliable: disputed, stale, inherited, or without a second reviewer."""
    breaks: bool = False
    """Whether a signal shows that the measurement, not the answer, is at fault."""


class Settled(Struct):
    attempt: Attempt
    case: str
    """The harness's name for it."""
    opinion: FailureOpinion


def why_left(opinion: FailureOpinion) -> WhyLeft | None:
    """Why a failure is not written back; none if it is settled."""
    if opinion.owner in KEPT:
        return KEPT[opinion.owner]
    if opinion.by == "verdict":
        return opinion.doubt
    if opinion.confidence != "certain" and not (opinion.confidence == "likely" and names_the_cause(opinion.author)):
        return "not_certain"
    return None if opinion.owner in NOT_THE_SUBJECTS or opinion.breaks else "not_reviewed"


def opinion_text(opinion: FailureOpinion) -> str:
    """`provider: the provider answered with a server error (rule server_error v4, certain)`, without secrets."""
    version = opinion.version.partition("-")[0]
    author = f"{opinion.author} v{version}" if opinion.by == "rule" and version else opinion.author
    cause = f": {opinion.cause}" if opinion.cause else ""
    return redacted_line(f"{opinion.owner}{cause} ({opinion.by} {author}, {opinion.confidence})", WORDS)


def quotes_of(opinion: FailureOpinion) -> list[dict[str, str]]:
    quotes = [
        {"place": redacted_line(quote.place, QUOTED), "quote": redacted_line(quote.quote, QUOTED)}
        for quote in opinion.quotes
    ]
    return list({one["quote"]: one for one in reversed(quotes) if one["quote"]}.values())[::-1][:QUOTES]


def redacted_line(text: str, width: int) -> str:
    """Redacted before it is cut: half a secret would not be recognised."""
    return line_for_user(text, width)


class SettledRun(Struct):
    """The failures of a run: which are settled, and why the others are not written back."""

    stored: StoredRun
    settled: tuple[Settled, ...]
    left: dict[WhyLeft, int]


def settled_failures(view: RunView) -> SettledRun:
    stored = view.stored
    if stored.run.source.name not in HARNESSES:
        raise SettingsError(
            f"Run `{stored.run.native_id}` is from `{stored.run.source.name}`, whose logs have no place for findings",
            hint=f"errata writes back to: {', '.join(HARNESSES)}; `errata report` writes findings for people",
        )
    settled: list[Settled] = []
    left: Counter[WhyLeft] = Counter()
    for failure in _failures(view):
        why = why_left(failure.opinion)
        if why is None:
            settled.append(failure)
        else:
            left[why] += 1
    return SettledRun(stored=stored, settled=tuple(settled), left=dict(left.most_common()))


def _failures(view: RunView) -> Iterator[Settled]:
    meanings: dict[str, str] = {}
    for attempt in view.attempts(failures=True, by_position=True):
        name, opinion = case_name(view.run, attempt.case), None
        if attempt.id in view.standings:
            opinion = _of_reviewer(view.standings[attempt.id], view)
        elif attempt.id in view.attributions:
            breaks = attempt.id in view.broken
            opinion = _of_triage(view.attributions[attempt.id], meanings, breaks=breaks)
        if opinion is not None:
            yield Settled(attempt=attempt, case=name, opinion=opinion)


def _of_reviewer(review: AttemptReview, view: RunView) -> FailureOpinion:
    verdict = review.standing.verdict
    return FailureOpinion(
        owner=verdict.owner,
        confidence=verdict.confidence,
        by="verdict",
        author=word_for(verdict.reviewer),
        version=verdict.taxonomy_version,
        cause=verdict.cause,
        quotes=verdict.evidence,
        verdict=verdict.id,
        doubt=_doubt(review.standing, view),
    )


def _doubt(standing: Standing, view: RunView) -> WhyLeft | None:
    if standing.is_disputed:
        return "reviewers_disagree"
    if not standing.final:
        return "needs_second_reviewer" if standing.verdict.inherited_from is None else "verdict_inherited"
    return "verdict_stale" if is_stale(standing.verdict, view.stored, view.store) else None


def _of_triage(attribution: Attribution, meanings: dict[str, str], *, breaks: bool) -> FailureOpinion:
    rule = attribution.decided_by
    if rule not in meanings:
        meanings[rule] = meaning_of(rule)
    quoting = [one for one in attribution.signals if one.quote]
    deciding = [one for one in quoting if one.name == rule] or quoting
    return FailureOpinion(
        owner=attribution.owner,
        confidence=attribution.confidence,
        by="rule",
        author=rule,
        version=attribution.rules_version,
        cause=meanings[rule],
        quotes=tuple(Quote(place=one.where, quote=one.quote) for one in deciding),
        breaks=breaks,
    )
