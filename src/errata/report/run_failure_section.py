"""One failure in the report about a run: step, error, classification, reasoning, evidence and snippets."""

from collections.abc import Iterator

from errata.model.output.report.run import RunFailure
from errata.model.output.report.shared import QuotedEvidence, Snippets
from errata.render.document import Block, Code, Line, Section, Snippet, Strong, items, line, marked, paragraph
from errata.render.proof import proof_reason
from errata.report.parts import decisive_words
from errata.report.run_prose import DOUBTS, first_check, other_checks, reasoning_of, repeat_words, short_of
from errata.text.private import outgoing_lines

LONGEST = 40
"""Lines of a snippet."""


def failure_section(failure: RunFailure, key: str, *, word: str, tell_reader: bool) -> Section:
    """`word` is the check or step that failed; with `tell_reader` the section names its reviewer."""
    return Section(
        title=title_of(failure),
        key=key,
        brief=line(Strong(label_of(failure)), ": ", marked(short_of(failure) or failure.error)),
        blocks=tuple(_blocks(failure, word, tell_reader)),
    )


def title_of(failure: RunFailure) -> str:
    several = failure.attempts > 1
    return f"{failure.case}, attempt {failure.attempt} of {failure.attempts}" if several else failure.case


def label_of(failure: RunFailure) -> str:
    word = failure.label or failure.owner
    if not failure.reviewed:
        return f"{word} (by rule)"
    return f"{word} ({DOUBTS[failure.doubt]})" if failure.doubt else word


def _blocks(failure: RunFailure, word: str, tell_reader: bool) -> Iterator[Block]:
    yield items(_lines(failure, word, tell_reader))
    if failure.evidence:
        yield paragraph("Evidence")
        yield items(map(_piece, failure.evidence))
    yield from _snippets(failure.snippets)
    for doubt in failure.doubts:
        yield paragraph("Doubt: ", marked(doubt))


def _lines(failure: RunFailure, word: str, tell_reader: bool) -> Iterator[Line]:
    also = f"; also {other_checks(failure)}" if failure.checks[1:] else ""
    yield line(Strong(word), ": ", f"{first_check(failure) or 'none'}{also}")
    if failure.error:
        yield line(Strong("Error"), ": ", Code(failure.error))
    yield _classified(failure, tell_reader)
    if reasoning := reasoning_of(failure):
        yield line(Strong("Reasoning"), ": ", marked(reasoning))
    if step := decisive_words(failure.decisive_step, failure.decisive_agent, failure.second_candidate):
        yield line(Strong("Decisive step"), ": ", step)
    if failure.follows:
        yield line(Strong("Follows from"), ": ", failure.follows)
    yield line(Strong("Repeat"), ": ", repeat_words(failure.repeat))


def _classified(failure: RunFailure, tell_reader: bool) -> Line:
    who = _reader(failure, tell_reader)
    how_sure = failure.proof or failure.confidence
    if failure.proof == "presumed":
        how_sure += f", {proof_reason(failure.proof_reason)}"
    sure = f"{how_sure}; {who}" if who else how_sure
    measured = "" if failure.measured or not failure.machinery else "; not measured"
    if failure.machinery and not failure.label:
        return line(Strong("Owner"), ": ", f"{failure.owner} ({sure}){measured}")
    label = f"{failure.label}, owner {failure.owner}" if failure.label else failure.owner
    return line(Strong("Classification"), ": ", f"{label} ({sure}){measured}")


def _reader(failure: RunFailure, tell_reader: bool) -> str:
    if not failure.reviewed:
        return "by rule, not reviewed"
    read = f"reviewed by {failure.by}" if tell_reader else ""
    return ", ".join(part for part in (read, DOUBTS[failure.doubt] if failure.doubt else "") if part)


def _piece(piece: QuotedEvidence) -> Line:
    means = f" ({piece.means})" if piece.means else ""
    return line(Code(piece.place), ": ", Code(piece.quote), means)


def _snippets(shown: Snippets) -> Iterator[Block]:
    where = (", ", Code(shown.path)) if shown.path else ()
    differ = " (first difference)" if shown.differ else ""
    if shown.model:
        yield Snippet(cut(shown.model), shown.language, line("Model", *where, differ))
    if shown.expected:
        yield Snippet(cut(shown.expected), shown.language, line("Expected"))


def cut(text: str) -> str:
    lines = outgoing_lines(text).split("\n")
    return "\n".join([*lines[:LONGEST], f"… {len(lines) - LONGEST} more lines"] if len(lines) > LONGEST else lines)
