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
from errata.render.proof import PROOF_LEGEND, proof_counts
from errata.report.batch_analysis import advice_sections, costs_sections, sessions_section
from errata.report.batch_document import aggregate, results
from errata.report.batch_failure_pages import failure_facts, failure_sections
from errata.report.batch_failure_words import (
    cause_of,
)
from errata.report.batch_prose import (
    batch_advice,
    batch_answer,
    batch_warning,
    category_advice,
    category_shows,
    category_title,
    category_to_do,
    stated_scores,
)
from errata.report.front import advice_card, causes_card, owner_card, score_card, with_last, with_short_card
from errata.report.parts import batch_name, coverage_line, fit_badge, name_list, status_of

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
        brief=line(" · ".join(part for part in (report.handle, report.date, _spent(report)) if part)),
        status=status_of(report.reading),
        coverage=coverage_line(report.reading),
        warning=fit_badge(report.fit),
        facts=(
            ("Batch", line(report.name)),
            ("Date", line(report.date)),
            *((name, line(value)) for name, value in report.config),
            ("Analysed", line(report.made)),
        ),
        blocks=tuple(with_short_card(list(_front(report)))),
        sections=tuple(_sections(report)),
    )


def _spent(report: BatchReport) -> str:
    return f"{money(report.cost, 2)} spent" if report.cost is not None else ""


def _front(report: BatchReport) -> Iterator[Block]:
    yield paragraph(batch_answer(report))
    if warning := batch_warning(report):
        yield Card("The strict score misleads", (paragraph(warning),), is_warning=True)
    yield score_card(stated_scores(report.scores), _earlier_passes(report))
    if not report.failures:
        return
    owners = Counter(one.owner for one in report.failures)
    notes = {one.owner: _example(one, owners) for one in reversed(report.categories)}
    proofs = _proofs(report.failures)
    yield owner_card(owners, notes | ({"model": proofs} if proofs else {}), below=PROOF_LEGEND if proofs else ())
    yield causes_card([_cause(one) for one in report.categories], owners)
    yield advice_card(_to_do(report))


def _proofs(failures: Sequence[BatchFailure]) -> str:
    presumed = Counter(one.proof_reason for one in failures if one.proof == "presumed")
    return proof_counts(sum(one.proof == "shown" for one in failures), presumed)


def _earlier_passes(report: BatchReport) -> str:
    """Why clean may count more passes than strict."""
    if not report.hidden_passes:
        return ""
    passes = plural(len(report.hidden_passes), "pass is", "passes are")
    return f"clean takes the latest session that measured a test: {passes} from an earlier one"


def _to_do(report: BatchReport) -> list[Line]:
    """The model's failures are named on the first screen, however many others there are."""
    own = [category_advice(one) for one in report.categories if one.owner == "model"]
    advice = [marked(one) for one in batch_advice(report) if one not in own]
    for entry in reversed(own):
        advice = with_last(advice, marked(entry))
    return advice


def _example(category: BatchCategory, owners: Counter[str]) -> str:
    """What the failures of an owner show; an example where it is not true of all of them."""
    is_all = len(category.tests) == owners[category.owner]
    return f"{'' if is_all else 'e.g. '}{category_title(category)}"


def _cause(category: BatchCategory) -> RankedCause:
    title = line(Link(f"{category.letter}. {category_title(category)}", f"#{_key(category)}"))
    return RankedCause(len(category.tests), category.owner, title, line(name_list(category.tests, NAMED)))


def _key(category: BatchCategory) -> str:
    return f"category-{category.letter}"


def _anchor(test: str) -> str:
    return f"#test-{test}"


def _sections(report: BatchReport) -> Iterator[Section]:
    yield Section(title="Results", blocks=(_map(report), *results(report, _anchor)))
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
    evidence = [QuoteLine(one.place, one.quote, one.means) for one in failure.evidence if one.quote not in error]
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
