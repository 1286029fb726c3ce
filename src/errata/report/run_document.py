"""The report about one run, as its readers keep it in git: the answer first, then the evidence, then the tables."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from errata.model.output.report.run import GROUPS, Advice, Failure, Pattern, RunReport, StepCount, Subject
from errata.render.document import (
    Bar,
    Block,
    Chart,
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
from errata.report.parts import NONE, money, named, plural, score_table, status_line
from errata.report.run_failure_section import failure_section, label_of, title_of

ACTIONS_TAKEN = "Actions taken"
OFFER = (
    "These are my findings. Would you like me to implement any of these recommendations, "
    "or would you like to discuss specific failures in more detail?"
)
LISTED = 40
"""Cases in a cell."""


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


def passed_of(subject: Subject) -> str:
    """In a word or two, for a title."""
    if not subject.judged:
        return "nothing was scored"
    if not subject.total:
        return subject.untold or "nothing was measured"
    return f"{subject.passed}/{subject.total} passed"


def _pass_rate(subject: Subject) -> str:
    if not subject.judged:
        return f"none: nothing was scored ({plural(subject.total, 'case')})"
    if not subject.total:
        return f"not known: {subject.untold or 'the log holds not one attempt'}"
    rate = f" ({100 * subject.passed / subject.total:.1f} %)"
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
    keys = {id(one): f"failure-{at}" for at, one in enumerate(report.failures)}
    classified = [one for one in report.failures if not one.machinery]
    machinery = [one for one in report.failures if one.machinery]
    yield Section(title="Failure Summary", blocks=(_step_table(report.steps, report.step_word),))
    words = (_case_word(report.step_word), f"Failed {report.step_word.lower()}")
    yield Section(title="Classification", blocks=tuple(_classification(classified, keys, words, provisional)))
    if machinery:
        infrastructure = tuple(_infrastructure(machinery, keys, words, provisional))
        yield Section(title="Not classified: infrastructure", blocks=infrastructure)
    if report.failures:
        told = (*classified, *machinery)
        one_reader = not provisional and len(report.reading.by) == 1
        failures = tuple(failure_section(one, keys[id(one)], word=words[1], tell_reader=not one_reader) for one in told)
        yield Section(title="Per-failure Analysis", sections=failures)
    yield Section(title="Cross-cutting Patterns", blocks=tuple(_patterns(report)))
    yield Section(title="Recommendations", blocks=tuple(_advice(report)))
    yield Section(title="Net Impact", blocks=tuple(_impact(report)))
    if report.findings or report.suspicious or report.limits:
        yield Section(title="Doubts and limits", blocks=tuple(_doubts(report)))
    yield Section(title=ACTIONS_TAKEN, blocks=(paragraph("None"),))


def _step_table(steps: Iterable[StepCount], word: str) -> Block:
    rows = [(one.step, str(one.count), named(one.cases, LISTED)) for one in steps]
    return table((f"{word} (first failed)", "Count", f"{_case_word(word)}s"), rows, right=("Count",))


def _case_word(step_word: str) -> str:
    """What goes through the steps of a pipeline is an eval."""
    return "Eval" if step_word == "Step" else "Case"


def _classification(
    failures: Sequence[Failure], keys: Mapping[int, str], words: tuple[str, str], provisional: bool
) -> Iterator[Block]:
    if not failures:
        yield paragraph("No measured failure: nothing to classify.")
        return
    rows = [
        (_linked(one, keys), one.step or "none", label_of(one), one.owner, _before(one), marked(one.short))
        for one in failures
    ]
    header = (*words, "Classification", "Owner", "Seen before", "Reasoning")
    yield table(header, rows, provisional=provisional)


def _linked(failure: Failure, keys: Mapping[int, str]) -> Line:
    return line(Link(title_of(failure), f"#{keys[id(failure)]}"))


def _before(failure: Failure) -> str:
    repeat = failure.repeat
    told = [plural(count, word) for count, word in ((repeat.reports, "report"), (repeat.runs, "run")) if count]
    return ", ".join(told) or "no"


def _infrastructure(
    failures: Sequence[Failure], keys: Mapping[int, str], words: tuple[str, str], provisional: bool
) -> Iterator[Block]:
    rows = [(_linked(one, keys), one.step or "none", _owner(one), _before(one), marked(one.short)) for one in failures]
    header = (*words, "Owner", "Seen before", "What happened")
    yield table(header, rows, provisional=provisional)
    yield paragraph("They say nothing about the model, have an owner only, and are in no count of classifications.")


def _owner(failure: Failure) -> str:
    return failure.owner if failure.reviewed else f"{failure.owner} (by rule)"


def _patterns(report: RunReport) -> Iterator[Block]:
    if report.patterns:
        rows = [
            (marked(one.title), _members(one, report), one.state, one.parameters or NONE, one.documented or "no")
            for one in report.patterns
        ]
        provisional = not all(one.final for one in report.patterns)
        yield table(("Bucket", "Failures", "State", "In common", "Documented before"), rows, provisional=provisional)
    else:
        yield paragraph("No two failures share a bucket.")
    told = [line(Strong("Same words in the log"), ": ", one) for one in report.shared_texts]
    told += [line(Strong("Categories"), ": ", report.categories)] if report.categories else []
    if report.since:
        told.append(line(Strong("Since the previous run"), ": ", report.since))
    told += _history(report)
    for action in report.actions:
        target = f"{action.path} " if action.path else ""
        said = f"{action.date} {target}{action.worked}: {action.why or action.what}"
        told.append(line(Strong("Earlier action"), ": ", said))
    if told:
        yield items(told)


def _history(report: RunReport) -> Iterator[Line]:
    if not report.history:
        return
    repeated = [one for one in report.failures if one.repeat]
    yield line(Strong("Earlier reports"), ": ", "; ".join(report.history))
    if report.told_before:
        yield line(Strong("Patterns they name"), ": ", "; ".join(report.told_before))
    yield line(Strong("Recurring"), ": ", _recurring(repeated, report))


def _members(pattern: Pattern, report: RunReport) -> str:
    return f"{pattern.rows} of {len(report.failures)}: {named(pattern.cases, 8)}"


def _recurring(repeated: Sequence[Failure], report: RunReport) -> str:
    total = plural(len(report.failures), "failure")
    if not repeated:
        return f"none of the {total} is named in them"
    return f"{len(repeated)} of {total}: {named([one.case for one in repeated], 20)}"


def _advice(report: RunReport) -> Iterator[Block]:
    for group, title in GROUPS.items():
        fresh = [one for one in report.advice if one.group == group and not one.done]
        done = [one for one in report.advice if one.group == group and one.done]
        yield paragraph(Strong(title))
        lines = [line(*_aimed(one), marked(one.text), _for(one)) for one in fresh]
        lines += [line("Not recommended again: ", marked(one.text), f". Done {one.done}") for one in done]
        yield items(lines, kind="numbers") if lines else paragraph("None.")


def _aimed(advice: Advice) -> Line:
    return line(Code(advice.path), ": ") if advice.path else ()


def _for(advice: Advice) -> str:
    return f" ({named(advice.cases, 6)})" if advice.cases else ""


def _impact(report: RunReport) -> Iterator[Block]:
    total = sum(one.count for one in report.impact)
    rows = [(one.what, str(one.count), f"{100 * one.count / total:.0f} %") for one in report.impact if total]
    provisional = bool(rows) and report.reading.status == "provisional"
    yield table(("", "count", f"of {total}"), rows, right=("count", f"of {total}"), provisional=provisional)
    if report.bounds:
        yield paragraph(report.bounds)


def _doubts(report: RunReport) -> Iterator[Block]:
    yield items(marked(one) for one in (*report.findings, *report.suspicious, *report.limits))


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
        "patterns": [one.title for one in report.patterns],
        "recommendations": [
            {"group": one.group, "text": one.text, "cases": list(one.cases)} for one in report.advice if not one.done
        ],
    }
