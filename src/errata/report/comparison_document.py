"""`deep_error_analysis.md`: several runs of one suite by cause, with the datapoints that show each."""

from collections.abc import Iterator, Mapping, Sequence

from errata.model.output.report.comparison import ComparisonReport, Run
from errata.model.output.report.shared import ScoreLine
from errata.render.document import (
    Bar,
    Block,
    Chart,
    Code,
    Document,
    Grid,
    Line,
    Section,
    Table,
    items,
    line,
    marked,
    paragraph,
    table,
)
from errata.report.comparison_causes import causes_section, is_provisional
from errata.report.comparison_models import model_in_short, models_section, shared_section
from errata.report.parts import NONE, interval, named, percent, plural, status_line

TOP = 3


def comparison_document(report: ComparisonReport) -> Document:
    return Document(
        title=f"Deep Error Analysis: {report.suite}, {plural(len(report.runs), 'run')}",
        status="provisional" if is_provisional(report) else "final",
        facts=(("Status", _status(report)), ("Analysed", line(report.made))),
        blocks=(
            paragraph(
                "Causes are the reading of reviewers and rules, not a second judge. Counts come from the judged rows, "
                "never from a summary or a chart; all of them, raw, are in ",
                Code("failure_review_rows.jsonl"),
                " and ",
                Code(".csv"),
                " beside this file.",
            ),
        ),
        sections=tuple(_sections(report)),
    )


def _status(report: ComparisonReport) -> Line:
    reading = report.reading
    final = sum(one.status == "final" for one in report.modes)
    buckets = f"{final} of {plural(len(report.modes), 'bucket')} final"
    if is_provisional(report):
        return line("PROVISIONAL. ", status_line(reading, state=False), f"; {buckets}")
    if not report.failed_rows:
        return line("final. There was no failed row to read")
    return line("final. ", status_line(reading, state=False), f"; {buckets}")


def _sections(report: ComparisonReport) -> Iterator[Section]:
    yield Section(title="In short", blocks=(items(map(marked, short_words(report))),))
    yield Section(title="Run Set", blocks=tuple(_run_set(report)))
    yield Section(title="Top-Line Comparison", blocks=tuple(_top_line(report)))
    yield causes_section(report)
    if len(report.runs) > 1:
        yield shared_section(report)
    yield models_section(report)
    if report.categories:
        yield Section(title="Categories", blocks=(_categories(report),))
    measured = [*report.suspicious, *report.findings]
    if measured or report.doubts:
        yield Section(title="Doubts", blocks=tuple(_doubts(measured, report.doubts)))
    if report.not_included:
        yield Section(title="Not included", blocks=(items(report.not_included),))


def short_words(report: ComparisonReport) -> Iterator[str]:
    """What a reader who stops here should know."""
    shared = report.failed_by_all_runs
    if shared and len(report.runs) > 1:
        every = frozenset(shared)
        rows = sum(case in every for one in report.modes for cases in (*one.cases, *one.following) for case in cases)
        asked = "; ".join(f"{case} ({report.asks[case]})" if report.asks.get(case) else case for case in shared[:4])
        verb = "fails" if len(shared) == 1 else "fail"
        count = plural(len(shared), report.case_word)
        makes = "makes" if len(shared) == 1 else "make"
        yield f"{count} {verb} in every run and {makes} {rows} of the {report.failed_rows} failed rows: {asked}."
    for model in report.models:
        yield f"{model.name}: {model_in_short(model)}"
    yield report.chance


def _run_set(report: ComparisonReport) -> Iterator[Block]:
    rows = [
        (one.label, one.model, str(one.rows), str(one.passed), str(one.failed), _no_verdict(one), one.native_id)
        for one in report.runs
    ]
    header = ("run", "model", "rows", "pass", "fail", "no verdict", "directory")
    yield table(header, rows, right=("rows", "pass", "fail"))
    for told in report.differences:
        yield paragraph(told)


def _no_verdict(run: Run) -> str:
    parts = []
    if run.no_verdict:
        parts.append(f"{len(run.no_verdict)} ({named(run.no_verdict, 6)})")
    if run.missing:
        parts.append(f"{len(run.missing)} missing ({named(run.missing, 6)})")
    return ", ".join(parts) or "0"


def _top_line(report: ComparisonReport) -> Iterator[Block]:
    patterns = list(dict.fromkeys(name for one in report.runs for name in one.patterns))
    rows = [
        (
            one.label,
            f"{one.failed}/{one.judged}",
            *(str(one.patterns.get(name, 0)) for name in patterns),
            _top(one.dimensions),
        )
        for one in report.runs
    ]
    yield table(("run", "failed rows", *patterns, "top failed dimensions"), rows, right=("failed rows", *patterns))
    yield scores_table(report)
    if report.dimensions:
        yield paragraph("Failed dimensions, counted from the rows (false / applicable):")
        yield table(("dimension", *(one.label for one in report.runs), "all"), list(_dimensions(report)))
        bars = tuple(Bar(one.name, sum(one.failed)) for one in report.dimensions)
        yield Chart("Failed dimensions over all runs", bars)
        yield from _surface(report)
    if report.grid:
        cases, *letters = report.grid
        yield Grid(
            tuple(one.label for one in report.runs), cases, tuple("".join(row) for row in letters), report.legend
        )


def _top(dimensions: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {often}" for name, often in list(dimensions.items())[:TOP]) or NONE


def scores_table(report: ComparisonReport) -> Table:
    return table(("score", *(one.label for one in report.runs)), list(_scores(report)))


def _scores(report: ComparisonReport) -> Iterator[tuple[str, ...]]:
    """Policies that say the same in every run share a row; below them what the last ones leave out."""
    named_rows: dict[tuple[str, ...], list[str]] = {}
    policies = dict.fromkeys(score.policy for one in report.runs for score in one.scores)
    for policy in policies:
        row = tuple(_told(_score(one, policy)) for one in report.runs)
        named_rows.setdefault(row, []).append(policy.replace("_", " "))
    yield from ((" = ".join(names), *row) for row, names in named_rows.items())
    for policy in ("clean", "reviewed"):
        left = tuple(found.left_out if (found := _score(one, policy)) else "" for one in report.runs)
        if any(left):
            yield (f"left out of {policy}", *(one.partition(": ")[2] or NONE for one in left))


def _score(run: Run, policy: str) -> ScoreLine | None:
    return next((one for one in run.scores if one.policy == policy), None)


def _told(score: ScoreLine | None) -> str:
    if score is None or not score.total:
        return (score.note if score is not None else "") or NONE
    return f"{score.passed}/{score.total} {percent(score.rate)} [{interval(score)}]"


def _dimensions(report: ComparisonReport) -> Iterator[tuple[str, ...]]:
    for one in report.dimensions:
        cells = (f"{failed}/{of}" for failed, of in zip(one.failed, one.applicable, strict=True))
        yield (one.name, *cells, f"{sum(one.failed)}/{sum(one.applicable)}")


def _surface(report: ComparisonReport) -> Iterator[Block]:
    """Where the dimension that fails most is mostly one mistake and what follows from it."""
    worst = max(report.dimensions, key=lambda one: sum(one.failed))
    rows = sum(worst.failed)
    for mode in report.modes:
        part = mode.dimensions.get(worst.name, 0)
        if mode.followers and 2 * part > rows:
            mistakes = plural(mode.rows, "mistake")
            yield paragraph(
                f"By dimension {worst.name} looks like the worst ({rows} rows). By cause it is not: {part} of the "
                f"{rows} are {mistakes} and what follows ({mode.title})."
            )


def _doubts(measured: Sequence[str], readers: Sequence[str]) -> Iterator[Block]:
    yield paragraph("None of them changes a score here.")
    if measured:
        yield paragraph("About the measurement:")
        yield items(map(marked, measured), kind="numbers")
    if readers:
        yield paragraph("Of those who read the rows:")
        yield items(map(marked, readers), kind="numbers")


def _categories(report: ComparisonReport) -> Block:
    rows = [(name, str(cases), str(failed), harder) for name, cases, failed, harder in report.categories]
    return table(("category", "cases", "failed rows", "harder than the rest?"), rows, right=("cases", "failed rows"))
