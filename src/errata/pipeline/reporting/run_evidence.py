"""Why a failure is called what it is called: one line, a few sentences, and quotes with their places."""

from collections.abc import Iterator

from errata.model import Attribution, Verdict
from errata.pipeline.explaining import BY_DEFAULT, meaning_of
from errata.pipeline.failures import Failure as Found
from errata.pipeline.reasons import Quote, says_more
from errata.pipeline.reporting.shared import short_line
from errata.report.facts.shared import Piece

QUOTE, QUOTES = 300, 6


def short_of(found: Found) -> str:
    """By the rules, for a table."""
    said = found.attribution
    if said is None or said.decided_by in BY_DEFAULT:
        return found.reason or "No rule points elsewhere than to the model"
    return meaning_of(said.decided_by)


def reasoning_of(found: Found) -> str:
    """By the rules; two or three sentences."""
    said = found.attribution
    if said is None:
        return "Not triaged."
    if said.decided_by in BY_DEFAULT:
        told = f'The log says: "{short_line(found.reason, QUOTE)}". ' if found.reason else ""
        return f"{told}No rule points elsewhere than to the {said.owner}; nobody has read it yet."
    means = meaning_of(said.decided_by)
    return f"{means[:1].upper()}{means[1:]} (rule {said.decided_by}). Nobody has read it yet."


def evidence_of(found: Found, verdict: Verdict | None, error: Quote) -> Iterator[Piece]:
    if verdict is not None:
        yield from _quoted(verdict)
        return
    told: list[str] = []
    if error:
        told.append(error.text)
        yield Piece(place=error.where, quote=short_line(error.text, QUOTE))
    for piece in _seen(found, found.attribution):
        if len(told) < QUOTES and not any(piece.quote in one for one in told):
            told.append(piece.quote)
            yield piece


def _quoted(verdict: Verdict) -> Iterator[Piece]:
    for quote in verdict.evidence[:QUOTES]:
        at = f":{quote.lines[0]}" if quote.lines else ""
        yield Piece(place=f"{quote.place}{at}", quote=short_line(quote.quote, QUOTE))


def _seen(found: Found, said: Attribution | None) -> Iterator[Piece]:
    """What rules saw, where that says more than that a check failed."""
    for signal in said.signals if said is not None else ():
        if len(signal.quote.split()) > 1 and says_more(signal.quote, found.attempt):
            place = str(signal.ref) if signal.ref is not None and signal.ref.line else signal.where
            means = "" if signal.name in (said and said.decided_by, *BY_DEFAULT) else meaning_of(signal.name)
            yield Piece(place=place, quote=short_line(signal.quote, QUOTE), means=means)
