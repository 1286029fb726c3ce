"""How findings are put into words."""

from collections.abc import Iterable, Sequence

from errata.checkup.survey import AttemptNote, NamedAttempts, RunSurvey
from errata.model import Evidence, Finding, Reported, run
from errata.model.words import Severity
from errata.render.figures import PHASE_WORDS, plural
from errata.text.clean import one_line
from errata.text.tool_output import key_line

QUOTED = 3
NAMED = 8
QUOTE_WIDTH = 160


def finding(
    survey: RunSurvey, name: str, severity: Severity, text: str, evidence: Iterable[Evidence] = (), **numbers: float
) -> Finding:
    return Finding(
        run=survey.run.id,
        name=name,
        severity=severity,
        text=text,
        evidence=tuple(evidence),
        numbers=numbers,
        breaks=severity == "error",
    )


def case_name(survey: RunSurvey, case: str) -> str:
    return run.case_name(survey.run, case)


def names(survey: RunSurvey, named: NamedAttempts) -> str:
    listed = sorted({case_name(survey, seen.case) for seen in named.first}, key=_as_counted)
    more = len(named.cases) - len(listed[:NAMED])
    return ", ".join(listed[:NAMED]) + (f" and {more} more" if more > 0 else "")


def phases_in_words(survey: RunSurvey, *, errors: bool = False) -> str:
    """`2 while calling the model, 1 while scoring`; with `errors`: `2 errors while …`. Empty where no log states it."""
    counts = sorted(survey.phases.most_common(), key=lambda count: not count[0])
    listed = [f"{often} {PHASE_WORDS[phase] or 'elsewhere'}" for phase, often in counts]
    if errors or not counts[0][0]:
        (phase, often), *_ = counts
        listed[0] = f"{plural(often, 'error')} {PHASE_WORDS[phase]}".rstrip()
    return ", ".join(listed if errors or counts[0][0] else ())


def quote_errors(seen: Sequence[AttemptNote]) -> list[Evidence]:
    return [
        Evidence(
            quote=one_line(key_line(error.error.quotable), QUOTE_WIDTH),
            stated=error.error.message if "message" in error.error.derived else "",
            ref=error.error.ref or error.ref,
        )
        for error in seen[:QUOTED]
        if error.error is not None
    ]


def quote_commonest_errors(survey: RunSurvey) -> list[Evidence]:
    commonest = (text for text, _ in survey.errored.most_common(2))
    return quote_errors([survey.error_sample[text] for text in commonest if text in survey.error_sample])


def at_run(survey: RunSurvey, stated: str = "") -> list[Evidence]:
    """Where there is nothing narrower to point to: the place the run itself was read from."""
    return [Evidence(quote="", stated=stated, ref=survey.run.ref)]


def at_number(reported: Reported) -> list[Evidence]:
    """The place of a number that the finding's text names."""
    return [Evidence(quote="", ref=reported.ref)]


def quote_output(seen: AttemptNote) -> Evidence:
    verdict = f"failed {', '.join(seen.failed)}" if seen.failed else seen.outcome
    return Evidence(stated=verdict, quote=one_line(seen.text, QUOTE_WIDTH // 2), ref=seen.text_ref)


def _as_counted(name: str) -> tuple[str, int, str]:
    head, _, tail = name.rpartition("-")
    return (head, int(tail), "") if tail.isdecimal() and len(tail) < 10 else (name, 0, name)
