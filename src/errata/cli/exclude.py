"""`errata exclude`."""

import click

from errata.cli.options import Options, shared_options
from errata.cli.output import put, put_json
from errata.errors import SettingsError
from errata.model.output.runs import ExcludeOutput
from errata.verbs.store import exclude, include, stored_runs


@click.command("exclude")
@click.argument("run", metavar="RUN")
@click.option("--reason", default="", help="Reason; shown with the run.")
@click.option("--undo", is_flag=True, help="Undo the exclusion.")
@shared_options
def command(run: str, reason: str, undo: bool, options: Options) -> None:
    """Leave a run out of comparisons, pooled scores and baselines, with a reason.

    History leaves it out as well. The run's own pages still show its figures, marked EXCLUDED.
    """
    if not undo and not reason:
        raise SettingsError(
            "An exclusion needs a reason", hint="`errata exclude RUN --reason TEXT`; `--undo` reverts it"
        )
    store = options.store
    stored = stored_runs([run], store)[0].run
    if undo:
        done = include(store, stored.id)
        sentence = f"{stored.native_id} is included again" if done else f"{stored.native_id} was not excluded"
    else:
        exclude(store, stored.id, reason=reason, author=options.settings.author)
        sentence = f"{stored.native_id} is excluded from every score: {reason}"
    if options.json:
        put_json(ExcludeOutput(run=stored.native_id, run_id=stored.id, excluded=not undo, reason=reason or None))
    else:
        put(sentence)
