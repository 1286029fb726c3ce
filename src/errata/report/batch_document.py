"""The folder about a batch: a front page, the analysis, the failures one by one, and the issues to file."""

from collections.abc import Callable, Iterator

from errata.model.output.report.batch import BatchReport, BatchTest
from errata.render.document import (
    Block,
    Code,
    Document,
    Line,
    Link,
    OwnerName,
    Section,
    Strong,
    line,
    marked,
    paragraph,
    table,
)
from errata.render.figures import NONE, money, percent, plural, seconds
from errata.report.batch_analysis import analysis_document
from errata.report.batch_failure_pages import failure_document, failures_document
from errata.report.batch_issue_pages import epic_document, issue_document
from errata.report.batch_prose import batch_answer, batch_warning, earlier_words, part_of
from errata.report.parts import batch_name, coverage_line, name_list, score_table, status_of

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
        blocks=(paragraph(batch_answer(report)), *_warning(report), score_table(report.scores)),
        sections=(
            Section(title="Configuration", blocks=(table(("setting", "value"), report.config),)),
            Section(title="Aggregate", blocks=(aggregate(report),)),
            Section(title="Results", blocks=(*results(report, failure_page), _more())),
        ),
    )


def _warning(report: BatchReport) -> Iterator[Block]:
    if warning := batch_warning(report):
        yield paragraph(Strong(warning))


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
