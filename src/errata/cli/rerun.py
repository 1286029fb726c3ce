"""`errata rerun`."""

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import click
import msgspec

from errata.cli.options import OneOfMany, Options, Word, shared_options
from errata.cli.output import money, plural, put, put_command, put_json, put_words, say
from errata.cli.render.runs import attempts_in_words, counted_in, title_of
from errata.cli.table import put_parts, put_table
from errata.errors import SettingsError
from errata.json_output.review import rerun_output
from errata.model.output.act import ExecutedCommand, RepeatedCaseOutput, RerunExecutedOutput
from errata.model.words import OWNERS
from errata.render.figures import left_out_reason
from errata.rerun import ByHand, Command, RerunAttempt
from errata.rerun.plan import ALSO_WHY, FILL_IN, judging, note_text, why_by_hand
from errata.rerun.selection import Rerun
from errata.runner.rerun import RerunResult, execute, refuse_missing_programs, runnable
from errata.runs.explanation import meaning_of
from errata.runs.first_page import cases_not_in_log
from errata.runs.view import RunView
from errata.text.clean import one_line
from errata.text.outgoing import for_user
from errata.text.shell import shell_word
from errata.verbs.rerun import plan_reruns

NAMED, LONGEST = 8, 80
INDENT, DEEPER = " " * 2, 6


@click.command("rerun")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@click.option("--case", "cases", multiple=True, metavar="NAME", help="Only this case, with any owner.")
@click.option(
    "--owner",
    "owners",
    cls=OneOfMany,
    multiple=True,
    type=Word(OWNERS),
    help="Only failures with this owner; repeatable.",
)
@click.option("--judge-only", is_flag=True, help="Only commands that judge recorded answers again.")
@click.option("--execute", is_flag=True, help="Run the commands after you confirm, and import the results.")
@click.option("--yes", is_flag=True, help="With --execute: do not ask.")
@click.option(
    "--cwd", type=click.Path(path_type=Path), default=None, metavar="DIR", help="Folder to run the commands in."
)
@shared_options
def command(
    runs: tuple[str, ...],
    cases: tuple[str, ...],
    owners: tuple[str, ...],
    judge_only: bool,
    execute: bool,
    yes: bool,
    cwd: Path | None,
    options: Options,
) -> None:
    """Print or run the commands that rerun what broke.

    Runs nothing without --execute. Without --case and --owner, covers infrastructure failures (provider, environment,
    harness, simulator), knock-on failures, attempts that were not measured, and missing or unfinished cases. Leaves out
    cases that an earlier session measured.

    With --execute, each command is shown before it runs, and the new results are compared with the old: a failure that
    passes when repeated is flaky.
    """
    if execute:
        execute_reruns(runs, options, cases=cases, owners=owners, judge_only=judge_only, yes=yes, cwd=cwd)
        return
    for at, (view, rerun) in enumerate(plan_reruns(runs, options.store, cases=cases, owners=owners)):
        if judge_only:
            rerun = only_judging(rerun)
        if options.json:
            put_json(rerun_output(rerun))
            continue
        if at:
            put()
        put(title_of(view.run, view.handle))
        if view.run.excluded is not None:
            put(f"EXCLUDED from every score: {view.run.excluded.reason}")
        _show(rerun, view)


def only_judging(rerun: Rerun) -> Rerun:
    """The same plan with the commands that score recorded answers, and nothing that calls the subject."""
    commands = judging(rerun.plan.commands)
    plan = msgspec.structs.replace(rerun.plan, commands=commands, by_hand=())
    attempts = sum(len(command.attempts) for command in commands)
    return msgspec.structs.replace(rerun, plan=plan, attempts=attempts)


def _show(rerun: Rerun, view: RunView) -> None:
    plan = rerun.plan
    if not rerun.attempts:
        put("Nothing to rerun")
        _show_recovered(rerun)
        return
    attempts = [one for command in plan.commands for one in command.attempts] + [one.attempt for one in plan.by_hand]
    put_parts(
        "Rerun",
        [f"{rerun.attempts:,} of {_whole(view)}", *_tally(left_out_reason(one.why) for one in attempts)],
    )
    _show_recovered(rerun)
    for note in plan.notes:
        put(f"note     {note_text(note)}", hang=9)
    for command in plan.commands:
        put()
        show_command(command)
    if plan.by_hand:
        put()
        _show_by_hand(plan.by_hand)
    put()
    if plan.commands:
        put(f"cost     {_cost(rerun)}", hang=9)
    put("Owners are provisional unless reviewed. Nothing was run.")


def _whole(view: RunView) -> str:
    """The cases or attempts of the run; those that were never made are among them, since a rerun makes them."""
    stored, unit = view.stored, view.scores().unit
    if cases_not_in_log(stored):
        return attempts_in_words(stored)
    planned = "planned " if stored.counts.missing else ""
    total = stored.counts.cases if unit == "cases" else stored.counts.counted
    return plural(total, f"{planned}{counted_in(stored.run, unit)}")


def _show_recovered(rerun: Rerun) -> None:
    if rerun.recovered:
        cases = plural(len(rerun.recovered), "case")
        put(f"skipped  {cases} that an earlier session measured (--case or --owner includes them)", hang=9)


def show_command(command: Command) -> None:
    put_words([shell_word(word) for word in command.words], head=INDENT, deeper=DEEPER)
    for word, why in command.fill_in.items():
        put(f"fill in  {word}: {FILL_IN[why]}", hang=9)
    put_parts("cases", _names(command.attempts))
    put_parts("why", _reasons(command.attempts))
    if command.also_why is not None:
        put(f"also     {plural(command.also, 'other attempt')}: {ALSO_WHY[command.also_why]}", hang=9)


def _show_by_hand(by_hand: Sequence[ByHand]) -> None:
    groups: dict[str, list[RerunAttempt]] = {}
    for item in by_hand:
        groups.setdefault(why_by_hand(item), []).append(item.attempt)
    for sentence, attempts in groups.items():
        put(f"By hand  {plural(len(attempts), 'attempt')}: {sentence}", hang=9)
        put_parts("cases", _names(attempts))
        put_parts("why", _reasons(attempts))


def _names(attempts: Iterable[RerunAttempt]) -> list[str]:
    often = Counter(one_line(one.case, LONGEST) for one in attempts)
    names = [f"{name} ({times}×)" if times > 1 else name for name, times in often.items()]
    return [*names[:NAMED], *([f"and {len(names) - NAMED:,} more"] if len(names) > NAMED else [])]


def _reasons(attempts: Iterable[RerunAttempt]) -> list[str]:
    reasons = ((left_out_reason(one.why), one.signal) for one in attempts)
    tally = Counter(f"{why}: {meaning_of(signal)}" if signal else why for why, signal in reasons)
    return [f"{count:,} × {words}" for words, count in tally.most_common()]


def _tally(words: Iterable[str]) -> list[str]:
    return [f"{word} {count:,}" for word, count in Counter(words).most_common()]


def _cost(rerun: Rerun) -> str:
    estimate = rerun.estimate
    if estimate is None:
        return "unknown: the log gives no cost for any measured attempt"
    of = plural(estimate.basis, "measured attempt")
    total = money(estimate.total, 2 if estimate.total >= 1 else 4)
    return f"about {total} ({money(estimate.each)} per attempt, the mean of {of})"


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
            _show_executed(view, result)
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


def _show_executed(view: RunView, result: RerunResult) -> None:
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
