"""Options that every command has: the store and `--json`."""

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click
import msgspec

from errata.cli.progress import ASKING, status_line
from errata.settings import Settings, load_settings, using_store

if TYPE_CHECKING:
    from errata.verbs.store import Store


R = TypeVar("R", bound=msgspec.Struct)


class Options(msgspec.Struct):
    settings: Settings
    json: bool
    raw: bool = False
    opened: "Store | None" = None

    @property
    def store(self) -> "Store":
        """The store of the settings, opened once, when it is needed first."""
        if self.opened is None:
            # importing the database takes longer than most commands
            from errata.verbs.store import open_store

            self.opened = open_store(self.settings.store, keep_open=click.get_current_context().with_resource)
        return self.opened


PAGES = frozenset(("analyze", "check", "compare", "consistency", "failures", "report", "score", "show", "triage"))
"""Commands whose pages show owners or scores."""
WITH_SCORES = frozenset(("compare", "score"))
"""Those whose scores the policies of a project's file apply to."""


def _put_project(name: str) -> None:
    """Before everything else: a project's file decides about what follows."""
    from errata.cli.output import put
    from errata.cli.render.fields import place_of
    from errata.triage.rulesets import project_in_use, project_words

    project = project_in_use(scores=name in WITH_SCORES)
    if project:
        put(f"Project  {place_of(project.file)}: {project_words(project)}", hang=9)


def with_project(record: R, *, scores: bool = False) -> R:
    """The record of `--json`, with what a project's file decides about it."""
    from errata.triage.rulesets import project_in_use

    project = project_in_use(scores=scores)
    return msgspec.structs.replace(record, project=project) if project else record


def shared_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--store` and `--json`, and hands both over as `options`."""

    @click.option(
        "--store",
        metavar="FILE",
        default="",
        help="Default: $ERRATA_STORE, the project's `errata.toml`, or the nearest `.errata/errata.db`.",
    )
    @click.option("--json", "as_json", is_flag=True, help="Print JSON: one object, or one per line for lists.")
    @wraps(function)
    def wrapped(*arguments: Any, store: str, as_json: bool, **named: Any) -> Any:
        ctx = click.get_current_context()
        options = Options(load_settings(store=store or chosen_store(ctx)), as_json)
        with using_store(options.settings.store):
            if options.settings.project and not as_json and ctx.info_name in PAGES:
                _put_project(ctx.info_name)
            if ctx.info_name in ASKING:
                return function(*arguments, options=options, **named)
            with status_line(ctx.command_path):
                return function(*arguments, options=options, **named)

    return wrapped


def chosen_store(ctx: click.Context) -> str:
    """The store that the command names, or that was named before it: `errata --store FILE runs`."""
    return str(ctx.params.get("store") or ctx.find_root().params.get("store") or "")


def raw_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("--raw", is_flag=True, help="Do not redact secrets.")(function)
