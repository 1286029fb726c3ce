"""`errata watch`."""

from pathlib import Path

import click

from errata.cli.door import Pipe
from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_json, say
from errata.cli.render.fields import place_of
from errata.cli.render.runs import results_in_words, title_of
from errata.errors import ErrataError
from errata.json_output.runs import watch_output
from errata.report.gate_comment import score_words
from errata.verbs.store import open_store
from errata.verbs.watch import FinishedRun, Hooks, Poll, Watcher, hooks_of, require_folders


@click.command("watch")
@click.argument("folders", nargs=-1, required=True, metavar="DIR…", type=click.Path(path_type=Path))
@click.option(
    "--every",
    type=click.FloatRange(min=0.1),
    default=5,
    show_default=True,
    metavar="SECONDS",
    help="Time between checks.",
)
@click.option(
    "--settle",
    type=click.FloatRange(min=0),
    default=10,
    show_default=True,
    metavar="SECONDS",
    help="Time without a change after which a run counts as finished.",
)
@click.option("--once", is_flag=True, help="Check once, then exit.")
@click.option("--source", default="", metavar="NAME", help="Format of the files; `errata sources` lists all.")
@click.option(
    "--exec",
    "program",
    default="",
    metavar="COMMAND",
    help="Program to start for each run, without a shell; gets JSON on stdin.",
)
@click.option("--webhook", default="", metavar="URL", help="Address to post the JSON of each run to.")
@shared_options
def command(
    folders: tuple[Path, ...],
    every: float,
    settle: float,
    once: bool,
    source: str,
    program: str,
    webhook: str,
    options: Options,
) -> None:
    """Import finished runs as they appear in folders.

    A run is finished when nothing in it has changed for a while and its log does not mark it as running. errata
    imports, checks and triages it, and prints a summary. Ctrl-C stops the watch; no run is left half-imported.
    """
    require_folders(folders)
    hooks = hooks_of(program, webhook)
    # `options.store` keeps connections open, and a watch may last for days
    watcher = Watcher(folders, open_store(options.settings.store), settle=settle, source=source)
    if not once:
        say(f"watching {', '.join(place_of(str(folder)) for folder in folders)}; Ctrl-C stops")
    failed = 0
    for poll in watcher.polls(every=every, once=once):
        failed = _show(poll, hooks, options)
        if once:
            _say_nothing_new(poll)
        if Pipe.reader_left:
            break
    if failed:
        raise ErrataError(
            f"{plural(failed, 'hook')} failed", hint="the lines above name the reasons; runs are imported"
        )


def _show(poll: Poll, hooks: Hooks, options: Options) -> int:
    """Print what is new, and call the hooks; how many of them failed."""
    for path, why in poll.waiting:
        say(f"waiting: {place_of(str(path))}: {why}")
    for path, problem in poll.problems:
        say(f"skipped: {place_of(str(path))}: {problem}")
    failed = 0
    for run in poll.finished:
        summary = watch_output(run)
        if options.json:
            put_json(summary)
        else:
            _put_run(run)
        for failure in hooks.call(summary):
            say(f"hook failed: {failure.message}")
            failed += 1
    return failed


def _say_nothing_new(poll: Poll) -> None:
    if not (poll.finished or poll.waiting or poll.problems):
        say("nothing new: every finished run is in the store")


def _put_run(run: FinishedRun) -> None:
    view = run.view
    words = [results_in_words(view.stored)]
    words += [f"clean {score_words(view.scores().scores['clean'])}"]
    words += [] if view.health.fit else ["NOT FIT"]
    put(f"{run.change} · {title_of(view.run, view.handle)} · {' · '.join(words)}", hang=4)
