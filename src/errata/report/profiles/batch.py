"""The folder about a batch: a front page, the analysis, the failures one by one, and the issues to file."""

from collections.abc import Iterable, Iterator

from errata.report.document import (
    Block,
    Code,
    Document,
    Line,
    Link,
    Section,
    Strong,
    items,
    line,
    marked,
    paragraph,
    table,
)
from errata.report.facts.batch import BatchReport, Category, Session, Spread, Test
from errata.report.profiles.batch_failures import failure_document, failures_document
from errata.report.profiles.batch_issues import epic_document, issue_document
from errata.report.profiles.parts import NONE, money, named, percent, plural, score_table, status_line

INFINITE = "∞"


def batch_documents(report: BatchReport) -> dict[str, Document]:
    """Path → document, in the order in which they are written."""
    failing = {one.test.key: one for one in report.failures}
    return {
        "README.md": front_page(report),
        "analysis.md": analysis(report),
        "failures/summary.md": failures_document(report),
        **{f"failures/{key}.md": failure_document(one, report) for key, one in failing.items()},
        "issues/epic.md": epic_document(report),
        **{f"issues/{one.key}.md": issue_document(one, failing.get(one.key), report) for one in report.tests},
    }


def front_page(report: BatchReport) -> Document:
    return Document(
        title=f"{batch_name(report)}: {report.model}, {plural(len(report.tests), 'test')}",
        status="provisional" if report.reading.status == "provisional" else "reviewed",
        facts=(("Date", line(report.date)), ("Status", status_line(report.reading)), ("Analysed", line(report.made))),
        blocks=(*(paragraph(one) for one in report.answer), score_table(report.scores)),
        sections=(
            Section(title="Configuration", blocks=(table(("setting", "value"), report.config),)),
            Section(title="Aggregate", blocks=(_aggregate(report),)),
            Section(title="Results", blocks=tuple(_results(report))),
        ),
    )


def batch_name(report: BatchReport) -> str:
    return report.name if report.name.lower().startswith("batch") else f"batch {report.name}"


def _aggregate(report: BatchReport) -> Block:
    total = len(report.tests)
    partial = [one.id for one in report.tests if one.partial]
    owners: dict[str, int] = {}
    for one in report.failures:
        owners[one.owner] = owners.get(one.owner, 0) + 1
    split = ", ".join(
        f"{owner} {count}" for owner, count in sorted(owners.items(), key=lambda pair: (-pair[1], pair[0]))
    )
    passed = f"{report.passed} ({_share(report.passed, total)})"
    if partial:
        passed += f", {len(partial)} of them partial: {named(partial)}"
    failed = f"{report.failed} ({_share(report.failed, total)}){f': {split}' if split else ''}"
    unknown = f", unknown for {report.unknown_costs}" if report.unknown_costs else ""
    count = f" ({plural(report.priced_passes, 'pass', 'passes')})" if report.priced_passes else ""
    rows = [
        ("tests", str(total)),
        ("passed", passed),
        ("failed", failed),
        ("cost, all", f"{money(report.cost, 2)}{unknown}"),
        ("cost, passes", money(report.cost_of_passes, 2)),
        ("cost, failures", money(report.cost_of_failures, 2)),
        ("mean cost of pass", f"{money(report.mean_cost_of_pass, 2)}{count}"),
        ("median cost of pass", f"{money(report.median_cost_of_pass, 2)}{count}"),
    ]
    return table(("metric", "value"), rows)


def _share(part: int, total: int) -> str:
    return percent(part / total if total else None)


def _results(report: BatchReport) -> Iterator[Block]:
    several = len(report.sessions) > 1
    failing = {one.test.key for one in report.failures}
    header = ("test", "name", "status", "tier", "score", "CoP", "cost", "seconds", "owner")
    rows = [
        (*_row(one, linked=one.key in failing), *([one.earlier or "same"] if several else [])) for one in report.tests
    ]
    told = "`owner` is who has to act."
    if several:
        told += " `earlier` is the latest measured result of an earlier session, where the one that counts hides it."
    yield paragraph(marked(told))
    yield table((*header, *(["earlier"] if several else [])), rows, right=("score", "CoP", "cost", "seconds"))
    more = line("More: ", Link("analysis.md", "analysis.md"), " · ", Link("failures/summary.md", "failures/summary.md"))
    yield paragraph(
        more, " · issues to file: ", Link("issues/", "issues/epic.md"), ", ", Code("./file_issues.sh --dry-run")
    )


def _row(test: Test, *, linked: bool) -> tuple[Line, ...]:
    shown = line(Link(test.id, f"failures/{test.key}.md")) if linked else line(test.id)
    owner = "partial pass" if test.partial else test.owner
    cells = (
        test.name,
        test.status,
        test.tier or NONE,
        _score(test),
        cost_of_pass(test),
        money(test.cost),
        _seconds(test.seconds),
        owner,
    )
    return (shown, *(line(cell) for cell in cells))


def _score(test: Test) -> str:
    return NONE if test.score is None else f"{test.score:.3f}"


def cost_of_pass(test: Test) -> str:
    return INFINITE if test.nothing_passed else money(test.cost_of_pass)


def _seconds(value: float | None) -> str:
    return NONE if value is None else f"{value:.1f}"


def analysis(report: BatchReport) -> Document:
    return Document(
        title=f"Analysis: {batch_name(report)}",
        facts=(("Status", status_line(report.reading)),),
        blocks=(paragraph("What is counted stands in ", Link("README.md", "README.md"), "."),),
        sections=(
            Section(title="What happened", blocks=tuple(_sessions(report))),
            Section(title="Costs", blocks=tuple(_costs(report))),
            Section(title="Durations (seconds)", blocks=(_durations(report.durations),)),
            Section(title="Failure categories", blocks=tuple(_categories(report))),
            Section(title="Recommendations", blocks=(_numbered(report.advice),)),
            Section(
                title="Limits of this analysis",
                blocks=(items(report.limits) if report.limits else paragraph("None known."),),
            ),
        ),
    )


def _sessions(report: BatchReport) -> Iterator[Block]:
    if len(report.sessions) > 1:
        yield paragraph(
            f"{len(report.sessions)} sessions lie in one folder, and the summary shows the last one only. "
            "What the logs hold of all of them:"
        )
    header = ("session", "UTC", "tests", "exit codes", "cost", "passed", "failed", "not measured", "what it is")
    yield table(
        header,
        [_session(one) for one in report.sessions],
        right=("session", "tests", "cost", "passed", "failed", "not measured"),
    )
    if report.hidden_passes:
        spent = f" Together they cost {money(report.hidden_passes_cost, 2)}." if report.hidden_passes_cost else ""
        yield paragraph(
            Strong(f"Passed in an earlier session, not now ({len(report.hidden_passes)}):"),
            f" {', '.join(report.hidden_passes)}.{spent}",
        )
    if report.hidden_fails:
        yield paragraph(
            Strong(f"Failed on their merits in an earlier session, not measured now ({len(report.hidden_fails)}):"),
            f" {', '.join(report.hidden_fails)}.",
        )
    if report.never_measured:
        yield paragraph(
            Strong(f"Measured in no session ({len(report.never_measured)}):"), f" {', '.join(report.never_measured)}."
        )


def _session(one: Session) -> tuple[str, ...]:
    counts = (str(one.passed), str(one.failed), str(one.not_measured))
    return (str(one.number), one.when, str(one.tried), one.exit_codes, money(one.cost, 2), *counts, one.pattern)


def _costs(report: BatchReport) -> Iterator[Block]:
    rows = [(one.group, str(one.tests), money(one.total, 2), money(one.mean, 2)) for one in report.costs]
    yield table(("group", "tests", "cost", "mean"), rows, right=("tests", "cost", "mean"))
    told = ["Cost of pass = mean run cost ÷ pass rate, at the cheapest tier of a test (its frontier)."]
    if report.mean_cost_of_pass is not None:
        told.append(
            f"Over {plural(report.priced_passes, 'pass', 'passes')}: mean {money(report.mean_cost_of_pass, 2)}, "
            f"median {money(report.median_cost_of_pass, 2)}."
        )
    endless = [one.id for one in report.tests if one.nothing_passed]
    if endless:
        told.append(f"It is infinite where money was spent and no run passed: {named(endless)}.")
    if report.passed and report.cost is not None:
        told.append(f"Charging the failures to the passes gives {money(report.cost / report.passed, 2)} per pass.")
    yield items(told)


def _durations(spreads: Iterable[Spread]) -> Block:
    rows = [
        (f"{one.group} ({one.tests})", _seconds(one.least), _seconds(one.median), _seconds(one.most)) for one in spreads
    ]
    return table(("group", "min", "median", "max"), rows, right=("min", "median", "max"))


def _categories(report: BatchReport) -> Iterator[Block]:
    if not report.categories:
        yield paragraph("Nothing failed.")
        return
    rows = [
        (f"{one.letter}. {one.title}", str(len(one.tests)), f"{one.owner} ({one.confidence})", one.evidence)
        for one in report.categories
    ]
    yield table(
        ("category", "tests", "owner", "evidence"),
        rows,
        right=("tests",),
        provisional=_any_provisional(report.categories),
    )
    yield paragraph("Details: ", Link("failures/summary.md", "failures/summary.md"))


def _any_provisional(categories: Iterable[Category]) -> bool:
    return any(one.provisional for one in categories)


def _numbered(lines: Iterable[str]) -> Block:
    told = [marked(one) for one in lines]
    return items(told, kind="numbers") if told else paragraph("None.")
