"""`errata action list`."""

from typing import Any

import click

from errata import verbs
from errata.cli.action.page import SHORT
from errata.cli.options import Options, shared_options
from errata.cli.output import put, put_json, say
from errata.cli.paths import place_of
from errata.cli.reports_option import reports_option
from errata.memory.list_actions import Listed

WORKED = {"yes": "worked", "no": "NO EFFECT", "unknown": "unknown"}
HANG = 10


@click.command("list")
@reports_option
@shared_options
def command(options: Options) -> None:
    """List the actions, and whether each worked.

    Those of the store, and those that people wrote into reports. An action worked if a case that it addresses failed
    before it and passes in a later run of the same model. It had no effect if that case fails again. All else is
    unknown, with the reason.
    """
    found = verbs.list_actions(options.store)
    for one in found:
        if options.json:
            put_json(json_of(one))
        else:
            show(one)
    if not found and not options.json:
        say("no action was recorded; `errata action add` records one")


def show(listed: Listed) -> None:
    effect, action = listed.effect, listed.effect.action
    name = action.id[:SHORT] if listed.is_kept else "–"
    put(f"{name:<{SHORT}}  {action.date or 'no date':<10}  {WORKED[effect.worked]:<9}  {effect.why}", hang=HANG)
    put(f"{'':<{HANG}}{action.path}{': ' if action.path else ''}{action.what}", hang=HANG)
    notes = {"for": ", ".join(action.addresses), "by": action.author, "expected:": action.expected_effect}
    notes["in"] = str(action.ref) if action.ref else place_of(action.report)
    put(f"{'':<{HANG}}{' · '.join(f'{label} {text}' for label, text in notes.items() if text)}", hang=HANG)


def json_of(listed: Listed) -> dict[str, Any]:
    effect = listed.effect
    told = {"worked": effect.worked, "why": effect.why, "run": effect.run or None}
    return {"action": effect.resolved, "kept": listed.is_kept, **told}
