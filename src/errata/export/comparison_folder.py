"""A comparison folder of conversation-bench, rebuilt from its judged runs: tables, `metadata.json`, `summary.md`."""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from errata import __version__
from errata.errors import SettingsError
from errata.export import comparison_folder_tables as tables
from errata.export.comparison_folder_tables import JudgedRows, Member, Row, RunSettings, judged_rows, settings_of
from errata.model import Run, StoredRun
from errata.model.output.compare import NotWrittenCode
from errata.model.run import WhyLeftOut, why_excluded
from errata.model.times import moment_of
from errata.render.document import Code, Document, Line, Section, items, line
from errata.render.figures import hundredths, percent
from errata.render.files import WrittenFile, write_files
from errata.render.markdown import to_markdown
from errata.runs.names import are_judged_turns
from errata.runs.runset import RunSet
from errata.runs.view import RunView
from errata.sources.conversation_bench import NAME, RUN_RESULTS
from errata.sources.conversation_bench.comparison import WRITTEN_BY, RunFolder, listed_runs
from errata.sources.conversation_bench.scores import DIMENSIONS
from errata.text.outgoing import cell_for_user, for_user, tree_for_others

COMMANDS = "commands.csv"


class ComparisonFolder(msgspec.Struct, frozen=True, kw_only=True):
    folder: Path
    runs: tuple[StoredRun, ...]
    written: tuple[WrittenFile, ...]
    rows: dict[str, int]
    left_out: tuple[tuple[StoredRun, WhyLeftOut], ...]
    not_written: dict[str, NotWrittenCode]
    without_commands: tuple[StoredRun, ...]
    """Runs without recorded commands."""
    not_found: tuple[StoredRun, ...]
    """Runs that the folder lists and that nobody finds from there: a comparison is read with its runs around it."""
    without_column: tuple[str, ...]
    """Dimensions of these judges that the tables have no columns for; they decide whether a row fails."""


def write_comparison_folder(
    runs: RunSet, folder: Path, *, sections: Sequence[Section] = (), force: bool = False
) -> ComparisonFolder:
    """Files that are there and say something else are written over only with `force`.

    `sections` are added to the summary.
    """
    folder = folder.resolve()
    _refuse_others(runs.runs)
    members, left_out = _members(runs)
    tables = {name: list(rows) for name, rows in _tables(members).items()}
    files = {name: _as_csv(rows) for name, rows in tables.items() if rows} | _texts(members, tables, folder, sections)
    _refuse_to_replace(folder, files, force=force)
    written = tuple(write_files(folder, files))
    there = {one.path.name for one in listed_runs(folder) if isinstance(one, RunFolder)}
    return ComparisonFolder(
        folder=folder,
        runs=tuple(one.stored for one in members),
        written=written,
        rows={name: len(rows) for name, rows in tables.items() if rows},
        left_out=tuple(left_out),
        not_written={} if tables[COMMANDS] else {COMMANDS: _why_no_commands(folder)},
        without_commands=tuple(one.stored for one in members if not settings_of(one.stored.run).commands),
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


def _members(runs: RunSet) -> tuple[list[Member], list[tuple[StoredRun, WhyLeftOut]]]:
    members: list[Member] = []
    left_out: list[tuple[StoredRun, WhyLeftOut]] = []
    often = Counter[str]()
    for view in runs:
        stored = view.stored
        rows = None if (why := _why_left_out(stored.run)) else _rows(view)
        if rows is None or not rows.rows:
            left_out.append((stored, why or WhyLeftOut("not_judged")))
            continue
        often[stored.run.subject.model] += 1
        members.append(Member(stored, often[stored.run.subject.model], rows))
    if not members:
        listed = "\n".join(f"left out: {one.run.native_id}, {why}" for one, why in left_out)
        raise SettingsError("No judged run is left to write", hint=listed)
    return members, left_out


def _why_left_out(run: Run) -> WhyLeftOut | None:
    if excluded := why_excluded(run):
        return excluded
    if not run.scorers:
        return WhyLeftOut("not_judged")
    return None if Path(run.origin).name == run.native_id else WhyLeftOut("no_run_folder")


def _rows(view: RunView) -> JudgedRows:
    return judged_rows(view.attempts(counted=True), view.run.scorers[0].name)


def _tables(members: Sequence[Member]) -> dict[str, Iterable[Row]]:
    runs = [tables.run_row(one) for one in members]
    return {
        RUN_RESULTS: runs,
        "metric_summary.csv": tables.metric_rows(runs),
        "model_summary.csv": tables.model_rows(runs),
        COMMANDS: tables.command_rows(members),
    }


def _why_no_commands(folder: Path) -> NotWrittenCode:
    return "commands_unknown_file_kept" if (folder / COMMANDS).exists() else "commands_unknown"


def _texts(
    members: Sequence[Member], tables: dict[str, list[Row]], folder: Path, sections: Sequence[Section]
) -> dict[str, str]:
    settings = metadata(members, folder)
    page = summary(settings, tables[RUN_RESULTS], tables["metric_summary.csv"], tables["model_summary.csv"])
    page = msgspec.structs.replace(page, sections=(*page.sections, *sections))
    return {"metadata.json": as_json(settings), "summary.md": to_markdown(page)}


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
    return cell_for_user(str(value))


def _refuse_to_replace(folder: Path, files: dict[str, str], *, force: bool) -> None:
    for name, content in files.items():
        path = folder / name
        if not force and path.is_file() and not _has_content(path, content):
            raise SettingsError(f"`{path}` already exists and differs", hint="choose another folder, or add `--force`")


def _has_content(path: Path, content: str) -> bool:
    try:
        return path.read_bytes() == content.encode("utf-8", "replace")
    except OSError:
        return False


SHOWN = ("benchmark", "models", "runs_per_model", "service_override", "rehydrate", "disable_vad", "parallel", "judge",
         "judge_model", "skip_turn_taking")  # fmt: skip
UNKNOWN = "not known"


def metadata(members: Sequence[Member], folder: Path) -> Row:
    """Null for what the runs do not tell, or do not agree on."""
    settings = [settings_of(one.stored.run) for one in members]
    often = Counter(one.model for one in members)
    modes = _agreed(one.mode for one in settings)
    return {
        "generated_at": _newest(members, settings),
        "benchmark": members[0].stored.run.suite,
        "models": list(often),
        # keys of ours, names of theirs
        "runs_per_model": {for_user(model): count for model, count in often.items()},
        "service_override": _set_before(settings, "service_override"),
        "rehydrate": None if not modes else modes == "rehydrated",
        "disable_vad": _first_known(_agreed(one.disable_vad for one in settings), _set_before(settings, "disable_vad")),
        "parallel": _agreed(one.parallel for one in settings),
        "judge": _agreed(one.judge.name for one in settings) or None,
        "judge_model": _agreed(one.judge.model for one in settings) or None,
        "skip_turn_taking": _set_before(settings, "skip_turn_taking"),
        "output_dir": str(folder),
        WRITTEN_BY: f"errata {__version__}",
    }


def as_json(row: Row) -> str:
    """The folder's own path stays whole."""
    washed = tree_for_others(row) | {"output_dir": for_user(row["output_dir"])}
    return json.dumps(washed, indent=2) + "\n"


def _newest(members: Sequence[Member], settings: Sequence[RunSettings]) -> str | None:
    """When the last of the runs was judged, not when this was written: the same runs give the same file."""
    times = [said.judged_at or one.stored.run.finished_at or "" for one, said in zip(members, settings, strict=True)]
    return max((time for time in times if moment_of(time).year > 1), key=moment_of, default=None)


def _agreed(values: Iterable[Any]) -> Any:
    """What all say; none where they differ."""
    first, *others = list(values)
    return first if all(one == first and type(one) is type(first) for one in others) else None


def _set_before(settings: Sequence[RunSettings], name: str) -> Any:
    """As the comparison that listed the runs before has it."""
    return _agreed(one.settings.get(name) for one in settings)


def _first_known(*values: Any) -> Any:
    return next((one for one in values if one is not None), None)


def summary(about: Row, runs: Sequence[Row], metrics: Sequence[Row], models: Sequence[Row]) -> Document:
    return Document(
        title="Model Comparison Summary",
        sections=(
            _section("Setup", (line(f"{name}: ", Code(_value(about[name]))) for name in SHOWN)),
            _section("Run Paths", map(_path, runs)),
            _section("Model Summary", map(_model, models)),
            _section("Metric Averages", map(_metric, metrics)),
        ),
    )


def _section(title: str, lines: Iterator[Line]) -> Section:
    return Section(title=title, blocks=(items(list(lines)),))


def _value(value: Any) -> str:
    if value is None:
        return UNKNOWN
    if isinstance(value, dict):
        return ", ".join(f"{name} {count}" for name, count in value.items())
    return ", ".join(value) if isinstance(value, list) else str(value)


def _path(row: Row) -> Line:
    return line(Code(row["model_name"]), f" run {row['run_index']}: ", Code(row["run_dir"]))


def _model(row: Row) -> Line:
    return line(
        Code(row["model_name"]),
        f": pass_rows={_number(row['pass_rows_mean'])}, fail_rows={_number(row['fail_rows_mean'])} "
        f"{_interval(row['fail_rows_ci_lower_mean'], row['fail_rows_ci_upper_mean'])}, "
        f"empty_responses={_number(row['empty_response_count_mean'])}, "
        f"ended_session={_number(row['model_ended_session_count_mean'])}, "
        f"latency_p95={_number(row['latency_ms_p95_mean'])} ms "
        f"{_interval(row['latency_ms_p95_ci_lower_mean'], row['latency_ms_p95_ci_upper_mean'])}",
    )


def _metric(row: Row) -> Line:
    named = (Code(row["model_name"]), " ", Code(row["metric"]))
    if row["mean_pass_rate"] is None:
        return line(*named, ": applies to no turn")
    low, high = (hundredths(row[f"mean_pass_rate_ci_{end}"]) for end in ("lower", "upper"))
    return line(
        *named,
        f": {_number(row['mean_pass_count'])}/{_number(row['mean_applicable'])} "
        f"({percent(row['mean_pass_rate'])}, 95 % CI {low} to {high})",
    )


def _number(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.2f}"


def _interval(low: float | None, high: float | None) -> str:
    return f"(95 % CI {_number(low)} to {_number(high)})"
