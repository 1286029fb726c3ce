"""`errata watch`."""

import shlex
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Literal, cast

import click
import msgspec

from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_json, say
from errata.cli.render.fields import place_of
from errata.cli.render.runs import attempts_in_words, failures_in_words, title_of
from errata.errors import ErrataError, NotFoundError, SettingsError
from errata.json_output.scores import json_score
from errata.model.codec import to_whole
from errata.model.output.gate import WatchOutput
from errata.report.gate_words import score_words
from errata.runs.standings import owner_of
from errata.text.outgoing import tree_for_others
from errata.verbs.store import open_store
from errata.verbs.watch import FinishedRun, Poll, Watcher, call_program, check_address, post_json


@click.command("watch")
@click.argument("folders", nargs=-1, required=True, metavar="DIR…", type=click.Path(path_type=Path))
@click.option("--every", type=click.FloatRange(min=0.1), default=5.0, show_default=True, help="Seconds between checks.")
@click.option(
    "--settle",
    type=click.FloatRange(min=0),
    default=10.0,
    show_default=True,
    help="Seconds without a change until a run counts as written.",
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

    A run is finished when nothing in it has changed for a while and the harness does not call it running. Each is
    imported, checked and triaged, and one summary is printed. Ctrl-C stops it; nothing is left half-imported.
    """
    hooks = _hooks(folders, program, webhook)
    # `options.store` keeps connections open, and a watch may last for days
    watcher = Watcher(folders, open_store(options.settings.store), settle=settle, source=source)
    if not once:
        say(f"watching {', '.join(place_of(str(folder)) for folder in folders)}; Ctrl-C stops")
    while True:
        poll = watcher.poll()
        failed = _show(poll, hooks, options)
        if once:
            _say_nothing_new(poll)
            break
        time.sleep(every)
    if failed:
        raise ErrataError(
            f"{plural(failed, 'hook')} failed", hint="the lines above name the reasons; runs are imported"
        )


class Hooks(msgspec.Struct, frozen=True):
    program: tuple[str, ...] = ()
    webhook: str = ""


def _hooks(folders: Sequence[Path], program: str, webhook: str) -> Hooks:
    for folder in folders:
        if not folder.is_dir():
            raise NotFoundError(f"No such folder: `{folder}`", hint="name the folder that the harness writes to")
    try:
        arguments = tuple(shlex.split(program))
    except ValueError as error:
        raise SettingsError(f"`--exec {program}` can't be split into words: {error}", hint="close the quotes") from None
    if webhook:
        check_address(webhook)
    return Hooks(arguments, webhook)


def _show(poll: Poll, hooks: Hooks, options: Options) -> int:
    """Print what is new, and call the hooks; how many of them failed."""
    for path, why in poll.waiting:
        say(f"waiting: {place_of(str(path))}: {why}")
    for path, problem in poll.problems:
        say(f"skipped: {place_of(str(path))}: {problem}")
    failed = 0
    for run in poll.finished:
        summary = _output(run)
        if options.json:
            put_json(summary)
        else:
            _put_run(run)
        failed += _call(hooks, summary)
    return failed


def _say_nothing_new(poll: Poll) -> None:
    if not (poll.finished or poll.waiting or poll.problems):
        say("nothing new: every finished run is in the store")


def _put_run(run: FinishedRun) -> None:
    view = run.view
    words = [f"{attempts_in_words(view.stored)}, {failures_in_words(view.stored)}"]
    words += [f"clean {score_words(view.scores().scores['clean'])}"]
    words += [] if view.health.fit else ["NOT FIT"]
    put(f"{run.change} · {title_of(view.run, view.handle)} · {' · '.join(words)}", hang=4)


def _call(hooks: Hooks, summary: WatchOutput) -> int:
    body = msgspec.json.encode(tree_for_others(to_whole(summary)))
    calls: list[Callable[[], None]] = []
    if hooks.program:
        calls.append(partial(call_program, hooks.program, body))
    if hooks.webhook:
        calls.append(partial(post_json, hooks.webhook, body))
    failed = 0
    for call in calls:
        try:
            call()
        except ErrataError as problem:
            say(f"hook failed: {problem.message}")
            failed += 1
    return failed


def _output(run: FinishedRun) -> WatchOutput:
    view, counts = run.view, run.view.stored.counts
    standings = view.standings
    owners = Counter(
        owner_of(attribution, standings[attempt].standing if attempt in standings else None)
        for attempt, attribution in view.attributions.items()
    )
    return WatchOutput(
        run=view.run.native_id,
        run_id=view.run.id,
        change=cast(Literal["new", "grown"], run.change),
        source=run.source,
        path=run.path,
        model=view.run.subject.model,
        suite=view.run.suite,
        attempts=counts.attempts_in_log,
        failures=counts.failures,
        fit=view.health.fit,
        owners=dict(owners.most_common()),
        scores={policy: json_score(score) for policy, score in view.scores().scores.items()},
    )
