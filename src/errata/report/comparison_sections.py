"""The sections of a report about several runs: causes with datapoints, shared failures, each model."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from errata.model.output.report.comparison import (
    CallText,
    ComparisonReport,
    Datapoint,
    Mistake,
    Mode,
    ModelMode,
    ReportedModel,
    Trigger,
    Unique,
)
from errata.render.document import (
    Block,
    Code,
    Line,
    LineContent,
    OwnerName,
    Section,
    Strong,
    fields,
    items,
    line,
    marked,
    paragraph,
    table,
)
from errata.render.figures import NONE, percent, plural
from errata.report.parts import NO_BUCKET, in_common, name_list
from errata.text.clean import one_line

TEXT = 240
CALLS = 4
LISTED, ALL = 12, 60
TOP = 3


def is_provisional(report: ComparisonReport) -> bool:
    return any(one.status != "final" for one in report.modes)


def causes_section(report: ComparisonReport) -> Section:
    sections = tuple(_mode(one, mode_key(at)) for at, one in enumerate(report.modes))
    return Section(title="Causes", blocks=tuple(_table(report)), sections=sections, can_overflow=True)


def mode_key(at: int) -> str:
    """The key of a cause's section, by its place."""
    return f"cause-{at}"


def _table(report: ComparisonReport) -> Iterator[Block]:
    rows: list[tuple[LineContent, ...]] = []
    differ = len({one.status for one in report.modes}) > 1  # else the head of the report has it
    for mode in report.modes:
        status = (mode.status,) if differ else ()
        owners = [part for owner in mode.owners for part in (", ", OwnerName(owner))][1:]
        cells = (*(_listed(cases) for cases in mode.cases), line(*owners), *status)
        rows.append((_title_with_label(mode), str(mode.rows), *cells))
        if mode.followers:
            follow = (*(_listed(cases) for cases in mode.following), OwnerName("collateral"), *status)
            rows.append(("… knock-on failures", str(mode.followers), *follow))
    total = tuple(str(one.failed) for one in report.runs)
    rows.append(("total", str(report.failed_rows), *total, "", *([""] if differ else [])))
    header = ("cause", "rows", *(one.label for one in report.runs), "owner", *(["status"] if differ else []))
    yield table(header, rows, right=("rows",))
    moved = sum(one.rebucketed for one in report.modes)
    if moved:
        yield paragraph(f"{moved} of {report.failed_rows} rows got another cause in review; both are recorded.")


def _title_with_label(mode: Mode) -> str:
    title = mode_title(mode)
    return f"{title} ({mode.label})" if mode.label and mode.label != title else title


def mode_title(mode: Mode | ModelMode) -> str:
    return mode.title or NO_BUCKET


def mistake_words(mistake: Mistake) -> str:
    """The mistake in the words of reviewers, else the meaning of the label."""
    if mistake.verdicts:
        words = "; ".join(text.strip().rstrip(".") for text in mistake.verdicts)
        return f"{words[:1].upper()}{words[1:]}"
    means = mistake.label_means
    return f"{means} (by rule, not reviewed)" if means else "Not reviewed yet"


def _listed(cases: Sequence[str]) -> str:
    return (", ".join(cases) if len(cases) <= LISTED else f"{len(cases)} cases") or NONE


def _mode(mode: Mode, key: str) -> Section:
    dimensions = ", ".join(f"{name} {often}" for name, often in mode.dimensions.items()) or "no dimension"
    follow = f", {plural(mode.followers, 'knock-on failure')}" if mode.followers else ""
    return Section(
        title=f"{mode_title(mode)} ({plural(mode.rows, 'row')}{follow})",
        key=key,
        owner=mode.owners[0] if mode.owners else "",
        blocks=tuple(_about(mode, dimensions)),
        is_folded=True,
    )


def _about(mode: Mode, dimensions: str) -> Iterator[Block]:
    yield fields(
        [
            ("What goes wrong", marked(mistake_words(mode.mistake))),
            ("Where", "; ".join(_triggers(mode)) or NONE),
            ("Failed dimensions", dimensions),
            ("State", _state(mode)),
            *([("In common", in_common(mode.parameters))] if mode.parameters else []),
        ]
    )
    if mode.datapoints:
        header = ("row", "input", "output", "calls and results", "judge", "failed")
        yield table(header, [_datapoint(one) for one in mode.datapoints])
    shown, whole = len(mode.datapoints), mode.rows or mode.followers
    if shown < whole:
        yield paragraph(f"{shown} of {whole} rows are shown; all are in the files beside this report.")
    besides = [one for one in mode.datapoints if one.consequences]
    if besides:
        yield paragraph("Other consequences for the grader:")
        yield items(line(f"{one.run}, {one.case}: ", marked("; ".join(one.consequences))) for one in besides)


def _triggers(mode: Mode) -> Iterator[str]:
    yield from map(_trigger, mode.triggers)
    if mode.more_triggers:
        yield f"and {mode.more_triggers} more"


def _trigger(trigger: Trigger) -> str:
    return f"{trigger.case} (“{trigger.asks}”)" if trigger.asks else trigger.case


def _state(mode: Mode) -> str:
    if mode.status == "assigned":
        return "assigned by rules, not reviewed"
    read = f"{mode.read} of {plural(mode.rows, 'row')} reviewed"
    if mode.status == "final":
        return f"final, {read}"
    reviewed = f"{read}; final after {plural(mode.needed, 'review')}"
    return reviewed if mode.status == "provisional" else f"{mode.status}, {reviewed}"


def _datapoint(point: Datapoint) -> tuple[Line, ...]:
    return (
        line(f"{point.run}, {point.case}"),
        quoted_line(point.input),
        quoted_line(point.output),
        calls_line(point.calls),
        quoted_line(point.judge),
        line(", ".join(point.failed)),
    )


def calls_line(calls: Sequence[CallText]) -> Line:
    """The first calls, each with its result."""
    more = len(calls) - CALLS
    parts = tuple(part for call in calls[:CALLS] for part in (*_call(call), " "))
    return line(*parts, f"and {more} more" if more > 0 else "") or line("none")


def _call(call: CallText) -> tuple[str | Code, ...]:
    made = (Code(call.call),) if call.call else ()
    return (*made, " → ", Code(call.result)) if call.result else made


def quoted_line(text: str) -> Line:
    shown = one_line(text, TEXT)
    return line(f"“{shown}”" if shown else NONE)


def shared_section(report: ComparisonReport) -> Section:
    return Section(title="Shared and Unique", short="Shared", blocks=tuple(_shared(report)))


def _shared(report: ComparisonReport) -> Iterator[Block]:
    word = "model" if all(run.model for run in report.runs) else "subject"
    lines = [
        line(
            Strong(f"Failed by all {plural(len(report.runs), 'run')}"), ": ", _marked(report.failed_by_all_runs, report)
        ),
        line(
            *(Strong(f"Failed by all {plural(len(report.models), word)}"), ": "),
            _marked(report.failed_by_all_models, report),
        ),
    ]
    for model in report.models:
        if len(model.runs) > 1:
            lines.append(
                line(Strong(f"{model.name}, unstable over {len(model.runs)} runs"), ": ", _all(model.unstable))
            )
            lines.append(line(Strong(f"{model.name}, failed in every run"), ": ", _all(model.failed_in_every_run)))
    yield items(lines)
    rows = [(_who(one), _fails(one), _all(one.passes)) for one in report.uniques]
    yield table(("", f"only it fails ({report.case_word}s)", f"only it passes ({report.case_word}s)"), rows)


def _marked(cases: Sequence[str], report: ComparisonReport) -> str:
    """With the runs where a case only follows from another failure."""
    return _all([f"{case}{knock_on_words(case, report)}" for case in cases])


def knock_on_words(case: str, report: ComparisonReport) -> str:
    runs = report.knock_on_in.get(case, ())
    return f" [only knock-on in {', '.join(runs)}]" if runs else ""


def _who(unique: Unique) -> str:
    return f"{unique.name}, over all its runs" if unique.whole_model else unique.name


def _fails(unique: Unique) -> str:
    own = [case for case in unique.fails if case not in unique.following]
    if not unique.following:
        return _all(own)
    return f"{_all(own)}; knock-on: {_all(unique.following)}"


def _all(cases: Sequence[str]) -> str:
    return name_list(cases, ALL) or "none"


def models_section(report: ComparisonReport) -> Section:
    return Section(title="Per Model", sections=tuple(_model(one, report) for one in report.models))


def _model(model: ReportedModel, report: ComparisonReport) -> Section:
    blocks: list[Block] = [paragraph(marked(model_in_short(model)))]
    if model.modes:
        rows = [_row(one) for one in model.modes]
        header = ("error mode", "mistake", "rows", f"{report.case_word}s", "dimensions")
        blocks.append(table(header, rows, right=("rows",)))
    dimensions = ", ".join(f"{name} {often} ({_share(often, model)})" for name, often in model.dimensions.items())
    lines = [line(Strong("Dominant dimensions"), ": ", f"{dimensions or 'none'} of {model.failed} failed rows")]
    patterns = ", ".join(f"{name} {often}" for name, often in model.patterns.items())
    lines.append(line(Strong("Instead of an answer"), ": ", patterns or "none"))
    lines += [line(Strong("Only it fails"), ": ", _fails(one)) for one in _own(model, report)]
    lines += [line(Strong("Only it passes"), ": ", _all(one.passes)) for one in _own(model, report)]
    return Section(title=model.name, blocks=(*blocks, items(lines)))


def _own(model: ReportedModel, report: ComparisonReport) -> Iterator[Unique]:
    """For all its runs together, or for its only run where every model has one."""
    several = any(one.whole_model for one in report.uniques)
    for unique in report.uniques:
        if unique.whole_model == several and unique.name in (model.name, *model.runs):
            yield unique


def _row(mode: ModelMode) -> tuple[LineContent, ...]:
    follow = f"; knock-on: {name_list(mode.following, 20)}" if mode.following else ""
    cases = f"{name_list(counted(mode.cases), 20) or 'none of its own'}{follow}"
    dimensions = ", ".join(f"{name} {often}" for name, often in mode.dimensions.items())
    return (
        mode_title(mode),
        marked(mistake_words(mode.mistake)),
        str(len(mode.cases) + len(mode.following)),
        cases,
        dimensions or "none",
    )


def _share(often: int, model: ReportedModel) -> str:
    return percent(often / model.failed, 0)


def model_in_short(model: ReportedModel) -> str:
    if not model.failed:
        return "no failed rows."
    modes = "; ".join(f"{lowered(mode_title(one))} ({_cases(one)})" for one in model.modes[:TOP])
    follow = f", {model.followers} of them knock-on" if model.followers else ""
    return f"{plural(model.failed, 'failed row')} in {plural(len(model.runs), 'run')}{follow}: {modes}."


def _cases(mode: ModelMode) -> str:
    follow = f", {len(mode.following)} knock-on" if mode.following else ""
    return f"{name_list(counted(mode.cases), 4)}{follow}"


def lowered(title: str) -> str:
    return title[:1].lower() + title[1:]


def counted(cases: Iterable[str]) -> list[str]:
    """`11 ×2` where several runs of a model fail the same."""
    return [case if often == 1 else f"{case} ×{often}" for case, often in Counter(cases).items()]
