"""What the runs of a comparison share, what sets each apart, and every model with its modes."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from errata.model.output.report.comparison import ComparisonReport, Model, ModelMode, Unique
from errata.render.document import Block, Said, Section, Strong, items, line, marked, paragraph, table
from errata.report.comparison_causes import is_provisional, mistake_words, mode_title
from errata.report.parts import named, plural

TOP = 3
ALL = 60


def shared_section(report: ComparisonReport) -> Section:
    return Section(title="Shared and Unique", blocks=tuple(_shared(report)))


def _shared(report: ComparisonReport) -> Iterator[Block]:
    told = [
        line(Strong(f"Failed by all {plural(len(report.runs), 'run')}"), ": ", _all(report.failed_by_all_runs)),
        line(Strong(f"Failed by all {plural(len(report.models), 'model')}"), ": ", _all(report.failed_by_all_models)),
    ]
    for one in report.models:
        if len(one.runs) > 1:
            told.append(line(Strong(f"{one.name}, unstable over {len(one.runs)} runs"), ": ", _all(one.unstable)))
            told.append(line(Strong(f"{one.name}, failed in every run"), ": ", _all(one.failed_in_every_run)))
    yield items(told)
    rows = [(_who(one), _fails(one), _all(one.passes)) for one in report.uniques]
    yield table(("", f"{report.case_word}s that only it fails", f"{report.case_word}s that only it passes"), rows)


def _who(one: Unique) -> str:
    return f"{one.name}, over all its runs" if one.whole_model else one.name


def _fails(one: Unique) -> str:
    own = [case for case in one.fails if case not in one.following]
    if not one.following:
        return _all(own)
    return f"{_all(own)}; and only following: {_all(one.following)}"


def _all(cases: Sequence[str]) -> str:
    return named(cases, ALL) or "none"


def models_section(report: ComparisonReport) -> Section:
    return Section(title="Per Model", sections=tuple(_model(one, report) for one in report.models))


def _model(model: Model, report: ComparisonReport) -> Section:
    blocks: list[Block] = [paragraph(marked(model_in_short(model)))]
    if model.modes:
        rows = [_row(one) for one in model.modes]
        header = ("error mode", "what it does wrong", "rows", f"{report.case_word}s", "dimensions")
        blocks.append(table(header, rows, right=("rows",), provisional=is_provisional(report)))
    dimensions = ", ".join(f"{name} {often} ({_share(often, model)})" for name, often in model.dimensions.items())
    told = [line(Strong("Dominant dimensions"), ": ", f"{dimensions or 'none'} of {model.failed} failed rows")]
    patterns = ", ".join(f"{name} {often}" for name, often in model.patterns.items())
    told.append(line(Strong("In place of an answer"), ": ", patterns or "none"))
    told += [line(Strong("Only it fails"), ": ", _fails(one)) for one in _own(model, report)]
    told += [line(Strong("Only it passes"), ": ", _all(one.passes)) for one in _own(model, report)]
    return Section(title=model.name, blocks=(*blocks, items(told)))


def _own(model: Model, report: ComparisonReport) -> Iterator[Unique]:
    """Over all its runs; of its only run, where every model has one."""
    several = any(one.whole_model for one in report.uniques)
    for one in report.uniques:
        if one.whole_model == several and one.name in (model.name, *model.runs):
            yield one


def _row(one: ModelMode) -> tuple[Said, ...]:
    follow = f"; {named(one.following, 20)} follow" if one.following else ""
    cases = f"{named(counted(one.cases), 20) or 'none of its own'}{follow}"
    dimensions = ", ".join(f"{name} {often}" for name, often in one.dimensions.items())
    return (
        mode_title(one),
        marked(mistake_words(one.mistake)),
        str(len(one.cases) + len(one.following)),
        cases,
        dimensions or "none",
    )


def _share(often: int, model: Model) -> str:
    return f"{100 * often / model.failed:.0f} %"


def model_in_short(model: Model) -> str:
    """The main modes of a model with their cases, in one line."""
    if not model.failed:
        return "no failed row."
    modes = "; ".join(f"{_lowered(mode_title(one))} ({_cases(one)})" for one in model.modes[:TOP])
    follow = f", {model.followers} of them only follow" if model.followers else ""
    return f"{plural(model.failed, 'failed row')} in {plural(len(model.runs), 'run')}{follow}: {modes}."


def _cases(one: ModelMode) -> str:
    follow = f", {len(one.following)} follow" if one.following else ""
    return f"{named(counted(one.cases), 4)}{follow}"


def _lowered(title: str) -> str:
    return title[:1].lower() + title[1:]


def counted(cases: Iterable[str]) -> list[str]:
    """`11 ×2` where several runs of a model fail the same."""
    return [case if often == 1 else f"{case} ×{often}" for case, often in Counter(cases).items()]
