"""Which failures are settled enough to be written back into the log of a harness, and in whose words."""

from typing import Literal

import msgspec

from errata.model import Attempt, Quote
from errata.text.clean import one_line
from errata.text.redact import redact

RULE = (
    "a final verdict that nobody disputes and that names neither the model nor the budget; where nobody has read the "
    "failure, triage, where it is certain and names provider, environment, harness, simulator or collateral, or says "
    "that the measurement broke"
)
NOT_MEASURED = frozenset(("provider", "environment", "harness", "simulator", "collateral"))
"""Whose failures say nothing about the subject: what `clean` leaves out of the score."""
KEPT = frozenset(("model", "budget", "unknown"))
"""Whose failures count as failures under every policy, or of whom nothing is known."""

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
    return "" if opinion.owner in NOT_MEASURED or opinion.breaks else f"{opinion.owner} by a rule, and read by nobody"


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
