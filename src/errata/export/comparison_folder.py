"""The verb behind `compare --write`: a comparison folder of conversation-bench, rebuilt from its judged runs."""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from errata.compare.judged_rows import JudgedRows, judged_rows
from errata.errors import SettingsError
from errata.export import comparison_folder_tables as tables
from errata.export.comparison_folder_judging import told_by
from errata.export.comparison_folder_summary import as_json, metadata, summary
from errata.export.comparison_folder_tables import Member, Row
from errata.model import Run, StoredRun
from errata.render.files import Written, write_files
from errata.render.markdown import to_markdown
from errata.review.tables import are_judged_turns
from errata.sources.conversation_bench.comparison import RunFolder, listed_runs
from errata.sources.conversation_bench.layout import NAME, RUN_RESULTS
from errata.sources.conversation_bench.scores import DIMENSIONS
from errata.store.attempts import attempts_of
from errata.store.database import Store
from errata.text.clean import clean
from errata.text.redact import redact
from errata.text.spreadsheet import one_kind_of_line_end, quoted

COMMANDS = "commands.csv"
NOT_JUDGED = "nothing in it was judged"


class ComparisonFolder(msgspec.Struct, frozen=True, kw_only=True):
    folder: Path
    runs: tuple[StoredRun, ...]
    written: tuple[Written, ...]
    rows: dict[str, int]
    """Table → rows."""
    left_out: tuple[tuple[StoredRun, str], ...]
    not_written: dict[str, str]
    """File → why."""
    without_commands: tuple[StoredRun, ...]
    """Runs of which nobody tells how they were made."""
    not_found: tuple[StoredRun, ...]
    """Runs that the folder lists and that nobody finds from there: a comparison is read with its runs around it."""
    without_column: tuple[str, ...]
    """Dimensions of these judges that the tables have no columns for; they decide whether a row fails."""


def write_comparison_folder(
    runs: Sequence[StoredRun], store: Store, folder: Path, *, force: bool = False
) -> ComparisonFolder:
    """Files that are there and say something else are written over only with `force`."""
    folder = folder.resolve()
    _refuse_others(runs)
    members, left_out = _members(runs, store)
    found = {name: list(rows) for name, rows in _tables(members).items()}
    files = {name: _as_csv(rows) for name, rows in found.items() if rows} | _texts(members, found, folder)
    _refuse_to_replace(folder, files, force=force)
    written = tuple(write_files(folder, files))
    there = {one.path.name for one in listed_runs(folder) if isinstance(one, RunFolder)}
    return ComparisonFolder(
        folder=folder,
        runs=tuple(one.stored for one in members),
        written=written,
        rows={name: len(rows) for name, rows in found.items() if rows},
        left_out=tuple(left_out),
        not_written={} if found[COMMANDS] else {COMMANDS: _why_no_commands(folder)},
        without_commands=tuple(one.stored for one in members if not told_by(one.stored.run).commands),
        not_found=tuple(one.stored for one in members if one.stored.run.native_id not in there),
        without_column=tuple(sorted({name for one in members for name in one.rows.applicable} - set(DIMENSIONS))),
    )


def _refuse_others(runs: Sequence[StoredRun]) -> None:
    other = next((one.run for one in runs if not are_judged_turns([one])), None)
    if other is not None:
        raise SettingsError(
            f"Run `{other.native_id}` is of `{other.source.name}`, which has no comparison folders",
            hint=f"`--write` takes judged runs of `{NAME}`; `--csv FILE` writes the matrix of any runs",
        )
    suites = dict.fromkeys(one.run.suite for one in runs)
    if len(suites) > 1:
        named = ", ".join(f"`{suite}`" for suite in suites)
        raise SettingsError(f"A comparison folder is about one benchmark, not {named}", hint="write one for each")


def _members(runs: Iterable[StoredRun], store: Store) -> tuple[list[Member], list[tuple[StoredRun, str]]]:
    """And the runs that are none, with the reason."""
    members: list[Member] = []
    left_out: list[tuple[StoredRun, str]] = []
    often = Counter[str]()
    for stored in runs:
        rows = None if (why := _why_left_out(stored.run)) else _rows(stored, store)
        if rows is None or not rows.rows:
            left_out.append((stored, why or NOT_JUDGED))
            continue
        often[stored.run.subject.model] += 1
        members.append(Member(stored, often[stored.run.subject.model], rows))
    if not members:
        told = "\n".join(f"left out: {one.run.native_id}, {why}" for one, why in left_out)
        raise SettingsError("No judged run is left to be written", hint=told)
    return members, left_out


def _why_left_out(run: Run) -> str:
    if run.excluded is not None:
        return f"excluded: {run.excluded.reason}"
    if not run.scorers:
        return NOT_JUDGED
    return "" if Path(run.origin).name == run.native_id else "its rows lie in no run folder"


def _rows(stored: StoredRun, store: Store) -> JudgedRows:
    return judged_rows(attempts_of(store, stored.pk, counted=True), stored.run.scorers[0].name)


def _tables(members: Sequence[Member]) -> dict[str, Iterable[Row]]:
    runs = [tables.run_row(one) for one in members]
    return {
        RUN_RESULTS: runs,
        "metric_summary.csv": tables.metric_rows(runs),
        "model_summary.csv": tables.model_rows(runs),
        COMMANDS: tables.command_rows(members),
    }


def _why_no_commands(folder: Path) -> str:
    left = "; the one that is there is left as it is" if (folder / COMMANDS).exists() else ""
    return f"the runs do not tell their commands{left}"


def _texts(members: Sequence[Member], found: dict[str, list[Row]], folder: Path) -> dict[str, str]:
    told = metadata(members, folder)
    page = summary(told, found[RUN_RESULTS], found["metric_summary.csv"], found["model_summary.csv"])
    return {"metadata.json": as_json(told), "summary.md": to_markdown(page)}


def _as_csv(rows: Sequence[Row]) -> str:
    table = io.StringIO(newline="")
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(rows[0])
    writer.writerows(map(_cell, row.values()) for row in rows)
    return table.getvalue()


def _cell(value: Any) -> str:
    """Paths stay whole, people in them too: the harness follows them on this machine."""
    if value is None or isinstance(value, int | float):
        return "" if value is None else str(value)
    return quoted(one_kind_of_line_end(redact(clean(str(value)))))


def _refuse_to_replace(folder: Path, files: dict[str, str], *, force: bool) -> None:
    for name, content in files.items():
        path = folder / name
        if not force and path.is_file() and not _says(path, content):
            raise SettingsError(f"`{path}` is there already, and differs", hint="another folder, or `--force`")


def _says(path: Path, content: str) -> bool:
    """A file that can't be read says something else."""
    try:
        return path.read_bytes() == content.encode("utf-8", "replace")
    except OSError:
        return False
