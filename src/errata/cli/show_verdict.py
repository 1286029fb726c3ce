"""What reviewers found: the verdict that stands, what it goes by, who else said what, and what it changed."""

from errata.cli.output import put, put_quote
from errata.model.standing import AttemptReview
from errata.model.verdict import word_for

INDENT = 12
QUOTES, LINES = 4, 6


def put_verdict(said: AttemptReview, *, stale: bool, raw: bool) -> None:
    verdict, stood = said.standing.verdict, said.standing
    state = "inherited from the same crash" if verdict.inherited_from else "" if stood.final else "not final"
    when = (verdict.at or "")[:10]
    changed = "evidence changed since" if stale else ""
    who = ", ".join(part for part in (word_for(verdict.reviewer), when, state, changed) if part)
    put(f"Verdict  {verdict.label} · {verdict.owner}, {verdict.confidence} ({who})", hang=9, raw=raw)
    put(f"  cause     {verdict.cause}", hang=INDENT, raw=raw)
    if verdict.reasoning:
        put(f"  why       {verdict.reasoning}", hang=INDENT, raw=raw)
    if verdict.underlying_mistake:
        put(f"  mistake   {verdict.underlying_mistake}", hang=INDENT, raw=raw)
    for consequence in verdict.consequences:
        put(f"  leads to  {consequence}", hang=INDENT, raw=raw)
    for quote in verdict.evidence[:QUOTES]:
        lines = f":{quote.lines[0]}" if quote.lines else ""
        put(f"  evidence  {quote.place}{lines}", hang=INDENT, raw=raw)
        put_quote(quote.quote, indent=INDENT, most=LINES, raw=raw)
    for doubt in verdict.doubts:
        put(f"  doubt     {doubt}", hang=INDENT, raw=raw)
    if verdict.recommendation is not None and verdict.recommendation.text:
        put(f"  do        {verdict.recommendation.text} ({verdict.recommendation.group})", hang=INDENT, raw=raw)
    _put_others(said, raw=raw)


def _put_others(said: AttemptReview, *, raw: bool) -> None:
    stood = said.standing
    if stood.verdict.needs_second and not stood.final:
        put("  second    its text talks to the reader: another reviewer has to agree", hang=INDENT)
    for other in stood.disagreeing:
        put(f"  against   {other.label}: {other.cause} ({word_for(other.reviewer)})", hang=INDENT, raw=raw)
    for change in stood.changes:
        put(f"  changed   {change.old} → {change.new} by {word_for(change.by)}", hang=INDENT, raw=raw)
