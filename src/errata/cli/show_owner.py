"""Who has to act, because of what, what speaks against it, and what it does to the score."""

import re

from errata.cli.fitting import WIDTH, columns
from errata.cli.output import put, put_command, put_quote
from errata.model import Attempt, Attribution, Signal
from errata.runs.explanation import BY_DEFAULT, Explanation, Reason
from errata.runs.show import ShownAttempt, short_name
from errata.triage.not_used import NotUsed

INDENT = 12
QUOTE_LINES = 4


def put_owner(shown: ShownAttempt, said: Attribution, told: Explanation, *, raw: bool) -> None:
    also = f", also {', '.join(said.also)}" if said.also else ""
    # once somebody has read it, the owner is the verdict's
    label, state = ("Owner", "provisional, ") if shown.review is None else ("Triage", "")
    put(f"{label:<8} {said.owner}, {said.confidence}{also} ({state}{_by(said, told)})", hang=9, raw=raw)
    if said.decided_by not in BY_DEFAULT:
        put(f"         {told.meaning}", hang=9, raw=raw)
    seen: set[str] = set()
    _because(shown, told, seen, raw=raw)
    for word, reasons in (("and", told.supports), ("against", told.against)):
        for reason in reasons:
            _reason(word, reason, shown.attempt, seen, raw=raw)
    _not_used(told.not_used, raw=raw)
    if said.suggested_labels:
        put(f"Label    {_labels(said.suggested_labels)}, a suggestion", hang=9, raw=raw)
    put(f"Effect   {told.effect.text}", hang=9)
    _next(shown, told)


def _by(said: Attribution, told: Explanation) -> str:
    if said.decided_by == "check_failed":
        return "no rule points elsewhere"
    if said.decided_by in BY_DEFAULT:
        return told.meaning
    version = said.rules_version.partition("-")[0]
    return f"rule {said.decided_by}{f' v{version}' if version else ''}"


def _because(shown: ShownAttempt, told: Explanation, seen: set[str], *, raw: bool) -> None:
    """Where it stands, then what is said there."""
    decided, follows = told.decided, shown.attempt.follows
    if decided is not None and decided.where == "follows" and follows:
        put(f"  because   follows from {short_name(shown, follows)}", hang=INDENT, raw=raw)
        seen.add(decided.quote)
        return
    quote = told.because
    if not quote.text:
        place = _place(decided, shown.attempt) if decided else "nothing in the log says more"
    else:
        place = _place(decided, shown.attempt) if decided and decided.where == quote.where else quote.where
    put(f"  because   {place}", hang=INDENT, raw=raw)
    if quote.text:
        # one text is quoted once, also where a signal has it longer than its best line
        seen |= {quote.text, decided.quote if decided else ""}
        put_quote(quote.text, indent=INDENT, most=QUOTE_LINES, raw=raw)
    if decided is not None and decided.name not in BY_DEFAULT and decided.where != quote.where and quote.text:
        put(f"{'':<{INDENT}}{_place(decided, shown.attempt)}", hang=INDENT, raw=raw)
        put_quote(decided.quote, indent=INDENT, most=QUOTE_LINES, raw=raw)


def _place(signal: Signal, attempt: Attempt) -> str:
    """Which field it is, and where in the log that stands."""
    ref = signal.ref
    if ref is None or _FILE_LINE.search(signal.where):
        return signal.where
    place = f"{signal.where} · {ref}"
    if columns(place) <= WIDTH - INDENT or attempt.ref is None or not ref.pointer:
        return place
    # the file is named at the end; a long name twice is harder to read than none
    return f"{signal.where} · #{ref.pointer}" if ref.file == attempt.ref.file else place


_FILE_LINE = re.compile(r":\d+$")


def _reason(word: str, reason: Reason, attempt: Attempt, seen: set[str], *, raw: bool) -> None:
    """In words; then its place and quote, where these were not shown already."""
    signal = reason.signal
    strength = f", {signal.strength}" if signal and word == "against" else ""
    put(f"  {word:<9} {reason.text}{f' ({signal.name}{strength})' if signal else ''}", hang=INDENT, raw=raw)
    if signal is not None and signal.quote and signal.quote not in seen:
        seen.add(signal.quote)
        put(f"{'':<{INDENT}}{_place(signal, attempt)}", hang=INDENT, raw=raw)
        put_quote(signal.quote, indent=INDENT, most=QUOTE_LINES, raw=raw)


def _labels(suggested: dict[str, str]) -> str:
    """Each label once, with the taxonomies that would give it."""
    taxonomies: dict[str, list[str]] = {}
    for name, label in suggested.items():
        taxonomies.setdefault(label, []).append(name)
    return ", ".join(f"{label} ({', '.join(names)})" for label, names in taxonomies.items())


def _not_used(found: tuple[NotUsed, ...], *, raw: bool) -> None:
    """One sentence for each rule, with every place where its words stand."""
    by_rule: dict[str, list[NotUsed]] = {}
    for one in found:
        by_rule.setdefault(one.rule, []).append(one)
    for rule, hits in by_rule.items():
        places = " and ".join(f'"{hit.quote}" in {hit.where}' for hit in hits)
        put(f"  not used  {places}: rule {rule} looks only at {hits[0].looks_at}", hang=INDENT, raw=raw)


def _next(shown: ShownAttempt, told: Explanation) -> None:
    if told.repeatable:
        put_command("Next", ["errata", "rerun", shown.handle, "--case", shown.case_name])
