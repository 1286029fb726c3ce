"""`errata action list`."""

from typing import Any

import click

from errata import pipeline
from errata.cli.action.page import SHORT
from errata.cli.options import Options, shared_options
from errata.cli.output import put, put_json, say
from errata.cli.paths import place_of
from errata.cli.reports_option import reports_option
from errata.pipeline.listing_actions import Listed

WORKED = {"yes": "worked", "no": "NO EFFECT", "unknown": "unknown"}
HANG = 10


@click.command("list")
@reports_option
@shared_options
def command(options: Options) -> None:
    """List the actions, and whether each worked.

    An action worked if a case that it addresses failed in a run before it and passes in one after it, of the same
    model. It had no effect if that case fails again. All else is unknown, with the reason.
    """
    effects = pipeline.list_actions(options.store)
    for effect in effects:
        if options.json:
            put_json(json_of(effect))
        else:
            show(effect)
    if not effects and not options.json:
        say("no action was recorded; `errata action add` records one")


def show(effect: Effect) -> None:
    action = effect.action
    put(f"{action.id[:SHORT]}  {action.date}  {WORKED[effect.worked]:<9}  {effect.why}", hang=HANG)
    put(f"{'':<{HANG}}{action.path}: {action.what}", hang=HANG)
    named = f"for {', '.join(action.addresses)}"
    told = [named, *([f"by {action.author}"] if action.author else [])]
    told += [f"expected: {action.expected_effect}"] if action.expected_effect else []
    told += [f"in {place_of(action.report)}"] if action.report else []
    put(f"{'':<{HANG}}{' · '.join(told)}", hang=HANG)


def json_of(effect: Effect) -> dict[str, Any]:
    return {"action": effect.resolved, "worked": effect.worked, "why": effect.why, "run": effect.run or None}
