"""The list of commands. A command's module is imported only when it is called, so that help comes at once."""

import os
import shlex
from importlib import import_module

import click

from errata import __version__
from errata.errors import SettingsError

COMMANDS: dict[str, tuple[str, str]] = {
    "analyze": ("analyze", "Everything at once: import, check, summarise."),
    "import": ("import_", "Read the runs at PATHS into the store."),
    "runs": ("runs", "List the runs of the store."),
    "show": ("show", "Show a run, a case or an attempt."),
    "check": ("check", "Tell whether RUNS are fit to be analysed."),
    "score": ("score", "Tell what the score is, under each policy."),
    "failures": ("failures", "List the failures of RUNS."),
    "triage": ("triage", "Name the owner of every failure anew; all runs where none is given."),
    "rerun": ("rerun", "Tell how RUNS can be repeated where it was not the model's fault. Runs nothing."),
    "exclude": ("exclude", "Keep RUN, but leave it out of every score."),
    "rm": ("rm", "Forget RUNS."),
    "sources": ("sources", "List the formats that can be read."),
    "doctor": ("doctor", "Tell whether the store is sound."),
    "demo": ("demo", "Analyse a bundled example."),
}


class LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module, _ = COMMANDS[cmd_name]
        command: click.Command = import_module(f"errata.cli.{module}").command
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """`errata` alone is a question, too; `errata help X` asks the same as `errata X --help`."""
        if not args or args == ["help"]:
            args = ["--help"]
        elif args[0] == "help":
            args = [args[1], "--help"]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name in COMMANDS or name.startswith("-"):
            return super().resolve_command(ctx, args)
        if is_path(name):
            told = f"`{shlex.join(['errata', 'analyze', name])}` reads it, and tells what went wrong"
            raise SettingsError(f"`{name}` is a path and no command", hint=told)
        raise click.exceptions.NoSuchCommand(name, possibilities=COMMANDS, ctx=ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, told) for name, (_, told) in COMMANDS.items()])


def is_path(name: str) -> bool:
    return os.sep in name and os.path.exists(name)  # noqa: PTH110 pathlib is not needed for help


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "-V", "--version", message="errata %(version)s")
def app() -> None:
    """The post-mortem for LLM eval runs: what went wrong, who has to act, how we know, and what to do.

    \b
    errata demo              a bundled example
    errata analyze PATH      a run of your own: read it, check it, sum it up
    errata failures latest   why each case failed, and whose fault it is
    errata show latest/CASE  one of them, with the evidence

    RUN is a path, a unique prefix of a run's id or native id, a name, or `latest`.
    """
