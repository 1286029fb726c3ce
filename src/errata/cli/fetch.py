"""`errata fetch`."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_command, put_json, say
from errata.cli.progress import progress
from errata.cli.render.fields import place_of
from errata.text.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from errata.fetch.convex import Fetched

SHOWN = 5
RUN_ID = lazy_regex(r"jn7[a-z0-9]{20,60}")


def deployment_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--deployment",
        default="",
        metavar="NAME",
        help="Convex deployment: `prod` (default), `dev`, a configured name, or an address.",
    )(function)


@click.command("fetch")
@click.argument("targets", nargs=-1, required=True, metavar="URL…")
@deployment_option
@click.option("-o", "--output", "folder", type=click.Path(path_type=Path), help="Folder for a single run.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0.1),
    default=30,
    show_default=True,
    metavar="SECONDS",
    help="Give up after this long without data.",
)
@shared_options
def command(targets: tuple[str, ...], deployment: str, folder: Path | None, timeout: float, options: Options) -> None:
    """Download runs from the harness's server.

    URL is the address of a run or an eval in the convex-evals visualizer, or a run id. Writes nothing to the server.
    Sends a key only if your own settings name one for that server.
    """
    if folder is not None and len(targets) > 1:
        raise click.UsageError("--output takes one run")
    for text in targets:
        made = fetched(text, options, deployment=deployment, folder=folder, timeout=timeout)
        if options.json:
            from errata.model.output.store import FetchOutput

            put_json(FetchOutput(**(made._asdict() | {"folder": str(made.folder)})))
        else:
            show_fetched(made)
            put_command("Next", ["errata", "analyze", place_of(str(made.folder.absolute()))])


def local_paths(paths: Iterable[str], options: Options, *, deployment: str = "") -> tuple[Path, ...]:
    """Local paths; remote runs are downloaded first."""
    local = []
    for text in paths:
        if not is_remote(text):
            local.append(Path(text))
            continue
        made = fetched(text, options, deployment=deployment)
        say(f"fetched   {plural(made.evals, 'eval')}, {made.failed} failed · {place_of(str(made.folder.absolute()))}")
        local.append(made.folder)
    return tuple(local)


def is_remote(text: str) -> bool:
    """Decided by the text alone, so that reading files does not import network code."""
    return text.startswith(("https://", "http://")) or (RUN_ID.fullmatch(text) is not None and not Path(text).exists())


def fetched(
    text: str, options: Options, *, deployment: str = "", folder: Path | None = None, timeout: float = 30.0
) -> "Fetched":
    from errata.verbs.fetch import fetch

    with progress("Fetching") as on_items:
        made = fetch(
            text, options.settings, os.environ, deployment=deployment, folder=folder, timeout=timeout, on_items=on_items
        )
    for problem in made.problems[:SHOWN]:
        say(f"note: not fetched: {problem}")
    if len(made.problems) > SHOWN:
        say(f"note: {len(made.problems) - SHOWN} more are listed in `{made.folder / 'fetch.json'}`")
    return made


def show_fetched(made: "Fetched") -> None:
    files = f"{plural(made.files, 'file')}, {made.new} of them new" if made.files else "no files"
    put(f"Run {made.run} · {plural(made.evals, 'eval')}, {made.failed} failed · {files}")
    put(f"Folder   {place_of(str(made.folder.absolute()))}", hang=9)
