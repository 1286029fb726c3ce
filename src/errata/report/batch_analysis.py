"""`analysis.md` of a batch: its sessions, costs, durations, failure categories and what to do."""

from collections.abc import Iterable, Iterator

from errata.model.output.compare import SessionOutput
from errata.model.output.report.batch import BatchReport, Spread
from errata.render.document import (
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
from errata.render.figures import money, plural, seconds
from errata.report.batch_prose import (
    GROUPS,
    batch_advice,
    batch_limits,
    category_evidence,
    category_title,
    exit_codes,
    session_times,
)
from errata.report.parts import batch_name, coverage_line, name_list, status_of
from errata.text.shell import shell_word

LISTED = 100
"""Tests that are named in one sentence."""


def analysis_document(report: BatchReport, *, as_comment: bool = False) -> Document:
    """`as_comment` is for an issue, where files of the folder can't be linked or run."""
    return Document(
        title=f"Analysis: {batch_name(report)}",
        status=status_of(report.reading),
        coverage=coverage_line(report.reading),
        blocks=() if as_comment else (paragraph("Results: ", Link("README.md", "README.md"), "."),),
        sections=(
            sessions_section(report),
            *costs_sections(report),
            Section(title="Failure categories", blocks=tuple(_categories(report, linked=not as_comment))),
            *advice_sections(report, next_steps=not as_comment),
        ),
    )


def sessions_section(report: BatchReport) -> Section:
    return Section(title="What happened", blocks=tuple(_sessions(report)))


def costs_sections(report: BatchReport) -> tuple[Section, ...]:
    return (
        Section(title="Costs", blocks=tuple(_costs(report))),
        Section(title="Durations (seconds)", blocks=(_durations(report.durations),)),
    )


def advice_sections(report: BatchReport, *, next_steps: bool = True) -> Iterator[Section]:
    yield Section(title="Recommendations", key="recommendations", blocks=(_numbered(batch_advice(report)),))
    if next_steps:
        yield Section(title="Next", blocks=(items(_next(report)),))
    yield Section(title="Limits of this analysis", blocks=(_limits(report),))


def _limits(report: BatchReport) -> Block:
    lines = list(batch_limits(report))
    return items(lines) if lines else paragraph("None known.")


def _sessions(report: BatchReport) -> Iterator[Block]:
    if len(report.sessions) > 1:
        yield paragraph(
            f"The folder holds {len(report.sessions)} sessions. The last result of each test counts; all of them:"
        )
    header = ("session", "UTC", "tests", "exit codes", "cost", "passed", "failed", "not measured", "pattern")
    yield table(
        header,
        [_session(one) for one in report.sessions],
        right=("session", "tests", "cost", "passed", "failed", "not measured"),
    )
    if report.hidden_passes:
        spent = f" Together they cost {money(report.hidden_passes_cost, 2)}." if report.hidden_passes_cost else ""
        yield paragraph(
            Strong(f"Passed in an earlier session, not now ({len(report.hidden_passes)}):"),
            f" {name_list(report.hidden_passes, LISTED)}.{spent}",
        )
    if report.hidden_fails:
        yield paragraph(
            Strong(f"Failed in an earlier session, not measured now ({len(report.hidden_fails)}):"),
            f" {name_list(report.hidden_fails, LISTED)}.",
        )
    if report.never_measured:
        yield paragraph(
            Strong(f"Measured in no session ({len(report.never_measured)}):"),
            f" {name_list(report.never_measured, LISTED)}.",
        )


def _session(session: SessionOutput) -> tuple[str, ...]:
    counts = (str(session.passed), str(session.failed), str(session.not_measured))
    return (
        str(session.number),
        session_times(session),
        str(session.tried),
        exit_codes(session),
        money(session.cost, 2),
        *counts,
        session.pattern,
    )


def _costs(report: BatchReport) -> Iterator[Block]:
    rows = [
        (
            GROUPS[costs.group],
            str(costs.tests),
            *(money(value, 2) for value in (costs.total, costs.mean, costs.pass_mean, costs.pass_median)),
        )
        for costs in report.costs
    ]
    header = ("group", "tests", "cost", "mean", "cost of pass, mean", "cost of pass, median")
    yield table(header, rows, right=header[1:])
    lines = ["Cost of pass = mean run cost ÷ pass rate, at the cheapest tier of each test (its frontier)."]
    if report.mean_cost_of_pass is not None:
        lines.append(
            f"Over {plural(report.priced_passes, 'pass', 'passes')}: mean {money(report.mean_cost_of_pass, 2)}, "
            f"median {money(report.median_cost_of_pass, 2)}."
        )
    endless = [one.id for one in report.tests if one.nothing_passed]
    if endless:
        lines.append(f"It is infinite for tests that spent money without a pass: {name_list(endless)}.")
    if report.passed and report.cost is not None:
        lines.append(f"{money(report.cost / report.passed, 2)} total cost per pass, with the cost of failures.")
    yield items(lines)


def _durations(spreads: Iterable[Spread]) -> Block:
    rows = [
        (
            f"{GROUPS[spread.group]} ({spread.tests})",
            seconds(spread.least),
            seconds(spread.median),
            seconds(spread.most),
        )
        for spread in spreads
    ]
    return table(("group", "min", "median", "max"), rows, right=("min", "median", "max"))


def _categories(report: BatchReport, *, linked: bool) -> Iterator[Block]:
    if not report.categories:
        yield paragraph("Nothing failed.")
        return
    rows = [
        (
            f"{category.letter}. {category_title(category)}",
            str(len(category.tests)),
            f"{category.owner} ({category.confidence})",
            category_evidence(category),
        )
        for category in report.categories
    ]
    yield table(
        ("category", "tests", "owner", "evidence"),
        rows,
        right=("tests",),
    )
    if linked:
        yield paragraph("Details: ", Link("failures/summary.md", "failures/summary.md"))


def _next(report: BatchReport) -> Iterator[Line]:
    """Commands to run next; the report itself runs none of them."""
    yield line(
        Code("./file_issues.sh --dry-run"), ", then ", Code("./file_issues.sh"), " files all issues, one call a second"
    )
    yield line(Code(f"errata rerun {shell_word(report.handle)}"), " prints the command that reruns the blocked tests")
    yield line(
        Code(f"errata check {shell_word(report.handle)}"),
        " lists stored results that can't be read; run it before a resume",
    )
    if report.reading.status == "provisional":
        reading = report.reading
        is_open = reading.read + reading.inherited < reading.failures
        what = "the next failure to review" if is_open else "what needs a second reviewer"
        command = f"errata review next {shell_word(report.handle)}{'' if is_open else ' --second'}"
        yield line(Code(command), f" prints {what}; write the report again afterwards")


def _numbered(lines: Iterable[str]) -> Block:
    points = [marked(one) for one in lines]
    return items(points, kind="numbers") if points else paragraph("None.")
