"""The failures of a batch: a summary by category, and a page for each with cause, exact error and fix."""

from collections.abc import Iterator

from errata.model.output.report.batch import BatchCategory, BatchFailure, BatchFix, BatchReport
from errata.render.document import (
    Block,
    Code,
    Document,
    Line,
    Link,
    QuoteLine,
    Quotes,
    Section,
    Snippet,
    items,
    line,
    marked,
    paragraph,
    table,
)
from errata.render.figures import NONE, money, plural
from errata.report.batch_failure_words import (
    cause_of,
    criterion_words,
    earlier_words,
    mechanism_of,
    moment_result,
    moment_times,
    needed_for,
    owner_words,
    share_words,
    status_words,
    stored_words,
)
from errata.report.batch_prose import (
    BY_RULE,
    category_owner,
    category_shows,
    category_title,
    category_to_do,
    to_do_for,
)
from errata.report.parts import coverage_line, status_of
from errata.text.outgoing import outgoing_lines

ERROR_LINES, WIDE, SAME = 40, 500, 40
DOUBTS = "Doubts of the reviewer"
NO_FIX = "Unknown: no rule has a fix, and the failure is not reviewed."
READ_WITHOUT_FIX = "Unknown: the review names none."


def failures_document(report: BatchReport) -> Document:
    rows = [
        (
            f"{category.letter}. {category_title(category)}",
            str(len(category.tests)),
            money(category.cost, 2),
            category_owner(category),
            marked(category_to_do(category)),
        )
        for category in report.categories
    ]
    header = ("category", "tests", "cost", "owner", "what to do")
    blocks: list[Block] = [table(header, rows, right=("tests", "cost"))] if rows else []
    return Document(
        title=f"Failures: {len(report.failures)} of {len(report.tests)}",
        status=status_of(report.reading),
        coverage=coverage_line(report.reading),
        blocks=(*blocks, paragraph(_rule(report))),
        sections=tuple(_category(one, report) for one in report.categories),
    )


def _rule(report: BatchReport) -> str:
    if not report.failures:
        return "Nothing failed."
    return (
        "Rule: a failure without cost is the framework's and needs a rerun; a failure with cost and a valid judgment "
        "is the model's. A score of 0 without a valid judgment is the grader's."
    )


def _category(category: BatchCategory, report: BatchReport) -> Section:
    members = [one for one in report.failures if one.category == category.letter]
    common = list(category_shows(category))
    blocks: list[Block] = [items(common)] if common else []
    if category.error:
        blocks += [paragraph("All have the same error:"), Snippet(cut(category.error))]
    if category.framework and members:
        first = members[0].test
        blocks.append(paragraph("Root cause and fix: ", Link(first.id, f"{first.key}.md"), "."))
    several = len(report.sessions) > 1
    rows = [_member(one, several=several) for one in members]
    header = ("test", "name", "score", "cost", "seconds", "hit", "first line", *(("earlier",) if several else ()))
    blocks.append(table(header, rows, right=("score", "cost", "seconds")))
    return Section(title=f"{category.letter}. {category_title(category)} ({len(members)})", blocks=tuple(blocks))


def _member(failure: BatchFailure, *, several: bool) -> tuple[Line, ...]:
    test = failure.test
    cells = [
        line(Link(test.id, f"{test.key}.md")),
        line(test.name),
        line(NONE if test.score is None else f"{test.score:.3f}"),
        line(money(test.cost)),
        line(NONE if test.seconds is None else f"{test.seconds:.1f}"),
        line(share_words(failure.hits) or NONE),
        line(Code(failure.place)) if failure.place else line(NONE),
    ]
    return tuple([*cells, line(earlier_words(test.earlier) or "same")] if several else cells)


def failure_document(failure: BatchFailure, report: BatchReport) -> Document:
    return Document(
        title=f"{failure.test.id}: {failure.test.name}" if failure.test.name else failure.test.id,
        status="reviewed" if failure.final else "provisional",
        coverage=line(status_words(failure)),
        blocks=(table(("", ""), list(failure_facts(failure, report))),),
        sections=tuple(failure_sections(failure, report)),
    )


def failure_facts(failure: BatchFailure, report: BatchReport) -> Iterator[tuple[str, str]]:
    test = failure.test
    score = NONE if test.score is None else f"{test.score:.3f}"
    spent = f"cost {money(test.cost)}, {NONE if test.seconds is None else f'{test.seconds:.1f} s'}"
    exit_code = f", exit code {test.exit_code}" if test.exit_code is not None else ""
    yield "status", f"{test.status} (score {score}, {spent}{exit_code})"
    yield "owner", owner_words(failure)
    if test.earlier is not None:
        yield "earlier session", earlier_words(test.earlier)
    if failure.stored is not None:
        yield "on disk", stored_words(failure.stored)
    if failure.follows:
        yield "follows from", failure.follows
    if needed := needed_for(failure, report):
        yield "done when", needed


def failure_sections(failure: BatchFailure, report: BatchReport) -> Iterator[Section]:
    yield Section(
        title="Root cause",
        blocks=(paragraph(marked(cause_of(failure) or "Unknown: the log has no error text.")),),
    )
    if failure.owner != "model":
        how = mechanism_of(failure) or "Unknown: the log does not show how it came about."
        yield Section(title="Mechanism", blocks=(paragraph(marked(how)),))
    if failure.error:
        caption = (
            line(Code(failure.place), f", {share_words(failure.hits)} hit" if failure.hits else "")
            if failure.place
            else ()
        )
        yield Section(title="Exact error", blocks=(Snippet(cut(failure.error), caption=caption),))
    else:
        yield Section(title="Exact error", blocks=(paragraph("None: the test ran to its end and was scored."),))
    yield Section(title="Fix", blocks=tuple(_fix(failure.fix, failure)))
    if failure.doubts:
        yield Section(title=DOUBTS, blocks=(items(map(marked, failure.doubts)),))
    if failure.evidence:
        quotes = Quotes(tuple(QuoteLine(each.place, each.quote, each.stated) for each in failure.evidence))
        yield Section(title="Evidence", blocks=(quotes,))
    if len(report.sessions) > 1 and failure.timeline:
        rows = [
            (str(each.session), moment_times(each), moment_result(each), line(Code(each.place)))
            for each in failure.timeline
        ]
        header = ("session", "UTC", "result", "place")
        yield Section(title="Timeline", blocks=(table(header, rows, right=("session",)),))
    if same := same_tests(failure, report):
        yield Section(title="Same cause", blocks=(paragraph(f"{same} (category {failure.category})"),))
    yield Section(title="What the task asked", blocks=tuple(_task(failure)))


def same_tests(failure: BatchFailure, report: BatchReport) -> str:
    """`10 other tests: …`, where it does not fail alone."""
    count, names = report.same_as(failure, SAME)
    more = f" and {count - len(names):,} more" if count > len(names) else ""
    return f"{plural(count, 'other test')}: {', '.join(names)}{more}" if count else ""


def _fix(fix: BatchFix | None, failure: BatchFailure) -> Iterator[Block]:
    if fix is None:
        text = READ_WITHOUT_FIX if failure.reviewed or failure.inherited_from else NO_FIX
        todo = f"{text} To do: {to_do_for(failure.owner)[:1].lower()}{to_do_for(failure.owner)[1:]}."
        yield paragraph("Nothing to fix in the framework." if failure.owner == "model" else todo)
        return
    if fix.rule:
        yield paragraph(f"{BY_RULE[:1].upper()}{BY_RULE[1:]}:")
    aimed = line(Code(fix.path), ": ") if fix.action and fix.path else ()
    yield paragraph(aimed, marked(_sentence(fix.action or fix.cause)))
    if fix.before or fix.after:
        path = line("in ", Code(fix.path)) if fix.path else ()
        before = f"# before\n{fix.before}\n" if fix.before else ""
        yield Snippet(f"{before}# after\n{fix.after}", "python", path)
    if by := f"the rule {fix.rule}" if fix.rule else fix.reviewer:
        inherited = f", for {failure.inherited_from}" if failure.inherited_from and not fix.rule else ""
        unseen = "; the source code is not part of the batch" if fix.after else ""
        yield paragraph(f"By {by}{inherited}{unseen}.")


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."


def _task(failure: BatchFailure) -> Iterator[Block]:
    if not (failure.task or failure.rubric or failure.criteria):
        yield paragraph("Not stored with the batch.")
        return
    if failure.task:
        yield Snippet(cut(failure.task))
    if failure.rubric:
        yield Snippet(cut(failure.rubric), caption=line("What the rubric requires:"))
    if failure.criteria:
        yield paragraph("Criteria met, over all stored runs:")
        yield items(map(criterion_words, failure.criteria))
    for quote in failure.judges:
        yield paragraph("Judge: ", Code(quote))


def cut(text: str) -> str:
    """As much of it as an issue can hold; without secrets before that, since half a secret looks like none."""
    lines = outgoing_lines(text).split("\n")
    shown = [f"{one[:WIDE]}…" if len(one) > WIDE else one for one in lines[:ERROR_LINES]]
    return "\n".join([*shown, f"… {len(lines) - ERROR_LINES} more lines"] if len(lines) > ERROR_LINES else shown)
