"""`errata consistency`."""

from pathlib import Path

import click

from errata import verbs
from errata.cli.consistency_json import json_study
from errata.cli.consistency_judges import show_judges
from errata.cli.consistency_page import show_frequencies, show_left_out, show_study
from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put_json, say
from errata.compare.consistency_study import refuse_duplicates
from errata.errors import SettingsError
from errata.model import StoredRun
from errata.store.database import Store
from errata.verbs.review import judges_agreement


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
    meant = list(verbs.runs_named(runs, store))
    if judges:
        _show_judges(meant, options)
    else:
        _show_studies(meant, store, output, force=force, json=options.json)


def _show_studies(runs: list[StoredRun], store: Store, output: Path | None, *, force: bool, json: bool) -> None:
    found = verbs.consistency_of(runs, store)
    written = verbs.write_studies(found.studies, store, output, force=force) if output and found.studies else []
    for at, study in enumerate(found.studies):
        if json:
            put_json(json_study(study))
        else:
            show_study(study, first=at == 0)
    if json:
        for run, why in found.left_out:
            put_json({"run": run.run.native_id, "run_id": run.run.id, "left_out": why})
    else:
        show_frequencies(found.studies)
        show_left_out(found)
    for one in written:
        if json:
            put_json(one)
        else:
            say(f"wrote {one.file}" if one.rows is None else f"wrote {one.file} · {plural(one.rows, 'row')}")
    refuse_duplicates(found.studies)


def _show_judges(runs: list[StoredRun], options: Options) -> None:
    found = judges_agreement(runs, options.store)
    if options.json:
        put_json(found)
    else:
        show_judges(found)
