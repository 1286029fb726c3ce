"""The Python API: open a store, import logs, and get runs, failures, scores and comparisons as tables.

import errata

with errata.open() as store:
    [run] = store.import_("logs/run.eval")
    run.failures(owner="model").to_pandas()
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Literal, get_args

from errata.compare.comparison import Comparison, ComparisonOptions
from errata.errors import ErrataError, NotComparableError, NotFoundError, SourceError
from errata.export.tables import DataTable, cell_rows, pair_rows, redact_row, score_row
from errata.model import StoredRun, UnreadFiles
from errata.model.filters import Filters
from errata.model.output.failures import FailureOutput as FailureRow
from errata.model.output.mapping import MapOutput
from errata.model.tables import AttemptRow, CellRow, CheckRow, PairRow, RunRow, ScoreRow
from errata.model.words import EXECUTIONS, MEASUREMENTS, OUTCOMES, OWNERS
from errata.render.figures import mean_words, plural
from errata.render.html import html_table
from errata.runs.view import RunView
from errata.settings import Settings, load_settings
from errata.text.outgoing import line_for_user
from errata.verbs import compare as comparing
from errata.verbs import export as exporting
from errata.verbs import report as reporting
from errata.verbs import store as storing
from errata.verbs.analyze import import_logs
from errata.verbs.map import map_table

__all__ = [
    "AnalyzedRun",
    "AttemptRow",
    "CellRow",
    "CheckRow",
    "DataTable",
    "ErrataError",
    "FailureRow",
    "ImportedRuns",
    "MapOutput",
    "NotComparableError",
    "NotFoundError",
    "PairRow",
    "RunComparison",
    "RunRow",
    "RunStore",
    "ScoreRow",
    "SourceError",
    "analyze",
    "draft_mapping",
    "open",
]

Location = str | PathLike[str]
Policy = Literal["strict", "as_reported", "clean", "reviewed"]


def open(store: Location | None = None) -> "RunStore":
    """Open a store, or create it. Default: the store that commands would use in the working folder."""
    return RunStore(load_settings(store=str(store) if store is not None else ""))


def analyze(*paths: Location, store: Location | None = None, source: str = "") -> "ImportedRuns":
    """Import logs and name the owner of each failure, like `errata analyze`; writes no report."""
    return open(store).import_(*paths, source=source)


def draft_mapping(
    path: Location, *, output: Location | None = None, force: bool = False, dry_run: bool = False
) -> MapOutput:
    """Draft a mapping for a table of your own and write it, like `errata map`. `doubts` lists what to check."""
    return map_table(Path(path), output=None if output is None else Path(output), force=force, dry_run=dry_run)


class RunStore:
    """The runs of a store. As a context manager it keeps its connections open until the end of the block."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._store = storing.open_store(settings.store)
        self._connections = ExitStack()

    @property
    def path(self) -> Path | None:
        """The file of the store; none for one in PostgreSQL."""
        return self._store.path if isinstance(self._store.path, Path) else None

    def __enter__(self) -> "RunStore":
        self._connections.enter_context(self._store.kept_open())
        return self

    def __exit__(self, *_: object) -> None:
        self._connections.close()

    def __repr__(self) -> str:
        return f"<RunStore {self.path}>"

    def import_(self, *paths: Location, source: str = "", mapping: Location | None = None) -> "ImportedRuns":
        """Import the logs at the paths and triage their failures. `mapping` describes a table of your own."""
        map_path = Path(mapping) if mapping is not None else None
        runs, unread = import_logs([Path(path) for path in paths], self._store, source=source, map_path=map_path)
        return ImportedRuns(map(self._run, runs), unread=tuple(unread))

    def run(self, name: str = "latest") -> "AnalyzedRun":
        """A run by its name, its id or the beginning of its id; `latest` is the one that was imported last."""
        [stored] = storing.stored_runs([name], self._store)
        return self._run(stored)

    def __iter__(self) -> "Iterator[AnalyzedRun]":
        return map(self._run, storing.all_runs(self._store))

    def __len__(self) -> int:
        return len(storing.all_runs(self._store))

    def runs(self) -> DataTable[RunRow]:
        """Every run, the newest first. Iterate over the store itself for `AnalyzedRun` objects."""

        def read_rows() -> Iterator[RunRow]:
            stored_runs = storing.all_runs(self._store)
            names = storing.handles_of(stored_runs)
            return (redact_row(_run_row(stored, names[stored.run.id])) for stored in stored_runs)

        preview = ("name", "model", "suite", "started_at", "attempts", "passed", "mean", "failures")
        return DataTable("runs", RunRow, read_rows, preview=preview)

    def compare(
        self, *runs: "AnalyzedRun | str", common: bool = False, by_model: bool = False, category: str = ""
    ) -> "RunComparison":
        """Compare two runs or more. `common` restricts runs of different suites to the cases that they share.

        Raises `NotComparableError` where the runs did not measure the same thing.
        """
        names = [run if isinstance(run, str) else run.id for run in runs]
        options = ComparisonOptions(
            common=common, by_model=by_model, category=category, timeouts=self._settings.timeouts
        )
        stored_runs = storing.stored_runs(names, self._store)
        return RunComparison(comparing.compare(stored_runs, self._store, options), stored_runs, self._store)

    def _run(self, stored: StoredRun) -> "AnalyzedRun":
        return AnalyzedRun(stored, self._store, self._settings)


class AnalyzedRun:
    """A run. Its tables and scores are read from the store each time, so they include new verdicts."""

    def __init__(self, stored: StoredRun, store: storing.Store, settings: Settings) -> None:
        self._stored, self._store, self._settings = stored, store, settings

    @property
    def id(self) -> str:
        return self._stored.run.id

    @property
    def name(self) -> str:
        """The harness's own id of the run."""
        return self._stored.run.native_id

    @property
    def model(self) -> str:
        return self._stored.run.subject.model

    @property
    def suite(self) -> str:
        return self._stored.run.suite

    @property
    def source(self) -> str:
        """The harness that wrote the log."""
        return self._stored.run.source.name

    def __repr__(self) -> str:
        name = line_for_user(f"{self.name}: {self.model}")
        return f"<AnalyzedRun {name}, {self._result}>"

    @property
    def _result(self) -> str:
        """`8 failures`; of numbers their mean, and failures only where there are some."""
        mean, failures = self._stored.counts.mean, self._stored.counts.failures
        parts = [] if mean is None else [f"mean {mean_words(mean)}"]
        return ", ".join([*parts, *([plural(failures, "failure")] if failures or not parts else [])])

    def _repr_html_(self) -> str:
        header: tuple[str, ...] = ("policy", "passed", "total", "rate", "low", "high", "left_out")
        rows = [[getattr(row, name) for name in header] for row in self.scores() if not row.category and row.total]
        if any(row.mean is not None for row in self.scores()):
            header, rows = ("policy", *header[2:]), [[row[0], *row[2:]] for row in rows]
        return html_table(header, rows, caption=f"{self.name} · {self.model} · {self._result}")

    def failures(
        self,
        *,
        case: str = "",
        category: str = "",
        failed_check: str = "",
        owner: str = "",
        bucket: str = "",
        execution: str = "",
        measurement: str = "",
        outcome: str = "",
    ) -> DataTable[FailureRow]:
        """The rows of `errata failures --json`, with the same filters."""
        _refuse_unknown_word("owner", owner, OWNERS)
        _refuse_unknown_word("execution", execution, EXECUTIONS)
        _refuse_unknown_word("measurement", measurement, MEASUREMENTS)
        _refuse_unknown_word("outcome", outcome, OUTCOMES)
        filters = Filters(
            case=case,
            category=category,
            failed_check=failed_check,
            owner=owner,
            bucket=bucket,
            execution=execution,
            measurement=measurement,
            outcome=outcome,
        )
        return exporting.failures_table(self._views, filters)

    def attempts(self) -> DataTable[AttemptRow]:
        """Every counted attempt: without superseded ones and parts of others."""
        return exporting.attempts_table(self._views)

    def checks(self) -> DataTable[CheckRow]:
        """Every check of every counted attempt."""
        return exporting.checks_table(self._views)

    def scores(self) -> DataTable[ScoreRow]:
        """The score under each policy, as a whole and by category."""
        return exporting.scores_table(self._views, self._settings.timeouts)

    def score(self, policy: Policy = "clean") -> ScoreRow:
        """The score of the whole run under one policy. `clean` leaves out infrastructure failures."""
        _refuse_unknown_word("policy", policy, get_args(Policy))
        [view] = self._views()
        return redact_row(score_row(view.scores(timeouts=self._settings.timeouts).scores[policy], view))

    def report(self, folder: Location = "reports", *, html: bool = False) -> tuple[Path, ...]:
        """Write a report about the run; the files that were written. Empty where nothing failed."""
        planned = reporting.planned_reports([self.id], self._store)
        written = reporting.write_reports(planned, day=_today(), output=Path(folder), html=html)
        return tuple(file.path for _, made in written for file in made.written)

    def _views(self) -> list[RunView]:
        return [RunView(storing.run_by_id(self._store, self.id), self._store)]


class ImportedRuns(list[AnalyzedRun]):
    """The runs of an import, and the files that it did not read."""

    def __init__(self, runs: Iterable[AnalyzedRun], *, unread: tuple[UnreadFiles, ...] = ()) -> None:
        super().__init__(runs)
        self.unread = unread
        """For each imported folder with such files: all of them, with the reason."""


class RunComparison:
    """A comparison as it was when it was made."""

    def __init__(self, comparison: Comparison, runs: list[StoredRun], store: storing.Store) -> None:
        self._comparison, self._runs, self._store = comparison, runs, store

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.label for column in self._comparison.columns)

    @property
    def regressed(self) -> tuple[str, ...]:
        """Cases that pass in the first of two runs and fail in the second; empty for more than two runs."""
        return self._flips("regressed")

    @property
    def fixed(self) -> tuple[str, ...]:
        """Cases that fail in the first of two runs and pass in the second; empty for more than two runs."""
        return self._flips("fixed")

    @property
    def failed_by_all(self) -> tuple[str, ...]:
        """Cases that fail in every run."""
        return self._names(self._comparison.sets.failed_by_all.runs)

    def cells(self) -> DataTable[CellRow]:
        """How each case went in each run: one row for each."""
        preview = ("label", "case", "state", "attempts", "passes")
        return DataTable("cells", CellRow, lambda: cell_rows(self._comparison), preview=preview)

    def pairs(self) -> DataTable[PairRow]:
        """Each pair of columns with McNemar's test: over all shared cases, and without infrastructure failures."""
        return DataTable("pairs", PairRow, lambda: pair_rows(self._comparison))

    def report(self, folder: Location, *, html: bool = False) -> tuple[Path, ...]:
        """Write a report about the comparison; the files that were written."""
        views = [RunView(storing.run_by_id(self._store, stored.run.id), self._store) for stored in self._runs]
        options = self._comparison.options
        made = reporting.report_comparison(views, day=_today(), output=Path(folder), html=html, common=options.common)
        return tuple(file.path for file in made.written)

    def __repr__(self) -> str:
        return f"<RunComparison of {len(self._runs)} runs over {len(self._comparison.matrix.rows):,} cases>"

    def _repr_html_(self) -> str:
        rows = [
            [column.label, score.passed if score.mean is None else None, score.total, score.rate]
            for column in self._comparison.columns
            for score in [column.scores["clean"]]
        ]
        cases = len(self._comparison.matrix.rows)
        note = f"{len(self.regressed)} regressed, {len(self.fixed)} fixed" if len(self._runs) == 2 else ""
        caption = f"clean scores over {cases:,} cases"
        return html_table(("run", "passed", "total", "rate"), rows, caption=caption, note=note)

    def _flips(self, kind: str) -> tuple[str, ...]:
        flips = self._comparison.sets.flips
        return self._names(flips.by_kind[kind]) if flips is not None else ()

    def _names(self, cases: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(self._comparison.cases[case].name for case in cases)


def _run_row(stored: StoredRun, name: str) -> RunRow:
    run, counts = stored.run, stored.counts
    return RunRow(
        run=run.native_id,
        run_id=run.id,
        name=name,
        model=run.subject.model,
        agent=run.subject.agent or None,
        source=run.source.name,
        suite=run.suite,
        started_at=run.started_at,
        imported_at=stored.imported_at,
        cases=counts.cases,
        attempts=counts.attempts_in_log,
        passed=counts.outcomes.get("pass", 0),
        mean=counts.mean,
        failures=counts.failures,
        is_excluded=run.excluded is not None,
    )


def _refuse_unknown_word(parameter: str, word: str, words: Sequence[str]) -> None:
    if word and word not in words:
        raise NotFoundError(f"`{word}` is not a value of `{parameter}`", hint=f"one of: {', '.join(words)}")


def _today() -> str:
    return datetime.now(UTC).date().isoformat()
