"""Cases of a comparison without a verdict: what the log has about each, and how to make up for them."""

from collections.abc import Iterator, Sequence

from errata.model import Attempt
from errata.model.output.act import WhyNoCommand
from errata.model.output.report.comparison import QuotedLine, RepeatedCases, UnmeasuredCase, UnmeasuredWhy
from errata.report.comparison_rows import NO_VERDICT, ComparedRun, ReportedCaseNames
from errata.rerun.selection import Rerun
from errata.text.outgoing import short_line

LINES = 3
LINE = 200


def unmeasured_cases(run: ComparedRun) -> Iterator[UnmeasuredCase]:
    """In the order of the suite."""
    in_order = sorted(run.unmeasured, key=lambda pair: (pair[0].position is None, pair[0].position or 0, pair[1]))
    for attempt, name in in_order:
        why = _why(attempt)
        if why is not None:
            yield UnmeasuredCase(case=name, why=why, log=tuple(_lines(attempt)))


def _why(attempt: Attempt) -> UnmeasuredWhy | None:
    if attempt.execution == "missing":
        return "missing"
    if attempt.execution == "error":
        return "no_answer"
    is_unjudged = attempt.measurement in (*NO_VERDICT, "not_run")
    return "not_judged" if attempt.execution == "completed" and is_unjudged else None


def _lines(attempt: Attempt) -> Iterator[QuotedLine]:
    """Lines that the log has about it; the marker of an empty answer repeats only what the row states."""
    own = attempt.native_status
    logged = [error for error in attempt.errors if error.ref is not None and not error.recovered and error.type != own]
    for error in logged[:LINES]:
        yield QuotedLine(where=str(error.ref), text=short_line(error.message, LINE))


def repeated_cases(rerun: Rerun, names: ReportedCaseNames) -> Iterator[RepeatedCases]:
    """Cases that one command repeats, then those that none does."""
    for command in rerun.plan.commands:
        yield RepeatedCases(how=command.purpose, cases=_short_names(command.cases, names), command=command.line)
    by_hand: dict[tuple[WhyNoCommand, str], list[str]] = {}
    for item in rerun.plan.by_hand:
        by_hand.setdefault((item.why_not, item.about), []).append(item.attempt.case)
    for (why_not, about), cases in by_hand.items():
        yield RepeatedCases(how="by_hand", cases=_short_names(cases, names), why_not=why_not, about=about)


def _short_names(cases: Sequence[str], names: ReportedCaseNames) -> tuple[str, ...]:
    return tuple(sorted((names.short(case) for case in dict.fromkeys(cases)), key=_in_order))


def _in_order(name: str) -> tuple[int, str]:
    return int(name) if name.isdecimal() else 0, name
