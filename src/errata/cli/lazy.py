"""A group of commands whose modules are imported only when they are called, so that help comes at once."""

from importlib import import_module
from typing import Any

import click

Table = dict[str, tuple[str, str]]
"""Command → its module, and what it does in one sentence. `module:name` is one of several commands of a module."""


class LazyGroup(click.Group):
    def __init__(self, *arguments: Any, table: Table, package: str, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.table = table
        self._package = package

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 click's signature
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in self.table:
            return None
        module, _, name = self.table[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(f"{self._package}.{module}"), name or "command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name in self.table or name.startswith("-"):
            return super().resolve_command(ctx, args)
        raise click.exceptions.NoSuchCommand(name, possibilities=self.table, ctx=ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, told) for name, (_, told) in self.table.items()])
