"""Options that several commands take: a word out of a list, and `--reports DIR`."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from errata.errors import nearest


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


def reports_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the option; the command itself need not know of it."""

    @click.option(
        "--reports",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="Earlier reports; default: `reports` here, beside the run, or above it in its repository.",
    )
    @wraps(function)
    def wrapped(*arguments: Any, reports: Path | None, **named: Any) -> Any:
        from errata.runs.reports import reports_at

        with reports_at(reports):
            return function(*arguments, **named)

    return wrapped
