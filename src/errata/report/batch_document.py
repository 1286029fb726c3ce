"""The folder about a batch: a front page, the analysis, the failures one by one, and the issues to file."""

from collections.abc import Callable, Iterator

from errata.model.output.report.batch import BatchFailure, BatchReport, BatchTest
from errata.render.document import (
    Block,
    Code,
    Document,
    Line,
    Link,
    OwnerName,
    Section,
    Snippet,
    Strong,
    items,
    line,
    marked,
    paragraph,
    table,
)
from errata.render.figures import NONE, money, percent, plural, seconds
from errata.report.batch_analysis import analysis_document
from errata.report.batch_failure_pages import DOUBTS, cut, failure_document, failures_document, same_tests
from errata.report.batch_failure_words import (
    blame_words,
    cause_of,
    earlier_words,
    lowered,
    needed_for,
    verdict_words,
)
from errata.report.batch_prose import (
    BY_RULE,
    PERIOD,
    batch_advice,
    batch_answer,
    batch_warning,
    category_owner,
    category_title,
    counted_words,
    others_failures,
    part_of,
    stated_scores,
)
from errata.report.parts import batch_name, coverage_line, interval, left_out_words, name_list, score_table, status_of
from errata.report.shared import doubt_words, doubts_of_batch
from errata.text.outgoing import short_line

INFINITE = "∞"
COMMENT = "comments/analysis.md"
"""Posted as a comment on the epic."""


def batch_documents(report: BatchReport) -> dict[str, Document]:
    """Path → document, in the order of writing."""
    failing = {one.test.key: one for one in report.failures}
    return {
        "README.md": front_page(report),
        "analysis.md": analysis_document(report),
        "failures/summary.md": failures_document(report),
        **{f"failures/{key}.md": failure_document(one, report) for key, one in failing.items()},
        "issues/epic.md": epic_document(report),
        **{f"issues/{one.key}.md": issue_document(one, failing.get(one.key), report) for one in report.tests},
        COMMENT: analysis_document(report, as_comment=True),
    }


def front_page(report: BatchReport) -> Document:
    return Document(
        title=f"{batch_name(report)}: {report.model or 'unknown model'}, {plural(len(report.tests), 'test')}",
        status=status_of(report.reading),
        coverage=coverage_line(report.reading),
        facts=(("Date", line(report.date)), ("Analysed", line(report.made))),
        blocks=(*_warnings(report), paragraph(batch_answer(report)), *_scores(report)),
        sections=(
            Section(title="Configuration", blocks=(table(("setting", "value"), report.config),)),
            Section(title="Aggregate", blocks=(aggregate(report),)),
            Section(title="Results", blocks=(*results(report, failure_page), _more())),
        ),
    )


def _warnings(report: BatchReport) -> Iterator[Block]:
    for warning in filter(None, (doubt_words(doubts_of_batch(report)), batch_warning(report))):
        yield paragraph(Strong(warning))


def _scores(report: BatchReport) -> Iterator[Block]:
    yield score_table(stated_scores(report.scores))
    if words := counted_words(report):
        yield paragraph(f"{words}.")


def failure_page(key: str) -> str:
    return f"failures/{key}.md"


def aggregate(report: BatchReport) -> Block:
    total = len(report.tests)
    partial = [f"{one.id} ({part_of(one)})" for one in report.tests if one.part]
    owners: dict[str, int] = {}
    for failure in report.failures:
        owners[failure.owner] = owners.get(failure.owner, 0) + 1
    split = ", ".join(
        f"{owner} {count}" for owner, count in sorted(owners.items(), key=lambda pair: (-pair[1], pair[0]))
    )
    passed = f"{report.passed} ({_share(report.passed, total)})"
    if partial:
        passed += f", {len(partial)} of them partial: {name_list(partial)}"
    failed = f"{report.failed} ({_share(report.failed, total)}){f': {split}' if split else ''}"
    unknown = f", unknown for {report.unknown_costs}" if report.unknown_costs else ""
    count = f" ({plural(report.priced_passes, 'pass', 'passes')})" if report.priced_passes else ""
    rows = [
        ("tests", str(total)),
        ("passed", passed),
        ("failed", failed),
        *([("without a result", str(report.without_result))] if report.without_result else []),
        ("cost, all", f"{money(report.cost, 2)}{unknown}"),
        ("cost, passes", money(report.cost_of_passes, 2)),
        ("cost, failures", money(report.cost_of_failures, 2)),
        ("mean cost of pass", f"{money(report.mean_cost_of_pass, 2)}{count}"),
        ("median cost of pass", f"{money(report.median_cost_of_pass, 2)}{count}"),
    ]
    return table(("metric", "value"), rows)


def _share(part: int, total: int) -> str:
    return percent(part / total if total else None)


def results(report: BatchReport, target: Callable[[str], str]) -> Iterator[Block]:
    """Every test; `target` is where the page about a failed one is, by its key."""
    several = len(report.sessions) > 1
    failing = {one.test.key for one in report.failures}
    header = ("test", "name", "status", "tier", "score", "CoP", "cost", "seconds", "owner")
    rows = [
        (
            *_row(test, target(test.key) if test.key in failing else ""),
            *([earlier_words(test.earlier) or "same"] if several else []),
        )
        for test in report.tests
    ]
    provisional = report.reading.status == "provisional"
    note = f"`owner` is who has to act{', by rule' if provisional else ''}."
    if several:
        note += " `earlier` is the latest measured result of an earlier session that the counted session hides."
    yield paragraph(marked(note))
    yield table((*header, *(["earlier"] if several else [])), rows, right=("score", "CoP", "cost", "seconds"))


def _more() -> Block:
    more = line("More: ", Link("analysis.md", "analysis.md"), " · ", Link("failures/summary.md", "failures/summary.md"))
    return paragraph(
        more, " · issues to file: ", Link("issues/", "issues/epic.md"), ", ", Code("./file_issues.sh --dry-run")
    )


def _row(test: BatchTest, target: str) -> tuple[Line, ...]:
    shown = line(Link(test.id, target)) if target else line(test.id)
    owner = f"partial pass, {part_of(test)}" if test.part else OwnerName(test.owner) if test.owner else ""
    cells = (
        test.name,
        test.status,
        test.tier or NONE,
        _score(test),
        cost_of_pass(test),
        money(test.cost),
        seconds(test.seconds),
        owner,
    )
    return (shown, *(line(cell) for cell in cells))


def _score(test: BatchTest) -> str:
    return NONE if test.score is None else f"{test.score:.3f}"


def cost_of_pass(test: BatchTest) -> str:
    return INFINITE if test.nothing_passed else money(test.cost_of_pass)


# --- the issues of a batch: an epic, and one for every test, passed or failed


LONGEST, STATUS, EPIC_NAME = 180, 40, 120
"""Characters of a title; GitHub takes 256."""


def issue_title(test: BatchTest) -> str:
    """At most as long as issue trackers take; the status stays."""
    name = f"[E2E] {test.id}{f': {test.name}' if test.name else ''}"
    return f"{short_line(name, LONGEST)} - {short_line(test.status, STATUS)}"


def epic_document(report: BatchReport) -> Document:
    theirs = others_failures(report).total()
    are = "is not the model's" if theirs == 1 else "are not the model's"
    blame = f", {theirs} of {plural(len(report.failures), 'failure')} {are}" if theirs else ""
    return Document(
        title=f"[E2E] {short_line(report.name, EPIC_NAME)}: {report.passed} of {len(report.tests)} pass{blame}",
        status=status_of(report.reading),
        coverage=coverage_line(report.reading),
        blocks=tuple(_epic(report)),
    )


def _epic(report: BatchReport) -> Iterator[Block]:
    settings = ", ".join(_setting(name, value) for name, value in report.config[:6])
    yield paragraph(f"One batch of {plural(len(report.tests), 'test')} ({settings}).")
    total = len(report.tests)
    partial = sum(bool(one.part) for one in report.tests)
    in_part = f", {partial} of them partial" if partial else ""
    rows = [("passed", f"{report.passed} ({percent(report.passed / total if total else None)}){in_part}")]
    rows += [
        (
            f"failed: {lowered(category_title(category))} ({category_owner(category)})",
            f"{len(category.tests)} ({money(category.cost, 2)})",
        )
        for category in report.categories
    ]
    if report.hidden_passes:
        rows.append(
            ("passed in an earlier session, not now", f"{len(report.hidden_passes)}: {name_list(report.hidden_passes)}")
        )
    yield table(("", "tests"), rows)
    yield paragraph(_costs(report))
    for score in stated_scores(report.scores):
        if score.policy in ("clean", "reviewed") and score.total:
            rest = f"; {left_out_words(score)}" if score.left_out else ""
            rate = f"({percent(score.rate)}, interval {interval(score)})" if score.rate is not None else "measured"
            yield paragraph(f"{score.policy}: {score.passed} of {score.total} {rate}{rest}.")
    if advice := list(batch_advice(report)):
        yield paragraph("To do")
        yield items(map(marked, advice), kind="tasks")
    yield paragraph("A comment links the issues of all tests.")


def _setting(name: str, value: str) -> str:
    return f"from {value.replace(' – ', ' to ')} UTC" if name == PERIOD else f"{name} {value}"


def _costs(report: BatchReport) -> str:
    """Without the price of a pass where none is known."""
    costs = f"Total cost {money(report.cost, 2)}, passes {money(report.cost_of_passes, 2)}"
    if not report.priced_passes:
        return f"{costs}."
    return (
        f"{costs}, mean cost of pass {money(report.mean_cost_of_pass, 2)}, "
        f"median {money(report.median_cost_of_pass, 2)} ({plural(report.priced_passes, 'pass', 'passes')})."
    )


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
