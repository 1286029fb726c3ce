"""`index.html` of a batch: everything about it on one page, its failures by category."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from errata.model.output.report.batch import BatchCategory, BatchFailure, BatchReport
from errata.render.document import (
    Block,
    Card,
    CategoryMap,
    Code,
    Document,
    Line,
    Link,
    MapCell,
    MapRow,
    QuoteLine,
    Quotes,
    RankedCause,
    Section,
    Strong,
    fields,
    items,
    line,
    marked,
    paragraph,
)
from errata.render.figures import money, plural
from errata.render.proof import proof_legend
from errata.report.batch_analysis import advice_sections, costs_sections, sessions_section
from errata.report.batch_document import aggregate, results
from errata.report.batch_failure_pages import failure_facts, failure_sections
from errata.report.batch_failure_words import (
    cause_of,
)
from errata.report.batch_prose import (
    batch_advice,
    batch_sentences,
    batch_warning,
    category_advice,
    category_evidence,
    category_shows,
    category_title,
    category_to_do,
    counted_words,
    judge_words,
    owner_notes,
    stated_scores,
)
from errata.report.front import SHOWN, advice_card, causes_card, owner_card, score_card, with_last
from errata.report.parts import answer_blocks, batch_name, coverage_line, fit_badge, name_list, status_of
from errata.report.shared import doubt_card, doubts_of_batch, doubts_to_do
from errata.runs.first_page import NO_ESTIMATE

PAGE = "index.html"
NAMED = 4
SAME_ERROR = ("Exact error",)
"""A section of a failure that its category has once, where all have the same error, though at places of their own."""
CAUSE, STATUS = "Root cause", "status"
UNKNOWN = "Not known: the log has no error text."
ELSEWHERE = ("Same cause", "Evidence")
"""Sections of a failure that the page has in another form."""


def batch_page(report: BatchReport) -> Document:
    return Document(
        title=f"{batch_name(report)}: {report.model or 'unknown model'}, {plural(len(report.tests), 'test')}",
        brief=line(" · ".join(filter(None, (report.handle, report.date, _sessions(report), _spent(report))))),
        status=status_of(report.reading),
        coverage=coverage_line(report.reading),
        warning=fit_badge(report.fit),
        facts=(
            ("Batch", line(report.name)),
            ("Date", line(report.date)),
            *((name, line(value)) for name, value in report.config),
            ("Analysed", line(report.made)),
        ),
        blocks=tuple(_front(report)),
        sections=tuple(_sections(report)),
    )


def _sessions(report: BatchReport) -> str:
    return plural(len(report.sessions), "session") if len(report.sessions) > 1 else ""


def _spent(report: BatchReport) -> str:
    return f"{money(report.cost, 2)} spent" if report.cost is not None else ""


def _front(report: BatchReport) -> Iterator[Block]:
    doubts = doubts_of_batch(report)
    yield from doubt_card(doubts)
    if warning := batch_warning(report):
        yield Card("The strict score is misleading", (paragraph(warning),), is_warning=True, is_blocking=True)
    yield from answer_blocks(batch_sentences(report))
    doubt = NO_ESTIMATE[report.no_estimate] if report.no_estimate else ""
    yield score_card(stated_scores(report.scores), [counted_words(report)], doubt=doubt)
    if not report.failures:
        if to_do := list(doubts_to_do(doubts)):
            yield advice_card(to_do)
        return
    owners = Counter(one.owner for one in report.failures)
    proofs = Counter(one.proof for one in report.failures)
    yield owner_card(owners, owner_notes(report), below=proof_legend(proofs["shown"], proofs["presumed"]))
    yield causes_card([_cause(one, report) for one in report.categories], owners)
    yield advice_card([*doubts_to_do(doubts), *_to_do(report, SHOWN - len(list(doubts_to_do(doubts))))])


def _to_do(report: BatchReport, room: int) -> list[Line]:
    """The model's failures are named on the first screen, however many others there are."""
    own = [category_advice(one) for one in report.categories if one.owner == "model"]
    advice = [marked(one) for one in batch_advice(report) if one not in own]
    return with_last(advice, list(map(marked, own)), room)


def _cause(category: BatchCategory, report: BatchReport) -> RankedCause:
    title = line(Link(f"{category.letter}. {category_title(category)}", f"#{_key(category)}"))
    judge = judge_words([one for one in report.failures if one.category == category.letter])
    shown = category_evidence(category) if category.owner == "model" and not category.error else ""
    note = line("; ".join(filter(None, (name_list(category.tests, NAMED), shown, judge))))
    return RankedCause(len(category.tests), category.owner, title, note)


def _key(category: BatchCategory) -> str:
    return f"category-{category.letter}"


def _sections(report: BatchReport) -> Iterator[Section]:
    yield Section(title="Results", blocks=(_map(report), *results(report, "#test-{}".format)))
    yield sessions_section(report)
    if report.categories:
        groups = tuple(_category(one, report) for one in report.categories)
        yield Section(title="Failures", sections=groups)
    yield Section(title="Totals", blocks=(aggregate(report),))
    yield from costs_sections(report)
    yield from advice_sections(report)


def _map(report: BatchReport) -> CategoryMap:
    failed = tuple(
        MapCell(failure.owner, f"{failure.test.id} {failure.test.name}", f"test-{failure.test.key}")
        for failure in sorted(report.failures, key=lambda failure: failure.owner)
    )
    passed = len(report.tests) - len(failed)
    note = f"{len(failed):,} of {plural(len(report.tests), 'test')} failed"
    return CategoryMap((MapRow("all tests", failed, passed, note),), "passed")


def _category(category: BatchCategory, report: BatchReport) -> Section:
    """What all of its failures share, once, and below it each of them."""
    members = [one for one in report.failures if one.category == category.letter]
    sections = [list(failure_sections(one, report)) for one in members]
    shared = list(_shared_sections(sections, SAME_ERROR if category.error else ()))
    shows = list(category_shows(category))
    blocks: list[Block] = [paragraph(marked(f"To do: {category_to_do(category)}"))]
    blocks += [items(shows)] if shows else []
    for section in shared:
        blocks += [paragraph(Strong(f"{section.title}, the same in all")), *section.blocks]
    left_out = {*ELSEWHERE, *(section.title for section in shared)}
    return Section(
        title=f"{category.letter}. {category_title(category)} ({plural(len(members), 'test')})",
        key=_key(category),
        owner=category.owner,
        blocks=tuple(blocks),
        sections=tuple(
            _failure(member, [one for one in own if one.title not in left_out], report)
            for member, own in zip(members, sections, strict=True)
        ),
        is_folded=True,
    )


def _shared_sections(sections: Sequence[Sequence[Section]], same: Collection[str]) -> Iterator[Section]:
    """Those of the first failure that every other has as well, and those that are known to be the `same`."""
    if len(sections) < 2:
        return
    for section in sections[0]:
        if section.title in same or (section.title not in ELSEWHERE and all(section in one for one in sections)):
            yield section


def _failure(failure: BatchFailure, sections: Sequence[Section], report: BatchReport) -> Section:
    facts = dict(failure_facts(failure, report))
    rows = [(name, line(text)) for name, text in facts.items()]
    if failure.place:
        rows.append(("first line", line(Code(failure.place))))
    blocks: list[Block] = [fields(rows)]
    error = " ".join(failure.error.split())
    evidence = [
        QuoteLine(quoted.place, quoted.quote, quoted.stated, quoted.means)
        for quoted in failure.evidence
        if not quoted.quote or quoted.quote not in error
    ]
    blocks += [Quotes(tuple(evidence))] if evidence else []
    for section in sections:
        blocks += [paragraph(Strong(section.title)), *section.blocks]
    return Section(
        title=f"{failure.test.id}: {failure.test.name}" if failure.test.name else failure.test.id,
        key=f"test-{failure.test.key}",
        owner=failure.owner,
        brief=marked(cause_of(failure) or UNKNOWN)
        if any(one.title == CAUSE for one in sections)
        else line(facts[STATUS]),
        blocks=tuple(blocks),
    )
