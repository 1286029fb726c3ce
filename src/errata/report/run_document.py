"""The report about one run, to be kept in git: the answer first, then the evidence, then the tables."""

from collections.abc import Iterator, Mapping, Sequence

from errata.model.history import effect_text
from errata.model.output.report.run import Pattern, RunFailure, RunReport, RunSubject, RunValues, StepCount, StepKind
from errata.render.document import (
    Bar,
    Block,
    Chart,
    Code,
    Document,
    Line,
    Link,
    OwnerName,
    Section,
    Strong,
    items,
    line,
    marked,
    paragraph,
    table,
)
from errata.render.figures import NONE, mean_words, money, parts_of_cost, percent, plural, simulator_cost
from errata.report.parts import (
    coverage_line,
    figures_of,
    fit_badge,
    in_common,
    interval,
    name_list,
    status_of,
    suspects_section,
)
from errata.report.run_advice import HEADINGS, ONLY_WITH_ADVICE, advice_line, advice_words, done_line, heading_of
from errata.report.run_failure_section import (
    CauseGroup,
    assigned,
    before_words,
    case_map,
    failure_groups,
    group_section,
    is_again,
    label_of,
    run_front,
)
from errata.report.run_prose import (
    WORKED,
    after_fixes_words,
    best_figure_words,
    categories_words,
    counts_what_is_in_the_log,
    first_check,
    impact_words,
    other_checks,
    range_words,
    reported_words,
    short_of,
    since_words,
    title_of,
    unit_of,
)
from errata.runs.first_page import fit_words, harness_words
from errata.text.outgoing import name_without_secrets

ACTIONS_TAKEN = "Actions taken"
NO_STEP: dict[StepKind, str] = {
    "verdict": "none (overall verdict only)",
    "unchecked": "none (nothing was checked)",
}
LISTED, ODD, ADVISED = 40, 8, 6
"""Cases in a cell, in a sentence, and in a recommendation."""


def run_document(report: RunReport) -> Document:
    keys = {id(one): f"failure-{at}" for at, one in enumerate(report.failures)}
    groups = failure_groups(report.failures)
    return Document(
        title=f"Run Analysis: {short_model(report.subject.model) or report.subject.native_id}",
        brief=_brief(report),
        status=status_of(report.reading),
        coverage=coverage_line(report.reading),
        warning=fit_badge(report.fit),
        facts=tuple(_facts(report)),
        blocks=tuple(run_front(report, groups, keys)),
        sections=tuple(_sections(report, groups, keys)),
        memory=_memory(report),
    )


def _brief(report: RunReport) -> Line:
    subject = report.subject
    suite = ", ".join(filter(None, (subject.suite, *subject.variant)))
    parts = (subject.native_id, suite, subject.date, "" if subject.judged else "not judged")
    return line(" · ".join(filter(None, parts)))


def short_model(model: str) -> str:
    return name_without_secrets(model).rpartition("/")[2]


def _facts(report: RunReport) -> Iterator[tuple[str, Line]]:
    subject = report.subject
    yield "Run ID", line(subject.native_id)
    vendor, slash, _ = subject.model.partition("/")
    provider = f" ({subject.provider})" if subject.provider and subject.provider != vendor else ""
    provider = " (provider unknown)" if subject.model and not slash and not subject.provider else provider
    agent = f", agent {subject.agent}" if subject.agent else ""
    yield "Model", line(f"{subject.model or 'unknown'}{provider}{agent}")
    if subject.experiment:
        yield "Experiment", line(subject.experiment)
    if subject.variant:
        yield "Variant", line(", ".join(subject.variant))
    if subject.suite:
        yield "Suite", line(subject.suite)
    yield "Date", line(subject.date or "unknown")
    yield _rate(report)
    yield "Checkup", line(fit_words(report.doubts, (one.severity for one in report.findings)))
    if subject.costed:
        yield "Cost", line(_cost(subject))
    if subject.excluded:
        yield "Excluded", line(f"from every score: {subject.excluded}")
    yield "Analysed", line(report.made)


def passed_of(report: RunReport) -> str:
    """In a word or two, for a title."""
    subject = report.subject
    if report.values is not None:
        return f"mean {figures_of(report.values.score)[1]}"
    if report.nothing_failed is not None and report.nothing_failed.state == "labels":
        return "labels without an order"
    if not subject.judged:
        return "nothing was scored"
    if not subject.total:
        return _harness(subject) or "nothing was measured"
    of_log = f" {unit_of(subject)}s in the log" if counts_what_is_in_the_log(subject) else ""
    return f"{subject.passed}/{subject.total}{of_log} passed"


def _harness(subject: RunSubject) -> str:
    return harness_words(subject.harness) if subject.harness is not None else ""


def _rate(report: RunReport) -> tuple[str, Line]:
    if report.values is None:
        return "Pass rate", line(_pass_rate(report))
    score = report.values.score
    count, mean = figures_of(score)
    between = f", 95 % interval {interval(score)}" if score.low is not None else ""
    return "Mean", line(f"{mean} ({count}{between}), {score.policy}")


def _pass_rate(report: RunReport) -> str:
    subject = report.subject
    if not subject.judged:
        return f"none: nothing was scored ({plural(subject.total, 'case')})"
    if not subject.total:
        return f"not known: {_harness(subject) or 'the log holds no attempt'}"
    rest = []
    if subject.pending:
        rest.append(f"not finished: {name_list(subject.pending)}")
    if subject.missing or subject.missing_unnamed:
        unnamed = [f"{subject.missing_unnamed} without a name"] if subject.missing_unnamed else []
        rest.append(f"missing: {', '.join([*([name_list(subject.missing)] if subject.missing else []), *unnamed])}")
    rate = f"{subject.passed}/{subject.total} ({percent(subject.passed / subject.total)})"
    return "; ".join([f"{rate}{reported_words(report)}", *rest])


def _cost(subject: RunSubject) -> str:
    if subject.is_cost_of_simulator and subject.cost is not None:
        return simulator_cost(subject.cost, subject.total - subject.costed)
    split = parts_of_cost(subject.cost_of_subject, subject.cost_of_simulator, subject.cost_of_judge)
    parts = [f"{money(subject.cost)}{split} for {subject.costed} of {subject.total} cases with a known cost"]
    if subject.cost_of_failures is not None:
        parts.append(f"{money(subject.cost_of_failures)} of it on failures")
    if subject.cost_per_pass is not None:
        parts.append(f"{money(subject.cost_per_pass)} total cost per pass")
    return "; ".join(parts)


def _sections(report: RunReport, groups: Sequence[CauseGroup], keys: Mapping[int, str]) -> Iterator[Section]:
    if report.values is not None:
        yield from _values(report.values)
    if report.values is not None and not report.failures:
        yield from _ending(report)
        return
    provisional = report.reading.status == "provisional"
    classified = [one for one in report.failures if not one.machinery]
    machinery = [one for one in report.failures if one.machinery]
    step = "Step" if report.in_steps else "Check"
    drawn = case_map(report, keys)
    yield Section(title="Failure Summary", blocks=(*([drawn] if drawn else []), _step_table(report, step)))
    words = (_case_word(step), f"Failed {step.lower()}")
    yield Section(
        title="Classification",
        blocks=tuple(_classification(classified, len(machinery), keys, words)),
        can_overflow=True,
    )
    if machinery:
        labelled = any(one.label for one in machinery)
        title = "Classification: infrastructure" if labelled else "Not classified: infrastructure"
        blocks = tuple(_infrastructure(machinery, keys, words, labelled=labelled))
        yield Section(title=title, blocks=blocks, can_overflow=True)
    if report.suspects:
        yield suspects_section(report.suspects)
    if report.failures:
        single = not provisional and len(report.reading.by) == 1
        sections = tuple(group_section(one, keys, word=words[1], tell_reader=not single) for one in groups)
        yield Section(title="Per-failure Analysis", sections=sections, can_overflow=True)
    yield Section(title="Cross-cutting Patterns", blocks=tuple(_patterns(report)))
    yield Section(title="Recommendations", key="recommendations", blocks=tuple(_advice(report)))
    yield Section(title="Net Impact", blocks=tuple(_impact(report)))
    yield from _ending(report)


def _ending(report: RunReport) -> Iterator[Section]:
    if doubts := tuple(_doubts(report)):
        yield Section(title="Doubts and limits", blocks=(items(map(marked, doubts)),))
    yield Section(title=ACTIONS_TAKEN, blocks=(paragraph("None"),))


def _values(values: RunValues) -> Iterator[Section]:
    """How the results are spread, their means by category, and the lowest of them."""
    spread = values.spread
    width = (spread.high - spread.low) / len(spread.bins)
    ends = [spread.low + width * at for at in range(len(spread.bins) + 1)]
    bars = [
        Bar(f"{mean_words(low, 3)} to {mean_words(high, 3)}", often)
        for low, high, often in zip(ends, ends[1:], spread.bins, strict=False)
    ]
    five = [spread.low, spread.quarter, spread.median, spread.three_quarters, spread.high]
    names = ("lowest", "first quarter", "median", "third quarter", "highest")
    drawn = Chart(
        "Results by value", tuple(bars if width else [Bar(mean_words(spread.low), sum(spread.bins))]), in_markdown=True
    )
    yield Section(title="Spread", blocks=(drawn, table(names, [map(mean_words, five)], right=names)))
    if values.categories:
        rows = [(name, *figures_of(part), interval(part)) for name, part in values.categories.items()]
        header = ("category", "values", "mean", "95 % interval")
        yield Section(title="By category", blocks=(table(header, rows, right=header[1:3]),))
    if values.worst:
        worst = [(one.case, mean_words(one.value), Code(one.answer) if one.answer else NONE) for one in values.worst]
        yield Section(
            title="Highest results (lower is better)" if values.lower_is_better else "Lowest results",
            blocks=(table(("case", "value", "answer"), worst, right=("value",)),),
        )


def _step_table(report: RunReport, word: str) -> Block:
    failures = {one.attempt_id: one for one in report.failures}
    rows = [
        (count.step or NO_STEP[count.kind], str(count.count), name_list(_cases_at(count, failures), LISTED))
        for count in report.steps
    ]
    return table((f"{word} (first failed)", "Count", f"{_case_word(word)}s"), rows, right=("Count",))


def _cases_at(step: StepCount, failures: Mapping[str, RunFailure]) -> list[str]:
    failing = [failures[attempt] for attempt in step.attempts]
    return [f"{one.case}, also {other_checks(one)}" if one.checks[1:] else one.case for one in failing]


def _case_word(step_word: str) -> str:
    """What goes through the steps of a pipeline is an eval."""
    return "Eval" if step_word == "Step" else "Case"


def _classification(
    failures: Sequence[RunFailure], others: int, keys: Mapping[int, str], words: tuple[str, str]
) -> Iterator[Block]:
    """`others` are failures with a section of their own."""
    if not failures:
        listed = plural(others, "infrastructure or knock-on failure")
        yield paragraph(f"Nothing to classify: {listed}, listed below." if others else "No failures.")
        return
    rows = [
        (
            _linked(failure, keys),
            first_check(failure) or "none",
            label_of(failure) if failure.label else NONE,
            OwnerName(failure.owner) if failure.label else _owner(failure),
            _before(failure),
            marked(short_of(failure)),
        )
        for failure in failures
    ]
    header = (*words, "Classification", "Owner", "Seen before", "Reasoning")
    yield table(header, rows)


def _linked(failure: RunFailure, keys: Mapping[int, str]) -> Line:
    return line(Link(title_of(failure), f"#{keys[id(failure)]}"))


def _before(failure: RunFailure) -> str:
    counts = before_words(failure.repeat)
    return f"{counts}{' (another way)' if failure.repeat.otherwise else ''}" if counts else "no"


def _infrastructure(
    failures: Sequence[RunFailure], keys: Mapping[int, str], words: tuple[str, str], *, labelled: bool
) -> Iterator[Block]:
    """With their labels where the taxonomy has some for them."""
    rows = [
        (
            _linked(failure, keys),
            first_check(failure) or "none",
            *((label_of(failure) if failure.label else NONE,) if labelled else ()),
            _owner(failure),
            _before(failure),
            marked(short_of(failure)),
        )
        for failure in failures
    ]
    header = (*words, *(("Classification",) if labelled else ()), "Owner", "Seen before", "What happened")
    yield table(header, rows)
    yield paragraph("Infrastructure and knock-on failures, not counted in the classification above.")


def _owner(failure: RunFailure) -> Line:
    return line(OwnerName(failure.owner), "" if failure.reviewed else f" ({assigned(failure)})")


def _patterns(report: RunReport) -> Iterator[Block]:
    if report.patterns:
        rows = [
            (
                marked(pattern.title),
                _members(pattern, report),
                _state(pattern),
                in_common(pattern.parameters) or NONE,
                _documented(pattern) or "no",
            )
            for pattern in report.patterns
        ]
        yield table(("Cause", "Failures", "State", "In common", "Documented before"), rows)
    else:
        yield paragraph("No two failures share a cause.")
    if lines := list(_beside_patterns(report)):
        yield items(lines)


def _state(pattern: Pattern) -> str:
    if pattern.status == "assigned":
        return "assigned by rules, not reviewed"
    reviewed = f"{pattern.reviewed} of {pattern.rows} reviewed"
    return reviewed if pattern.status == "provisional" else f"{pattern.status}, {reviewed}"


def _documented(pattern: Pattern) -> str:
    dates = ", ".join(f"{date} ({often} of them)" for date, often in pattern.documented.items())
    return f"yes: {dates}" if dates else ""


def _beside_patterns(report: RunReport) -> Iterator[Line]:
    for shared in report.shared_texts:
        where = f"{shared.text} in {shared.count} of {len(report.failures)}: {name_list(shared.cases, ODD)}"
        yield line(Strong("Same text in the log"), ": ", where)
    if report.categories and report.subject.judged:
        yield line(Strong("Categories"), ": ", categories_words(report))
    if report.since is not None:
        yield line(Strong("Since the previous run"), ": ", since_words(report.since))
    if report.predecessor is not None:
        title = f"Compared with its predecessor, {report.predecessor.model}"
        yield line(Strong(title), ": ", since_words(report.predecessor))
    yield from _history(report)
    for action in report.actions:
        target = f"{action.path} " if action.path else ""
        why = effect_text(action.why, action.case_effects, action.worked)
        effect = f"{action.date} {target}{WORKED[action.worked]}: {why}"
        yield line(Strong("Earlier action"), ": ", effect)


def _history(report: RunReport) -> Iterator[Line]:
    if not report.history:
        return
    repeated = [one for one in report.failures if is_again(one)]
    earlier = [f"{one.date or 'undated'} {one.path}" for one in report.history]
    yield line(Strong("Earlier reports"), ": ", "; ".join(earlier))
    patterns = [f'{one.date or "undated"}: "{text}"' for one in report.history for text in one.patterns]
    if patterns:
        yield line(Strong("Patterns they name"), ": ", "; ".join(patterns))
    yield line(Strong("Recurring"), ": ", _recurring(repeated, report))


def _members(pattern: Pattern, report: RunReport) -> str:
    return f"{pattern.rows} of {len(report.failures)}: {name_list(pattern.cases, 8)}"


def _recurring(repeated: Sequence[RunFailure], report: RunReport) -> str:
    total = plural(len(report.failures), "failure")
    if not repeated:
        return f"none of the {total}"
    return f"{len(repeated)} of {total}: {name_list([one.case for one in repeated], 20)}"


def _advice(report: RunReport) -> Iterator[Block]:
    for title in HEADINGS:
        under = [one for one in report.advice if heading_of(one) == title]
        if title in ONLY_WITH_ADVICE and not under:
            continue
        yield paragraph(Strong(title))
        lines = [advice_line(one, ADVISED) for one in under if one.done is None]
        lines += [done_line(one, ADVISED) for one in under if one.done is not None]
        yield items(lines, kind="numbers") if lines else paragraph("None.")


def _impact(report: RunReport) -> Iterator[Block]:
    total = sum(impact.count for impact in report.impact)
    rows = [
        (impact_words(report, impact.kind), str(impact.count), percent(impact.count / total, 0))
        for impact in report.impact
        if total
    ]
    yield table(("", "count", f"of {total}"), rows, right=("count", f"of {total}"))
    ends = range_words(report.bounds, report.subject) if report.bounds is not None else ""
    if figures := " ".join(filter(None, (ends, best_figure_words(report)))):
        yield paragraph(figures)
    if report.after_fixes is not None:
        yield paragraph(Strong("Score after these fixes"), ": ", after_fixes_words(report.after_fixes))


def _doubts(report: RunReport) -> Iterator[str]:
    for finding in report.findings:
        yield f"{finding.name}: {finding.text}"
    for odd in report.suspicious:
        yield f"{odd.means} ({plural(len(odd.cases), 'pass', 'passes')}: {name_list(odd.cases, ODD)})"
    for skipped in report.skipped_reports:
        yield f"An earlier report could not be read: {skipped}"


def _memory(report: RunReport) -> dict[str, object]:
    """What errata reads back from this report later; see docs/memory.md."""
    subject = report.subject
    return {
        "format": 1,
        "run": subject.native_id,
        "run_id": subject.run_id,
        "model": subject.model,
        "provider": subject.provider,
        "experiment": subject.experiment,
        "date": subject.date,
        "passed": subject.passed if report.values is None else None,
        "total": subject.total,
        "failures": [
            {
                "case": failure.case,
                "label": failure.label,
                "owner": failure.owner,
                "failed_check": failure.checks[0].name if failure.checks else "",
                "reasoning": short_of(failure),
                "reviewed": failure.reviewed,
            }
            for failure in report.failures
        ],
        "patterns": [one.title for one in report.patterns],
        "recommendations": [
            {"group": advice.group, "text": advice_words(advice), "cases": list(advice.cases)}
            for advice in report.advice
            if advice.done is None
        ],
    }
