"""Why a failure is called what it is called: one line, a few sentences, and quotes with their places."""

from collections.abc import Iterator
from functools import cache

from errata.model import Verdict
from errata.report.facts.shared import Piece
from errata.report.washing import short_line
from errata.runs.explanation import BY_DEFAULT, meaning_of
from errata.runs.failures import Failure as Found
from errata.triage.reasons import Quote, says_more

QUOTE, QUOTES = 300, 6


class Evidence:
    """By the rules that are in use now; looked up once for a report."""

    def __init__(self) -> None:
        self._meaning = cache(meaning_of)

    def short(self, found: Found, reason: str) -> str:
        """By the rules, for a table; `reason` is what the log says."""
        said = found.attribution
        if said is None or said.decided_by in BY_DEFAULT:
            return reason or "No rule points elsewhere than to the model"
        return self._meaning(said.decided_by)

    def reasoning(self, found: Found, reason: str) -> str:
        """By the rules; two or three sentences."""
        said = found.attribution
        if said is None:
            return "Not triaged."
        if said.decided_by in BY_DEFAULT:
            told = f'The log says: "{short_line(reason, QUOTE)}". ' if reason else ""
            return f"{told}No rule points elsewhere than to the {said.owner}; nobody has read it yet."
        means = self._meaning(said.decided_by)
        return f"{means[:1].upper()}{means[1:]} (rule {said.decided_by}). Nobody has read it yet."

    def pieces(self, found: Found, verdict: Verdict | None, error: Quote) -> Iterator[Piece]:
        if verdict is not None:
            yield from _quoted(verdict)
            return
        told: list[str] = []
        if error:
            told.append(error.text)
            yield Piece(place=error.where, quote=short_line(error.text, QUOTE))
        for piece in self._seen(found):
            if len(told) < QUOTES and not any(piece.quote in one for one in told):
                told.append(piece.quote)
                yield piece

    def _seen(self, found: Found) -> Iterator[Piece]:
        """What rules saw, where that says more than that a check failed."""
        said = found.attribution
        for signal in said.signals if said is not None else ():
            if " " in signal.quote and says_more(signal.quote, found.attempt):
                place = str(signal.ref) if signal.ref is not None and signal.ref.line else signal.where
                plain = signal.name in BY_DEFAULT or (said is not None and signal.name == said.decided_by)
                means = "" if plain else self._meaning(signal.name)
                yield Piece(place=place, quote=short_line(signal.quote, QUOTE), means=means)


def _quoted(verdict: Verdict) -> Iterator[Piece]:
    for quote in verdict.evidence[:QUOTES]:
        at = f":{quote.lines[0]}" if quote.lines else ""
        yield Piece(place=f"{quote.place}{at}", quote=short_line(quote.quote, QUOTE))
