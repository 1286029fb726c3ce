"""Rows that do not fit their case: other rows of it ask or expect something else, or its checks name another task."""

from collections.abc import Iterable, Iterator

from errata.checkup.survey import CaseRows, RunSurvey
from errata.checkup.task_mentions import mention_in_case
from errata.checkup.words import QUOTE_WIDTH, case_name, finding
from errata.model import Case, Evidence, Finding
from errata.model.case_versions import differing_facts
from errata.model.words import Severity
from errata.render.figures import plural
from errata.text.clean import one_line

LISTED, SHOWN = 8, 3
SHARE = 0.2
"""From this share on, it is the rule and not an exception."""
MOST_COMPARED = 64
_WORDS = {"input": "ask", "choices": "offer", "expected": "expect"}


def look_up_versions(survey: RunSurvey, descriptions: Iterable[Case]) -> None:
    """Compare the descriptions of each case that has several. Their order makes no difference."""
    by_key: dict[str, list[Case]] = {}
    for case in descriptions:
        known = by_key.setdefault(case.key, [])
        if len(known) < MOST_COMPARED:
            known.append(case)
    for _, every in sorted(by_key.items()):
        if rows := _differing(sorted(every, key=lambda one: one.digest)):
            survey.differing.append(rows)


def look_up_mentions(survey: RunSurvey, cases: Iterable[Case]) -> None:
    """Look for other tasks' names in what the cases themselves hold."""
    known = {mention.case for mention in survey.mentions}
    for case in cases:
        mention = None if case.key in known else mention_in_case(case)
        if mention is not None:
            survey.mentions.append(mention)


def _differing(descriptions: list[Case]) -> CaseRows | None:
    facts: dict[str, tuple[Case, Case]] = {}
    for at, case in enumerate(descriptions):
        for other in descriptions[at + 1 :]:
            for name in differing_facts(case, other):
                facts.setdefault(name if name in _WORDS else "files", (case, other))
    return CaseRows(descriptions[0].key, facts) if facts else None


def rows_differ(survey: RunSurvey) -> Iterator[Finding]:
    """Each attempt keeps the facts of its own row, and the case is not compared with other runs."""
    if not survey.differing:
        return
    number = len(survey.differing)
    kinds = [name for name in (*_WORDS, "files") if any(name in rows.facts for rows in survey.differing)]
    words = _listed([f"what they {_WORDS[name]}" if name in _WORDS else "their files" for name in kinds])
    names = ", ".join(case_name(survey, rows.case) for rows in survey.differing[:LISTED])
    more = f" and {number - LISTED:,} more" if number > LISTED else ""
    text = f"rows of one case differ in {words}: {plural(number, 'case')} ({names}{more})"
    asked = sum("input" in rows.facts for rows in survey.differing)
    if asked >= max(2, SHARE * len(survey.cases)):
        text += "; these ids do not identify a question"
    evidence = [quote for name in kinds for quote in _quotes(survey.differing, name)]
    severity: Severity = "error" if number >= max(2, SHARE * len(survey.cases)) else "warning"
    yield finding(survey, "rows_differ", severity, text, evidence, cases=number, asked=asked)


def _quotes(differing: list[CaseRows], name: str) -> Iterator[Evidence]:
    rows = next(rows for rows in differing if name in rows.facts)
    for case in rows.facts[name]:
        value = getattr(case, name) if name in _WORDS else ", ".join(one.path for one in case.artefacts)
        yield Evidence(stated=f"{case.native_id} {name}", quote=one_line(str(value), QUOTE_WIDTH), ref=case.ref)


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def foreign_checks(survey: RunSurvey) -> Iterator[Finding]:
    """Checks or ids that name another task of the run, and not the row's own."""
    foreign = [(one, other) for one in survey.mentions if (other := one.of_another(survey.run.suite, survey.has_case))]
    if not foreign:
        return
    foreign.sort(key=lambda pair: (pair[0].case, *pair[1]))
    cases = dict.fromkeys(one.case for one, _ in foreign)
    pairs = dict.fromkeys((case_name(survey, one.case), case_name(survey, other)) for one, (other, _) in foreign)
    shown = ", ".join(f"{own} has those of {other}" for own, other in list(pairs)[:SHOWN])
    number = plural(len(cases), "case carries", "cases carry")
    more = f" and {len(pairs) - SHOWN:,} more" if len(pairs) > SHOWN else ""
    text = f"{number} the checks or the id of another task: {shown}{more}"
    evidence = [Evidence(quote=one_line(text, QUOTE_WIDTH), ref=one.ref) for one, (_, text) in foreign[:SHOWN]]
    severity: Severity = "error" if len(cases) >= max(2, SHARE * len(survey.cases)) else "warning"
    yield finding(survey, "foreign_checks", severity, text, evidence, cases=len(cases))
