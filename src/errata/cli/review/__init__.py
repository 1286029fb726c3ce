"""`errata review`: everything about having failures read."""

import click

from errata.cli.lazy import LazyGroup, Table

SUBCOMMANDS: Table = {
    "run": ("run", "Have a model or a program read the failures of RUNS."),
    "next": ("next_", "Take the next failure of RUN to read."),
    "release": ("next_:release_packets", "Give back what you have in hand."),
    "submit": ("submit", "Hand in one verdict."),
    "export": ("export", "Write what there is to read as JSON Lines or a table."),
    "import": ("import_", "Take in answers from a file that was filled in."),
    "status": ("status", "Tell how far the review of RUNS is."),
    "agreement": ("agreement", "Tell how far independent reviewers of RUNS agree."),
    "calibrate": ("calibrate", "Measure the reviewers against labels that people gave."),
}


@click.group("review", cls=LazyGroup, table=SUBCOMMANDS, package="errata.cli.review")
def command() -> None:
    """Review failures: by model, agent, person or spreadsheet.

    Whoever reads gets the same packets, and every verdict is checked the same way: what it quotes must stand there.
    """
