"""Is everything there, once, and measured?"""

from collections.abc import Iterator

from errata.checkup.survey import RunSurvey
from errata.checkup.words import QUOTE_WIDTH, at_run, case_name, finding, names, quote_errors, quote_output
from errata.model import Evidence, Finding
from errata.render.figures import plural
from errata.text.clean import one_line


def nothing_there(survey: RunSurvey) -> Iterator[Finding]:
    if survey.counted == 0:
        text = "the log describes a run, but contains no attempts"
        yield finding(survey, "no_attempts", "error", text, at_run(survey))


def missing_cases(survey: RunSurvey) -> Iterator[Finding]:
    missing = survey.missing
    if missing.count:
        number, expected = len(missing.cases - survey.present), survey.run.expected_cases or len(survey.cases)
        text = f"{number} of {expected} planned {survey.unit}s {'is' if number == 1 else 'are'} not in the log: "
        if not number:
            number = missing.count
            attempts = plural(number, "attempt")
            text = f"{attempts} at {survey.unit}s that have others {'is' if number == 1 else 'are'} not in the log: "
        places = dict.fromkeys(seen.ref for seen in missing.first)
        evidence = quote_errors(missing.first) or [Evidence(quote="", ref=ref) for ref in list(places)[:3]]
        yield finding(survey, "missing_cases", "error", text + names(survey, missing), evidence, cases=number)


def unnamed_cases(survey: RunSurvey) -> Iterator[Finding]:
    expected = survey.run.expected_cases or 0
    absent = expected - len(survey.cases) - survey.not_in_log
    if absent > 0 and (survey.counted or survey.not_in_log):
        verb = "is" if absent == 1 else "are"
        text = f"{absent:,} of {expected:,} planned {survey.unit}s {verb} missing; the log does not say which"
        yield finding(survey, "missing_cases", "error", text, at_run(survey), cases=absent)


def cases_not_in_the_log(survey: RunSurvey) -> Iterator[Finding]:
    """Measured according to the harness, but without a row in the log; less serious than missing."""
    absent, expected = survey.not_in_log, survey.run.expected_cases or 0
    if absent:
        of = (
            f"{expected:,} {survey.unit}s"
            if len(survey.cases) < expected
            else f"{survey.run.measured_attempts:,} attempts"
        )
        text = f"{absent:,} of {of} were measured according to the harness, but have no row in the log"
        if (passes := survey.passes_without_rows) is not None:
            text += f"; {passes:,} of them passed by its count"
        yield finding(survey, "cases_not_in_log", "warning", text, at_run(survey), cases=absent)


def unfinished_cases(survey: RunSurvey) -> Iterator[Finding]:
    unfinished = survey.unfinished
    if unfinished.count:
        number = len(unfinished.cases)
        text = f"{plural(number, f'{survey.unit} is', f'{survey.unit}s are')} not finished: {names(survey, unfinished)}"
        evidence = [Evidence(quote="", stated=seen.status, ref=seen.ref) for seen in unfinished.first[:3]]
        yield finding(survey, "unfinished_cases", "error", text, evidence, cases=number)


def duplicate_cases(survey: RunSurvey) -> Iterator[Finding]:
    """Copies are left out by every source; equal verdicts are a note, contradictions make the case unusable."""
    yield from _copied_rows(survey)
    same = []
    for rows in survey.duplicates.values():
        if len({(seen.outcome, seen.failed) for seen in rows}) == 1:
            same.append(rows)
            continue
        words = sorted({seen.outcome for seen in rows}, reverse=True)
        verdicts = ", ".join(f"{sum(seen.outcome == word for seen in rows)} {word}" for word in words)
        text = f"{case_name(survey, rows[0].case)} has {len(rows)} rows with different verdicts: {verdicts}"
        yield finding(survey, "duplicate_case", "error", text, map(quote_output, rows), rows=len(rows))
    if same:
        listed = ", ".join(case_name(survey, rows[0].case) for rows in same[:8])
        cases = plural(len(same), f"{survey.unit} has", f"{survey.unit}s have")
        text = f"{cases} several rows with the same verdict: {listed}"
        yield finding(survey, "duplicate_case", "info", text, map(quote_output, same[0]), cases=len(same))


def _copied_rows(survey: RunSurvey) -> Iterator[Finding]:
    copies = [item for item in survey.unreadables if item.copy_of]
    if copies:
        cases = ", ".join(list(dict.fromkeys(item.copy_of for item in copies))[:8])
        rows = plural(len(copies), "row is a copy of another one and is", "rows are copies of others and are")
        text = f"{rows} not counted: {cases}"
        evidence = [Evidence(quote="", stated=item.why, ref=item.ref) for item in copies[:3]]
        yield finding(survey, "duplicate_case", "warning", text, evidence, rows=len(copies))


def judges_in_conflict(survey: RunSurvey) -> Iterator[Finding]:
    """Two rows of one case with different judgements: the reasoning of each judge."""
    for rows in survey.duplicates.values():
        explained = [seen for seen in rows if seen.reasoning]
        if len(explained) > 1 and len({seen.outcome for seen in explained}) > 1:
            text = f"{case_name(survey, rows[0].case)}: its rows were judged differently"
            evidence = [
                Evidence(stated=seen.outcome, quote=one_line(seen.reasoning, QUOTE_WIDTH), ref=seen.ref)
                for seen in explained
            ]
            yield finding(survey, "judge_conflict", "info", text, evidence)


def unjudged(survey: RunSurvey) -> Iterator[Finding]:
    """Judged against transcript coverage: no verdict is not a pass."""
    if survey.rows and not survey.measured_cases and survey.measurements["not_run"] and not survey.with_error_only:
        rows = plural(survey.rows, "transcript row")
        text = f"the run was not judged: {rows}, no judge results; nothing counts as passed"
        yield finding(survey, "not_judged", "error", text, at_run(survey), rows=survey.rows)
    elif survey.unscored.count:
        verb = f"not {'judged' if survey.judges else 'scored'}"
        cases = plural(len(survey.unscored.cases), f"{survey.unit} with a row was", f"{survey.unit}s with a row were")
        text = f"{cases} {verb}: {names(survey, survey.unscored)}"
        evidence = [
            Evidence(quote="", stated="every check without a value", ref=seen.ref) for seen in survey.unscored.first[:3]
        ]
        yield finding(survey, "no_verdict", "warning", text, evidence, cases=len(survey.unscored.cases))
    if survey.measured_cases:
        yield from _lost_scores(survey)


def _lost_scores(survey: RunSurvey) -> Iterator[Finding]:
    """Rows without a score that the harness counts among the measured ones."""
    run, rows = survey.run, survey.without_score
    measured = len(survey.measured_cases) if run.measured_unit == "cases" else survey.measured_once
    lost = min(rows.count, (run.measured_attempts or 0) - measured)
    if lost > 0:
        have = f"{measured:,} {'has' if measured == 1 else 'have'} a score here"
        text = f"the harness counts {run.measured_attempts:,} measured {run.measured_unit}, but only {have}: "
        text += f"{names(survey, rows)} {'has' if rows.count == 1 else 'have'} none"
        evidence = [Evidence(quote="", stated="no score in the log", ref=seen.ref) for seen in rows.first[:3]]
        yield finding(survey, "no_verdict", "warning", text, evidence, cases=lost)
