"""A comparison folder: the runs that it lists, and its numbers for each."""

from collections.abc import Iterator
from pathlib import Path, PureWindowsPath
from typing import Any, NamedTuple

from errata.model import Reported, SourceRef, Unreadable
from errata.sources.base import Row, csv_rows, json_file, unreadable
from errata.sources.conversation_bench import NAME, RUN_RESULTS, is_comparison, is_run_folder
from errata.sources.conversation_bench.layout import count, from_run, is_name, last_part, number, upwards
from errata.sources.conversation_bench.scores import DIMENSIONS
from errata.sources.shared.values import mapping, plain, text
from errata.text.lazy_regex import lazy_regex

METADATA = "metadata.json"
WRITTEN_BY = "written_by"
"""The tool that rebuilt a comparison from its runs; the harness itself does not write this field."""
HEADLINE = "pass_row_rate"
_TABLES_BY_MODEL = ("metric_summary.csv", "model_summary.csv")
_COUNTS = ("pass_rows", "fail_rows", "incomplete_rows", "empty_response_count", "model_ended_session_count")
_ENVIRONMENT = lazy_regex(r"(?<!\S)([A-Za-z_]\w*)=\S+")


class ComparisonRow(NamedTuple):
    """One run's row of `run_results.csv`, and the comparison folder."""

    folder: Path
    row: dict[str, str]
    ref: SourceRef

    @property
    def run_id(self) -> str:
        return last_part(self.row.get("run_dir") or "") or last_part(self.row.get("run_id") or "")


class RunFolder(NamedTuple):
    path: Path
    listed: ComparisonRow


def listed_runs(folder: Path) -> Iterator[RunFolder | Unreadable]:
    benchmark = text(metadata(folder).get("benchmark"))
    seen: set[Path] = set()
    for row in csv_rows(folder / RUN_RESULTS, source=NAME, root=folder):
        if type(row) is Unreadable:
            yield row
            continue
        assert type(row) is Row
        listed = ComparisonRow(folder, row.data, row.ref)
        path = _find_run(listed, row.data.get("benchmark_name") or benchmark)
        if path is None:
            run_dir = row.data.get("run_dir") or row.data.get("run_id")
            why = f"run not found: no `{listed.run_id or run_dir}` beside the comparison or above it"
            yield unreadable(NAME, row.ref, why)
        elif path not in seen:
            seen.add(path)
            yield RunFolder(path, listed)


def _find_run(listed: ComparisonRow, benchmark: str) -> Path | None:
    candidates = _candidates(listed, benchmark if is_name(benchmark) else "")
    return next((path.resolve() for path in candidates if is_run_folder(path)), None)


def _candidates(listed: ComparisonRow, benchmark: str) -> Iterator[Path]:
    """Places near the comparison: a path in a table is untrusted and must not lead elsewhere on this machine."""
    run_dir = listed.row.get("run_dir") or ""
    if "\x00" in run_dir:
        return
    name = listed.run_id
    for above in (listed.folder, *upwards(listed.folder)):
        if run_dir and not PureWindowsPath(run_dir).anchor and ".." not in Path(run_dir).parts:
            yield above / run_dir
        if name:
            yield from (above / "runs" / benchmark / name, above / benchmark / name, above / name)


def listing_of(run: Path) -> ComparisonRow | None:
    """The row of a run in the comparisons near its folder; the harness's own last one by name wins."""
    entries = [entry for folder in _comparisons_near(run) if (entry := _entry(folder, run.name))]
    preferred = [entry for entry in entries if not _is_rebuilt(entry.folder)] or entries
    return preferred[-1] if preferred else None


def _is_rebuilt(folder: Path) -> bool:
    return bool(metadata(folder).get(WRITTEN_BY))


def _comparisons_near(run: Path) -> list[Path]:
    benchmark = run.parent
    if benchmark.parent.name == "runs":
        above = benchmark.parent.parent
        results = above / "results" / benchmark.name
        places = [(above, ""), (results, ""), (results, "*/"), (results, "*/*/")]
    else:
        places = [(benchmark, ""), (benchmark, "*/")]
    tables = [table for folder, below in places for table in folder.glob(f"{below}{RUN_RESULTS}")]
    return [table.parent for table in sorted(tables) if is_comparison(table)]


def _entry(folder: Path, run_id: str) -> ComparisonRow | None:
    for row in csv_rows(folder / RUN_RESULTS, source=NAME, root=folder):
        if type(row) is Row:
            listed = ComparisonRow(folder, row.data, row.ref)
            if run_id in (listed.run_id, row.data.get("run_id")):
                return listed
    return None


def group_of(listed: ComparisonRow) -> str:
    """The comparison's name: the folder it was written to, else its current folder."""
    return last_part(text(metadata(listed.folder).get("output_dir"))) or listed.folder.name


def metadata(folder: Path) -> dict[str, Any]:
    row = json_file(folder / METADATA, source=NAME, root=folder)
    return mapping(row.data) if type(row) is Row else {}


def reported(listed: ComparisonRow, root: Path) -> Iterator[Reported]:
    """The harness's own numbers for a run; `pass_row_rate` is the headline. Comparisons rebuilt by errata have none."""
    if _is_rebuilt(listed.folder):
        return
    row = listed.row
    ref = SourceRef(file=from_run(listed.folder / RUN_RESULTS, root), line=listed.ref.line)
    for name, metric, column, n in _columns():
        value = number(row.get(column))
        if value is not None:
            yield Reported(
                name=name,
                metric=metric,
                scorer=row.get("judge_name") or "",
                value=value,
                n=count(row.get(n)),
                headline=name == HEADLINE,
                null_passes=name in DIMENSIONS,
                extra=_numbers({key: row.get(f"{stem}_{key}") for stem, key in _beside(name, column)}),
                ref=ref,
            )


_ROW_METRICS = {"pass_rows": "passed", "fail_rows": "failed", "incomplete_rows": "unscored"}


def _columns() -> Iterator[tuple[str, str, str, str]]:
    yield HEADLINE, "pass_rate", HEADLINE, "turns_scored"
    yield "fail_row_rate", "fail_rate", "fail_row_rate", "turns_scored"
    for name in _COUNTS:
        yield name, _ROW_METRICS.get(name, "rows"), name, "turns_scored"
    for name in DIMENSIONS:
        yield name, "pass_rate", f"{name}_pass_rate", f"{name}_applicable"


def _beside(name: str, column: str) -> tuple[tuple[str, str], ...]:
    return ((name, "passes"), (column, "ci_lower"), (column, "ci_upper"))


def _numbers(texts: dict[str, str | None]) -> dict[str, float]:
    return {key: value for key, told in texts.items() if (value := number(told)) is not None}


def details(listed: ComparisonRow) -> dict[str, Any]:
    """Everything in the comparison besides its numbers, for `extra`."""
    row, folder = listed.row, listed.folder
    extra: dict[str, Any] = {"run_results": {key: value for key, value in row.items() if value and key not in _TAKEN}}
    for name in ("latency_ms", "ttfb_ms"):
        extra[name] = _numbers({key.removeprefix(f"{name}_"): row[key] for key in row if key.startswith(f"{name}_")})
    extra["metadata"] = plain(metadata(folder))
    model = row.get("model_name")
    for table in _TABLES_BY_MODEL:
        extra[Path(table).stem] = [entry for entry in _table(folder / table) if entry.get("model_name") == model]
    extra["commands"] = [
        entry | {"command": _ENVIRONMENT.sub(r"\1=…", entry.get("command") or "")}
        for entry in _table(folder / "commands.csv")
        if last_part(entry.get("run_dir") or "") == listed.run_id
    ]
    return {key: value for key, value in extra.items() if value}


_TAKEN = frozenset(
    taken
    for name, _, column, n in _columns()
    for taken in (column, n, *(f"{stem}_{key}" for stem, key in _beside(name, column)))
) - {"turns_scored"}


def problems(folder: Path) -> Iterator[Unreadable]:
    """Unreadable parts of a comparison's own files, except `run_results.csv`."""
    if (folder / METADATA).is_file():
        row = json_file(folder / METADATA, source=NAME, root=folder)
        if type(row) is Unreadable:
            yield row
    for name in (*_TABLES_BY_MODEL, "commands.csv"):
        if (folder / name).is_file():
            rows = csv_rows(folder / name, source=NAME, root=folder)
            yield from (row for row in rows if type(row) is Unreadable)


def _table(path: Path) -> Iterator[dict[str, Any]]:
    if path.is_file():
        yield from (row.data for row in csv_rows(path, source=NAME, root=path.parent) if type(row) is Row)
