"""The tables that the analysis exports: `runs.csv`, with `judges.csv`, `criteria.csv` and the summaries beside it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from errata.model import (
    Attempt,
    Case,
    Item,
    Part,
    Reported,
    Run,
    Scorer,
    SourceInfo,
    SourceRef,
    Subject,
    Unreadable,
    attempt_id,
    case_key,
)
from errata.model.identity import fingerprint
from errata.sources.base import Numbering, Row, convert_each, csv_rows, unreadable
from errata.sources.base import number_or_none as number
from errata.sources.scylla import KEY, NAME, TIMED_NAME, test_of
from errata.sources.scylla.batch_tests import SUITE
from errata.sources.scylla.csv_runs import ExportedRun, RowsByRun, row_key
from errata.sources.shared.documents import Documents
from errata.sources.shared.runs import by_neighbours
from errata.sources.shared.values import integer, mapping, non_empty, sequence, text

_SUMMARY = SourceRef(file="summary.json")


class ScyllaExport(NamedTuple):
    """What has to be known about `runs.csv` before its first row can be converted."""

    native_id: str
    names: dict[str, str]
    """Experiment → name of the test, without the time if that is unambiguous."""
    cases: dict[str, set[tuple[str, str, str]]]
    """By model."""
    most: int
    """The highest run number."""


class _Converter:
    """Converts rows of `runs.csv` to attempts, with their rows of the other tables."""

    def __init__(self, runs: dict[str, Run], export: ScyllaExport, judges: RowsByRun, criteria: RowsByRun) -> None:
        self.runs, self.export, self.judges, self.criteria = runs, export, judges, criteria
        self._seen, self._spare = Numbering(), Numbering()

    def owner(self, row: Row) -> str:
        return self.runs[row_key(row)[1]].id

    def attempt(self, row: Row) -> Attempt:
        data, key = row.data, row_key(row)
        index = _run_number(data)
        if index is None:
            raise ValueError(f"no run number: {data['run_number']}")
        run, case = self.runs[key[1]], case_key(SUITE, f"{self.export.names[key[0]]}/{key[2]}/{key[3]}")
        duplicate_of = None
        if self._seen.next(key) > 1:
            duplicate_of = attempt_id(run.id, case, index=index)
            index = self.export.most + self._spare.next(case)
        exported = ExportedRun(data, self.judges.take(key), self.criteria.take(key), row.ref)
        return exported.attempt(run.id, case, index, duplicate_of)


class SubtestFigures:
    """Rows of `subtests.csv` by experiment, model, tier and subtest; each is taken once."""

    def __init__(self, root: Path) -> None:
        self.problems: list[Unreadable] = []
        self._rows: dict[tuple[str, ...], Row] = {}
        path = root / "subtests.csv"
        for row in csv_rows(path, source=NAME, root=root) if path.is_file() else ():
            if isinstance(row, Row):
                self._rows.setdefault(row_key(row)[:4], row)
            else:
                self.problems.append(row)

    def of_model(self, model: str) -> Iterator[tuple[tuple[str, ...], Row]]:
        return ((key, row) for key, row in self._rows.items() if key[1] == model)

    def take(self, key: tuple[str, ...]) -> Row | None:
        return self._rows.pop(key, None)

    def unused_rows(self) -> Iterator[Unreadable]:
        for row in self._rows.values():
            yield unreadable(NAME, row.ref, "this subtest is not in runs.csv", excerpt=repr(row.data))


def read_export(root: Path, runs_path: Path) -> Iterator[Item]:
    documents = Documents(root, NAME)
    export = _survey(runs_path, root)
    summary = documents.get(root / "summary.json")
    statistics = documents.get(root / "statistical_results.json")
    figures = SubtestFigures(root)
    runs = {model: _run(model, export, summary, statistics, documents, runs_path) for model in export.cases}
    yield from (_with_parts(run, export, figures, summary) for run in runs.values())
    yield from documents.problems()
    yield from figures.problems
    yield from _cases(runs, export, figures, runs_path)
    yield from figures.unused_rows()
    converter = _Converter(runs, export, RowsByRun(root / "judges.csv"), RowsByRun(root / "criteria.csv"))
    rows = csv_rows(runs_path, source=NAME, root=root)
    yield from by_neighbours(convert_each(rows, converter.attempt, source=NAME, owner=converter.owner))
    for table in (converter.judges, converter.criteria):
        yield from table.unused_rows()
        yield from table.problems


def _survey(path: Path, root: Path) -> ScyllaExport:
    experiments: dict[str, None] = {}
    cases: dict[str, set[tuple[str, str, str]]] = {}
    highest_number, first = 0, ""
    for row in csv_rows(path, source=NAME, root=root):
        if isinstance(row, Row) and _run_number(row.data) is not None:
            experiment, model, tier, subtest, number_ = row_key(row)
            experiments[experiment] = None
            cases.setdefault(model, set()).add((experiment, tier, subtest))
            highest_number = max(highest_number, int(number_))
            first = first or repr(sorted(row.data.items()))
    shorts = [test_of(name) for name in experiments]
    names = {name: test_of(name) if shorts.count(test_of(name)) == 1 else name for name in experiments}
    timed = [name for name in experiments if TIMED_NAME.match(name)]
    # a bare `test-001` names the test, not the experiment, so it can't distinguish two exports
    native_id = (
        timed[0] if len(experiments) == 1 and timed else f"export-{fingerprint(sorted(experiments), first, size=6)}"
    )
    return ScyllaExport(native_id, names, cases, highest_number)


def _run_number(data: dict[str, Any]) -> int | None:
    digits = text(data.get("run_number"))
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else None


def _run(
    model: str,
    export: ScyllaExport,
    summary: dict[str, Any],
    statistics: dict[str, Any],
    documents: Documents,
    path: Path,
) -> Run:
    stats = mapping(mapping(summary.get("by_model")).get(model))
    total = integer(stats.get("total_runs"))
    tests = {name for name, _, _ in export.cases[model]}
    return Run(
        native_id=export.native_id,
        group=export.native_id,
        source=SourceInfo(name=NAME, format_version=f"export {text(summary.get('pipeline_version'))}".strip()),
        name=", ".join(sorted(export.names[name] for name in tests))[:200],
        subject=Subject(model=model),
        # the tables of an experiment are another view of it than its folder
        variant={"view": "export"},
        suite=SUITE,
        expected_cases=len(export.cases[model]),
        reported=_reported(stats, total, summary, alone=len(export.cases) == 1),
        scorers=(Scorer(name="judge consensus", kind="judge"),),
        ref=documents.ref(path),
        origin=str(documents.root.absolute()),
        extra=non_empty(
            experiments=sorted(tests),
            pipeline_version=summary.get("pipeline_version"),
            config_version=summary.get("config_version"),
            totals={name: value for name, value in summary.items() if name.startswith("total_")},
            models=summary.get("models"),
            tiers=summary.get("tiers"),
            overall_stats=summary.get("overall_stats"),
            by_tier=summary.get("by_tier"),
            model_stats=stats,
            statistics=_statistics_of(model, statistics),
        ),
    )


def _reported(stats: dict[str, Any], n: int | None, summary: dict[str, Any], *, alone: bool) -> tuple[Reported, ...]:
    figures = [
        Reported(
            name=text(name), metric=text(name), value=number(value), n=n, headline=name == "pass_rate", ref=_SUMMARY
        )
        for name, value in stats.items()
        if isinstance(value, int | float) and not isinstance(value, bool) and name != "total_runs"
    ]
    for tier, tier_figures in mapping(summary.get("by_tier")).items() if alone else ():
        figures += [
            Reported(
                name=f"{metric}, {tier}",
                metric=metric,
                filter=tier,
                value=number(tier_figures.get(metric)),
                n=integer(tier_figures.get("total_runs")),
                ref=_SUMMARY,
            )
            for metric in ("pass_rate", "mean_score", "total_cost", "cop")
            if isinstance(tier_figures, dict) and metric in tier_figures
        ]
    return tuple(figures)


def _statistics_of(model: str, statistics: dict[str, Any]) -> dict[str, Any]:
    of_model = {
        name: [entry for entry in sequence(value) if mapping(entry).get("model", model) == model]
        for name, value in statistics.items()
        if isinstance(value, list)
    }
    return non_empty(**of_model)


def _with_parts(run: Run, export: ScyllaExport, figures: SubtestFigures, summary: dict[str, Any]) -> Run:
    """The figures of tiers are over all models."""
    tiers = tier_parts(summary) if len(export.cases) == 1 else ()
    return replace(run, parts=(*tiers, *subtest_parts(figures, run.subject.model, export.names)))


def _cases(runs: dict[str, Run], export: ScyllaExport, figures: SubtestFigures, runs_path: Path) -> Iterator[Item]:
    """Every subtest that has runs, with the figures from `subtests.csv` if there is one."""
    for model, cases in export.cases.items():
        for experiment, tier, subtest in sorted(cases):
            figures_row = figures.take((experiment, model, tier, subtest))
            test = export.names[experiment]
            yield Case(
                run=runs[model].id,
                suite=SUITE,
                native_id=f"{test}/{tier}/{subtest}",
                name=f"{test}, {tier}, subtest {subtest}",
                category=tier,
                ref=figures_row.ref if figures_row else SourceRef(file=runs_path.name),
                extra={"subtest": other_figures(figures_row.data)} if figures_row else {},
            )


def subtest_parts(figures: SubtestFigures, model: str, names: dict[str, str]) -> Iterator[Part]:
    """`names`: experiment → test; a subtest is below its test and tier, like its case."""
    for (experiment, _, tier, subtest), row in figures.of_model(model):
        if experiment in names:
            yield _part(f"{names[experiment]}/{tier}/{subtest}", row.data, row.ref)


def tier_parts(summary: dict[str, Any]) -> Iterator[Part]:
    for tier, tier_figures in mapping(summary.get("by_tier")).items():
        yield _part(tier, mapping(tier_figures), _SUMMARY)


def other_figures(data: dict[str, Any]) -> dict[str, Any]:
    """All fields of a row except its key, for `extra`."""
    fields = {name: numeric if (numeric := number(value)) is not None else value for name, value in data.items()}
    return non_empty(**{name: value for name, value in fields.items() if name not in KEY})


def _part(path: str, figures: dict[str, Any], ref: SourceRef) -> Part:
    return Part(
        path=path,
        score=number(figures.get("mean_score")),
        made=integer(figures.get("total_runs")),
        pass_rate=number(figures.get("pass_rate")),
        cost=number(figures.get("total_cost")),
        cost_of_pass=number(figures.get("cop")),
        ref=ref,
    )
