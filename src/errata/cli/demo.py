"""`errata demo`."""

import tempfile
from pathlib import Path

import click

from errata.cli.analyze import show_analysis
from errata.cli.options import Options, shared_options
from errata.cli.output import say
from errata.runs.orders import look_for
from errata.text.shell import shell_word
from errata.verbs.analyze import analyze
from errata.verbs.store import bundled_example, open_store


@click.command("demo")
@shared_options
def command(options: Options) -> None:
    """Run `analyze` on a bundled example.

    Uses a temporary store, which is deleted afterwards.
    """
    with tempfile.TemporaryDirectory(prefix="errata-demo-") as folder:
        example = bundled_example()
        say(f"errata analyze {shell_word(example)}\n")
        for view in analyze(look_for([example]), open_store(Path(folder) / "errata.db")):
            show_analysis(view.summary, as_json=options.json, kept=False)
    say("\nFor your own runs: errata analyze PATH")
