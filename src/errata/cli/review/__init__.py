"""`errata review`: reviewers, packets and verdicts."""

import click

from errata.cli.lazy import LazyGroup, Table

SUBCOMMANDS: Table = {
    "run": ("run", "Review failures with a model or a program."),
    "next": ("next_", "Get the next failure to review."),
    "release": ("next_:release_packets", "Return failures that you have not reviewed."),
    "submit": ("next_:submit", "Submit a verdict."),
    "tasks": ("next_:tasks", "List suspect tasks: passed by few models or none."),
    "export": ("export", "Write failures to review as JSON Lines or a table."),
    "import": ("export:import_", "Import verdicts from a completed file."),
    "status": ("status", "Show review progress."),
    "agreement": ("agreement:agreement", "Measure agreement between independent reviewers."),
    "calibrate": ("agreement", "Measure reviewers against human labels."),
}


@click.group("review", cls=LazyGroup, table=SUBCOMMANDS, package="errata.cli.review")
def command() -> None:
    """Review failures with a model or agent, by hand, or in a spreadsheet.

    All reviewers get the same packets, and every verdict is checked the same way: its quotes must occur in the packet.
    """
