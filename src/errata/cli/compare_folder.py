"""The words after a comparison folder was written: its files, who is not in it, and what it does not have."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from errata import verbs
from errata.cli.options import Options
from errata.cli.output import plural, put, put_command, put_json, say
from errata.cli.paths import place_of
from errata.cli.table import put_parts, put_table
from errata.errors import SettingsError
from errata.export.comparison_folder import ComparisonFolder
from errata.model import StoredRun
from errata.runs.names import handles_of
from errata.runs.runs_to_compare import runs_to_compare
from errata.store.database import Store
from errata.verbs.compare import write_comparison_folder


def refuse_beside_write(**given: object) -> None:
    """Options that choose or show a part: a folder is about whole runs."""
    named = [f"`--{name.replace('_', '-')}`" for name, value in given.items() if value]
    if named:
        told = f"{' and '.join(named)} can't stand beside `--write`"
        raise SettingsError(told, hint="a comparison folder is about whole runs: leave one of the two out")


def write_folder(runs: tuple[str, ...], folder: Path, options: Options, *, force: bool) -> None:
    chosen = runs_to_compare(runs, options.store, least=1)
    for other in chosen.passed_over:
        say(f"`{other}` is passed over: the runs that are named win")
    made = write_comparison_folder(chosen.runs, options.store, folder, force=force)
    if options.json:
        put_json(_json_of(made))
    else:
        _show(made, options.store)


def _show(made: ComparisonFolder, store: Store) -> None:
    handles = handles_of(verbs.all_runs(store))
    run, place = made.runs[0].run, place_of(str(made.folder))
    models = len({one.run.subject.model for one in made.runs})
    put(f"{run.suite} · {plural(len(made.runs), 'run')} of {plural(models, 'model')} · {place}")
    put()
    rows = [(one.path.name, made.rows.get(one.path.name, ""), one.change) for one in made.written]
    put_table(("file", "rows", "now"), rows, right=("rows",))
    notes = list(_notes(made, handles))
    if notes or len(made.runs) > 1:
        put()
    for label, told in notes:
        put_parts(label, [told])
    if len(made.runs) > 1 and not made.not_found:
        put_command("next", ["errata", "compare", place], "reads it")


def _notes(made: ComparisonFolder, handles: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    def named(runs: Iterable[StoredRun]) -> str:
        return ", ".join(handles[one.run.id] for one in runs)

    for stored, why in made.left_out:
        yield "left out", f"{handles[stored.run.id]} {stored.run.subject.model}: {why}"
    for name, why in made.not_written.items():
        yield "not made", f"{name}: {why}"
    if made.without_commands and not made.not_written:
        yield "commands", f"not known of {named(made.without_commands)}"
    if made.without_column:
        yield "columns", f"none for {', '.join(made.without_column)}; these still decide whether a row fails"
    if made.not_found:
        yield (
            "note",
            f"not found from there: {named(made.not_found)}. Move the folder beside or below its runs to read it",
        )


def _json_of(made: ComparisonFolder) -> dict[str, Any]:
    return {
        "folder": str(made.folder),
        "runs": [{"run": one.run.native_id, "run_id": one.run.id} for one in made.runs],
        "written": [
            {"file": str(one.path), "rows": made.rows.get(one.path.name), "change": one.change} for one in made.written
        ],
        "not_written": [{"file": name, "why": why} for name, why in made.not_written.items()],
        "left_out_runs": [
            {"run": one.run.native_id, "run_id": one.run.id, "model": one.run.subject.model, "why": why}
            for one, why in made.left_out
        ],
        "without_commands": [one.run.native_id for one in made.without_commands],
        "not_found": [one.run.native_id for one in made.not_found],
        "without_column": made.without_column,
    }
