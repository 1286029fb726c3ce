"""The report about one run, as its readers keep it in git: the answer first, then the evidence, then the tables."""

from collections.abc import Iterable, Iterator, Sequence

from errata.report.document import (
    Bar,
    Block,
    Chart,
    Code,
    Document,
    Line,
    Link,
    Section,
    Snippet,
    Strong,
    items,
    line,
    marked,
    paragraph,
    table,
)
from errata.report.facts.run import GROUPS, Failure, Pattern, RunReport, StepCount, Subject
from errata.report.profiles.parts import NONE, money, named, plural, score_table, status_line

ACTIONS_TAKEN = "Actions taken"
OFFER = (
    "These are my findings. Would you like me to implement any of these recommendations, "
    "or would you like to discuss specific failures in more detail?"
)
SNIPPET = 40
"""Lines of a snippet."""


def run_document(report: RunReport) -> Document:
    return Document(
        title=f"Run Analysis: {short_model(report.subject.model) or report.subject.native_id}",
        status="provisional" if report.reading.status == "provisional" else "reviewed",
        facts=tuple(_facts(report)),
        blocks=(paragraph(report.answer), score_table(report.scores), *_owners_chart(report)),
        sections=tuple(_sections(report)),
        memory=_memory(report),
    )


def short_model(model: str) -> str:
    return model.rpartition("/")[2]


def _facts(report: RunReport) -> Iterator[tuple[str, Line]]:
    subject = report.subject
    yield "Run ID", line(subject.native_id)
    provider = (
        f" ({subject.provider})" if subject.provider and subject.provider != subject.model.partition("/")[0] else ""
    )
    agent = f", agent {subject.agent}" if subject.agent else ""
    yield "Model", line(f"{subject.model or 'unknown'}{provider}{agent}")
    yield "Experiment", line(subject.experiment or "default")
    if subject.suite:
        yield "Suite", line(subject.suite)
    yield "Date", line(subject.date or "unknown")
    yield "Pass rate", line(_pass_rate(subject))
    yield "Status", status_line(report.reading)
    if subject.costed:
        yield "Cost", line(_cost(subject))
    if subject.excluded:
        yield "Excluded", line(f"from every score: {subject.excluded}")
    yield "Analysed", line(report.made)


def _pass_rate(subject: Subject) -> str:
    rate = f" ({100 * subject.passed / subject.total:.1f} %)" if subject.total else ""
    rest = []
    if subject.pending:
        rest.append(f"not finished: {named(subject.pending)}")
    if subject.missing or subject.missing_unnamed:
        unnamed = [f"{subject.missing_unnamed} without a name"] if subject.missing_unnamed else []
        rest.append(f"missing: {', '.join([*([named(subject.missing)] if subject.missing else []), *unnamed])}")
    return f"{subject.passed}/{subject.total}{rate}{'; ' if rest else ''}{'; '.join(rest)}"


def _cost(subject: Subject) -> str:
    parts = [f"{money(subject.cost)} for the {subject.costed} of {subject.total} that report one"]
    if subject.cost_of_failures is not None:
        parts.append(f"{money(subject.cost_of_failures)} of it on failures")
    if subject.cost_per_pass is not None:
        parts.append(f"{money(subject.cost_per_pass)} per pass")
    return "; ".join(parts)


def _owners_chart(report: RunReport) -> Iterator[Block]:
    counts: dict[str, int] = {}
    for failure in report.failures:
        counts[failure.owner] = counts.get(failure.owner, 0) + 1
    if counts:
        ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        bars = tuple(Bar(owner, count, f"of {len(report.failures)}") for owner, count in ordered)
        yield Chart("Who has to act", bars, float(len(report.failures)))


def _sections(report: RunReport) -> Iterator[Section]:
    provisional = report.reading.status == "provisional"
    classified = [one for one in report.failures if not one.machinery]
    machinery = [one for one in report.failures if one.machinery]
    yield Section(title="Failure Summary", blocks=(_step_table(report.steps, report.step_word),))
    yield Section(title="Classification", blocks=tuple(_classification(classified, provisional=provisional)))
    if machinery:
        yield Section(title="Not classified: infrastructure", blocks=tuple(_infrastructure(machinery, provisional)))
    if report.failures:
        yield Section(
            title="Per-failure Analysis",
            sections=tuple(_failure(one) for one in (*classified, *machinery)),
        )
    yield Section(title="Cross-cutting Patterns", blocks=tuple(_patterns(report)))
    yield Section(title="Recommendations", blocks=tuple(_advice(report)))
    yield Section(title="Net Impact", blocks=tuple(_impact(report)))
    if report.findings or report.suspicious or report.limits:
        yield Section(title="Doubts and limits", blocks=tuple(_doubts(report)))
    yield Section(title=ACTIONS_TAKEN, blocks=() if report.actions_taken else (paragraph("None"),))


def _step_table(steps: Iterable[StepCount], word: str) -> Block:
    rows = [(one.step, str(one.count), ", ".join(one.cases)) for one in steps]
    return table((f"{word} (first failed)", "Count", "Evals"), rows, right=("Count",))


def _classification(failures: Sequence[Failure], *, provisional: bool) -> Iterator[Block]:
    if not failures:
        yield paragraph("No measured failure: nothing to classify.")
        return
    rows = [
        (Link(one.case, f"#{anchor(one)}"), one.step or "none", _label(one), one.owner, _before(one), one.short)
        for one in failures
    ]
    header = ("Eval", "Failed step", "Classification", "Owner", "Seen before", "Reasoning")
    yield table(header, rows, provisional=provisional)


def anchor(failure: Failure) -> str:
    """Short and safe, whatever the case is called."""
    kept = "".join(letter if letter.isalnum() and letter.isascii() else "-" for letter in failure.case.lower())
    attempt = "".join(letter for letter in failure.attempt if letter.isdigit())
    return f"failure-{kept.strip('-')[:80]}{f'-{attempt}' if attempt else ''}"


def _label(failure: Failure) -> str:
    word = failure.label or failure.owner
    return word if failure.reviewed else f"{word} (by rule)"


def _before(failure: Failure) -> str:
    repeat = failure.repeat
    told = [plural(count, word) for count, word in ((repeat.reports, "report"), (repeat.runs, "run")) if count]
    return ", ".join(told) or "no"


def _infrastructure(failures: Sequence[Failure], provisional: bool) -> Iterator[Block]:
    rows = [(Link(one.case, f"#{anchor(one)}"), one.step or "none", one.owner, one.short) for one in failures]
    yield table(("Eval", "Failed step", "Owner", "What happened"), rows, provisional=provisional)
    yield paragraph("They say nothing about the model, have an owner only, and are in no count of classifications.")


def _failure(failure: Failure) -> Section:
    return Section(
        title=f"{failure.case}{f', attempt {failure.attempt}' if failure.attempt else ''}",
        anchor=anchor(failure),
        brief=line(Strong(_label(failure)), ": ", failure.short or failure.error),
        blocks=tuple(_told(failure)),
    )


def _told(failure: Failure) -> Iterator[Block]:
    yield items(_lines(failure))
    if failure.evidence:
        yield paragraph("Evidence")
        yield items(line(Code(one.place), ": ", Code(one.quote)) for one in failure.evidence)
    if failure.model_snippet:
        yield Snippet(cut(failure.model_snippet), failure.language, line("Model"))
    if failure.expected_snippet:
        yield Snippet(cut(failure.expected_snippet), failure.language, line("Expected"))
    for doubt in failure.doubts:
        yield paragraph("Doubt: ", doubt)


def _lines(failure: Failure) -> Iterator[Line]:
    also = f"; {' and '.join(failure.also_failed)} failed too" if failure.also_failed else ""
    yield line(Strong("Failed step"), ": ", f"{failure.step or 'none'}{also}")
    if failure.error:
        yield line(Strong("Error"), ": ", Code(failure.error))
    who = f"read by {failure.by}" if failure.reviewed else "by rule, not read yet"
    if failure.machinery:
        measured = "" if failure.measured else "; not measured"
        yield line(Strong("Owner"), ": ", f"{failure.owner} ({failure.confidence}){measured}; {who}")
    else:
        label = f"{failure.label}, owner {failure.owner}" if failure.label else failure.owner
        yield line(Strong("Classification"), ": ", f"{label} ({failure.confidence}; {who})")
    if failure.reasoning:
        yield line(Strong("Reasoning"), ": ", failure.reasoning)
    if failure.follows:
        yield line(Strong("Follows from"), ": ", failure.follows)
    yield line(Strong("Repeat"), ": ", _repeat(failure))


def _repeat(failure: Failure) -> str:
    repeat = failure.repeat
    if not repeat:
        return f"no.{f' {repeat.others}' if repeat.others else ''}"
    said = ", ".join(repeat.said)
    action = repeat.action or "No action was recorded."
    return " ".join(part for part in (f"yes, {said}." if said else "yes.", action, repeat.others) if part)


def cut(text: str) -> str:
    lines = text.strip("\n").splitlines()
    return "\n".join([*lines[:SNIPPET], f"… {len(lines) - SNIPPET} more lines"] if len(lines) > SNIPPET else lines)


def _patterns(report: RunReport) -> Iterator[Block]:
    if report.patterns:
        rows = [
            (one.title, _members(one, report), one.state, one.parameters or NONE, one.documented or "no")
            for one in report.patterns
        ]
        yield table(("Bucket", "Failures", "State", "Share", "Documented before"), rows)
    else:
        yield paragraph("No two failures share a cause that shows.")
    told = [line(Strong("Not a pattern"), ": ", one) for one in report.not_patterns]
    if report.categories:
        told.append(line(Strong("Categories"), ": ", report.categories))
    if report.since:
        told.append(line(Strong("Since the previous run"), ": ", report.since))
    repeated = [one for one in report.failures if one.repeat]
    if report.history:
        told.append(line(Strong("Earlier reports"), ": ", "; ".join(report.history)))
        told.append(line(Strong("Recurring"), ": ", _recurring(repeated, report)))
    for action in report.actions:
        target = f"{action.path} " if action.path else ""
        told.append(
            line(Strong("Earlier action"), ": ", f"{action.date} {target}{action.worked}: {action.why or action.what}")
        )
    if told:
        yield items(told)


def _members(pattern: Pattern, report: RunReport) -> str:
    return f"{pattern.rows} of {len(report.failures)}: {named(pattern.cases, 8)}"


def _recurring(repeated: Sequence[Failure], report: RunReport) -> str:
    if not repeated:
        return f"none of the {plural(len(report.failures), 'failure')} is named in them"
    return f"{len(repeated)} of {plural(len(report.failures), 'failure')}: {named([one.case for one in repeated], 20)}"


def _advice(report: RunReport) -> Iterator[Block]:
    for group, title in GROUPS.items():
        fresh = [one for one in report.advice if one.group == group and not one.done]
        done = [one for one in report.advice if one.group == group and one.done]
        yield paragraph(Strong(title))
        lines = [line(marked(one.text), _aimed(one.cases), " " if one.path else "", Code(one.path)) for one in fresh]
        lines += [line(f"Not recommended again: {one.text} (done {one.done})") for one in done]
        yield items(lines, numbered=True) if lines else paragraph("None.")


def _aimed(cases: Sequence[str]) -> str:
    return f" ({named(cases, 6)})" if cases else ""


def _impact(report: RunReport) -> Iterator[Block]:
    total = sum(one.count for one in report.impact)
    rows = [(one.what, str(one.count), f"{100 * one.count / total:.0f} %") for one in report.impact if total]
    yield table(("", "count", f"of {total}"), rows, right=("count", f"of {total}"))
    if report.bounds:
        yield paragraph(report.bounds)


def _doubts(report: RunReport) -> Iterator[Block]:
    yield items([*report.findings, *(f"Suspicious pass: {one}" for one in report.suspicious), *report.limits])


def _memory(report: RunReport) -> dict[str, object]:
    """What errata reads back when this is an earlier report; see docs/memory.md."""
    subject = report.subject
    return {
        "format": 1,
        "run": subject.native_id,
        "run_id": subject.run_id,
        "model": subject.model,
        "provider": subject.provider,
        "experiment": subject.experiment,
        "date": subject.date,
        "passed": subject.passed,
        "total": subject.total,
        "failures": [
            {
                "case": one.case,
                "label": one.label,
                "owner": one.owner,
                "failed_check": one.step.partition(" ")[0],
                "reasoning": one.short,
                "reviewed": one.reviewed,
            }
            for one in report.failures
        ],
        "recommendations": [
            {"group": one.group, "text": one.text, "cases": list(one.cases)} for one in report.advice if not one.done
        ],
    }
