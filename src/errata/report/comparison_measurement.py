"""How far a comparison can be trusted: runs that are not fit, cases that were not measured, and tests of every pair."""

from collections.abc import Iterator, Sequence

from errata.model.output.report.comparison import (
    ComparisonReport,
    PairTest,
    QuotedLine,
    RepeatedCases,
    ReportedRun,
    UnmeasuredCase,
    UnmeasuredWhy,
)
from errata.render.document import Block, Code, Line, LineContent, Section, items, line, marked, paragraph, table
from errata.render.figures import NONE, p_value, plural, points
from errata.report.parts import name_list
from errata.rerun.plan import why_no_command

PAIRS, CASES, NAMED = 20, 12, 12
GUIDE = "The turns of a conversation are not independent, so treat p as a guide."
_WHY: dict[UnmeasuredWhy, str] = {"missing": "missing", "not_judged": "not judged", "no_answer": "no answer"}


def unfit_words(report: ComparisonReport) -> Iterator[str]:
    """A sentence for each run that the checkup finds not fit, with its problems."""
    for run in report.runs:
        if not run.fit:
            findings = [finding for finding in report.findings if finding.run == run.label]
            problems = [finding.text.rstrip(".") for finding in findings if finding.severity == "error"]
            yield f"{run.label} is NOT FIT for comparison: {'; '.join(problems) or 'see errata check'}."


def fit_cell(run: ReportedRun) -> str:
    return "fit" if run.fit else "NOT FIT"


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
