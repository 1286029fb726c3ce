"""A group of commands whose modules are imported only when they are called, so that help is fast."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

Table = dict[str, tuple[str, str]]
"""Command → its module, and what it does in one sentence. `module:name` is one of several commands of a module."""


class LazyGroup(click.Group):
    """`sections` orders the commands in help under headings."""

    def __init__(
        self,
        *arguments: Any,
        table: Table,
        package: str,
        sections: Mapping[str, Sequence[str]] | None = None,
        **named: Any,
    ) -> None:
        super().__init__(*arguments, **named)
        self.table = table
        self._package = package
        self._sections = sections or {"Commands": list(table)}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 click's signature
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.table:
            return None
        module, _, name = self.table[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(f"{self._package}.{module}"), name or "command")
        if ctx.resilient_parsing and not isinstance(command, click.Group):
            from errata.cli.completion import complete_names

            complete_names(command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name in self.table or name.startswith("-"):
            return super().resolve_command(ctx, args)
        raise click.exceptions.NoSuchCommand(name, possibilities=self.table, ctx=ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        widest = max(map(len, self.table))
        for heading, names in self._sections.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(widest), self.table[name][1]) for name in names])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """With the sentence of the table: importing every command would take too long."""
        names = [name for name in self.table if name.startswith(incomplete)]
        items = [CompletionItem(name, help=self.table[name][1]) for name in names]
        return [*items, *click.Command.shell_complete(self, ctx, incomplete)]
