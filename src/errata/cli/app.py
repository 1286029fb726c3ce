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
    "map": ("map_", "Draft a mapping for your own table."),
    "watch": ("watch", "Import finished runs as they appear in folders."),
    "fetch": ("fetch", "Download runs from the harness's server."),
    "runs": ("runs", "List the runs in the store."),
    "show": ("show", "Show a run, a case or an attempt, with evidence."),
    "check": ("check", "Check whether runs are complete and fit for comparison."),
    "score": ("score", "Show scores under every scoring policy."),
    "compare": ("compare.command", "Compare runs case by case, with significance tests."),
    "gate": ("gate", "Fail CI on new failures, a low or lower score, or an incomplete run."),
    "consistency": ("consistency", "Show which cases and checks change between repeated runs."),
    "failures": ("failures", "List failures with owner and evidence."),
    "triage": ("triage", "Reassign owners with the current rules."),
    "review": ("review", "Review failures with a model or agent, by hand, or in a spreadsheet."),
    "taxonomies": ("taxonomies", "List taxonomies with their labels."),
    "buckets": ("buckets", "Group failures by cause, and correct the groups."),
    "sessions": ("sessions", "List the sessions of a resumed run and what each one replaced."),
    "rerun": ("rerun", "Print or run the commands that rerun what broke."),
    "run": ("run", "Run suites with Inspect AI, then analyse the results."),
    "models": ("models", "List, check and try the models that `run` uses."),
    "action": ("action", "Record fixes, and check whether they worked."),
    "known": ("known", "Record accepted limitations of a suite."),
    "report": ("report", "Write a report about runs."),
    "issues": ("report:issues", "Write an issue for each case and a script that files them."),
    "writeback": ("writeback", "Write owners and verdicts into copies of the harness's logs."),
    "export": ("export", "Export runs as tables, or failures as regression cases."),
    "exclude": ("rm:exclude_run", "Leave a run out of comparisons, pooled scores and baselines, with a reason."),
    "rm": ("rm", "Remove runs from the store."),
    "store": ("store", "Back up, restore, copy, measure and thin the store."),
    "trust": ("trust", "Allow a project's `errata.toml` to set rules, taxonomies and more."),
    "skill": ("skill", "Install instructions for coding agents."),
    "mcp": ("serve:mcp", "Serve errata to agents over MCP."),
    "serve": ("serve", "Serve the runs as web pages and an HTTP API."),
    "token": ("serve:token", "Create, list and revoke tokens for `serve`."),
    "sources": ("taxonomies:sources", "List the formats that errata reads."),
    "doctor": ("store:doctor", "Check the store for damage."),
    "demo": ("demo", "Run `analyze` on a bundled example."),
}

SECTIONS = {
    "Look": ("analyze", "runs", "failures", "show", "score", "check", "sessions", "serve", "demo"),
    "Compare": ("compare", "consistency", "gate"),
    "Review": ("triage", "review", "taxonomies", "buckets"),
    "Act": ("report", "rerun", "run", "models", "issues", "action", "known", "writeback", "export"),
    "Agents": ("skill", "mcp"),
    "Store": ("import", "watch", "map", "fetch", "exclude", "rm", "store", "doctor", "sources", "trust", "token"),
}
"""The commands by what people want to do."""

OTHER_WORDS = {
    "analyze": "analyse summary",
    "runs": "ls list history",
    "show": "view cat info inspect",
    "failures": "errors fails",
    "score": "stats scores metrics",
    "compare": "diff cmp",
    "consistency": "flaky",
    "check": "validate verify lint",
    "buckets": "clusters causes",
    "rerun": "retry",
    "sources": "formats harnesses",
    "taxonomies": "labels",
    "import": "add load ingest",
    "map": "mapping schema",
    "fetch": "pull download",
    "rm": "remove delete del",
    "exclude": "ignore",
    "review": "annotate label judge",
    "report": "publish",
}
"""What other tools call a command: it is suggested."""


class UnknownCommandError(click.UsageError):
    """Like click's own, which suggests only words that are spelled alike."""

    def __init__(self, name: str, meant: str, ctx: click.Context) -> None:
        super().__init__(f"No such command `{name}`.", ctx)
        self.possibilities = [meant]


class _App(LazyGroup):
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """`errata` alone shows the help, and `errata help X` that of X."""
        if not args or args == ["help"]:
            args = ["--help"]
        elif args[0] == "help":
            args = [*args[1:], "--help"]
        elif args == ["version"]:
            args = ["--version"]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in self.table and is_path(name):
            hint = f"`{shlex.join(['errata', 'analyze', name])}` reads it and shows what went wrong"
            raise SettingsError(f"`{name}` is a path, not a command", hint=hint)
        for meant, words in OTHER_WORDS.items():
            if name in words.split():
                raise UnknownCommandError(name, meant, ctx)
        return super().resolve_command(ctx, args)


def is_path(name: str) -> bool:
    return os.sep in name and os.path.exists(name)  # noqa: PTH110 pathlib is not needed for help


@click.group(
    cls=_App,
    table=COMMANDS,
    package="errata.cli",
    sections=SECTIONS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("--store", metavar="FILE", default="", help="Path of the store; also accepted after the command.")
@click.option("--prod", is_flag=True, help="Allow this command to write to the store of a production deployment.")
@click.version_option(__version__, "-V", "--version", message="errata %(version)s")
def app(prod: bool, **_others: str) -> None:
    """The post-mortem for LLM eval runs: what went wrong, who has to act, on what evidence, and what to do next.

    \b
    errata demo              a bundled example
    errata analyze PATH      your own run
    errata failures latest   its failures, with owners
    errata show latest/CASE  one of them, with evidence

    RUN is a path, a run's name or id (or its first characters), a model's name (if it has only one run), or `latest`.
    """
    if prod:
        # importing the database takes longer than most commands
        from errata.verbs.store import write_to_production

        write_to_production()
