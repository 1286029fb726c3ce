"""`errata doctor`."""

from collections.abc import Sequence

import click

from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_command, put_json
from errata.cli.progress import status_line
from errata.cli.render.fields import place_of
from errata.model.output.store import DoctorOutput
from errata.verbs.doctor import examine_deeply, examine_store, rebuilding

ATTEMPTS = 5
"""Damaged attempts that the page names; `--json` lists all."""


@click.command("doctor")
@click.option("--deep", is_flag=True, help="Decode every record, and compare all that is stored about it.")
@click.option("--repair", is_flag=True, help="Rebuild what can be rebuilt; implies --deep.")
@shared_options
def command(deep: bool, repair: bool, options: Options) -> int:
    """Check the store for damage.

    Also removes the remains of interrupted imports. Exits with 1 if it finds a problem.

    `--deep` checks every block, text, hash, count and reference, and lists the damaged attempts. `--repair` reads a
    damaged run again from its logs, if these still have the content that was imported, and derives owners and groups
    again. It never changes verdicts. It lists what it can't repair, and what you would need to repair it.
    """
    health = _examine(options, deep=deep, repair=repair)
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
        if health.deep:
            _put_digests(health)
        for step in health.repairs:
            label = "repaired" if step.repaired else "can't fix"
            put(f"{label:<9} {step.run or step.table or 'store'}: {step.message}", hang=10)
        for problem in health.problems:
            put(f"problem   {problem}", hang=10)
            _put_attempts(problem.attempts)
        _put_verdict(health)
    return 1 if health.problems else 0


def _examine(options: Options, *, deep: bool, repair: bool) -> DoctorOutput:
    if not deep and not repair:
        return examine_store(options.settings.store)
    with status_line("errata doctor --deep") as line:
        show = line.show if line is not None else lambda _: None
        return examine_deeply(options.settings.store, repair=repair, on_progress=show)


def _put_digests(health: DoctorOutput) -> None:
    confirmed, unknown = health.digests_confirmed or 0, health.digests_open or 0
    put(
        f"digests   {plural(confirmed, 'run')} confirmed"
        + (f"; {unknown:,} need their logs for that" if unknown else "")
    )


def _put_attempts(attempts: Sequence[str]) -> None:
    for attempt in attempts[:ATTEMPTS]:
        put(f"          {attempt}")
    if len(attempts) > ATTEMPTS:
        put(f"          and {len(attempts) - ATTEMPTS:,} more with --json")


def _put_verdict(health: DoctorOutput) -> None:
    if not health.problems:
        put("no problems found")
        return
    if health.deep:
        if not health.repairs:
            put("DAMAGED: save the store with `errata store backup TO`, then run `errata doctor --repair`")
        return
    put("DAMAGED: import the runs into a new store. Logs bring every run back, but not verdicts and other opinions.")
    for path in rebuilding(health.problems):
        put_command("rebuild", ["errata", "import", path, "--store", "new.db"], indent=10)
    put("save      `errata review export RUN -o FOLDER` saves the verdicts of a run that can still be read")
