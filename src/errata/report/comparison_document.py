"""`deep_error_analysis.md`: several runs of one suite by cause, with the datapoints that show each."""

from collections.abc import Iterator, Sequence

from errata.compare.comparability import Difference, describe_difference
from errata.model.output.report.comparison import (
    CategoryRows,
    ComparisonReport,
    PairTest,
    QuotedLine,
    RepeatedCases,
    ReportedRun,
    UnmeasuredCase,
    UnmeasuredWhy,
)
from errata.model.run import WhyLeftOut
from errata.render.document import (
    Bar,
    Block,
    Chart,
    Code,
    Document,
    Line,
    LineContent,
    Section,
    items,
    line,
    marked,
    paragraph,
    table,
)
from errata.render.figures import NONE, mean_words, overlap_note, p_value, plural, points
from errata.report.comparison_differences import changes_words, deviation_words, differences_section, number_words
from errata.report.comparison_front import front_cards, matrix, scores_table
from errata.report.comparison_modes import advice_section
from errata.report.comparison_sections import (
    causes_section,
    is_provisional,
    knock_on_words,
    lowered,
    mode_title,
    model_in_short,
    models_section,
    shared_section,
)
from errata.report.parts import (
    FAILED_ROW,
    coverage_line,
    fit_badge,
    name_list,
    suspects_section,
)
from errata.rerun.plan import why_no_command
from errata.runs.first_page import may_say

PAIRS, CASES, NAMED = 20, 12, 12
GUIDE = "The turns of a conversation are not independent, so treat p as a guide."
_WHY: dict[UnmeasuredWhy, str] = {"missing": "missing", "not_judged": "not judged", "no_answer": "no answer"}


def unfit_words(report: ComparisonReport) -> Iterator[str]:
    for run in report.runs:
        if not run.fit:
            findings = [finding for finding in report.findings if finding.run == run.label]
            problems = [finding.text.rstrip(".") for finding in findings if finding.severity == "error"]
            yield f"{run.label} is NOT FIT for comparison: {'; '.join(problems) or 'see errata check'}."


def fit_cell(run: ReportedRun) -> str:
    return "fit" if may_say("fit", run.doubts) else "with care" if run.fit else "NOT FIT"


def chance_words(pairs: Sequence[PairTest], *, conversations: bool) -> str:
    """Whether any two runs differ significantly. Each p is Holm-corrected for the number of pairs."""
    if not pairs:
        return "Only one run: nothing to compare."
    known = [one for one in pairs if one.shared]
    if not known:
        return "No two runs measured the same cases."
    differing = [one for one in known if one.differs]
    guide = f" {GUIDE}" if conversations else ""
    count = plural(len(known), "pair")
    if differing:
        verb = "differs" if len(differing) == 1 else "differ"
        alike: dict[str, list[str]] = {}
        for pair in differing[:5]:
            alike.setdefault(_figures(pair), []).append(_ahead(pair))
        listed = "; ".join(f"{', '.join(names)} ({figures})" for figures, names in alike.items())
        if not any(one.clean_differs for one in differing):
            return f"No reliable difference between the runs ({_test(known)}): {listed}.{guide}"
        return f"{len(differing)} of {count} {verb} significantly ({_test(known)}): {listed}.{guide}"
    least = min(known, key=lambda one: (one.adjusted, one.p))
    if len(known) == 1:
        return f"No significant difference between the runs ({_test(known)}: {_figures(least)}).{guide}"
    return (
        f"No significant difference between the runs ({_test(known)}). Smallest p: {_pair(least)} "
        f"({_figures(least)}).{guide}"
    )


def _ahead(pair: PairTest) -> str:
    """Who is better, only where that holds in clean too; else who fails more often."""
    is_first = pair.only_first_fails < pair.only_second_fails
    better, worse = (pair.first, pair.second) if is_first else (pair.second, pair.first)
    in_clean = pair.clean_differs and is_first == (pair.clean_only_first_fails < pair.clean_only_second_fails)
    return f"{better} is better than {worse}" if in_clean else f"{worse} fails more often than {better}"


def _test(pairs: Sequence[PairTest]) -> str:
    corrected = f", p Holm-corrected for {len(pairs)} pairs" if len(pairs) > 1 else ""
    return f"exact McNemar test{corrected}"


def _figures(pair: PairTest) -> str:
    return f"{p_value(pair.adjusted)}; {p_value(pair.clean_adjusted)} without knock-on and infrastructure failures"


def _pair(pair: PairTest) -> str:
    return f"{pair.first} vs. {pair.second}"


def pairs_section(report: ComparisonReport) -> Section:
    known = sorted((one for one in report.pairs if one.shared), key=lambda one: (one.adjusted, one.p))
    word = f"{report.case_word}s"
    about = f"Exact McNemar test over the {word} that both runs passed or failed."
    if len(known) > 1:
        about += f" Every p is Holm-corrected for {len(known)} pairs."
    about += (
        " The last four columns leave out knock-on and infrastructure failures of either run. The difference is how "
        "much more often the first passes, with Newcombe's 95 % interval for that pair alone."
    )
    rows = [_pair_row(pair) for pair in known[:PAIRS]]
    header = ("first", "second", word, "only first fails", "only second fails", "p",
              "only first, clean", "only second, clean", "difference, clean", "p, clean")  # fmt: skip
    blocks: list[Block] = [
        paragraph(f"{about} {GUIDE}" if report.conversations else about),
        table(header, rows, right=header[2:]),
    ]
    if len(known) > PAIRS:
        blocks.append(paragraph(f"{PAIRS} of {len(known)} pairs are shown, the smallest p first."))
    return Section(title="Differences Between Runs", short="Differences", blocks=tuple(blocks))


def _pair_row(pair: PairTest) -> tuple[str, ...]:
    return (
        *(pair.first, pair.second, str(pair.shared)),
        *(str(pair.only_first_fails), str(pair.only_second_fails), _p(pair.adjusted, differs=pair.differs)),
        *(str(pair.clean_only_first_fails), str(pair.clean_only_second_fails)),
        NONE if pair.clean_difference is None else points(pair.clean_difference, pair.clean_interval),
        _p(pair.clean_adjusted, differs=pair.clean_differs),
    )


def _p(value: float, *, differs: bool) -> str:
    return f"{p_value(value).removeprefix('p ').removeprefix('= ')}{' (significant)' if differs else ''}"


def unmeasured_section(report: ComparisonReport) -> Section | None:
    """Cases without an answer or without a verdict; None where every case has both."""
    runs = [run for run in report.runs if run.unmeasured]
    if not runs:
        return None
    rows = [row for run in runs for row in _unmeasured_rows(run)]
    blocks: list[Block] = [table(("run", report.case_word, "why", "log"), rows)]
    repeat = [item for run in report.runs for item in repeat_items(run.label, run.repeat, report.case_word)]
    if repeat:
        blocks.append(paragraph(marked("How to repeat what `clean` leaves out; nothing was run:")))
        blocks.append(items(repeat))
    return Section(title="Not Measured", blocks=tuple(blocks))


def _unmeasured_rows(run: ReportedRun) -> Iterator[tuple[Line, ...]]:
    for case in run.unmeasured[:CASES]:
        yield line(run.label), line(case.case), line(_WHY[case.why]), _log_line(case)
    if len(run.unmeasured) > CASES:
        rest = run.unmeasured[CASES:]
        yield line(run.label), line(f"and {len(rest)} more"), line(_tally(rest)), line(NONE)


def _tally(cases: Sequence[UnmeasuredCase]) -> str:
    counts = {why: sum(one.why == why for one in cases) for why in _WHY}
    return ", ".join(f"{_WHY[why]} {count}" for why, count in counts.items() if count)


def _log_line(case: UnmeasuredCase) -> Line:
    if not case.log:
        return line("nothing in the log" if case.why == "missing" else NONE)
    return line(*(part for one in case.log for part in _quote(one)))


def _quote(quoted: QuotedLine) -> tuple[str | Code, ...]:
    return Code(quoted.where), f" “{quoted.text}” " if quoted.text else " "


_HOW = {"judge": "judge again", "run": "run again", "by_hand": "by hand"}


def repeat_items(label: str, repeat: Sequence[RepeatedCases], word: str) -> Iterator[Line]:
    for repeated in repeat:
        names = name_list(repeated.cases, NAMED)
        cases = f"{word if len(repeated.cases) == 1 else f'{word}s'} {names}"
        yield line(f"{label}, {_HOW[repeated.how]}: {cases}", *_means(repeated))


def _means(repeat: RepeatedCases) -> tuple[LineContent, ...]:
    if repeat.command:
        return ". ", Code(repeat.command)
    reason = why_no_command(repeat.why_not, repeat.about) if repeat.why_not is not None else ""
    return (". ", marked(f"{reason[:1].upper()}{reason[1:]}")) if reason else ()


TOP = 3


def comparison_document(report: ComparisonReport) -> Document:
    return Document(
        title=f"Deep Error Analysis: {report.suite}, {plural(len(report.runs), 'run')}",
        brief=line(f"{plural(report.cases, report.case_word)} · {', '.join(one.label for one in report.runs)}"),
        status="provisional" if is_provisional(report) else "final",
        coverage=_coverage(report),
        warning=fit_badge(*(one.fit for one in report.runs)),
        facts=(("Analysed", line(report.made)),),
        blocks=(
            *front_cards(report, chance_words(report.pairs, conversations=report.conversations)),
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


def _coverage(report: ComparisonReport) -> Line:
    if not report.failed_rows:
        return line(f"No {FAILED_ROW}s to review")
    final = sum(one.status == "final" for one in report.modes)
    return line(coverage_line(report.reading, FAILED_ROW), f"; {final} of {plural(len(report.modes), 'cause')} final")


def _sections(report: ComparisonReport) -> Iterator[Section]:
    yield Section(title="Summary", blocks=(items(map(marked, short_words(report))),))
    if report.grid is not None:
        yield Section(title="Cases and Runs", short="Cases", blocks=(matrix(report.grid, report.runs),))
    yield Section(title="Run Set", blocks=tuple(_run_set(report)))
    if report.of_numbers and not report.failed_rows:
        yield from _of_numbers(report)
        return
    yield Section(title="Top-Line Comparison", short="Top Line", blocks=tuple(_top_line(report)))
    if not report.of_numbers and any(one.shared for one in report.pairs):
        yield pairs_section(report)
    unmeasured = unmeasured_section(report)
    if unmeasured is not None:
        yield unmeasured
    by_model = report.differences_by_model
    if differences := differences_section(
        by_model, report.changes, report.case_word, () if report.of_numbers else report.pairs
    ):
        yield differences
    if report.of_numbers:
        yield from _number_tables(report)
    yield causes_section(report)
    if (advice := advice_section(report)) is not None:
        yield advice
    if len(report.runs) > 1:
        yield shared_section(report)
    if report.suspects:
        yield suspects_section(report.suspects)
    yield models_section(report)
    if report.categories and not report.of_numbers:
        yield Section(title="Categories", blocks=tuple(_categories(report)))
    yield from _ending(report)


def _of_numbers(report: ComparisonReport) -> Iterator[Section]:
    """Where nothing failed: means, where they differ, and by category."""
    yield Section(title="Top-Line Comparison", short="Top Line", blocks=(scores_table(report),))
    if (unmeasured := unmeasured_section(report)) is not None:
        yield unmeasured
    if differences := differences_section(report.differences_by_model, None, report.case_word):
        yield differences
    yield from _number_tables(report)
    yield from _ending(report)


def _number_tables(report: ComparisonReport) -> Iterator[Section]:
    labels = [run.label for run in report.runs]
    if report.apart:
        rows = [(case.case, *map(_value, case.values)) for case in report.apart]
        title = "Cases That Differ Most"
        yield Section(title=title, blocks=(table((report.case_word, *labels), rows, right=labels),))
    if report.categories:
        means = [(each.name, str(each.cases), *map(_value, each.means.values())) for each in report.categories]
        heads = ("category", "cases", *labels)
        yield Section(title="Mean by Category", blocks=(table(heads, means, right=heads[1:]),))


def _value(value: float | None) -> str:
    return NONE if value is None else mean_words(value)


def _ending(report: ComparisonReport) -> Iterator[Section]:
    measured = list(doubts_words(report))
    if measured or report.doubts:
        yield Section(title="Doubts", blocks=tuple(_doubts(report, measured)))
    if report.not_included:
        yield Section(title="Not included", blocks=(items(_not_included(report)),))


def _not_included(report: ComparisonReport) -> Iterator[Line]:
    for left_out in report.not_included:
        yield line(f"{left_out.run}: {WhyLeftOut(left_out.why, left_out.excluded)}")
        judged = [repeat for repeat in left_out.repeat if repeat.how == "judge"]
        yield from repeat_items(left_out.run, judged, report.case_word)


def short_words(report: ComparisonReport) -> Iterator[str]:
    """The main results; first what limits them."""
    yield from unfit_words(report)
    shared = report.failed_by_all_runs
    if shared and len(report.runs) > 1:
        every = frozenset(shared)
        rows = sum(case in every for one in report.modes for cases in (*one.cases, *one.following) for case in cases)
        asked = "; ".join(_with_question(case, report) for case in shared[:4])
        verb = "fails" if len(shared) == 1 else "fail"
        count = plural(len(shared), report.case_word)
        yield f"{count} {verb} in every run ({rows:,} of {report.failed_rows:,} failed rows): {asked}."
    if report.of_numbers:
        yield from number_words(report.differences_by_model)
        if not report.failed_rows:
            return
    if report.changes is not None:
        yield changes_words(report.changes)
    for model in report.models:
        yield f"{model.name}: {model_in_short(model)}"
    yield from deviation_words(report.differences_by_model)
    if not report.of_numbers:
        yield chance_words(report.pairs, conversations=report.conversations)


def _with_question(case: str, report: ComparisonReport) -> str:
    asked = f"{case} ({report.asks[case]})" if report.asks.get(case) else case
    return f"{asked}{knock_on_words(case, report)}"


def doubts_words(report: ComparisonReport) -> Iterator[str]:
    for odd in report.suspicious:
        listed = ", ".join(f"{count} of {label}" for label, count in odd.by_run.items())
        rows = plural(sum(odd.by_run.values()), "row")
        yield f"Suspicious passes: {odd.means} ({rows}: {listed})."
    for finding in report.findings:
        yield f"{finding.run}: {finding.text}"


def _run_set(report: ComparisonReport) -> Iterator[Block]:
    judged = () if report.of_numbers else ("pass", "fail")
    rows = [
        (
            *(run.label, run.model, str(run.rows), *((str(run.passed), str(run.failed)) if judged else ())),
            *(_no_verdict(run), fit_cell(run), run.native_id),
        )
        for run in report.runs
    ]
    header = ("run", "model", "rows", *judged, "no verdict", "checkup", "directory")
    yield table(header, rows, right=("rows", *judged))
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
            f"{run.failed}/{run.counted}",
            *(str(run.patterns.get(name, 0)) for name in patterns),
            ", ".join(f"{name} {often}" for name, often in list(run.dimensions.items())[:TOP]) or NONE,
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
            mistakes = "one mistake" if mode.rows == 1 else f"{mode.rows:,} mistakes with the same cause"
            its = "its" if mode.rows == 1 else "their"
            yield paragraph(
                f"{worst.name} fails most often ({rows} rows), but {part} of these rows come from {mistakes} and {its} "
                f"knock-on failures: {lowered(mode_title(mode))}."
            )


def _doubts(report: ComparisonReport, measured: Sequence[str]) -> Iterator[Block]:
    yield paragraph("The scores do not take these doubts into account.")
    if measured:
        yield paragraph("About the measurement:")
        yield items(map(marked, measured), kind="numbers")
    if report.doubts:
        yield paragraph("From reviewers:")
        yield items((marked(f"{one.run}, {one.case}: {one.text}") for one in report.doubts), kind="numbers")


def _categories(report: ComparisonReport) -> Iterator[Block]:
    tested = sum(one.adjusted is not None for one in report.categories)
    corrected = f", p Holm-corrected for {tested} categories" if tested > 1 else ""
    yield paragraph(f"Harder than the rest: Fisher's exact test over {report.case_word}s{corrected}.")
    rows = [(one.name, str(one.cases), str(one.failed_rows), _harder(one)) for one in report.categories]
    yield table(("category", "cases", "failed rows", "harder than the rest?"), rows, right=("cases", "failed rows"))
    if note := overlap_note(report.overlap):
        yield paragraph(f"{note}.")


def _harder(category: CategoryRows) -> str:
    if category.adjusted is None:
        return "unknown"
    return f"{'yes' if category.harder else 'no'} ({p_value(category.adjusted)})"
