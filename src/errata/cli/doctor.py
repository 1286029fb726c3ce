"""`errata doctor`."""

import click
import msgspec

from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_command, put_json
from errata.cli.render.fields import place_of
from errata.verbs.store import StoreHealth, examine_store


@click.command("doctor")
@shared_options
def command(options: Options) -> int:
    """Check the store for damage.

    Also removes the remains of interrupted imports. Exits with 1 if it finds a problem.
    """
    health = examine_store(options.settings.store)
    if options.json:
        from errata.model.output.store import DoctorOutput

        put_json(DoctorOutput(**msgspec.structs.asdict(health)))
    else:
        database = f"PostgreSQL {health.postgres}" if health.postgres else f"SQLite {health.sqlite}"
        put(f"errata    {health.errata} · Python {health.python} · {database}")
        put(f"store     {place_of(health.path)} · schema {health.schema} · {health.size / 2**20:,.1f} MB")
        if health.runs is not None and health.attempts is not None:
            put(f"holds     {plural(health.runs, 'run')}, {plural(health.attempts, 'attempt')}")
        if health.cleared:
            put(f"cleared   {plural(health.cleared, 'interrupted import')}")
        for problem in health.problems:
            put(f"problem   {problem}")
        _put_verdict(health)
    return 1 if health.problems else 0


def _put_verdict(health: StoreHealth) -> None:
    if not health.problems:
        put("no problems found")
        return
    put("DAMAGED: import the runs into a new store. Logs bring every run back, but not verdicts and other opinions.")
    for path in health.rebuild_from:
        put_command("rebuild", ["errata", "import", path, "--store", "new.db"], indent=10)
    put("save      `errata review export RUN -o FOLDER` saves the verdicts of a run that can still be read")
