"""`errata review tasks`."""

import click

from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_command, put_json
from errata.cli.render.suspects import put_suspects
from errata.runs.names import handle_of, runs_named
from errata.verbs.review import suspects_of


@click.command("tasks")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@shared_options
def command(runs: tuple[str, ...], options: Options) -> None:
    """List suspect tasks: passed by few models or none.

    Shows the evidence against each task; tasks with evidence come first. With one RUN, all runs of its suite in the
    store are taken into account. `errata review next RUN --tasks` gives a task to review.
    """
    chosen = list(runs_named(runs, options.store))
    suspects = suspects_of(chosen, options.store)
    if options.json:
        put_json(suspects)
        return
    handle = handle_of(chosen[0], options.store)
    if not suspects and suspects.failed_by_all:
        put_suspects(suspects, handle)
        return
    if not suspects:
        models = plural(len(suspects.subjects), "model")
        put(f"No suspect tasks: {models} in the store for this suite" if suspects.subjects else _too_few())
        return
    put_suspects(suspects, handle, every=True)
    put_command("Next", ["errata", "review", "next", handle, "--tasks"], "review them, one by one")


def _too_few() -> str:
    return "Suspect tasks need several models on the same suite, and the store holds only one"
