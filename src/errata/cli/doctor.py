"""`errata doctor`."""

import click
import msgspec

from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_json
from errata.cli.render.fields import place_of
from errata.verbs.store import examine_store


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
        put(f"errata    {health.errata} · Python {health.python} · SQLite {health.sqlite}")
        put(f"store     {place_of(health.path)} · schema {health.schema} · {health.size / 2**20:,.1f} MB")
        if health.runs is not None and health.attempts is not None:
            put(f"holds     {plural(health.runs, 'run')}, {plural(health.attempts, 'attempt')}")
        if health.cleared:
            put(f"cleared   {plural(health.cleared, 'interrupted import')}")
        for problem in health.problems:
            put(f"problem   {problem}")
        unsound = "DAMAGED: import the runs into a new store with `--store FILE`"
        put(unsound if health.problems else "no problems found")
    return 1 if health.problems else 0
