"""The list of commands. A command's module is imported only when it is called, so that help comes at once."""

from importlib import import_module

import click

from errata import __version__

COMMANDS: dict[str, tuple[str, str]] = {
    "analyze": ("analyze", "Everything at once: import, check, summarise."),
    "import": ("import_", "Read the runs at PATHS into the store."),
    "runs": ("runs", "List the runs of the store."),
    "show": ("show", "Show a run, a case or an attempt."),
    "check": ("check", "Tell whether RUNS are fit to be analysed."),
    "score": ("score", "Tell what the score is, under each policy."),
    "failures": ("failures", "List the failures of RUNS."),
    "triage": ("triage", "Name the owner of every failure anew; all runs where none is given."),
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

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, told) for name, (_, told) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "-V", "--version", message="errata %(version)s")
def app() -> None:
    """The post-mortem for LLM eval runs: what went wrong, who has to act, how we know, and what to do.

    RUN is a path, a unique prefix of a run's id or native id, a name, or `latest`. Start with `errata analyze PATH`.
    """
