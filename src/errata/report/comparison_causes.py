"""The causes in a report about several runs: a table of all, then what goes wrong in each, with datapoints."""

from collections.abc import Iterator, Sequence

from errata.model.output.report.comparison import Call, ComparisonReport, Datapoint, Mistake, Mode, ModelMode, Trigger
from errata.render.document import Block, Code, Line, Section, Strong, items, line, marked, paragraph, table
from errata.report.parts import NO_BUCKET, NONE, plural

TEXT = 240
CALLS = 4
LISTED = 12


def is_provisional(report: ComparisonReport) -> bool:
    return any(one.status != "final" for one in report.modes)


def causes_section(report: ComparisonReport) -> Section:
    return Section(title="Causes", blocks=tuple(_table(report)), sections=tuple(_mode(one) for one in report.modes))


def _table(report: ComparisonReport) -> Iterator[Block]:
    rows: list[tuple[str, ...]] = []
    for mode in report.modes:
        cells = (*(_listed(cases) for cases in mode.cases), ", ".join(mode.owners), mode.status)
        rows.append((_named(mode), str(mode.rows), *cells))
        if mode.followers:
            follow = (*(_listed(cases) for cases in mode.following), "collateral", mode.status)
            rows.append(("… and what follows from it", str(mode.followers), *follow))
    total = tuple(str(one.failed) for one in report.runs)
    rows.append(("total", str(report.failed_rows), *total, "", ""))
    header = ("bucket", "rows", *(one.label for one in report.runs), "owner", "status")
    yield table(header, rows, right=("rows",), provisional=is_provisional(report))
    moved = sum(one.rebucketed for one in report.modes)
    if moved:
        yield paragraph(f"Re-bucketed in review: {moved} of {report.failed_rows} rows; old and new are both on record.")


def _named(mode: Mode) -> str:
    title = mode_title(mode)
    return f"{title} ({mode.label})" if mode.label and mode.label != title else title


def mode_title(mode: Mode | ModelMode) -> str:
    return mode.title or NO_BUCKET


def mistake_words(mistake: Mistake) -> str:
    """What is done wrong: as reviewers say it, else what the label means, and that nobody has read it."""
    if mistake.verdicts:
        words = "; ".join(text.strip().rstrip(".") for text in mistake.verdicts)
        return f"{words[:1].upper()}{words[1:]}"
    means = mistake.label_means
    return f"{means}. By rule: nobody has read it yet" if means else "Nobody has read it yet"


def _listed(cases: Sequence[str]) -> str:
    return (", ".join(cases) if len(cases) <= LISTED else f"{len(cases)} cases") or NONE


def _mode(mode: Mode) -> Section:
    dimensions = ", ".join(f"{name} {often}" for name, often in mode.dimensions.items()) or "no dimension"
    follow = f", {plural(mode.followers, 'follower')}" if mode.followers else ""
    return Section(
        title=f"{mode_title(mode)} ({plural(mode.rows, 'row')}{follow})",
        brief=line(f"{plural(mode.rows, 'row')}: {dimensions}"),
        blocks=tuple(_about(mode, dimensions)),
    )


def _about(mode: Mode, dimensions: str) -> Iterator[Block]:
    yield items(
        [
            line(Strong("What goes wrong"), ": ", marked(mistake_words(mode.mistake))),
            line(Strong("Where"), ": ", "; ".join(_triggers(mode)) or NONE),
            line(Strong("Which dimensions it causes"), ": ", dimensions),
            line(Strong("State"), ": ", _state(mode)),
            *([line(Strong("In common"), ": ", _in_common(mode))] if mode.parameters else []),
        ]
    )
    if mode.datapoints:
        header = ("row", "input", "output", "calls and results", "judge", "failed")
        yield table(header, [_datapoint(one) for one in mode.datapoints], provisional=mode.status != "final")
    shown, whole = len(mode.datapoints), mode.rows or mode.followers
    if shown < whole:
        yield paragraph(f"{shown} of {whole} rows are shown; the others stand in the rows beside this file.")
    besides = [one for one in mode.datapoints if one.consequences]
    if besides:
        yield paragraph("What the grader sees of it besides:")
        yield items(line(f"{one.run}, {one.case}: ", marked("; ".join(one.consequences))) for one in besides)


def _triggers(mode: Mode) -> Iterator[str]:
    yield from map(_trigger, mode.triggers)
    if mode.more_triggers:
        yield f"and {mode.more_triggers} more"


def _trigger(one: Trigger) -> str:
    return f"{one.case} (“{one.asks}”)" if one.asks else one.case


def _in_common(mode: Mode) -> str:
    return ", ".join(f"{name} {value}" for name, value in mode.parameters.items())


def _state(mode: Mode) -> str:
    read = f"{mode.read} of {mode.rows + mode.followers} read"
    if mode.status == "final":
        return f"final, {read}"
    return f"PROVISIONAL ({mode.status}, {read}; {mode.needed} have to be read before it is final)"


def _datapoint(one: Datapoint) -> tuple[Line, ...]:
    return (
        line(f"{one.run}, {one.case}"),
        quoted(one.input),
        quoted(one.output),
        calls_line(one.calls),
        quoted(one.judge),
        line(", ".join(one.failed)),
    )


def calls_line(calls: Sequence[Call]) -> Line:
    """The first of them, each with what came back."""
    more = len(calls) - CALLS
    told = tuple(part for call in calls[:CALLS] for part in (*_call(call), " "))
    return line(*told, f"and {more} more" if more > 0 else "") or line("none")


def _call(call: Call) -> tuple[str | Code, ...]:
    made = (Code(call.call),) if call.call else ()
    return (*made, " → ", Code(call.result)) if call.result else made


def quoted(text: str) -> Line:
    folded = " ".join(text.split())
    shown = f"{folded[: TEXT - 1]}…" if len(folded) > TEXT else folded
    return line(f"“{shown}”" if shown else NONE)
