"""The list of commands, and the program they belong to."""

import os
import shlex

import click

from errata import __version__
from errata.cli.lazy import LazyGroup, Table
from errata.errors import SettingsError

COMMANDS: Table = {
    "analyze": ("analyze", "Everything at once: fetch, import, check, summarise, report."),
    "import": ("import_", "Read the runs at PATHS into the store."),
    "fetch": ("fetch", "Save what a deployment answers about runs, for reading without a network."),
    "runs": ("runs", "List the runs of the store."),
    "show": ("show", "Show a run, a case or an attempt."),
    "check": ("check", "Tell whether RUNS are fit to be analysed."),
    "score": ("score", "Tell what the score is, under each policy."),
    "compare": ("compare.command", "Tell what differs between RUNS, where they measured the same thing."),
    "consistency": ("consistency", "Tell which cases and checks do not come out the same in repeated RUNS."),
    "failures": ("failures", "List the failures of RUNS."),
    "triage": ("triage", "Name the owner of every failure anew; all runs where none is given."),
    "review": ("review", "Have the failures read: by a model, an agent, a person, a spreadsheet."),
    "buckets": ("buckets", "Put failures with one cause into buckets, and put these right."),
    "sessions": (
        "sessions",
        "Tell the sessions of RUNS, what the latest one hides, and cascades.",
    ),
    "rerun": ("rerun", "Tell how RUNS can be repeated where it was not the model's fault."),
    "action": ("action", "Keep what was done about failures, and tell whether it worked."),
    "known": ("known", "Keep which gaps of a suite are known, so that they are not found again."),
    "report": ("report", "Write a report about RUNS that people keep."),
    "issues": ("issues", "Write the issues of RUNS, one for each case, and the script that files them."),
    "writeback": ("writeback", "Write what is settled about RUNS in the form that their harness keeps."),
    "export": ("export", "Export runs in the every_eval_ever format, or as tables."),
    "exclude": ("exclude", "Keep RUN, but leave it out of every score."),
    "rm": ("rm", "Forget RUNS."),
    "trust": ("trust", "Let a project's `errata.toml` name reviewers, addresses and keys."),
    "sources": ("sources", "List the formats that can be read."),
    "doctor": ("doctor", "Tell whether the store is sound."),
    "demo": ("demo", "Analyse a bundled example."),
}


class _App(LazyGroup):
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """`errata` alone is a question, too; `errata help X` asks the same as `errata X --help`."""
        if not args or args == ["help"]:
            args = ["--help"]
        elif args[0] == "help":
            args = [*args[1:], "--help"]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in self.table and is_path(name):
            told = f"`{shlex.join(['errata', 'analyze', name])}` reads it, and tells what went wrong"
            raise SettingsError(f"`{name}` is a path and no command", hint=told)
        return super().resolve_command(ctx, args)


def is_path(name: str) -> bool:
    return os.sep in name and os.path.exists(name)  # noqa: PTH110 pathlib is not needed for help


@click.group(
    cls=_App,
    table=COMMANDS,
    package="errata.cli",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
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
