"""`errata consistency`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
import msgspec

from errata.cli.fitting import WIDTH
from errata.cli.judges import put_judges
from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_json, say
from errata.cli.render.runs import counted_in
from errata.cli.table import put_table, some_of
from errata.compare.consistency import (
    CaseTries,
    Consistencies,
    Consistency,
    Flip,
    StudyColumn,
    passing,
    refuse_duplicates,
)
from errata.compare.repeats import Repeated
from errata.errors import SettingsError
from errata.model import StoredRun
from errata.model.output.compare import (
    ConsistencyOutput,
    MetricFlipOutput,
    NotStudiedOutput,
    PassingOutput,
    PlaceOutput,
    ReliabilityOutput,
    StudyCaseOutput,
    StudyColumnOutput,
    WrittenTableOutput,
)
from errata.runs.names import runs_named, short
from errata.verbs import compare as verbs
from errata.verbs.store import Store


@click.command("consistency")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@click.option("-o", "--output", type=click.Path(path_type=Path, file_okay=False), help="A folder for the tables.")
@click.option("--judges", is_flag=True, help="How far several judges of the same attempts agree, instead.")
@click.option("--force", is_flag=True, help="Write over tables that are there.")
@shared_options
def command(runs: tuple[str, ...], output: Path | None, judges: bool, force: bool, options: Options) -> None:
    """Tell which cases and checks do not come out the same in repeated RUNS.

    Runs of one subject on one suite belong together, and so do the epochs of a run. Into the folder go
    `consistency_run_details.csv`, five tables made of it, and `consistency_summary.md`.
    """
    if judges and output is not None:
        raise SettingsError("`--judges` writes no tables", hint="`--json` prints everything there is to tell of judges")
    store = options.store
    meant = list(runs_named(runs, store))
    if judges:
        put_judges(meant, options)
    else:
        _show_studies(meant, store, output, force=force, json=options.json)


def _show_studies(runs: list[StoredRun], store: Store, output: Path | None, *, force: bool, json: bool) -> None:
    found = verbs.consistency(runs, store)
    written = verbs.write_studies(found.studies, store, output, force=force) if output and found.studies else []
    for at, study in enumerate(found.studies):
        if json:
            put_json(json_study(study))
        else:
            show_study(study, first=at == 0)
    if json:
        for run, why in found.left_out:
            put_json(NotStudiedOutput(run=run.run.native_id, run_id=run.run.id, left_out=why))
    else:
        show_frequencies(found.studies)
        show_left_out(found)
    for one in written:
        if json:
            put_json(WrittenTableOutput(file=one.file, rows=one.rows))
        else:
            say(f"wrote {one.file}" if one.rows is None else f"wrote {one.file} · {plural(one.rows, 'row')}")
    refuse_duplicates(found.studies)


LABEL = 14
MOST_CASES = 40
"""Rows of a table; the rest is in the files."""
_LETTERS = {"pass": ".", "fail": "F", "incomplete": "?"}
NOT_TRIED = "–"


def show_study(found: Consistency, *, first: bool) -> None:
    if not first:
        put()
    repeats = any(one.epoch is not None for one in found.columns)
    # what a harness counts are tries, where it tries a case several times
    word = "case" if repeats else counted_in(found.columns[0].stored.run, "cases")
    put(f"{found.subject} · {found.benchmark} · {plural(len(found.runs), 'run')}{_epochs(found)}")
    _put("runs", [one.name for one in found.columns])
    if all(len(one.tries) < 2 for one in found.study.cases):
        put(f"No {word} was tried twice: nothing can be told of consistency")
        _put_judged_twice(found)
        return
    put()
    _put_counts(found, word)
    _put_reliability(found)
    _put_kinds(found)
    _put_odd(found)
    _put_unstable(found)
    _put_judged_twice(found)


def _put_judged_twice(found: Consistency) -> None:
    if found.judged_twice:
        put(f"Several judges judged {plural(found.judged_twice, 'attempt')}: `--judges` tells how far they agree")


def _epochs(found: Consistency) -> str:
    epochs = sum(one.epoch is not None for one in found.columns)
    return f", {epochs:,} tries" if epochs else ""


def show_frequencies(studies: Sequence[Consistency]) -> None:
    """Subjects or variants beside each other: how often each passes a case, where that is not always."""
    by_suite: dict[str, list[Consistency]] = {}
    for one in studies:
        by_suite.setdefault(one.benchmark, []).append(one)
    for benchmark, those in by_suite.items():
        if len(those) > 1 and any(len(one.columns) > 1 for one in those):
            _put_frequencies(benchmark, those)


def show_left_out(found: Consistencies) -> None:
    if found.left_out:
        put()
    for stored, why in found.left_out:
        put(f"{'left out':<{LABEL}}{short(stored.run.native_id)}: {why}", hang=LABEL)


def _put_counts(found: Consistency, word: str) -> None:
    study = found.study
    by_run = study.counts
    whole = sum(by_run.values(), Counter[str]())
    statuses = ", ".join(f"{whole[name]:,} {name}" for name in _LETTERS)
    rows = f"{whole.total():,}" if whole.total() == study.rows else f"{whole.total():,} of {study.rows:,}"
    put(f"{'rows':<{LABEL}}{rows} · {statuses} · {plural(len(study.cases), word)}")
    told = passing(study.repeated)
    if told.rate is not None and told.interval is not None:
        interval = f"[{100 * told.interval[0]:.1f}, {100 * told.interval[1]:.1f}]"
        rates = " · ".join(map(_rate, by_run.values()))
        put(f"{'passed':<{LABEL}}{100 * told.rate:.1f} %   {interval}   by run: {rates}", hang=LABEL)


def _put_reliability(found: Consistency) -> None:
    told = found.study.reliability
    notes = {one.k: "" if one.cases == told[0].cases else f" ({plural(one.cases, 'case')})" for one in told}
    for label, sign, values in (
        ("one of k", "@", {one.k: one.any for one in told}),
        ("all of k", "^", {one.k: one.all for one in told}),
    ):
        parts = [f"pass{sign}{k} {100 * value:.1f} %{notes[k]}" for k, value in values.items()]
        put(f"{label:<{LABEL}}{' · '.join(parts)}".rstrip(), hang=LABEL)


def _put_kinds(found: Consistency) -> None:
    cases = [(found.name_of(one.case), one.repeated) for one in found.study.cases]
    put(f"{'always pass':<{LABEL}}{sum(one.always_passes for _, one in cases):,}")
    _put("always fail", [name for name, one in cases if one.always_fails], count=True)
    _put("flaky", [name for name, one in cases if one.is_flaky], count=True)
    for label, names in (
        ("tried once", [name for name, one in cases if len(one.statuses) == 1]),
        ("not measured", [name for name, one in cases if not one.measured]),
    ):
        if names:
            _put(label, names, count=True)
    flips = Counter(flip.metric for _, flip in found.study.flips)
    if flips:
        _put("checks flip", [f"{name} {count}" for name, count in flips.most_common()])


def _rate(counts: Counter[str]) -> str:
    measured = counts["pass"] + counts["fail"]
    return f"{100 * counts['pass'] / measured:.1f}" if measured else "–"


def _put(label: str, parts: Sequence[str], *, count: bool = False) -> None:
    head = f"{label:<{LABEL}}{f'{len(parts):,}   ' if count else ''}"
    put(f"{head}{some_of(list(parts), WIDTH - len(head))}".rstrip(), hang=LABEL)


def _put_unstable(found: Consistency) -> None:
    unstable = [one for one in found.study.cases if one.repeated.is_unstable or one.flips]
    if not unstable:
        put("\nEvery case came out the same each time")
        return
    put(f"\nNot the same each time ({len(unstable):,})   . pass   F fail   ? incomplete   – not tried")
    rows = [
        (found.name_of(one.case), one.repeated.frequency, _letters(found, one), ", ".join(f.metric for f in one.flips))
        for one in unstable[:MOST_CASES]
    ]
    put_table(
        ("case", "passes", "runs", "checks that flip"), rows, right=("passes",), give_way=("checks that flip", "case")
    )
    if len(unstable) > MOST_CASES:
        put(f"and {len(unstable) - MOST_CASES:,} more: `--json`, or `-o DIR` for the tables")


def _letters(found: Consistency, one: CaseTries) -> str:
    told = {each.column: _LETTERS[each.status] for each in one.tries}
    return " ".join(told.get(column.index, NOT_TRIED) for column in found.columns)


def _put_odd(found: Consistency) -> None:
    """What is in no count."""
    study = found.study
    told = {
        "duplicates": [f"{found.name_of(case)} of {_run(found, column)}" for column, case in study.duplicates],
        "no row": [f"{found.name_of(case)} of {_run(found, column)}" for column, case in study.absent],
        "task changed": [found.name_of(case) for case in study.changed],
    }
    for label, names in told.items():
        if names:
            _put(label, names, count=True)


def _run(found: Consistency, column: int) -> str:
    return found.columns[column - 1].name


def _put_frequencies(benchmark: str, studies: Sequence[Consistency]) -> None:
    passes = [{one.case: one.repeated for one in study.study.cases} for study in studies]
    tried = Counter(case for told in passes for case in told)
    failed = {case for told in passes for case, one in told.items() if one.passed < len(one.statuses)}
    wanted = [case for case, often in tried.items() if often > 1 and case in failed]
    if not wanted:
        return
    put(f"\nPasses of each {benchmark} case that does not always pass")
    header = ("case", *(study.subject for study in studies))
    rows = [
        (studies[0].name_of(case), *(_frequency(told.get(case)) for told in passes)) for case in wanted[:MOST_CASES]
    ]
    put_table(header, rows, right=header[1:], give_way=("case",))
    if len(wanted) > MOST_CASES:
        put(f"and {len(wanted) - MOST_CASES:,} more: `--json`")


def _frequency(one: Repeated | None) -> str:
    if one is None:
        return NOT_TRIED
    return one.frequency if one.measured else _LETTERS["incomplete"]


def json_study(found: Consistency) -> ConsistencyOutput:
    study, run, counts = found.study, found.columns[0].stored.run, found.study.counts
    return ConsistencyOutput(
        subject=found.subject,
        model=run.subject.model,
        agent=run.subject.agent or None,
        variant=run.variant,
        suite=found.suite,
        suite_version=found.suite_version or None,
        columns=tuple(_column(one, counts[one.index]) for one in found.columns),
        rows=study.rows,
        passing=msgspec.convert(passing(study.repeated), PassingOutput, from_attributes=True),
        reliability=msgspec.convert(study.reliability, tuple[ReliabilityOutput, ...], from_attributes=True),
        flaky=tuple(found.name_of(one.case) for one in study.cases if one.repeated.is_flaky),
        unstable=tuple(found.name_of(one.case) for one in study.cases if one.repeated.is_unstable),
        always_fail=tuple(found.name_of(one.case) for one in study.cases if one.repeated.always_fails),
        cases=tuple(_case(found, one) for one in study.cases),
        duplicates=tuple(PlaceOutput(column=column, case=found.name_of(case)) for column, case in study.duplicates),
        judged_twice=found.judged_twice,
        changed=tuple(found.name_of(case) for case in study.changed),
        without_a_row=tuple(PlaceOutput(column=column, case=found.name_of(case)) for column, case in study.absent),
    )


def _column(column: StudyColumn, counts: Mapping[str, int]) -> StudyColumnOutput:
    return StudyColumnOutput(
        index=column.index,
        run=column.stored.run.native_id,
        run_id=column.stored.run.id,
        epoch=column.epoch,
        passed=counts.get("pass", 0),
        failed=counts.get("fail", 0),
        incomplete=counts.get("incomplete", 0),
    )


def _case(found: Consistency, one: CaseTries) -> StudyCaseOutput:
    repeated = one.repeated
    return StudyCaseOutput(
        case=found.name_of(one.case),
        case_key=one.case,
        pattern=one.pattern,
        passed=repeated.passed,
        failed=repeated.failed,
        incomplete=repeated.incomplete,
        frequency=repeated.frequency,
        flaky=repeated.is_flaky,
        unstable=repeated.is_unstable,
        metric_flips=tuple(map(_flip, one.flips)),
    )


def _flip(flip: Flip) -> MetricFlipOutput:
    counts = flip.counts
    return MetricFlipOutput(
        metric=flip.metric, pattern=flip.pattern, passed=counts["pass"], failed=counts["fail"], na=counts["na"]
    )
