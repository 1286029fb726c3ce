"""The issues of a batch: an epic, and one for every test, passed or failed."""

from collections.abc import Iterator

from errata.model.output.report.batch import BatchFailure, BatchReport, BatchTest
from errata.render.document import Block, Code, Document, Snippet, Strong, items, line, marked, paragraph, table
from errata.render.figures import NONE, money, percent, plural
from errata.report.batch_failure_pages import DOUBTS, cut, same_tests
from errata.report.batch_prose import (
    BY_RULE,
    batch_advice,
    blame_words,
    category_owner,
    category_title,
    cause_of,
    earlier_words,
    needed_for,
    part_of,
    verdict_words,
)
from errata.report.parts import coverage_line, interval, left_out_words, name_list, status_of
from errata.text.outgoing import short_line

LONGEST, STATUS, EPIC_NAME = 180, 40, 120
"""Characters of a title; GitHub takes 256."""


def issue_title(test: BatchTest) -> str:
    """At most as long as issue trackers take; the status stays."""
    name = f"[E2E] {test.id}{f': {test.name}' if test.name else ''}"
    return f"{short_line(name, LONGEST)} - {short_line(test.status, STATUS)}"


def epic_document(report: BatchReport) -> Document:
    framework = [one for one in report.categories if one.framework]
    theirs = sum(len(one.tests) for one in framework)
    failures = plural(len(report.failures), "failure")
    blame = f", {theirs} of {failures} are not the model's" if report.failures and theirs else ""
    return Document(
        title=f"[E2E] {short_line(report.name, EPIC_NAME)}: {report.passed} of {len(report.tests)} pass{blame}",
        status=status_of(report.reading),
        coverage=coverage_line(report.reading),
        blocks=tuple(_epic(report)),
    )


def _epic(report: BatchReport) -> Iterator[Block]:
    settings = ", ".join(f"{name} {value}" for name, value in report.config[:6])
    yield paragraph(f"One batch of {plural(len(report.tests), 'test')} ({settings}).")
    total = len(report.tests)
    partial = sum(bool(one.part) for one in report.tests)
    in_part = f", {partial} of them partial" if partial else ""
    rows = [("passed", f"{report.passed} ({percent(report.passed / total if total else None)}){in_part}")]
    rows += [
        (
            f"failed, {category_title(category)} ({category_owner(category)})",
            f"{len(category.tests)} ({money(category.cost, 2)})",
        )
        for category in report.categories
    ]
    if report.hidden_passes:
        rows.append(
            ("passed in an earlier session, not now", f"{len(report.hidden_passes)}: {name_list(report.hidden_passes)}")
        )
    yield table(("", "tests"), rows)
    yield paragraph(
        f"Total cost {money(report.cost, 2)}, passes {money(report.cost_of_passes, 2)}, mean cost of pass "
        f"{money(report.mean_cost_of_pass, 2)}, median {money(report.median_cost_of_pass, 2)} "
        f"({plural(report.priced_passes, 'pass', 'passes')})."
    )
    for score in report.scores:
        if score.policy in ("clean", "reviewed") and score.total:
            rest = f"; {left_out_words(score)}" if score.left_out else ""
            yield paragraph(
                f"{score.policy}: {score.passed} of {score.total} ({percent(score.rate)}, "
                f"interval {interval(score)}){rest}."
            )
    if advice := list(batch_advice(report)):
        yield paragraph("To do")
        yield items(map(marked, advice), kind="tasks")
    yield paragraph("A comment links the issues of all tests.")


def issue_document(test: BatchTest, failure: BatchFailure | None, report: BatchReport) -> Document:
    blocks = tuple(_failed(failure, report)) if failure is not None else tuple(_passed(test))
    return Document(title=issue_title(test), blocks=blocks)


def _passed(test: BatchTest) -> Iterator[Block]:
    yield paragraph(Strong("Passed."), f" Partly: {part_of(test)}." if test.part else " Nothing to do.")
    yield _numbers(test)


def _numbers(test: BatchTest) -> Block:
    score = NONE if test.score is None else f"{test.score:.3f}"
    rows = [
        ("status", test.status),
        ("best tier, score", f"{test.tier or NONE}, {score}"),
        ("cost", money(test.cost)),
        ("cost of pass", "∞" if test.nothing_passed else money(test.cost_of_pass)),
        ("duration", NONE if test.seconds is None else f"{test.seconds:.1f} s"),
    ]
    if test.earlier is not None:
        rows.append(("earlier session", earlier_words(test.earlier)))
    return table(("", "now"), rows)


def _failed(failure: BatchFailure, report: BatchReport) -> Iterator[Block]:
    category = report.category_of(failure)
    framework = category is not None and category.framework
    state = "" if failure.reviewed and failure.final else f" {verdict_words(failure).capitalize()}."
    yield paragraph(Strong(blame_words(failure, framework=framework)), state)
    yield _numbers(failure.test)
    yield paragraph(Strong("Root cause."), " ", marked(cause_of(failure) or "Unknown."))
    if failure.error:
        yield Snippet(cut(failure.error))
        same = same_tests(failure, report)
        joint = "; " if failure.place and same else ""
        if failure.place or same:
            yield paragraph("(", Code(failure.place), f"{joint}{same}", ")")
    yield from _fix(failure)
    if failure.doubts:
        yield paragraph(Strong(f"{DOUBTS}."))
        yield items(map(marked, failure.doubts))
    if needed := needed_for(failure, report):
        yield paragraph(Strong("Done when"), f" {needed[:1].lower()}{needed[1:]}")


def _fix(failure: BatchFailure) -> Iterator[Block]:
    fix = failure.fix
    if fix is None:
        if failure.owner != "model":
            yield paragraph(Strong("Fix."), " Unknown.")
        return
    source = f" ({BY_RULE})" if fix.rule else ""
    aimed = line(Code(fix.path), ": ") if fix.path else ()
    if fix.after:
        change = line(Code(fix.after), " instead of ", Code(fix.before))
        yield paragraph(Strong("Fix."), " ", aimed, change, f"{source}. ", marked(fix.cause.removesuffix(".")), ".")
    else:
        advice = (fix.action or fix.cause).removesuffix(".")
        yield paragraph(Strong("Fix."), " ", aimed, marked(advice), f"{source}.")
