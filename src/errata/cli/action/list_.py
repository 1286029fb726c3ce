"""`errata action list`."""

import click

from errata.cli.options import Options, shared_options
from errata.cli.output import put, put_json, say
from errata.cli.paths import place_of
from errata.cli.render.undo import SHORT
from errata.cli.reports_option import reports_option
from errata.memory.actions import ActionStatus
from errata.model.output.memory import ActionListOutput
from errata.verbs.memory import list_actions

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
    actions = list_actions(options.store)
    for one in actions:
        if options.json:
            put_json(output_of(one))
        else:
            show(one)
    if not actions and not options.json:
        say("no action was recorded; `errata action add` records one")


def show(status: ActionStatus) -> None:
    effect, action = status.effect, status.effect.action
    name = action.id[:SHORT] if status.in_store else "–"
    put(f"{name:<{SHORT}}  {action.date or 'no date':<10}  {WORKED[effect.worked]:<9}  {effect.why}", hang=HANG)
    put(f"{'':<{HANG}}{action.path}{': ' if action.path else ''}{action.what}", hang=HANG)
    notes = {"for": ", ".join(action.addresses), "by": action.author, "expected:": action.expected_effect}
    notes["in"] = str(action.ref) if action.ref else place_of(action.report)
    put(f"{'':<{HANG}}{' · '.join(f'{label} {text}' for label, text in notes.items() if text)}", hang=HANG)


def output_of(status: ActionStatus) -> ActionListOutput:
    effect = status.effect
    return ActionListOutput(
        action=effect.resolved,
        kept=status.in_store,
        worked=effect.worked,
        why=effect.reason,
        case_effects=effect.cases,
        run=effect.run or None,
    )
