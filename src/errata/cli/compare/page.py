"""The head of a comparison's page: suite, runs with their scores, and sets of cases."""

from collections.abc import Iterable, Mapping, Sequence

from errata.cli.compare.matrix import CaseLabels
from errata.cli.fitting import WIDTH, columns, padded
from errata.cli.output import plural, put, wash
from errata.cli.render.runs import counted_in
from errata.cli.render.scores import figures
from errata.cli.table import put_table
from errata.compare.comparability import Difference, common_cases, describe_difference
from errata.compare.comparison import Compared, Comparison
from errata.compare.matrix import RunColumn
from errata.compare.scores import Policy, Score
from errata.compare.sets import Cases
from errata.model import Run
from errata.model.cells import Cell
from errata.model.run import subject_label
from errata.render.figures import left_out_reason
from errata.runs.names import variant_of
from errata.text.clean import one_line

WHO = 34
LABEL = 9
GAPS = ("missing", "contradictory")
GAP = "  "


def word_for_subjects(comparison: Comparison) -> str:
    return "models" if all(column.run.subject.model for column in comparison.matrix.columns) else "subjects"


def word_for_cases(comparison: Comparison) -> str:
    return counted_in(comparison.runs[0].runs[0].run, "cases")


def put_head(comparison: Comparison, handles: Mapping[str, str]) -> None:
    run = comparison.matrix.columns[0].run
    refusing = any(one.refuses for one in comparison.differences)
    count = plural(len(comparison.matrix.rows), word_for_cases(comparison))
    of = " measured in every run" if comparison.options.common else ""
    runs = len(comparison.matrix.columns)
    same = f"same suite in {_all(runs)} runs" if runs > 1 and not refusing else ""
    parts = [_suite(comparison, run), f"{count}{of}", same, _judge(run)]
    put(" · ".join(part for part in parts if part))
    if comparison.options.category:
        put(f"{'only':<{LABEL}}category {comparison.options.category}")
    for difference in comparison.differences:
        _put_difference(difference, comparison)
    _put_gaps(comparison)
    for compared in comparison.runs:
        if compared.problems:
            named = f"{handles[compared.runs[0].run.id]} {compared.label}".strip()
            put(f"{'NOT FIT':<{LABEL}}{named}: {'; '.join(compared.problems)}", hang=LABEL)
    for stored, why in comparison.left_out:
        named = f"{handles[stored.run.id]} {subject_label(stored.run)}".strip()
        put(f"{'left out':<{LABEL}}{named}: {why}", hang=LABEL)


def _put_gaps(comparison: Comparison) -> None:
    """If a run lacks a case, or contradicts itself on it, scores are not over the same cases."""
    rows = comparison.matrix.rows.values()
    if any(cell is not None and cell.state in GAPS for row in rows for cell in row):
        whole, shared = len(comparison.matrix.rows), len(common_cases(comparison.matrix))
        which = "both runs" if len(comparison.matrix.columns) == 2 else "every run"
        results = f"{shared:,} of {plural(whole, word_for_cases(comparison))} have a result in {which}"
        common = " (`--common` scores only these)"
        put(f"{'gaps':<{LABEL}}{results}{common}{_compared_of(comparison, shared)}", hang=LABEL)


def _compared_of(comparison: Comparison, shared: int) -> str:
    """Of two runs: how many cases the test compares, and why it leaves out others that have a result in both."""
    if len(comparison.pairings) != 1 or comparison.options.by_model:
        return ""
    compared = comparison.pairings[0].all.shared
    common = common_cases(comparison.matrix)
    edited = sum(case in common for case in comparison.edited)
    reasons = [f"{plural(edited, 'task')} edited"] if edited else []
    reasons += [f"{shared - compared - edited:,} mixed or not scored"] if shared > compared + edited else []
    return f"; {compared:,} compared ({', '.join(reasons)})" if reasons else ""


def _suite(comparison: Comparison, run: Run) -> str:
    """The suite, with the part of the variant that all runs share."""
    runs = [column.run for column in comparison.matrix.columns]
    shared = set.intersection(*(set(variant_of(one)) for one in runs))
    suites = " and ".join(dict.fromkeys(one.suite for one in runs if one.suite)) or run.source.name
    return ", ".join([suites, *(part for part in variant_of(run) if part in shared)])


def _judge(run: Run) -> str:
    judges = [
        " ".join(
            part for part in (scorer.model, f"v{scorer.version.removeprefix('v')}" if scorer.version else "") if part
        )
        for scorer in run.scorers
        if scorer.kind == "judge" and scorer.model
    ]
    return f"judge {', '.join(dict.fromkeys(judges))}" if judges else ""


def _put_difference(difference: Difference, comparison: Comparison) -> None:
    if difference.what == "tasks":
        edited = [comparison.cases[case].name for case in comparison.edited]
        if edited:
            names = ", ".join(edited)
            put(f"{'edited':<{LABEL}}{names}: task edited between the runs; not compared", hang=LABEL)
        return
    put(f"{'differs':<{LABEL}}{describe_difference(difference)}", hang=LABEL)


def put_runs(comparison: Comparison, handles: Mapping[str, str]) -> None:
    """What is left out is shown beside the scores, or below them on a narrow page."""
    shown = comparison.columns
    policies = _shown_policies([one.scores for one in shown])
    called = ["" if comparison.options.by_model else handles[one.runs[0].run.id] for one in shown]
    left_out = [left_out_in_words(run.scores["clean"]) for run in shown]
    out = [", ".join(f"{count:,} {word}" for word, count in words.items()) for words in left_out]
    scores = [[_figures(one.scores[policy]) for policy in policies.values()] for one in shown]
    if _width([list(policies), *scores]) > WIDTH - WHO and "as_reported" in policies:
        scores = [[row[0], row[1].partition(" [")[0], *row[2:]] for row in scores]
    wide = any(called)
    header = (*(("run",) if wide else ()), "model", *policies)
    named = [(handle, _label(one)) if wide else (_label(one),) for handle, one in zip(called, shown, strict=True)]
    rows = [(*names, *row) for names, row in zip(named, scores, strict=True)]
    beside = _width([header, *rows]) + max(map(columns, [*out, "left out"])) <= WIDTH
    beside = beside and not any(one.problems for one in shown)
    put()
    if beside:
        put_table((*header, "left out"), [(*row, left or "–") for row, left in zip(rows, out, strict=True)])
    else:
        below = [
            " · ".join([*(["NOT FIT"] if compared.problems else []), *([f"left out of clean: {left}"] if left else [])])
            for compared, left in zip(shown, out, strict=True)
        ]
        put_table(header, rows, whole=header, below=below, below_lines=0)
    if any("[" in figures for row in scores for figures in row):
        put("In brackets: 95 % interval")
    for compared in shown:
        _put_beside(compared)


def _put_beside(compared: Compared) -> None:
    """Notes without which a score would mislead."""
    reported, recovered = compared.scores["as_reported"], compared.scores["clean"].recovered
    if reported.reproduced is False:
        note = f"the harness reports {reported.stated:.4g}, which does not follow from the rows"
        put(f"{'note':<{LABEL}}{wash(compared.label)}: {note}", hang=LABEL)
    if recovered:
        results = plural(len(recovered), "result")
        note = f"clean takes {results} from an earlier session, since the last one was not measured"
        put(f"{'note':<{LABEL}}{wash(compared.label)}: {note}", hang=LABEL)


def _width(rows: Sequence[Sequence[str]]) -> int:
    return sum(max(map(columns, cells)) + len(GAP) for cells in zip(*rows, strict=True))


def _label(compared: Compared) -> str:
    return wash(f"{compared.label} ({plural(len(compared.runs), 'run')})" if len(compared.runs) > 1 else compared.label)


def _shown_policies(scores: Sequence[Mapping[Policy, Score]]) -> dict[str, Policy]:
    """Heading → policy; two policies that agree for all runs share a column."""
    reported = [one["as_reported"] for one in scores]
    if not any(one.total for one in reported):
        return {"strict": "strict", "clean": "clean"}
    if all(figures(one["as_reported"]) == figures(one["strict"]) for one in scores):
        return {"strict = as_reported": "strict", "clean": "clean"}
    return {"strict": "strict", "as_reported": "as_reported", "clean": "clean"}


def _figures(score: Score) -> str:
    return " ".join(part for part in figures(score) if part)


def left_out_in_words(score: Score) -> dict[str, int]:
    """`provider`, `no valid verdict`, `collateral` and the like → count."""
    counts: dict[str, int] = {}
    for group in score.groups:
        word = one_line(left_out_reason(group.why), 24)
        counts[word] = counts.get(word, 0) + group.count
    return counts


SET_LABEL = 23
NAME = 28
COUNT = 5
FEW = 5
LINES = 24
"""At most this many lines for one kind of list."""


def put_sets(comparison: Comparison, names: CaseLabels) -> None:
    sets, subjects = comparison.sets, comparison.matrix.subjects
    runs = len(comparison.matrix.columns)
    put()
    if sets.flips is not None and len(subjects) == 1:
        _put_flips(comparison, names)
        return
    _put_failed_by_all(comparison, names)
    _put_entries("failed by one run only", sets.of_runs.fails.items(), names)
    if any(sets.of_runs.fails_beside_gaps.values()):
        label = "undecided in the other" if runs == 2 else "failed, gaps elsewhere"
        _put_entries(label, sets.of_runs.fails_beside_gaps.items(), names)
    if runs > 2:
        passes = sets.of_runs.passes
        _put_entries("passed by one run only", passes.items(), names, _knock_on(comparison, names, passes.values()))
    if 1 < len(subjects) < runs:
        _put_entries("only this model fails", sets.of_subjects.fails.items(), names)
        if any(sets.of_subjects.fails_beside_gaps.values()):
            _put_entries("fails, gaps elsewhere", sets.of_subjects.fails_beside_gaps.items(), names)
        passes = sets.of_subjects.passes
        _put_entries("only this never fails", passes.items(), names, _knock_on(comparison, names, passes.values()))
    wavering = [(f"{name} ({one.runs} runs)", one) for name, one in sets.instability.items()]
    if wavering:
        _put_entries("unstable", [(name, one.unstable) for name, one in wavering], names)
        _put_entries("failed in every run", [(name, one.failed_in_every_run) for name, one in wavering], names)


def _put_failed_by_all(comparison: Comparison, names: CaseLabels) -> None:
    cases, runs = comparison.sets.failed_by_all, len(comparison.matrix.columns)
    broken = _broken(comparison, cases.runs)
    failed = tuple(case for case in cases.runs if not any(case in some for some in broken.values()))
    notes = _knock_on(comparison, names, [failed])
    _put_lines(f"failed by {_all(runs)} runs", [*_with_texts(failed, comparison, names), *notes])
    if broken:
        others = tuple(case for case in cases.runs if case not in failed)
        where = [f"(not measured in {wash(label)}: {names.joined(some)})" for label, some in broken.items()]
        _put_lines("failed / not measured", [*names.listed(others, WIDTH - SET_LABEL), *where])
    if cases.subjects_in_some_run != cases.runs and len(comparison.matrix.subjects) > 1:
        _put_lines(
            f"by {_all(len(comparison.matrix.subjects))} {word_for_subjects(comparison)}",
            [*names.listed(cases.subjects_in_some_run, WIDTH - SET_LABEL), "(in at least one run of each)"],
        )


def _all(count: int) -> str:
    return "both" if count == 2 else f"all {count}"


def _knock_on(comparison: Comparison, names: CaseLabels, sets: Iterable[Cases]) -> list[str]:
    """The cases of some sets that a run fails only because of another failure: they count as failed."""
    cases = [case for some in sets for case in some]
    lines = []
    for column in comparison.matrix.columns:
        follow = [case for case in cases if (column.pk, case) in comparison.root_of]
        if follow:
            lines.append(f"(only knock-on in {wash(column.label)}: {names.joined(follow)})")
    return lines


def _broken(comparison: Comparison, cases: Cases) -> dict[str, list[str]]:
    """Run → cases where it broke off before it could pass or fail: that shows nothing about the model."""
    broken: dict[str, list[str]] = {}
    for at, column in enumerate(comparison.matrix.columns):
        rows = ((case, comparison.matrix.rows[case][at]) for case in cases)
        those = [case for case, cell in rows if cell is not None and cell.state in ("error", "cancelled")]
        if those:
            broken[column.label] = those
    return broken


def _with_texts(cases: Cases, comparison: Comparison, names: CaseLabels) -> list[str]:
    """A few cases with their task, one per line; many by name only."""
    if 0 < len(cases) <= FEW and comparison.asks:
        width = max(columns(names.short[case]) for case in cases)
        return [f"{padded(names.short[case], width)}  {wash(comparison.asks.get(case, ''))}".rstrip() for case in cases]
    return names.listed(cases, WIDTH - SET_LABEL)


def _put_flips(comparison: Comparison, names: CaseLabels) -> None:
    flips = comparison.sets.flips
    assert flips is not None
    first, second = (_dated(column) for column in comparison.matrix.columns)
    put(f"from {first} to {second}")
    missing = {case for case, row in comparison.matrix.rows.items() if any(map(_is_missing, row))}
    always = {"regressed": flips.regressed, "fixed": flips.fixed, "still failing": flips.still_failing}
    sometimes = {
        "new": flips.new,
        "gone": flips.gone,
        "missing in one run": tuple(case for case in flips.undecided if case in missing),
        "not scored in one": tuple(case for case in flips.undecided if case not in missing),
        "infrastructure": flips.infrastructure,
        "task edited": flips.edited,
    }
    for kind, cases in [*always.items(), *((kind, cases) for kind, cases in sometimes.items() if cases)]:
        head = f"{kind:<{SET_LABEL - COUNT}}{len(cases):>{COUNT - 2},}"
        _put_lines(head, names.listed(cases, WIDTH - SET_LABEL))
    put(f"{'still passing':<{SET_LABEL - COUNT}}{len(flips.still_passing):>{COUNT - 2},}")


def _is_missing(cell: Cell | None) -> bool:
    """Not in the log, or not finished."""
    return cell is None or cell.state == "missing"


def _dated(column: RunColumn) -> str:
    return f"{column.label} ({column.run.started_at[:10]})" if column.run.started_at else column.label


def _put_entries(
    label: str, entries: Iterable[tuple[str, Cases]], names: CaseLabels, notes: Sequence[str] = ()
) -> None:
    """A line for each name that has any; a long name, and one whose cases have long names, has one of its own."""
    shown = [(wash(name), cases) for name, cases in entries if cases]
    width = min(max((columns(name) for name, _ in shown), default=0), NAME, WIDTH // 3)
    most = max(LINES // max(len(shown), 1), 1)
    room = WIDTH - SET_LABEL - width - 2
    lines = []
    for name, cases in shown:
        listed = names.listed(cases, room, lines=most)
        is_wide = any(columns(line) > room for line in listed)
        if is_wide or columns(name) > width:
            lines.append(name)
        head = "" if is_wide or columns(name) > width else name
        indent = 0 if is_wide else width
        lines += [f"{padded('' if at else head, indent)}  {line}" for at, line in enumerate(listed)]
    _put_lines(label, [*lines, *notes])


def _put_lines(label: str, lines: Sequence[str]) -> None:
    """Beside the label, or below it where that is too narrow for the longest name."""
    if any(columns(line) > WIDTH - SET_LABEL and len(line.split()) == 1 for line in lines):
        put(label)
        for line in lines:
            put(f"  {line}", hang=4)
        return
    for at, line in enumerate(lines or ["–"]):
        put(f"{label if at == 0 else '':<{SET_LABEL}}{line}", hang=SET_LABEL)
