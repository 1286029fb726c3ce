"""`deep_error_analysis.md`: several runs of one suite by cause, with the datapoints that show each."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from errata.report.document import (
    Bar,
    Block,
    Chart,
    Code,
    Document,
    Grid,
    Line,
    Section,
    Strong,
    items,
    line,
    paragraph,
    table,
)
from errata.report.facts.comparison import ComparisonReport, Datapoint, Mode, Model, Run
from errata.report.facts.shared import ScoreLine
from errata.report.profiles.parts import NONE, interval, named, percent, plural, status_line

TOP = 3
TEXT = 200
CALLS = 4
LISTED = 12


def comparison_document(report: ComparisonReport) -> Document:
    return Document(
        title=f"Deep Error Analysis: {report.suite}, {plural(len(report.runs), 'run')}",
        status="provisional" if _provisional(report) else "final",
        facts=(("Status", _status(report)), ("Analysed", line(report.made))),
        blocks=(
            paragraph(
                "Causes are the reading of reviewers and rules, not a second judge. Counts come from the judged rows; "
                "all of them, raw, are in ",
                Code("failure_review_rows.jsonl"),
                " and ",
                Code(".csv"),
                " beside this file.",
            ),
        ),
        sections=tuple(_sections(report)),
    )


def _provisional(report: ComparisonReport) -> bool:
    return any(one.status != "final" for one in report.modes)


def _status(report: ComparisonReport) -> Line:
    if not _provisional(report):
        return line("final. ", f"{report.reading.read} of {plural(report.reading.failures, 'failure')} read")
    final = sum(one.status == "final" for one in report.modes)
    return line(status_line(report.reading), f"; {final} of {plural(len(report.modes), 'bucket')} final")


def _sections(report: ComparisonReport) -> Iterator[Section]:
    yield Section(title="In short", blocks=(items(short_words(report)),))
    yield Section(title="Run Set", blocks=tuple(_run_set(report)))
    yield Section(title="Top-Line Comparison", blocks=tuple(_top_line(report)))
    yield Section(title="Causes", blocks=tuple(_causes(report)), sections=tuple(map(_mode, report.modes)))
    yield Section(title="Shared and Unique", blocks=tuple(_shared(report)))
    yield Section(title="Per Model", sections=tuple(_model(one, report) for one in report.models))
    if report.categories:
        yield Section(title="Categories", blocks=(_categories(report),))
    doubts = [*report.suspicious, *report.findings]
    if doubts:
        told = paragraph("About the measurement. None of them changes a score here.")
        yield Section(title="Doubts", blocks=(told, items(doubts, kind="numbers")))
    if report.not_included:
        yield Section(title="Not included", blocks=(items(report.not_included),))


def short_words(report: ComparisonReport) -> Iterator[str]:
    """What a reader who stops here should know."""
    shared = report.failed_by_all_runs
    if shared:
        rows = sum(case in cases for case in shared for one in report.modes for cases in (*one.cases, *one.following))
        asked = "; ".join(f"{case} ({report.asks[case]})" if report.asks.get(case) else case for case in shared[:4])
        part = f"{rows} of the {report.failed_rows} failed rows"
        yield f"{plural(len(shared), 'case')} fail in every run and make {part}: {asked}."
    for model in report.models:
        yield f"{model.name}: {model_in_short(model)}"
    yield report.chance


def model_in_short(model: Model) -> str:
    """The main modes of a model with their cases, in one line."""
    if not model.failed:
        return "no failed row."
    modes = "; ".join(f"{title.lower()} ({named(counted(cases), 4)})" for title, cases in model.modes[:TOP])
    follow = f", {model.followers} of them only follow" if model.followers else ""
    return f"{plural(model.failed, 'failed row')} in {plural(len(model.runs), 'run')}{follow}. {modes}."


def counted(cases: Iterable[str]) -> list[str]:
    """`11 ×2` where several runs of a model fail the same."""
    return [case if often == 1 else f"{case} ×{often}" for case, often in Counter(cases).items()]


def _run_set(report: ComparisonReport) -> Iterator[Block]:
    rows = [
        (one.label, one.model, str(one.rows), str(one.passed), str(one.failed), _no_verdict(one), one.native_id)
        for one in report.runs
    ]
    header = ("run", "model", "rows", "pass", "fail", "no verdict", "directory")
    yield table(header, rows, right=("rows", "pass", "fail"))
    for told in report.differences:
        yield paragraph(told)


def _no_verdict(run: Run) -> str:
    parts = []
    if run.no_verdict:
        parts.append(f"{len(run.no_verdict)} ({named(run.no_verdict, 6)})")
    if run.missing:
        parts.append(f"{len(run.missing)} missing ({named(run.missing, 6)})")
    return ", ".join(parts) or "0"


def _top_line(report: ComparisonReport) -> Iterator[Block]:
    patterns = list(dict.fromkeys(name for one in report.runs for name in one.patterns))
    rows = [
        (
            one.label,
            f"{one.failed}/{one.rows}",
            *(str(one.patterns.get(name, 0)) for name in patterns),
            _top(one.dimensions),
        )
        for one in report.runs
    ]
    yield table(("run", "failed rows", *patterns, "top failed dimensions"), rows, right=("failed rows", *patterns))
    policies = list(dict.fromkeys(score.policy for one in report.runs for score in one.scores))
    by_policy = [(policy.replace("_", " "), *(_score(one, policy) for one in report.runs)) for policy in policies]
    yield table(("score", *(one.label for one in report.runs)), by_policy)
    if report.dimensions:
        yield paragraph("Failed dimensions, counted from the rows (false / applicable):")
        yield table(("dimension", *(one.label for one in report.runs), "all"), list(_dimensions(report)))
        bars = tuple(Bar(one.name, sum(one.failed)) for one in report.dimensions)
        yield Chart("Failed dimensions over all runs", bars)
    if report.grid:
        cases, *letters = report.grid
        yield Grid(
            tuple(one.label for one in report.runs), cases, tuple("".join(row) for row in letters), report.legend
        )


def _top(dimensions: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {often}" for name, often in list(dimensions.items())[:TOP]) or NONE


def _score(run: Run, policy: str) -> str:
    found = next((one for one in run.scores if one.policy == policy), None)
    return _told(found) if found is not None else NONE


def _told(score: ScoreLine) -> str:
    if not score.total:
        return score.note or NONE
    left = f"; {score.left_out}" if score.left_out else ""
    return f"{score.passed}/{score.total} {percent(score.rate)} [{interval(score)}]{left}"


def _dimensions(report: ComparisonReport) -> Iterator[tuple[str, ...]]:
    for one in report.dimensions:
        cells = (f"{failed}/{of}" for failed, of in zip(one.failed, one.applicable, strict=True))
        yield (one.name, *cells, f"{sum(one.failed)}/{sum(one.applicable)}")


def _causes(report: ComparisonReport) -> Iterator[Block]:
    labels = [one.label for one in report.runs]
    rows: list[tuple[str, ...]] = []
    for mode in report.modes:
        name = f"{mode.title} ({mode.label})" if mode.label and mode.label != mode.title else mode.title
        rows.append((name, str(mode.rows), *(_listed(cases) for cases in mode.cases), mode.owner, mode.status))
        if mode.followers:
            rows.append(
                (
                    "… and what follows from it",
                    str(mode.followers),
                    *(_listed(cases) for cases in mode.following),
                    "collateral",
                    mode.status,
                )
            )
    total = tuple(str(one.failed) for one in report.runs)
    rows.append(("total", str(report.failed_rows), *total, "", ""))
    yield table(("bucket", "rows", *labels, "owner", "status"), rows, right=("rows",), provisional=_provisional(report))
    moved = sum(one.rebucketed for one in report.modes)
    if moved:
        yield paragraph(
            f"Put into another bucket by a reviewer: {moved} of {report.failed_rows} rows; both are on record."
        )


def _listed(cases: Sequence[str]) -> str:
    return (", ".join(cases) if len(cases) <= LISTED else f"{len(cases)} cases") or NONE


def _mode(mode: Mode) -> Section:
    dimensions = ", ".join(f"{name} {often}" for name, often in mode.dimensions.items()) or "no dimension"
    follow = f", {plural(mode.followers, 'follower')}" if mode.followers else ""
    return Section(
        title=f"{mode.title} ({plural(mode.rows, 'row')}{follow})",
        brief=line(f"{plural(mode.rows, 'row')}: {dimensions}"),
        blocks=tuple(_about(mode, dimensions)),
    )


def _about(mode: Mode, dimensions: str) -> Iterator[Block]:
    state = f"{mode.status}, {mode.read} of {mode.rows + mode.followers} read"
    if mode.status != "final":
        state = f"PROVISIONAL ({state}; {mode.needed} have to be read before it is final)"
    mistake = mode.mistake or "Nobody has read it yet; the name comes from rules."
    yield items(
        [
            line(Strong("What goes wrong"), ": ", mistake),
            line(Strong("Where"), ": ", "; ".join(mode.triggers) or NONE),
            line(Strong("Which dimensions it causes"), ": ", dimensions),
            line(Strong("State"), ": ", state),
            *([line(Strong("They share"), ": ", mode.parameters)] if mode.parameters else []),
        ]
    )
    if mode.datapoints:
        rows = [_datapoint(one) for one in mode.datapoints]
        header = ("row", "input", "output", "calls and results", "judge", "failed")
        yield table(header, rows, provisional=mode.status != "final")
    shown, whole = len(mode.datapoints), mode.rows
    if shown < whole:
        yield paragraph(f"{shown} of {whole} rows are shown; the others stand in the rows beside this file.")
    for one in mode.datapoints:
        if one.consequences:
            yield paragraph(f"{one.run} {one.case}: what the grader sees besides: {'; '.join(one.consequences)}.")


def _datapoint(one: Datapoint) -> tuple[Line, ...]:
    calls = [*one.calls[:CALLS], *(f"→ {result}" for result in one.results[:CALLS])]
    return (
        line(f"{one.run} {one.case}"),
        line(f"“{_short(one.input)}”" if one.input else NONE),
        line(f"“{_short(one.output)}”" if one.output else NONE),
        line(*_joined(Code(_short(call)) for call in calls)) or line("none"),
        line(f"“{_short(one.judge)}”" if one.judge else NONE),
        line(", ".join(one.failed)),
    )


def _joined(parts: Iterable[Code]) -> Iterator[str | Code]:
    for at, part in enumerate(parts):
        if at:
            yield " "
        yield part


def _short(text: str) -> str:
    folded = " ".join(text.split())
    return f"{folded[: TEXT - 1]}…" if len(folded) > TEXT else folded


def _shared(report: ComparisonReport) -> Iterator[Block]:
    rows = [
        (f"failed by all {plural(len(report.runs), 'run')}", _all(report.failed_by_all_runs)),
        (f"failed by all {plural(len(report.models), 'model')}", _all(report.failed_by_all_models)),
    ]
    rows += [(f"only {run} fails", _all(cases)) for run, cases in report.only_fails.items()]
    rows += [(f"only {run} passes", _all(cases)) for run, cases in report.only_passes.items()]
    if len(report.models) < len(report.runs):
        rows += [(f"only {one.name} fails, over all its runs", _all(one.only_fails)) for one in report.models]
        rows += [(f"only {one.name} passes, over all its runs", _all(one.only_passes)) for one in report.models]
    for one in report.models:
        if len(one.runs) > 1:
            rows.append((f"{one.name}, unstable over {len(one.runs)} runs", _all(one.unstable)))
            rows.append((f"{one.name}, failed in every run", _all(one.failed_in_every_run)))
    yield table(("", "cases"), rows)


def _all(cases: Sequence[str]) -> str:
    return named(cases, 60) or "none"


def _model(model: Model, report: ComparisonReport) -> Section:
    provisional = _provisional(report)
    rows = [(title, str(len(cases)), named(counted(cases), 20)) for title, cases in model.modes]
    blocks: list[Block] = [paragraph(model_in_short(model))]
    if rows:
        blocks.append(table(("error mode", "rows", "cases"), rows, right=("rows",), provisional=provisional))
    share = [
        f"{name} {often} ({100 * often / model.failed:.0f} % of its failed rows)"
        for name, often in model.dimensions.items()
    ]
    told = [line(Strong("Dominant dimensions"), ": ", "; ".join(share) or "none")]
    patterns = ", ".join(f"{name} {often}" for name, often in model.patterns.items())
    told.append(line(Strong("In place of an answer"), ": ", patterns or "none"))
    told.append(line(Strong("Only it fails"), ": ", _all(model.only_fails)))
    told.append(line(Strong("Only it passes"), ": ", _all(model.only_passes)))
    blocks.append(items(told))
    return Section(title=model.name, blocks=tuple(blocks))


def _categories(report: ComparisonReport) -> Block:
    rows = [(name, str(cases), str(failed), harder) for name, cases, failed, harder in report.categories]
    return table(("category", "cases", "failed rows", "harder than the rest?"), rows, right=("cases", "failed rows"))
