"""Which failures are settled enough to be written back into the log of a harness, and in whose words."""

from collections import Counter
from collections.abc import Iterator
from typing import Literal

import msgspec

from errata.errors import SettingsError
from errata.model import Attempt, Attribution, Quote, StoredRun
from errata.model.run import case_name
from errata.model.standing import AttemptReview, Standing
from errata.model.verdict import word_for
from errata.model.words import NOT_THE_SUBJECTS
from errata.runs.explanation import meaning_of
from errata.runs.stale_quotes import is_stale
from errata.runs.view import RunView
from errata.text.clean import one_line
from errata.text.redact import redact

RULE = (
    "a final verdict that nobody disputes and that names neither the model nor the budget; where nobody has read the "
    "failure, triage, where it is certain and names provider, environment, harness, simulator or collateral, or says "
    "that the measurement broke"
)
KEPT = frozenset(("model", "budget", "unknown"))
"""Whose failures count as failures under every policy, or of whom nothing is known."""

HARNESSES = ("inspect-ai", "promptfoo")
QUOTED, WORDS, QUOTES = 300, 500, 3


class Opinion(msgspec.Struct, frozen=True, kw_only=True):
    """What is thought of one failure: by the reader whose verdict stands, or by triage where nobody has read it."""

    owner: str
    confidence: str
    by: Literal["verdict", "rule"]
    author: str
    """The reviewer, or the rule that decided."""
    version: str = ""
    told: str = ""
    """What has happened, in words."""
    quotes: tuple[Quote, ...] = ()
    verdict: str = ""
    doubt: str = ""
    """Why a verdict does not stand for sure: disputed, stale, in need of a second."""
    breaks: bool = False
    """Whether a signal says that the measurement, not the answer, is at fault."""


class Settled(msgspec.Struct, frozen=True, kw_only=True):
    attempt: Attempt
    case: str
    """As its harness names it."""
    opinion: Opinion


def why_not(opinion: Opinion) -> str:
    """Why a failure is left alone; empty where it is settled."""
    if opinion.owner in KEPT:
        return f"owner {opinion.owner}"
    if opinion.by == "verdict":
        return opinion.doubt
    if opinion.confidence != "certain":
        return "only likely, and read by nobody"
    return (
        "" if opinion.owner in NOT_THE_SUBJECTS or opinion.breaks else f"{opinion.owner} by a rule, and read by nobody"
    )


def in_words(opinion: Opinion) -> str:
    """`provider: the provider answered with a server error (rule server_error v4, certain)`, without secrets."""
    version = opinion.version.partition("-")[0]
    author = f"{opinion.author} v{version}" if opinion.by == "rule" and version else opinion.author
    told = f": {opinion.told}" if opinion.told else ""
    return washed(f"{opinion.owner}{told} ({opinion.by} {author}, {opinion.confidence})", WORDS)


def quotes_of(opinion: Opinion) -> list[dict[str, str]]:
    told = [{"place": washed(one.place, QUOTED), "quote": washed(one.quote, QUOTED)} for one in opinion.quotes]
    return list({one["quote"]: one for one in reversed(told) if one["quote"]}.values())[::-1][:QUOTES]


def washed(text: str, width: int) -> str:
    """Redacted whole, before it is cut: half a secret looks like none."""
    return one_line(redact(text), width)


class SettledRun(msgspec.Struct, frozen=True, kw_only=True):
    """The failures of a run: which are settled, and why the others are left alone."""

    stored: StoredRun
    settled: tuple[Settled, ...]
    left: dict[str, int]
    """Why → how many."""


def settled_failures(view: RunView) -> SettledRun:
    stored = view.stored
    if stored.run.source.name not in HARNESSES:
        raise SettingsError(
            f"Run `{stored.run.native_id}` is of `{stored.run.source.name}`, which keeps no findings in its logs",
            hint=f"findings can be written back to: {', '.join(HARNESSES)}; `errata report` writes them for people",
        )
    settled: list[Settled] = []
    left: Counter[str] = Counter()
    for one in _failures(view):
        why = why_not(one.opinion)
        if why:
            left[why] += 1
        else:
            settled.append(one)
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


def _of_reviewer(said: AttemptReview, view: RunView) -> Opinion:
    verdict = said.standing.verdict
    return Opinion(
        owner=verdict.owner,
        confidence=verdict.confidence,
        by="verdict",
        author=word_for(verdict.reviewer),
        version=verdict.taxonomy_version,
        told=verdict.cause,
        quotes=verdict.evidence,
        verdict=verdict.id,
        doubt=_doubt(said.standing, view),
    )


def _doubt(stood: Standing, view: RunView) -> str:
    if stood.is_disputed:
        return "reviewers disagree"
    if not stood.final:
        taken_over = stood.verdict.inherited_from is not None
        return "its verdict is another failure's" if taken_over else "its verdict needs a second reviewer"
    return "its verdict is stale" if is_stale(stood.verdict, view.stored, view.store) else ""


def _of_triage(said: Attribution, meanings: dict[str, str], *, breaks: bool) -> Opinion:
    rule = said.decided_by
    if rule not in meanings:
        meanings[rule] = meaning_of(rule)
    quoting = [one for one in said.signals if one.quote]
    deciding = [one for one in quoting if one.name == rule] or quoting
    return Opinion(
        owner=said.owner,
        confidence=said.confidence,
        by="rule",
        author=rule,
        version=said.rules_version,
        told=meanings[rule],
        quotes=tuple(Quote(place=one.where, quote=one.quote) for one in deciding),
        breaks=breaks,
    )
