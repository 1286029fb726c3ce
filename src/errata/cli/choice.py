"""An option that takes one of a few words, and knows which may have been meant where it gets another."""

from typing import Any

import click

from errata.errors import nearest


class Word(click.Choice[str]):
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value in self.choices:
            return str(value)
        raise NotAWord(self.get_invalid_choice_message(value, ctx), nearest(str(value), self.choices), param, ctx)


class NotAWord(click.BadParameter):
    def __init__(
        self, message: str, possibilities: list[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> None:
        super().__init__(message, ctx, param)
        self.possibilities = possibilities
        """Like those of click's own errors about commands and options."""
