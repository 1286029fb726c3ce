"""Options that every command has, the store and `--json`, and those that several share."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
import msgspec

from errata.cli.progress import ASKING, status_line
from errata.errors import nearest
from errata.model.words import EXECUTIONS, MEASUREMENTS, OUTCOMES, OWNERS
from errata.settings import Settings, load_settings, using_store

if TYPE_CHECKING:
    from errata.verbs.store import Store
if TYPE_CHECKING:
    from errata.cluster.workers import WorkerPool


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
            from errata.cli.output import say
            from errata.verbs.store import open_store

            self.opened = open_store(self.settings.store, keep_open=click.get_current_context().with_resource)
            if self.opened.disk_is_full:
                say("No space is left on the disk of the store: it is read from a copy that is not kept")
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


class Word(click.Choice[str]):
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value in self.choices:
            return str(value)
        raise NotAWord(self.get_invalid_choice_message(value, ctx), nearest(str(value), self.choices), param, ctx)


class OneOfMany(click.Option):
    """An option with many words: `--help` lists them after its text, so that they can be folded."""

    def make_metavar(self, ctx: click.Context) -> str:  # noqa: ARG002 as click has it
        return "WORD"

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        record = super().get_help_record(ctx)
        assert isinstance(self.type, click.Choice)
        return (record[0], f"{record[1]} One of: {', '.join(self.type.choices)}.") if record else None


class NotAWord(click.BadParameter):
    def __init__(
        self, message: str, possibilities: list[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> None:
        super().__init__(message, ctx, param)
        self.possibilities = possibilities
        """Like those of click's own errors about commands and options."""


def failure_filters(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that select failures; the command gets them under the names of `Filters`."""
    for option in reversed(
        (
            click.option("--case", default="", help="Only cases whose name contains this text."),
            click.option("--category", default="", help="Only cases of this category."),
            click.option("--failed-check", default="", metavar="CHECK", help="Only attempts that failed this check."),
            click.option("--owner", cls=OneOfMany, type=Word(OWNERS), help="Only failures with this owner."),
            click.option("--bucket", default="", metavar="SLUG", help="Only failures in this bucket."),
            click.option(
                "--execution", cls=OneOfMany, type=Word(EXECUTIONS), help="Only attempts with this execution status."
            ),
            click.option("--measurement", type=Word(MEASUREMENTS), help="Only attempts with this measurement status."),
            click.option("--outcome", type=Word(OUTCOMES), help="Only attempts with this outcome."),
        )
    ):
        function = option(function)
    return function


def reports_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the option; the command itself need not know of it."""

    @click.option(
        "--reports",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="Earlier reports; default: `reports` here, next to the run, or above it in its repository.",
    )
    @wraps(function)
    def wrapped(*arguments: Any, reports: Path | None, **named: Any) -> Any:
        from errata.runs.reports import reports_at

        with reports_at(reports):
            return function(*arguments, **named)

    return wrapped


def ray_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--ray",
        "ray_address",
        default="",
        metavar="ADDRESS",
        help="Use a Ray cluster: `auto`, HOST:PORT, or `local` to start one here.",
    )(function)


@contextmanager
def chosen_workers(ray_address: str) -> "Iterator[WorkerPool | None]":
    """The workers of the cluster that was named; none without one."""
    if not ray_address:
        yield None
        return
    from errata.cluster.ray_workers import ray_workers

    with ray_workers(ray_address) as workers:
        yield workers
