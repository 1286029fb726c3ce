"""Options that several commands take: a choice from a list, filters of failures, and `--reports DIR`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from errata.errors import nearest
from errata.model.words import EXECUTIONS, MEASUREMENTS, OUTCOMES, OWNERS

if TYPE_CHECKING:
    from errata.cluster.workers import WorkerPool


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
