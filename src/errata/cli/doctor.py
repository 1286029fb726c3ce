"""`errata doctor`."""

from collections.abc import Sequence

import click

from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_command, put_json
from errata.cli.progress import status_line
from errata.cli.render.fields import place_of
from errata.model.output.store import DoctorOutput
from errata.verbs.doctor import examine_store

ATTEMPTS = 5
"""Damaged attempts that the page names; `--json` lists all."""


@click.command("doctor")
@click.option("--repair", is_flag=True, help="Read damaged runs again from their logs.")
@shared_options
def command(repair: bool, options: Options) -> int:
    """Check the store for damage.

    Decodes every record, and lists damaged runs with their attempts. Also removes the remains of interrupted imports.
    Exits with 1 if it finds a problem.

    `--repair` reads a damaged run again from its logs, if these still have the content that was imported, and derives
    owners again. It never changes verdicts. It lists what it can't repair, and what you would need to repair it.
    """
    with status_line("errata doctor") as line:
        show = line.show if line is not None else lambda _: None
        health = examine_store(options.settings.store, repair=repair, on_progress=show)
    if options.json:
        put_json(health)
    else:
        database = f"PostgreSQL {health.postgres}" if health.postgres else f"SQLite {health.sqlite}"
        put(f"errata    {health.errata} · Python {health.python} · {database}")
        put(f"store     {place_of(health.path)} · schema {health.schema} · {health.size / 2**20:,.1f} MB")
        if health.runs is not None and health.attempts is not None:
            put(f"holds     {plural(health.runs, 'run')}, {plural(health.attempts, 'attempt')}")
        if health.cleared:
            put(f"cleared   {plural(health.cleared, 'interrupted import')}")
        for step in health.repairs:
            label = "repaired" if step.repaired else "can't fix"
            put(f"{label:<9} {step.run or step.table or 'store'}: {step.message}", hang=10)
        for problem in health.problems:
            put(f"problem   {problem}", hang=10)
            _put_attempts(problem.attempts)
        _put_verdict(health)
    return 1 if health.problems else 0


def _put_attempts(attempts: Sequence[str]) -> None:
    for attempt in attempts[:ATTEMPTS]:
        put(f"          {attempt}")
    if len(attempts) > ATTEMPTS:
        put(f"          and {len(attempts) - ATTEMPTS:,} more with --json")


def _put_verdict(health: DoctorOutput) -> None:
    if not health.problems:
        put("no problems found")
        return
    origins = dict.fromkeys(problem.origin for problem in health.problems if problem.origin)
    if origins and not health.repairs:
        put("DAMAGED: run `errata doctor --repair`, or import the runs into a new store.")
        put("Logs bring every run back, but not verdicts and other opinions.")
    else:
        put("DAMAGED: a backup brings back what is listed: `errata store restore FROM --force`")
    for path in origins:
        put_command("rebuild", ["errata", "import", path, "--store", "new.db"], indent=10)
    put("save      `errata review export RUN -o FOLDER` saves the verdicts of a run that can still be read")
