"""`errata rerun --execute`: run the planned commands, import what they produce, and compare case by case."""

import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from errata.errors import NotFoundError, SettingsError
from errata.model import Attempt, Run
from errata.model.record import Struct
from errata.model.run import case_name
from errata.model.times import moment_of
from errata.rerun import Command
from errata.rerun.plan import judging
from errata.rerun.selection import Rerun
from errata.runner.models import STDERR
from errata.runs.view import RunView
from errata.verbs.analyze import analyze_new
from errata.verbs.store import Store

After = Literal["passed", "failed", "mixed", "not_measured", "not_repeated"]
"""How a case went when it was repeated."""

CLOCK = timedelta(seconds=2)
"""How far the clocks of a harness and of this process may be apart."""


class Executed(Struct):
    command: Command
    exit_code: int


class RerunCase(Struct):
    case: str
    why: str
    """Why it was repeated: an owner, or what was missing."""
    after: After

    @property
    def is_flaky(self) -> bool:
        """It failed, and passes when it is repeated unchanged."""
        return self.after in ("passed", "mixed")


class RerunResult(Struct):
    executed: tuple[Executed, ...]
    views: tuple[RunView, ...]
    """The runs that hold the new attempts."""
    cases: tuple[RerunCase, ...]


def runnable(rerun: Rerun, *, judge_only: bool = False) -> list[Command]:
    """The commands that can be run as they are: complete, and of the wanted kind."""
    commands = judging(rerun.plan.commands) if judge_only else rerun.plan.commands
    return [command for command in commands if not command.fill_in]


def refuse_missing_programs(commands: Iterable[Command], environ: Mapping[str, str] = os.environ) -> None:
    """Before anything is run."""
    for command in commands:
        program = command.argv[0]
        if shutil.which(program, path=environ.get("PATH")) is None:
            hint = (
                "install the harness, or activate its environment; without --execute, errata only prints the commands"
            )
            raise NotFoundError(f"The program `{program}` is not on the PATH", hint=hint)


def execute(view: RunView, commands: Sequence[Command], store: Store, *, folder: Path) -> RerunResult:
    """Run the commands in `folder` one after the other, then import every run that is new or has grown.

    A command that fails does not stop the next: what it produced until then is imported all the same.
    """
    if not folder.is_dir():
        raise SettingsError(f"There is no folder `{folder}`", hint="name the harness's checkout with --cwd")
    began = datetime.now(UTC).isoformat()
    executed = [Executed(command=command, exit_code=_run(command, folder)) for command in commands]
    new = analyze_new(_result_folders(view, folder), store, source=view.run.source.name)
    views = tuple(one for one in new.views if _is_repetition(view.run, one.run, began))
    return RerunResult(executed=tuple(executed), views=views, cases=tuple(_compare(commands, views)))


def _is_repetition(before: Run, after: Run, began: str) -> bool:
    """The run itself, resumed; or a new one of the same subject and suite that did not start before the commands."""
    if before.id == after.id:
        return True
    same = before.suite == after.suite and before.subject.model == after.subject.model
    return same and (not after.started_at or moment_of(after.started_at) >= moment_of(began) - CLOCK)


def _run(command: Command, folder: Path) -> int:
    """What a harness prints goes to stderr, since stdout is for results."""
    env = dict(os.environ) | command.env
    return subprocess.run(
        command.argv, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=STDERR, check=False
    ).returncode


def _result_folders(view: RunView, folder: Path) -> list[Path]:
    """Where a harness leaves results: beside the run, in it, and in the working folder."""
    origin = Path(view.run.origin) if view.run.origin else None
    places = [folder.absolute()]
    if origin is not None and origin.exists():
        places.append(origin.parent if origin.is_file() else origin)
        places += [] if origin.is_file() else [origin.parent]
    return [
        place for place in dict.fromkeys(places) if not any(place != one and one in place.parents for one in places)
    ]


def _compare(commands: Sequence[Command], views: Sequence[RunView]) -> Iterator[RerunCase]:
    """By the attempts that count now, in new runs and in those that were resumed."""
    outcomes: dict[str, Counter[str]] = {}
    for view in views:
        for attempt in view.attempts(counted=True):
            outcomes.setdefault(case_name(view.run, attempt.case), Counter())[_word(attempt)] += 1
    for case, why in dict.fromkeys((one.case, one.why) for command in commands for one in command.attempts):
        yield RerunCase(case=case, why=why, after=_after(outcomes.get(case)))


def _word(attempt: Attempt) -> str:
    if attempt.measurement != "scored" or attempt.execution not in ("completed", "limit"):
        return "not_measured"
    return "passed" if attempt.outcome == "pass" else "failed"


def _after(seen: Counter[str] | None) -> After:
    if not seen:
        return "not_repeated"
    if seen["passed"] and seen["failed"]:
        return "mixed"
    return "passed" if seen["passed"] else "failed" if seen["failed"] else "not_measured"
