"""`deep_error_analysis.md`: several runs of one suite by cause, with the datapoints that show each."""

from collections.abc import Iterator, Mapping, Sequence

from errata.compare.comparability import Difference, describe_difference
from errata.model.output.report.comparison import CaseGrid, CategoryRows, ComparisonReport, PairTest, ReportedRun
from errata.model.output.report.shared import ScoreLine
from errata.model.run import WhyLeftOut
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
from errata.render.figures import NONE, p_value, percent, plural
from errata.report.comparison_sections import (
    causes_section,
    is_provisional,
    mode_title,
    model_in_short,
    models_section,
    shared_section,
)
from errata.report.parts import interval, name_list, reasons_words, score_note, status_line
from errata.report.suspect_section import suspects_section

TOP, DIFFERING = 3, 5
LETTERS = {"failed": "F", "partial": "F", "passed": ".", "error": "e", "limit": "l", "cancelled": "x", "follows": "c",
           "unscored": "?", "missing": "-", "contradictory": "!", "mixed": "~", "": " "}  # fmt: skip
LEGEND = {"F": "fail", ".": "pass", "e": "no answer", "l": "hit a limit", "x": "cancelled", "c": "knock-on",
          "?": "no verdict", "-": "missing", "!": "contradictory rows", "~": "mixed attempts"}  # fmt: skip


def comparison_document(report: ComparisonReport) -> Document:
    return Document(
        title=f"Deep Error Analysis: {report.suite}, {plural(len(report.runs), 'run')}",
        status="provisional" if is_provisional(report) else "final",
        facts=(("Status", _status(report)), ("Analysed", line(report.made))),
        blocks=(
            paragraph(
                "Causes come from reviewers and rules, not from a second judge. Counts come from the judged rows, "
                "never from a summary or a chart. All failed rows are in ",
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
    buckets = f"{final} of {plural(len(report.modes), 'cause')} final"
    if is_provisional(report):
        return line("PROVISIONAL. ", status_line(reading, state=False), f"; {buckets}")
    if not report.failed_rows:
        return line("final. No failed rows to review")
    return line("final. ", status_line(reading, state=False), f"; {buckets}")


def _sections(report: ComparisonReport) -> Iterator[Section]:
    yield Section(title="Summary", blocks=(items(map(marked, short_words(report))),))
    yield Section(title="Run Set", blocks=tuple(_run_set(report)))
    yield Section(title="Top-Line Comparison", blocks=tuple(_top_line(report)))
    yield causes_section(report)
    if len(report.runs) > 1:
        yield shared_section(report)
    if report.suspects:
        yield suspects_section(report.suspects)
    yield models_section(report)
    if report.categories:
        yield Section(title="Categories", blocks=(_categories(report),))
    measured = list(doubts_words(report))
    if measured or report.doubts:
        yield Section(title="Doubts", blocks=tuple(_doubts(report, measured)))
    if report.not_included:
        left_out = items(f"{one.run}: {WhyLeftOut(one.why, one.excluded)}" for one in report.not_included)
        yield Section(title="Not included", blocks=(left_out,))


def short_words(report: ComparisonReport) -> Iterator[str]:
    """The main results."""
    shared = report.failed_by_all_runs
    if shared and len(report.runs) > 1:
        every = frozenset(shared)
        rows = sum(case in every for one in report.modes for cases in (*one.cases, *one.following) for case in cases)
        asked = "; ".join(f"{case} ({report.asks[case]})" if report.asks.get(case) else case for case in shared[:4])
        verb = "fails" if len(shared) == 1 else "fail"
        count = plural(len(shared), report.case_word)
        yield f"{count} {verb} in every run ({rows} of {report.failed_rows} failed rows): {asked}."
    for model in report.models:
        yield f"{model.name}: {model_in_short(model)}"
    yield chance_words(report.pairs, are_turns=report.case_word == "turn")


def chance_words(pairs: Sequence[PairTest], *, are_turns: bool) -> str:
    """Whether any two runs differ significantly."""
    if not pairs:
        return "Only one run: nothing to compare."
    known = [one for one in pairs if one.shared]
    if not known:
        return "No two runs measured the same cases."
    differing = [one for one in known if one.differs]
    if differing:
        listed = "; ".join(f"{_pair(one)} ({p_value(one.p)})" for one in differing[:DIFFERING])
        verb = "differs" if len(differing) == 1 else "differ"
        count = plural(len(known), "pair")
        return f"{len(differing)} of {count} {verb} significantly (exact McNemar, Holm): {listed}."
    least = min(known, key=lambda one: one.p)
    guide = " The turns of a conversation are not independent, so treat p as a guide." if are_turns else ""
    return (
        f"No significant difference between the runs: the closest of {plural(len(known), 'pair')} is {_pair(least)} "
        f"({p_value(least.p)}; {p_value(least.clean_p)} without infrastructure failures; exact McNemar).{guide}"
    )


def _pair(pair: PairTest) -> str:
    return f"{pair.first} vs. {pair.second}"


def doubts_words(report: ComparisonReport) -> Iterator[str]:
    """Doubts about the measurement."""
    for odd in report.suspicious:
        listed = ", ".join(f"{count} of {label}" for label, count in odd.by_run.items())
        rows = plural(sum(odd.by_run.values()), "row")
        yield f"Suspicious passes: {odd.means} ({rows}: {listed})."
    for finding in report.findings:
        yield f"{finding.run}: {finding.text}"


def _run_set(report: ComparisonReport) -> Iterator[Block]:
    rows = [
        (run.label, run.model, str(run.rows), str(run.passed), str(run.failed), _no_verdict(run), run.native_id)
        for run in report.runs
    ]
    header = ("run", "model", "rows", "pass", "fail", "no verdict", "directory")
    yield table(header, rows, right=("rows", "pass", "fail"))
    for difference in report.differences:
        yield paragraph(
            describe_difference(Difference(what=difference.what, values=difference.values, cases=difference.cases))
        )


def _no_verdict(run: ReportedRun) -> str:
    parts = []
    if run.no_verdict:
        parts.append(f"{len(run.no_verdict)} ({name_list(run.no_verdict, 6)})")
    if run.missing:
        parts.append(f"{len(run.missing)} missing ({name_list(run.missing, 6)})")
    return ", ".join(parts) or "0"


def _top_line(report: ComparisonReport) -> Iterator[Block]:
    patterns = list(dict.fromkeys(name for one in report.runs for name in one.patterns))
    rows = [
        (
            run.label,
            f"{run.failed}/{run.judged}",
            *(str(run.patterns.get(name, 0)) for name in patterns),
            _top(run.dimensions),
        )
        for run in report.runs
    ]
    yield table(("run", "failed rows", *patterns, "top failed dimensions"), rows, right=("failed rows", *patterns))
    yield scores_table(report)
    if report.dimensions:
        yield paragraph("Failed dimensions, counted from the rows (failed / applicable):")
        yield table(("dimension", *(one.label for one in report.runs), "all"), list(_dimensions(report)))
        bars = tuple(Bar(one.name, sum(one.failed)) for one in report.dimensions)
        yield Chart("Failed dimensions over all runs", bars)
        yield from _surface(report)
    if report.grid is not None:
        yield _grid(report.grid, [one.label for one in report.runs])


def _grid(grid: CaseGrid, labels: Sequence[str]) -> Grid:
    cells = tuple("".join(LETTERS[state] for state in row) for row in grid.cells)
    used = {LETTERS[state] for state in grid.states}
    return Grid(tuple(labels), grid.cases, cells, {letter: means for letter, means in LEGEND.items() if letter in used})


def _top(dimensions: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {often}" for name, often in list(dimensions.items())[:TOP]) or NONE


def scores_table(report: ComparisonReport) -> Table:
    return table(("score", *(one.label for one in report.runs)), list(_scores(report)))


def _scores(report: ComparisonReport) -> Iterator[tuple[str, ...]]:
    """Policies with the same figures in every run share a row; below them what `clean` and `reviewed` leave out."""
    named_rows: dict[tuple[str, ...], list[str]] = {}
    policies = dict.fromkeys(score.policy for one in report.runs for score in one.scores)
    for policy in policies:
        row = tuple(_figure(_score(one, policy)) for one in report.runs)
        named_rows.setdefault(row, []).append(policy.replace("_", " "))
    yield from ((" = ".join(names), *row) for row, names in named_rows.items())
    for policy in ("clean", "reviewed"):
        left = tuple(reasons_words(found) if (found := _score(one, policy)) else "" for one in report.runs)
        if any(left):
            yield (f"left out of {policy}", *(one or NONE for one in left))


def _score(run: ReportedRun, policy: str) -> ScoreLine | None:
    return next((one for one in run.scores if one.policy == policy), None)


def _figure(score: ScoreLine | None) -> str:
    if score is None or not score.total:
        return (score_note(score) if score is not None else "") or NONE
    return f"{score.passed}/{score.total} {percent(score.rate)} [{interval(score)}]"


def _dimensions(report: ComparisonReport) -> Iterator[tuple[str, ...]]:
    for dimension in report.dimensions:
        cells = (f"{failed}/{of}" for failed, of in zip(dimension.failed, dimension.applicable, strict=True))
        yield (dimension.name, *cells, f"{sum(dimension.failed)}/{sum(dimension.applicable)}")


def _surface(report: ComparisonReport) -> Iterator[Block]:
    """Where the dimension that fails most is mostly one mistake and what follows from it."""
    worst = max(report.dimensions, key=lambda one: sum(one.failed))
    rows = sum(worst.failed)
    for mode in report.modes:
        part = mode.dimensions.get(worst.name, 0)
        if mode.followers and 2 * part > rows:
            mistakes = plural(mode.rows, "mistake")
            yield paragraph(
                f"By dimension, {worst.name} looks worst ({rows} rows). By cause it does not: {part} of the {rows} are "
                f"{mistakes} and knock-on failures ({mode_title(mode)})."
            )


def _doubts(report: ComparisonReport, measured: Sequence[str]) -> Iterator[Block]:
    yield paragraph("None of these doubts changes a score here.")
    if measured:
        yield paragraph("About the measurement:")
        yield items(map(marked, measured), kind="numbers")
    if report.doubts:
        yield paragraph("From reviewers:")
        yield items((marked(f"{one.run}, {one.case}: {one.text}") for one in report.doubts), kind="numbers")


def _categories(report: ComparisonReport) -> Block:
    rows = [(one.name, str(one.cases), str(one.failed_rows), _harder(one)) for one in report.categories]
    return table(("category", "cases", "failed rows", "harder than the rest?"), rows, right=("cases", "failed rows"))


def _harder(category: CategoryRows) -> str:
    if category.adjusted is None:
        return "unknown"
    return f"{'yes' if category.harder else 'no'} ({p_value(category.adjusted)})"
