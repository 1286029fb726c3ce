"""The page of a consistency study that people read first: how much does not come out the same, and where."""

from collections.abc import Iterator, Sequence

from errata.compare.consistency import CaseTries
from errata.compare.consistency_study import Consistency
from errata.export.consistency_tables import benchmark_row, turn_of
from errata.render.document import Block, Code, Document, Line, Section, Table, items, line, paragraph

SHOWN = 20
NOTHING = "Nothing."


def summary_of(studies: Sequence[Consistency]) -> Document:
    """Of one subject. The sections of the harness's own summary, in its words; then what k tries give."""
    return Document(
        title="Consistency Summary",
        facts=(("subject", line(Code(studies[0].subject))), ("benchmarks", line(str(len(studies))))),
        sections=(
            _section("Benchmarks", map(_benchmark, studies)),
            _section("Inputs", (one for study in studies for one in _inputs(study))),
            _section("Most Unstable Turns", _most_unstable(studies)),
            _section("Metric Flips", (one for study in studies for one in _flips(study))),
            Section(title="Reliability", blocks=(_reliability(studies),)),
            _section("Left Out", (one for study in studies for one in _left_out(study))),
        ),
    )


def _section(title: str, lines: Iterator[Line]) -> Section:
    told = list(lines)
    block: Block = items(told) if told else paragraph(NOTHING)
    return Section(title=title, blocks=(block,))


def _benchmark(study: Consistency) -> Line:
    row = benchmark_row(study)
    return line(
        Code(study.benchmark),
        f": unstable_overall_turns={row['unstable_overall_turns']}/{row['turns']}, "
        f"unstable_metric_turns={row['unstable_metric_turns']}/{row['turns']}, "
        f"pass_run_range={row['min_pass_runs']}-{row['max_pass_runs']}",
    )


def _inputs(study: Consistency) -> Iterator[Line]:
    for column in study.columns:
        yield line(Code(study.benchmark), f" run {column.index}: ", Code(column.run_id))


def _most_unstable(studies: Sequence[Consistency]) -> Iterator[Line]:
    def standing(found: tuple[Consistency, CaseTries]) -> tuple[int, int]:
        return -len(found[1].flips), -len(set(found[1].repeated.statuses))

    every = [(study, one) for study in studies for one in study.study.cases]
    unstable = [(study, one) for study, one in every if one.flips or one.repeated.is_unstable]
    for study, one in sorted(unstable, key=standing)[:SHOWN]:
        flips = ",".join(flip.metric for flip in one.flips) or "none"
        yield line(*_turn(study, one.case), f": overall={one.pattern}; metric_flips={flips}")
    if len(unstable) > SHOWN:
        yield line(f"and {len(unstable) - SHOWN} more in ", Code("consistency_turn_summary.csv"))


def _flips(study: Consistency) -> Iterator[Line]:
    for case, flip in study.study.flips:
        yield line(*_turn(study, case), " ", Code(flip.metric), f": {flip.pattern}")


def _turn(study: Consistency, case: str) -> tuple[Code, str, Code]:
    return Code(study.benchmark), " turn ", Code(str(turn_of(study, case)))


def _reliability(studies: Sequence[Consistency]) -> Table:
    rows = tuple(
        (
            line(Code(study.benchmark)),
            line(str(one.k)),
            line(f"{one.any:.4f}"),
            line(f"{one.all:.4f}"),
            line(str(one.cases)),
        )
        for study in studies
        for one in study.study.reliability
    )
    return Table(("benchmark", "k", "pass@k", "pass^k", "turns"), rows, right=("k", "pass@k", "pass^k", "turns"))


def _left_out(study: Consistency) -> Iterator[Line]:
    """What is in no count, and why."""
    for column, case in study.study.duplicates:
        yield line(*_turn(study, case), f", run {column}: several rows, and nobody can say which of them counts")
    for case in study.study.changed:
        yield line(*_turn(study, case), ": not the same task in all runs")
    for column, case in study.study.absent:
        yield line(*_turn(study, case), f", run {column}: no row")
