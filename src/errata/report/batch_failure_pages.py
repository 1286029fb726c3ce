"""The failures of a batch: a summary by category, and a page for each with cause, exact error and fix."""

from collections.abc import Iterator

from errata.model.output.report.batch import BatchCategory, BatchFailure, BatchFix, BatchReport
from errata.render.document import (
    Block,
    Code,
    Document,
    Line,
    Link,
    Section,
    Snippet,
    items,
    line,
    marked,
    paragraph,
    table,
)
from errata.report.batch_prose import (
    category_shows,
    category_title,
    category_to_do,
    cause_of,
    criterion_words,
    earlier_words,
    moment_result,
    moment_times,
    needed_for,
    share_words,
    stored_words,
)
from errata.report.parts import NONE, money, plural
from errata.text.private import outgoing_lines

ERROR_LINES, WIDE, SAME = 40, 500, 40
NO_FIX = "Not known yet: no rule has a fix for it, and nobody has read it."
READ_WITHOUT_FIX = "Not known: who read it names none."


def failures_document(report: BatchReport) -> Document:
    rows = [
        (
            f"{one.letter}. {category_title(one)}",
            str(len(one.tests)),
            money(one.cost, 2),
            one.owner,
            marked(category_to_do(one)),
        )
        for one in report.categories
    ]
    provisional = any(one.provisional for one in report.categories)
    header = ("category", "tests", "cost", "owner", "what to do")
    blocks: list[Block] = [table(header, rows, right=("tests", "cost"), provisional=provisional)] if rows else []
    return Document(
        title=f"Failures: {len(report.failures)} of {len(report.tests)}",
        blocks=(*blocks, paragraph(_rule(report))),
        sections=tuple(_category(one, report) for one in report.categories),
    )


def _rule(report: BatchReport) -> str:
    if not report.failures:
        return "Nothing failed."
    return (
        "Rule: a failure that spent nothing is the framework's and has to be run again; one that spent money and was "
        "scored is the model's, unless its log shows otherwise."
    )


def _category(category: BatchCategory, report: BatchReport) -> Section:
    members = [one for one in report.failures if one.category == category.letter]
    common = list(category_shows(category))
    blocks: list[Block] = [items(common)] if common else []
    if category.error:
        blocks += [paragraph("The exact error is the same in all:"), Snippet(cut(category.error))]
    if category.framework and members:
        first = members[0].test
        blocks.append(paragraph("Root cause and fix: ", Link(first.id, f"{first.key}.md"), "."))
    several = len(report.sessions) > 1
    rows = [_member(one, several=several) for one in members]
    header = ("test", "name", "score", "cost", "seconds", "hit", "first line", *(("earlier",) if several else ()))
    blocks.append(table(header, rows, right=("score", "cost", "seconds")))
    return Section(title=f"{category.letter}. {category_title(category)} ({len(members)})", blocks=tuple(blocks))


def _member(one: BatchFailure, *, several: bool) -> tuple[Line, ...]:
    test = one.test
    cells = [
        line(Link(test.id, f"{test.key}.md")),
        line(test.name),
        line(NONE if test.score is None else f"{test.score:.3f}"),
        line(money(test.cost)),
        line(NONE if test.seconds is None else f"{test.seconds:.1f}"),
        line(share_words(one.hits) or NONE),
        line(Code(one.place)) if one.place else line(NONE),
    ]
    return tuple([*cells, line(earlier_words(test.earlier) or "same")] if several else cells)


def failure_document(one: BatchFailure, report: BatchReport) -> Document:
    return Document(
        title=f"{one.test.id}: {one.test.name}" if one.test.name else one.test.id,
        status=None if one.reviewed else "provisional",
        blocks=(table(("", ""), list(_facts(one, report))),),
        sections=tuple(_sections(one, report)),
    )


def _facts(one: BatchFailure, report: BatchReport) -> Iterator[tuple[str, str]]:
    test = one.test
    score = NONE if test.score is None else f"{test.score:.3f}"
    spent = f"cost {money(test.cost)}, {NONE if test.seconds is None else f'{test.seconds:.1f} s'}"
    exit_code = f", exit code {test.exit_code}" if test.exit_code is not None else ""
    yield "status", f"{test.status} (score {score}, {spent}{exit_code})"
    yield "owner", f"{one.owner}, {one.confidence}{'' if one.reviewed else ' (by rule, not read yet)'}"
    if test.earlier is not None:
        yield "earlier session", earlier_words(test.earlier)
    if one.stored is not None:
        yield "on disk", stored_words(one.stored)
    if one.follows:
        yield "follows from", one.follows
    if needed := needed_for(one, report):
        yield "done when", needed


def _sections(one: BatchFailure, report: BatchReport) -> Iterator[Section]:
    yield Section(
        title="Root cause",
        blocks=(paragraph(marked(cause_of(one) or "Not known: the log says no more than that it failed.")),),
    )
    if one.error:
        caption = line(Code(one.place), f", {share_words(one.hits)} hit" if one.hits else "") if one.place else ()
        yield Section(title="Exact error", blocks=(Snippet(cut(one.error), caption=caption),))
    else:
        yield Section(title="Exact error", blocks=(paragraph("None: it ran to its end and was scored."),))
    yield Section(title="Fix", blocks=tuple(_fix(one.fix, one)))
    if one.evidence:
        pieces = items(line(Code(each.place), ": ", Code(each.quote)) for each in one.evidence)
        yield Section(title="Evidence", blocks=(pieces,))
    if len(report.sessions) > 1 and one.timeline:
        rows = [
            (str(each.session), moment_times(each), moment_result(each), line(Code(each.place)))
            for each in one.timeline
        ]
        header = ("session", "UTC", "result", "place")
        yield Section(title="Timeline", blocks=(table(header, rows, right=("session",)),))
    if same := same_tests(one, report):
        yield Section(title="Same cause", blocks=(paragraph(f"{same} (category {one.category})"),))
    yield Section(title="What the task asked", blocks=tuple(_task(one)))


def same_tests(one: BatchFailure, report: BatchReport) -> str:
    """`10 other tests: …`, where it does not fail alone."""
    count, names = report.same_as(one, SAME)
    more = f" and {count - len(names):,} more" if count > len(names) else ""
    return f"{plural(count, 'other test')}: {', '.join(names)}{more}" if count else ""


def _fix(fix: BatchFix | None, one: BatchFailure) -> Iterator[Block]:
    if fix is None:
        told = READ_WITHOUT_FIX if one.reviewed else NO_FIX
        yield paragraph("Nothing to fix in the framework." if one.owner == "model" else told)
        return
    yield paragraph(marked(fix.cause))
    if fix.before or fix.after:
        path = line("in ", Code(fix.path)) if fix.path else ()
        yield Snippet(f"# before\n{fix.before}\n# after\n{fix.after}", "python", path)
    if by := f"the rule {fix.rule}" if fix.rule else fix.reviewer:
        yield paragraph(f"By {by}; the source itself is not part of the batch.")


def _task(one: BatchFailure) -> Iterator[Block]:
    if not (one.task or one.rubric or one.criteria):
        yield paragraph("Not stored with the batch.")
        return
    if one.task:
        yield Snippet(cut(one.task))
    if one.rubric:
        yield Snippet(cut(one.rubric), caption=line("What the rubric requires:"))
    if one.criteria:
        yield paragraph("How often judges found it met, over all stored runs:")
        yield items(map(criterion_words, one.criteria))
    for said in one.judges:
        yield paragraph("A judge said: ", Code(said))


def cut(text: str) -> str:
    """As much of it as an issue can hold; without secrets before that, since half a secret looks like none."""
    lines = outgoing_lines(text).split("\n")
    shown = [f"{one[:WIDE]}…" if len(one) > WIDE else one for one in lines[:ERROR_LINES]]
    return "\n".join([*shown, f"… {len(lines) - ERROR_LINES} more lines"] if len(lines) > ERROR_LINES else shown)
