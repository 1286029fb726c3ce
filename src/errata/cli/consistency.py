"""`errata consistency`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

import click

from errata.cli.fitting import WIDTH, columns
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
from errata.compare.repeats import RepeatedCase
from errata.errors import SettingsError
from errata.model import StoredRun
from errata.model.output.consistency import (
    ConsistencyOutput,
    MetricFlipOutput,
    NotStudiedOutput,
    NumbersOutput,
    PlaceOutput,
    StudyCaseOutput,
    StudyColumnOutput,
    WrittenTableOutput,
)
from errata.render.figures import hundredths, mean_words, percent
from errata.runs.names import runs_named, short
from errata.verbs import compare as verbs
from errata.verbs.store import Store


@click.command("consistency")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, file_okay=False), help="Write the tables to this folder."
)
@click.option("--judges", is_flag=True, help="Show agreement between judges of the same attempts instead.")
@click.option("--force", is_flag=True, help="Overwrite existing tables.")
@shared_options
def command(runs: tuple[str, ...], output: Path | None, judges: bool, force: bool, options: Options) -> None:
    """Show which cases and checks change between repeated runs.

    Groups runs of one subject on one suite, and the epochs of a run. With -o, writes `consistency_run_details.csv`,
    five tables made from it, and `consistency_summary.md`.
    """
    if judges and output is not None:
        raise SettingsError("`--judges` writes no tables", hint="`--json` prints all figures about judges")
    store = options.store
    meant = list(runs_named(runs, store))
    if judges:
        put_judges(meant, options)
    else:
        _show_studies(meant, store, output, force=force, json=options.json)


def _show_studies(runs: list[StoredRun], store: Store, output: Path | None, *, force: bool, json: bool) -> None:
    result = verbs.consistency(runs, store)
    written = verbs.write_studies(result.studies, store, output, force=force) if output and result.studies else []
    for at, study in enumerate(result.studies):
        if json:
            put_json(json_study(study))
        else:
            show_study(study, first=at == 0)
    if json:
        for run, why in result.left_out:
            put_json(
                NotStudiedOutput(
                    run=run.run.native_id, run_id=run.run.id, left_out=why.code, excluded=why.detail or None
                )
            )
    else:
        if len(result.studies) > 1 and not any(map(_is_tried_again, result.studies)):
            put("\n`errata compare` compares models that ran each case once")
        show_left_out(result)
    for table in written:
        if json:
            put_json(WrittenTableOutput(file=table.file, rows=table.rows))
        else:
            say(f"wrote {table.file}" if table.rows is None else f"wrote {table.file} · {plural(table.rows, 'row')}")
    refuse_duplicates(result.studies)


LABEL = 14
MOST_CASES, MOST_APART = 40, 10
"""Rows of a table on the page; the files have all."""
_LETTERS = {"pass": ".", "fail": "F", "number": "n", "incomplete": "?"}
NOT_TRIED = "–"


def show_study(study: Consistency, *, first: bool) -> None:
    if not first:
        put()
    repeats = _has_repeats(study)
    # with several tries per case, the harness's own word means a try
    word = "case" if repeats else counted_in(study.columns[0].stored.run, "cases")
    put(f"{study.subject} · {study.benchmark} · {plural(len(study.runs), 'run')}{_epochs(study)}")
    _put_names("attempts" if repeats else "runs", [one.name for one in study.columns])
    if not _is_tried_again(study):
        put(f"No {word} has two attempts that can be compared{_not_compared(study)}", hang=2)
        _put_judged_twice(study)
        return
    put()
    if (numbers := study.study.numbers) is not None:
        _put_numbers(study, numbers, word)
        _put_odd(study)
        _put_judged_twice(study)
        return
    _put_counts(study, word)
    _put_reliability(study)
    _put_kinds(study)
    _put_odd(study)
    _put_unstable(study)
    _put_judged_twice(study)


def _is_tried_again(study: Consistency) -> bool:
    return any(len(one.tries) > 1 for one in study.study.cases)


def _not_compared(study: Consistency) -> str:
    """A later session reuses results of an earlier one, so they do not repeat each other."""
    stored = [one.stored for one in study.columns]
    replaced = any(len(one.run.sessions) > 1 and one.counts.attempts > one.counts.counted for one in stored)
    return " (earlier sessions don't count)" if replaced else ""


def _put_judged_twice(study: Consistency) -> None:
    if study.judged_twice:
        count = plural(study.judged_twice, "attempt has", "attempts have")
        put(f"{count} several judges: `--judges` shows how far they agree")


def _has_repeats(study: Consistency) -> bool:
    """Whether a column is an attempt of a run, not a run."""
    return any(one.epoch is not None for one in study.columns)


def _epochs(study: Consistency) -> str:
    epochs = sum(one.epoch is not None for one in study.columns)
    return f", {epochs:,} attempts per case" if epochs else ""


def show_left_out(result: Consistencies) -> None:
    if result.left_out:
        put()
    for stored, why in result.left_out:
        put(f"{'left out':<{LABEL}}{short(stored.run.native_id)}: {why}", hang=LABEL)


def _put_counts(consistency: Consistency, word: str) -> None:
    study = consistency.study
    by_run = study.counts
    whole = sum(by_run.values(), Counter[str]())
    statuses = ", ".join(f"{whole[name]:,} {name}" for name in _LETTERS if whole[name] or name != "number")
    rows = f"{whole.total():,}" if whole.total() == study.rows else f"{whole.total():,} of {study.rows:,}"
    put(f"{'rows':<{LABEL}}{rows} · {statuses} · {plural(len(study.cases), word)}", hang=LABEL)
    rate = passing(study.repeated)
    if rate.rate is not None and rate.interval is not None:
        interval = f"[{hundredths(rate.interval[0])}, {hundredths(rate.interval[1])}]"
        rates = " · ".join(map(_rate, by_run.values()))
        by = f"by {'attempt' if _has_repeats(consistency) else 'run'}"
        share = f"{rate.passed:,}/{rate.measured:,}   {percent(rate.rate)}   {interval}"
        put(f"{'passed':<{LABEL}}{share}   {by}: {rates}", hang=LABEL)


def _put_numbers(consistency: Consistency, numbers: NumbersOutput, word: str) -> None:
    cases = consistency.study.cases
    results = {consistency.name_of(one.case): one.results for one in cases if one.results}
    count = plural(sum(map(len, results.values())), "result")
    put(f"{'rows':<{LABEL}}{consistency.study.rows:,} · {count} · {plural(len(cases), word)}", hang=LABEL)
    means = " · ".join("–" if mean is None else mean_words(mean, 3) for mean in numbers.by_column)
    by = "attempt" if _has_repeats(consistency) else "run"
    put(f"{'mean':<{LABEL}}{mean_words(numbers.mean)}   by {by}: {means}", hang=LABEL)
    deviations = ((numbers.within_cases, f"between {by}s at a {word}"), (numbers.between_cases, f"between {word}s"))
    parts = [f"{mean_words(value, 3)} {where}" for value, where in deviations if value is not None]
    put(f"{'deviation':<{LABEL}}{', '.join(parts)}", hang=LABEL)
    apart = sorted(results, key=lambda name: min(results[name]) - max(results[name]))[:MOST_APART]
    put(f"\nResults differ most ({len(apart):,} of {plural(len(results), word)})")
    rows = [
        (name, *(mean_words(value, 3) for value in (fmean(values), min(values), max(values))))
        for name in apart
        for values in (results[name],)
    ]
    put_table((word, "mean", "lowest", "highest"), rows, right=("mean", "lowest", "highest"), give_way=(word,))


def _put_reliability(consistency: Consistency) -> None:
    reliability = consistency.study.reliability
    whole = len(consistency.study.cases)
    notes = {
        at.k: "" if at.cases == whole else f" (mean over {at.cases:,} of {plural(whole, 'case')})" for at in reliability
    }
    for label, sign, values in (
        ("any of k", "@", {one.k: one.any for one in reliability}),
        ("all of k", "^", {one.k: one.all for one in reliability}),
    ):
        parts = [f"pass{sign}{k} {percent(value)}{notes[k]}" for k, value in values.items()]
        put(f"{label:<{LABEL}}{' · '.join(parts)}".rstrip(), hang=LABEL)


def _put_kinds(consistency: Consistency) -> None:
    cases = [(consistency.name_of(one.case), one.repeated) for one in consistency.study.cases]
    put(f"{'always pass':<{LABEL}}{sum(one.always_passes for _, one in cases):,}")
    _put_names("always fail", [name for name, one in cases if one.always_fails], count=True)
    _put_names("flaky", [name for name, one in cases if one.is_flaky], count=True)
    for label, names in (
        ("incomplete", [name for name, one in cases if _is_part(one)]),
        ("tried once", [name for name, one in cases if len(one.statuses) == 1 and one.measured]),
        ("never scored", [name for name, one in cases if not one.measured]),
    ):
        if names:
            _put_names(label, names, count=True)
    flips = Counter(flip.metric for _, flip in consistency.study.flips)
    if flips:
        _put_names("checks flip", [f"{name} {count}" for name, count in flips.most_common()])


def _is_part(case: RepeatedCase) -> bool:
    """Measured in some attempts only, with the same outcome in each of these."""
    return bool(case.measured and case.incomplete) and not case.is_flaky


def _rate(counts: Counter[str]) -> str:
    measured = counts["pass"] + counts["fail"]
    return hundredths(counts["pass"] / measured) if measured else "–"


def _put_names(label: str, parts: Sequence[str], *, count: bool = False) -> None:
    head = f"{label:<{LABEL}}{f'{len(parts):,}   ' if count else ''}"
    put(f"{head}{some_of(list(parts), WIDTH - len(head))}".rstrip(), hang=LABEL)


def _put_unstable(consistency: Consistency) -> None:
    unstable = [one for one in consistency.study.cases if one.repeated.is_unstable or one.flips]
    if not unstable:
        scored = sum(bool(one.repeated.measured) for one in consistency.study.cases)
        never = len(consistency.study.cases) - scored
        which = plural(scored, "scored case has", "scored cases have") if never else "Every case has"
        put(f"\n{which} the same result each time{f'; {never:,} never scored' if never else ''}")
        return
    marks = ". pass   F fail"
    if any(one.repeated.incomplete for one in unstable):
        marks += "   ? incomplete, not counted"
    if any(len(one.tries) < len(consistency.columns) for one in unstable):
        marks += f"   {NOT_TRIED} not tried"
    heading = f"{_heading(unstable)} ({len(unstable):,})"
    put()
    for line in [f"{heading}   {marks}"] if columns(f"{heading}   {marks}") <= WIDTH else [heading, marks]:
        put(line)
    rows = [
        (
            consistency.name_of(tries.case),
            tries.repeated.frequency,
            _letters(consistency, tries),
            ", ".join(f.metric for f in tries.flips),
        )
        for tries in unstable[:MOST_CASES]
    ]
    put_table(
        ("case", "passes", "attempts" if _has_repeats(consistency) else "runs", "checks that flip"),
        rows,
        right=("passes",),
        give_way=("checks that flip", "case"),
    )
    if len(unstable) > MOST_CASES:
        put(f"and {len(unstable) - MOST_CASES:,} more with `--json` or `-o DIR`")


def _heading(unstable: Sequence[CaseTries]) -> str:
    differs = any(one.repeated.is_flaky or one.flips for one in unstable)
    part = any(_is_part(one.repeated) for one in unstable)
    return " or ".join(["Results differ"] * differs + (["incomplete" if differs else "Incomplete"] if part else []))


def _letters(consistency: Consistency, case: CaseTries) -> str:
    letters = {each.column: _LETTERS[each.status] for each in case.tries}
    return " ".join(letters.get(column.index, NOT_TRIED) for column in consistency.columns)


def _put_odd(consistency: Consistency) -> None:
    """Rows that are left out of every count."""
    study = consistency.study
    groups = {
        "duplicates": [
            f"{consistency.name_of(case)} of {_run(consistency, column)}" for column, case in study.duplicates
        ],
        "no row": [f"{consistency.name_of(case)} of {_run(consistency, column)}" for column, case in study.absent],
        "task changed": [consistency.name_of(case) for case in study.changed],
    }
    for label, names in groups.items():
        if names:
            _put_names(label, names, count=True)


def _run(consistency: Consistency, column: int) -> str:
    return consistency.columns[column - 1].name


def json_study(consistency: Consistency) -> ConsistencyOutput:
    study, run, counts = consistency.study, consistency.columns[0].stored.run, consistency.study.counts
    return ConsistencyOutput(
        subject=consistency.subject,
        model=run.subject.model,
        agent=run.subject.agent or None,
        variant=run.variant,
        suite=consistency.suite,
        suite_version=consistency.suite_version or None,
        columns=tuple(_column(one, counts[one.index]) for one in consistency.columns),
        rows=study.rows,
        passing=passing(study.repeated),
        numbers=study.numbers,
        reliability=study.reliability,
        flaky=tuple(consistency.name_of(one.case) for one in study.cases if one.repeated.is_flaky),
        unstable=tuple(consistency.name_of(one.case) for one in study.cases if one.repeated.is_unstable),
        always_fail=tuple(consistency.name_of(one.case) for one in study.cases if one.repeated.always_fails),
        cases=tuple(_case(consistency, one) for one in study.cases),
        duplicates=tuple(
            PlaceOutput(column=column, case=consistency.name_of(case)) for column, case in study.duplicates
        ),
        judged_twice=consistency.judged_twice,
        changed=tuple(consistency.name_of(case) for case in study.changed),
        without_a_row=tuple(
            PlaceOutput(column=column, case=consistency.name_of(case)) for column, case in study.absent
        ),
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


def _case(consistency: Consistency, tries: CaseTries) -> StudyCaseOutput:
    repeated = tries.repeated
    return StudyCaseOutput(
        case=consistency.name_of(tries.case),
        case_key=tries.case,
        pattern=tries.pattern,
        passed=repeated.passed,
        failed=repeated.failed,
        incomplete=repeated.incomplete,
        frequency=repeated.frequency,
        flaky=repeated.is_flaky,
        unstable=repeated.is_unstable,
        metric_flips=tuple(map(_flip, tries.flips)),
        results=tuple(tries.results) if any(attempt.value is not None for attempt in tries.tries) else (),
    )


def _flip(flip: Flip) -> MetricFlipOutput:
    counts = flip.counts
    return MetricFlipOutput(
        metric=flip.metric, pattern=flip.pattern, passed=counts["pass"], failed=counts["fail"], na=counts["na"]
    )
