"""`errata skill`: instructions for coding agents."""

import click

from errata.cli.lazy import LazyGroup, Table

SUBCOMMANDS: Table = {
    "install": ("commands:install", "Install skills for a coding agent."),
    "check": ("commands:check", "Check whether installed skills are up to date."),
    "list": ("commands:list_", "List the skills."),
    "rm": ("commands:rm", "Remove installed skills."),
}


@click.group("skill", cls=LazyGroup, table=SUBCOMMANDS, package="errata.cli.skill")
def command() -> None:
    """Install instructions for coding agents.

    A skill is a folder with a `SKILL.md` that an agent reads when a task fits: analyse a run, analyse one failure,
    compare models, analyse a batch.
    """
