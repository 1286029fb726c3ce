"""Failures in the report about a run, by cause: step, error, classification, reasoning, evidence and snippets."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from errata.model.output.report.run import Advice, AdviceKind, ProposedFix, Repeat, RunFailure, RunReport
from errata.model.output.report.shared import QuotedEvidence, Snippets
from errata.render.document import (
    Block,
    CategoryMap,
    Code,
    Diff,
    Line,
    Link,
    MapCell,
    MapRow,
    OwnerName,
    QuoteLine,
    Quotes,
    RankedCause,
    Section,
    Snippet,
    Strong,
    fields,
    line,
    marked,
    paragraph,
)
from errata.render.figures import plural
from errata.render.proof import PROOF_WORDS, proof_legend, proof_reason
from errata.report.front import SHOWN, advice_card, causes_card, owner_card, score_card, with_last
from errata.report.parts import answer_blocks, decisive_words, short_list
from errata.report.run_advice import HEADINGS, advice_line, heading_of
from errata.report.run_prose import (
    DOUBTS,
    answer_sentences,
    first_check,
    other_checks,
    owner_notes,
    range_words,
    reasoning_of,
    regressed_words,
    repeat_words,
    short_of,
    title_of,
)
from errata.report.run_snippets import language_of
from errata.report.shared import doubt_card, doubts_of_run, doubts_to_do, findings_card
from errata.runs.first_page import NO_ESTIMATE
from errata.text.outgoing import outgoing_lines

NO_SHARED_CAUSE = "No shared cause"
NAMED, CATEGORIES = 3, 40


class CauseGroup(NamedTuple):
    title: str
    key: str
    failures: tuple[RunFailure, ...]

    @property
    def owner(self) -> str:
        return Counter(one.owner for one in self.failures).most_common(1)[0][0]

    @property
    def only_owner(self) -> str:
        """Empty where they have several."""
        owners = {one.owner for one in self.failures}
        return next(iter(owners)) if len(owners) == 1 else ""

    @property
    def same_error(self) -> str:
        errors = {one.error for one in self.failures}
        return next(iter(errors)) if len(errors) == 1 and len(self.failures) > 1 else ""


def failure_groups(failures: Sequence[RunFailure]) -> list[CauseGroup]:
    shared = [found for found in _by_cause(failures) if len(found) > 1]
    in_groups = {id(one) for found in shared for one in found}
    alone = [one for one in failures if id(one) not in in_groups]
    groups = [CauseGroup(found[0].bucket, f"cause-{at}", tuple(found)) for at, found in enumerate(shared)]
    return [*groups, CauseGroup(NO_SHARED_CAUSE, "cause-none", tuple(alone))] if alone else groups


def _by_cause(failures: Iterable[RunFailure]) -> list[list[RunFailure]]:
    """The failures of each bucket: the largest first, then by slug, as in every list of causes.

    What nobody has reviewed is apart from reviewed members, under another title. A failure in no bucket is alone.
    """
    members: dict[tuple[str, str], list[RunFailure]] = {}
    without: list[list[RunFailure]] = []
    for failure in failures:
        if failure.bucket:
            members.setdefault((failure.bucket_slug, failure.bucket), []).append(failure)
        else:
            without.append([failure])
    ordered = sorted(members.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    return [*(found for _, found in ordered), *without]


def ranked_causes(groups: Sequence[CauseGroup], keys: Mapping[int, str]) -> Iterator[RankedCause]:
    """A failure that shares its cause with no other is one by itself."""
    by_failure = {id(failure): group for group in groups for failure in group.failures}
    for first, *others in _by_cause(failure for group in groups for failure in group.failures):
        if others:
            group = by_failure[id(first)]
            cases = list(dict.fromkeys(one.case for one in group.failures))
            title = line(Link(group.title.replace("`", ""), f"#{group.key}"))
            yield RankedCause(len(group.failures), group.owner, title, line(short_list(cases, NAMED)))
            continue
        yield _single_cause(first, keys)


def is_again(failure: RunFailure) -> bool:
    """Whether it failed before, and in the same way."""
    return bool(failure.repeat) and not failure.repeat.otherwise


def before_words(repeat: Repeat) -> str:
    """`2 reports, 1 run`; empty where it did not fail before."""
    counts = ((repeat.reports, "report"), (repeat.runs, "run"))
    return ", ".join(plural(count, word) for count, word in counts if count)


def _single_cause(failure: RunFailure, keys: Mapping[int, str]) -> RankedCause:
    """Its title, and below it what the log shows; the text as a whole where the title is its beginning."""
    title, text = failure.bucket, short_of(failure) or failure.error
    beginning = title.rstrip("….")
    note = line(failure.case)
    at = text.casefold().find(beginning.casefold())
    if not title or at == 0 or (at > 0 and title != beginning):
        title = text[at:] if title else text or "No error text"
    elif text and at < 0:
        note = line(note, ": ", marked(text))
    if is_again(failure):
        note = line(note, f"; failed before ({before_words(failure.repeat)})")
    return RankedCause(1, failure.owner, line(Link(title.replace("`", ""), f"#{keys[id(failure)]}")), note)


def case_map(report: RunReport, keys: Mapping[int, str]) -> CategoryMap | None:
    """Every case by category; without categories, all that the score counts, which may be attempts.

    None where nothing is known of how many there are.
    """
    subject = report.subject
    if not report.categories:
        sizes = (subject.total, subject.passed)
        rows = [_row(f"all {subject.unit}", report.failures, sizes, subject.unit, keys)] if subject.total else []
    elif len(report.categories) <= CATEGORIES:
        by_category: dict[str, dict[str, RunFailure]] = {}
        for failure in report.failures:
            for category in failure.categories:
                by_category.setdefault(category, {}).setdefault(failure.case, failure)
        rows = [
            _row(tested.name, by_category.get(tested.name, {}).values(), (tested.cases, tested.passed), "cases", keys)
            for tested in report.categories
        ]
    else:
        rows = []
    return CategoryMap(tuple(rows)) if rows else None


def _row(name: str, failed: Iterable[RunFailure], sizes: tuple[int, int], unit: str, keys: Mapping[int, str]) -> MapRow:
    """`sizes`: all cases, and those that passed; what neither passed nor failed has no result."""
    ordered = sorted(failed, key=lambda one: (one.owner, one.case))
    cells = tuple(MapCell(one.owner, title_of(one), keys[id(one)]) for one in ordered)
    whole = max(sizes[0], len(cells))
    passed = min(sizes[1], whole - len(cells))
    unmeasured = whole - len(cells) - passed
    note = f"{len(cells):,} of {whole:,} {unit} failed"
    note += f", {unmeasured:,} without a result" if unmeasured else ""
    return MapRow(name or "no category", cells, passed, note, unmeasured)


LONGEST = 40
"""Lines of a snippet."""


def group_section(group: CauseGroup, keys: Mapping[int, str], *, word: str, tell_reader: bool) -> Section:
    """`word` is the check or step that failed; with `tell_reader` each failure names its reviewer."""
    blocks: list[Block] = []
    same_error = group.same_error
    if same_error:
        blocks = [paragraph("All have the same error: ", Code(same_error))]
    shown: dict[str, RunFailure] = {}
    sections = []
    for failure in group.failures:
        earlier = shown.setdefault(failure.error, failure)
        error = _error(failure, None if same_error else earlier, keys)
        sections.append(_failure_section(failure, keys[id(failure)], error, word=word, tell_reader=tell_reader))
    return Section(
        title=f"{group.title} ({plural(len(group.failures), 'failure')})",
        key=group.key,
        owner=group.only_owner,
        blocks=tuple(blocks),
        sections=tuple(sections),
        is_folded=True,
    )


def _error(failure: RunFailure, earlier: RunFailure | None, keys: Mapping[int, str]) -> Line:
    """The text once in a group, with its place where the evidence has it; later a link to the failure that shows it.

    Without `earlier` the head of the group has it.
    """
    if not failure.error:
        return ()
    place = next((each.place for each in failure.evidence if _has_error(failure, each)), "")
    where = (" (", Code(place), ")") if place else ()
    if earlier is None:
        return line("as above", where)
    if earlier is not failure:
        return line("as in ", Link(title_of(earlier), f"#{keys[id(earlier)]}"), where)
    return line(Code(failure.error), where)


def _failure_section(failure: RunFailure, key: str, error: Line, *, word: str, tell_reader: bool) -> Section:
    return Section(
        title=title_of(failure),
        key=key,
        owner=failure.owner,
        brief=line(Strong(label_of(failure)), ": ", marked(short_of(failure) or failure.error)),
        blocks=tuple(_blocks(failure, error, word, tell_reader)),
    )


def assigned(failure: RunFailure) -> str:
    """How an owner that nobody reviewed came about."""
    return "presumed" if failure.proof == "presumed" else "by rule"


def label_of(failure: RunFailure) -> str:
    word = failure.label or failure.owner
    if not failure.reviewed:
        return f"{word} ({assigned(failure)})"
    return f"{word} ({DOUBTS[failure.doubt]})" if failure.doubt else word


def _blocks(failure: RunFailure, error: Line, word: str, tell_reader: bool) -> Iterator[Block]:
    yield fields(_fields(failure, error, word, tell_reader))
    evidence = [each for each in failure.evidence if not _has_error(failure, each)]
    if evidence:
        yield paragraph("Evidence")
        yield Quotes(tuple(QuoteLine(piece.place, piece.quote, piece.stated, piece.means) for piece in evidence))
    yield from _snippets(failure.snippets)
    yield from _fix(failure.fix)
    for doubt in failure.doubts:
        yield paragraph("Doubt: ", marked(doubt))


def _fields(failure: RunFailure, error: Line, word: str, tell_reader: bool) -> Iterator[tuple[str, Line]]:
    also = f"; also {other_checks(failure)}" if failure.checks[1:] else ""
    yield word, line(f"{first_check(failure) or 'none'}{also}")
    if error:
        yield ("Judge" if _is_judges(failure) else "Error"), error
    yield _classified(failure, tell_reader)
    if reasoning := reasoning_of(failure):
        yield "Reasoning", marked(reasoning)
    if step := decisive_words(failure.decisive_step, failure.decisive_agent, failure.second_candidate):
        yield "Decisive step", line(step)
    if failure.follows:
        yield "Follows from", line(failure.follows)
    yield "Repeat", line(repeat_words(failure.repeat))


def _is_judges(failure: RunFailure) -> bool:
    """Whether the text is a judge's comment, by its place in the log."""
    return any(_has_error(failure, each) and each.place.startswith("judg") for each in failure.evidence)


def _has_error(failure: RunFailure, evidence: QuotedEvidence) -> bool:
    """Whether it is the line with the error, or a part of it."""
    quote, error = evidence.quote or evidence.stated, failure.error
    return bool(quote and error and (quote in error or error in quote))


def _classified(failure: RunFailure, tell_reader: bool) -> tuple[str, Line]:
    who = _reader(failure, tell_reader)
    how_sure = PROOF_WORDS[failure.proof] or failure.confidence
    if failure.proof == "presumed":
        how_sure += f": {proof_reason(failure.proof_reason)}"
    sure = f"{how_sure}; {who}" if who else how_sure
    measured = "" if failure.measured or not failure.machinery else "; not measured"
    owner = line(OwnerName(failure.owner), f" ({sure}){measured}")
    return ("Classification", line(f"{failure.label}, owner ", owner)) if failure.label else ("Owner", owner)


def _reader(failure: RunFailure, tell_reader: bool) -> str:
    if not failure.reviewed:
        return "not reviewed" if failure.proof == "presumed" else "by rule, not reviewed"
    read = f"reviewed by {failure.by}" if tell_reader else ""
    return ", ".join(part for part in (read, DOUBTS[failure.doubt] if failure.doubt else "") if part)


def _snippets(shown: Snippets) -> Iterator[Block]:
    where = (", ", Code(shown.path)) if shown.path else ()
    differ = " (first difference)" if shown.differ else f", line {shown.line}" if shown.line else ""
    model, expected = cut(shown.model) if shown.model else "", cut(shown.expected) if shown.expected else ""
    if model and expected:
        yield Diff(model, expected, shown.language, line("Model", *where, differ), line("Expected"))
    elif model:
        yield Snippet(model, shown.language, line("Model", *where, differ))
    elif expected:
        yield Snippet(expected, shown.language, line("Expected"))


def _fix(fix: ProposedFix | None) -> Iterator[Block]:
    """The change that a reviewer proposes: before and after."""
    if fix is None:
        return
    language = language_of(fix.path)
    where = (" in ", Code(fix.path)) if fix.path else ()
    if fix.before.strip():
        before, after = line("Proposed fix", *where, ": before"), line("After")
        yield Diff(cut(fix.before), cut(fix.after), language, before, after)
    else:
        yield Snippet(cut(fix.after), language, line("Proposed addition", *where))


def cut(text: str) -> str:
    lines = outgoing_lines(text).split("\n")
    return "\n".join([*lines[:LONGEST], f"… {len(lines) - LONGEST} more lines"] if len(lines) > LONGEST else lines)


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
