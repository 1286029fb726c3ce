"""Shell completion of runs, cases and causes of the store; click completes owners and other fixed words."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import click
from click.shell_completion import CompletionItem
from click.types import StringParamType

from errata.cli.options import chosen_store
from errata.errors import ErrataError
from errata.runs.addresses import bucket_slugs, split_run
from errata.runs.failures import case_names
from errata.runs.names import handles_of, known_run
from errata.settings import load_settings
from errata.settings.store_location import is_there
from errata.verbs.store import Store, all_runs, open_store

MOST = 200
NEWEST = 5


class StoreName(StringParamType):
    """A text that names something in the store."""

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        kinds = _kinds(param)
        try:
            items = list(islice(_items(kinds, ctx, incomplete), MOST))
        except ErrataError:  # a store that cannot be read offers nothing
            return []
        if not items and "RUN" in kinds:
            return [CompletionItem(incomplete, type="file")]
        return items


def complete_names(command: click.Command) -> None:
    """Let a shell complete the arguments and options of a command that name something in the store."""
    for param in command.params:
        if param.type is click.STRING and is_name(param):
            param.type = StoreName()


def is_name(param: click.Parameter) -> bool:
    return bool(_kinds(param))


def _kinds(param: click.Parameter) -> set[str]:
    """What may stand there, by its name in help: RUN, CASE, RUN/CASE, BUCKET."""
    words = (param.metavar or "").replace("|", " ").replace("[", " ").replace("]", " ").replace("…", " ").split()
    kinds = {"RUN", "CASE", "RUN/CASE", "BUCKET"} & set(words)
    if param.name in ("case", "cases"):
        kinds.add("CASE")
    return kinds | ({"BUCKET"} if param.name in ("bucket", "buckets") else set())


def _items(kinds: set[str], ctx: click.Context, incomplete: str) -> Iterator[CompletionItem]:
    path = load_settings(store=chosen_store(ctx)).store
    if not is_there(path):
        return
    store = open_store(path)
    with store.kept_open():
        if "RUN/CASE" in kinds and "/" in incomplete:
            yield from _cases_behind_run(store, incomplete)
        if kinds & {"RUN", "RUN/CASE"}:
            yield from _runs(store, incomplete)
        if "CASE" in kinds:
            yield from _cases(store, ctx, incomplete)
        if "BUCKET" in kinds:
            yield from _matching(bucket_slugs(store), incomplete)


def _runs(store: Store, incomplete: str) -> Iterator[CompletionItem]:
    """By the names in `errata runs`, with model, suite and date."""
    known = all_runs(store)
    handles = handles_of(known)
    yield from _matching(["latest"] if known else [], incomplete)
    for run in (stored.run for stored in known):
        if handles[run.id].startswith(incomplete):
            parts = (run.subject.model, run.suite, (run.started_at or "")[:10])
            yield CompletionItem(handles[run.id], help=" · ".join(part for part in parts if part))


def _cases_behind_run(store: Store, incomplete: str) -> Iterator[CompletionItem]:
    stored, rest = split_run(incomplete, store)
    head = incomplete.removesuffix(rest)
    for item in _matching(case_names(stored, store), rest):
        yield CompletionItem(f"{head}{item.value}")


def _cases(store: Store, ctx: click.Context, incomplete: str) -> Iterator[CompletionItem]:
    """Of the runs that the command names already, or of the newest ones."""
    named = [value for name in ("runs", "run") for value in _words(ctx.params.get(name))]
    runs = [known_run(name, store) for name in named] or all_runs(store)[:NEWEST]
    names = dict.fromkeys(case for stored in runs for case in case_names(stored, store))
    yield from _matching(names, incomplete)


def _words(value: object) -> Sequence[str]:
    return [value] if isinstance(value, str) and value else value if isinstance(value, tuple) else ()


def _matching(names: Iterable[str], incomplete: str) -> Iterator[CompletionItem]:
    return (CompletionItem(name) for name in names if name.startswith(incomplete))
