"""`errata rerun --execute`: show each command, ask, run it, and show what changed."""

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from errata.cli.options import Options
from errata.cli.output import plural, put, put_command, put_json, say
from errata.cli.render.runs import title_of
from errata.cli.rerun import show_command
from errata.cli.table import put_table
from errata.errors import SettingsError
from errata.model.output.act import ExecutedCommand, RepeatedCaseOutput, RerunExecutedOutput
from errata.rerun import Command
from errata.rerun.selection import Rerun
from errata.runner.rerun import RerunResult, execute, refuse_missing_programs, runnable
from errata.runs.view import RunView
from errata.text.outgoing import for_user
from errata.text.shell import shell_word
from errata.verbs.rerun import plan_reruns

AFTER = {
    "passed": "passes now",
    "failed": "fails again",
    "mixed": "passes and fails",
    "not_measured": "not measured again",
    "not_repeated": "not repeated",
}


def execute_reruns(
    runs: Sequence[str],
    options: Options,
    *,
    cases: Sequence[str],
    owners: Sequence[str],
    judge_only: bool,
    yes: bool,
    cwd: Path | None,
) -> None:
    folder, failed = cwd or Path.cwd(), False
    for view, rerun in list(plan_reruns(runs, options.store, cases=cases, owners=owners)):
        commands = runnable(rerun, judge_only=judge_only)
        if not commands:
            plan = f"`errata rerun {shell_word(view.handle)}` shows the plan"
            say(f"{view.handle}: nothing that can be run as it is; {plan}")
            continue
        refuse_missing_programs(commands)
        chosen = commands if yes else _confirmed(view, commands, folder)
        if not chosen:
            say("nothing was run")
            continue
        result = execute(view, chosen, options.store, folder=folder)
        failed = failed or any(one.exit_code for one in result.executed)
        if options.json:
            put_json(_output(view, rerun, result, judge_only=judge_only))
        else:
            _show(view, result)
    if failed:
        raise click.exceptions.Exit(1)


def _confirmed(view: RunView, commands: Sequence[Command], folder: Path) -> list[Command]:
    if not sys.stdin.isatty():
        raise SettingsError("--execute asks before each command", hint="add --yes to run them without being asked")
    put(title_of(view.run, view.handle))
    chosen = []
    for command in commands:
        put()
        show_command(command)
        if click.confirm(f"Run this in {for_user(str(folder))}?", default=False, err=True):
            chosen.append(command)
    return chosen


def _show(view: RunView, result: RerunResult) -> None:
    put(title_of(view.run, view.handle))
    for executed in result.executed:
        if executed.exit_code:
            put(f"FAILED   exit code {executed.exit_code}: {executed.command.line}", hang=9)
    if not result.views:
        put("No new results were found beside the run or in the working folder.")
        return
    flaky = sum(case.is_flaky for case in result.cases)
    put(f"Repeated {plural(len(result.cases), 'case')}: {flaky:,} flaky (failed before, passed unchanged)")
    put_table(["case", "repeated because", "result"], [(one.case, one.why, AFTER[one.after]) for one in result.cases])
    put()
    for new in result.views:
        put_command("Next", ["errata", "compare", view.handle, new.handle], "the old and the new results")


def _output(view: RunView, rerun: Rerun, result: RerunResult, *, judge_only: bool) -> RerunExecutedOutput:
    return RerunExecutedOutput(
        run=view.run.native_id,
        run_id=view.run.id,
        commands=tuple(ExecutedCommand(argv=one.command.argv, exit_code=one.exit_code) for one in result.executed),
        skipped=len(rerun.plan.commands) - len(runnable(rerun, judge_only=judge_only)),
        new_runs=tuple(one.run.id for one in result.views),
        cases=tuple(
            RepeatedCaseOutput(case=case.case, why=case.why, after=case.after, flaky=case.is_flaky)
            for case in result.cases
        ),
    )
