"""The list of commands, and the program they belong to."""

import os
import shlex

import click

from errata import __version__
from errata.cli.lazy import LazyGroup, Table
from errata.errors import SettingsError

COMMANDS: Table = {
    "analyze": ("analyze", "Import, check and summarise runs, and write a report."),
    "import": ("import_", "Read runs into the store."),
    "fetch": ("fetch", "Download runs from their deployment, to read them offline."),
    "runs": ("runs", "List the runs in the store."),
    "show": ("show", "Show a run, a case or an attempt, with evidence."),
    "check": ("check", "Check whether runs are complete and fit for analysis."),
    "score": ("score", "Show scores under every scoring policy."),
    "compare": ("compare.command", "Compare runs case by case, with significance tests."),
    "consistency": ("consistency", "Show which cases and checks change between repeated runs."),
    "failures": ("failures", "List failures with owner and evidence."),
    "triage": ("triage", "Assign an owner to every failure again."),
    "review": ("review", "Review failures: by model, agent, person or spreadsheet."),
    "buckets": ("buckets", "Group failures by cause, and correct the groups."),
    "sessions": (
        "sessions",
        "List sessions, results that a later session replaced, and knock-on failures.",
    ),
    "rerun": ("rerun", "Print the commands that rerun failures the model did not cause."),
    "action": ("action", "Record fixes, and check whether they worked."),
    "known": ("known", "Record limitations of a suite that are accepted."),
    "report": ("report", "Write a report about runs."),
    "issues": ("issues", "Write an issue for each failing case, and a script that files them."),
    "writeback": ("writeback", "Write settled results in the harness's own format."),
    "export": ("export", "Export runs in the every_eval_ever format."),
    "exclude": ("exclude", "Exclude a run from every score, with a reason."),
    "rm": ("rm", "Remove runs from the store."),
    "trust": ("trust", "Allow a project's `errata.toml` to set reviewers, addresses and keys."),
    "sources": ("sources", "List the formats that errata reads."),
    "doctor": ("doctor", "Check the store for damage."),
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
