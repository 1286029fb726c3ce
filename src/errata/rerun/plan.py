"""A rerun plan: the attempts to repeat and the commands that repeat them. Nothing is run.

Logs are hostile: a value of a command is checked against an allowed shape, not escaped or repaired. The attempts that
need a value that does not fit are left to the user, with the reason.
"""

import re
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from errata.model import Run
from errata.model.output.act import AlsoWhy, FillIn, RerunNoteName, WhyNoCommand
from errata.model.record import Struct
from errata.text.clean import clean, one_line
from errata.text.lazy_regex import lazy_regex
from errata.text.outgoing import for_user

LONGEST_NAME, LONGEST_PATH = 200, 1_000

NAME = lazy_regex(r"[A-Za-z0-9_][A-Za-z0-9_.@+/-]*")
"""Ids of cases, names of models and agents. No comma, colon, blank, glob or quote: harnesses give those a meaning."""
FILE = lazy_regex(r"[A-Za-z0-9_./][A-Za-z0-9_.@+/-]*")
"""A path from a log, such as `../tasks/capitals.py`."""
MODEL = lazy_regex(r"[A-Za-z0-9_][A-Za-z0-9_.@+/:-]*")
"""`amazon.nova-2-sonic-v1:0` is a model."""
WORDS = lazy_regex(r"[A-Za-z0-9_](?:[A-Za-z0-9_.,:@+/#= -]*[A-Za-z0-9_.,:@+/#=-])?")
"""A description in plain words."""
VALUE = lazy_regex(r"[A-Za-z0-9_.@+/:-]+")
"""After `name=`, where it can't be mistaken for an option."""


class UnfitError(ValueError):
    """A value that must not be part of a command."""

    def __init__(self, why: WhyNoCommand, about: str = "") -> None:
        super().__init__(f"{why}: {about}" if about else why)
        self.why: WhyNoCommand = why
        self.about = about


def fit(value: object, what: str, shape: re.Pattern[str] = NAME) -> str:
    """The value unchanged; raises `UnfitError` if it must not be part of a command."""
    text = shaped(value, what, shape)
    if for_user(text) != text:
        raise UnfitError("field_like_secret", what)
    return text


def shaped(value: object, what: str, shape: re.Pattern[str] = NAME) -> str:
    """`fit` without the slow search for secrets: `batch_commands` searches the names of all cases at once."""
    if not isinstance(value, str) or not value:
        raise UnfitError("field_missing", what)
    if value.startswith("-") and shape is not VALUE:
        raise UnfitError("field_like_option", what)
    if len(value) > LONGEST_NAME:
        raise UnfitError("field_too_long", what)
    if not shape.fullmatch(value):
        raise UnfitError("field_unsafe", what)
    return value


def fit_path(path: Path, what: str) -> str:
    """A path of this machine: quoting makes blanks harmless, but characters that a terminal hides are refused."""
    text = str(path)
    if not path.is_absolute() or not text.isprintable() or clean(text) != text or len(text) > LONGEST_PATH:
        raise UnfitError("path_unsafe", what)
    if for_user(text) != text:
        raise UnfitError("path_like_secret", what)
    return text


def fit_number(value: object) -> str | None:
    """A number as a command spells it; none for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e12:
        return None
    return repr(value)


def exactly(names: list[str]) -> str:
    """A JavaScript regular expression that matches these names and nothing else."""
    escaped = [_SPECIAL.sub(_escape, name) for name in names]
    return f"^{escaped[0]}$" if len(escaped) == 1 else f"^(?:{'|'.join(escaped)})$"


_SPECIAL = lazy_regex(r"[.+]| +")


def _escape(match: re.Match[str]) -> str:
    # white space in a description was folded when the log was read
    return r"\s+" if match[0].startswith(" ") else f"\\{match[0]}"


NEVER_MADE = frozenset(("missing", "unfinished"))
NOT_JUDGED = "not judged"
"""The reason to repeat only the judging."""


class RerunAttempt(Struct, gc=False):
    """An attempt to repeat; a run may have a hundred thousand of them."""

    case: str
    """The harness's name for it."""
    index: int = 1
    why: str
    """The owner, or `not measured`, `not judged`, `missing`, `unfinished`, `contradictory`, `asked for`."""
    signal: str = ""
    execution: str = "error"
    native_status: str = ""
    broke: bool = True
    """It was never made, or its harness reports it as an error."""


class Others(msgspec.Struct):
    """Counts of attempts that need no rerun but that a harness's own retry may repeat as well."""

    broke: int = 0
    scored: int = 0
    statuses: Counter[str] = msgspec.field(default_factory=Counter)
    """By the harness's own status."""


class RerunRequest(msgspec.Struct, frozen=True):
    run: Run
    attempts: Sequence[RerunAttempt]
    others: Others


class Command(Struct):
    argv: tuple[str, ...]
    purpose: Literal["run", "judge"] = "run"
    """`judge` scores what is recorded; the subject is not called again."""
    env: dict[str, str] = {}
    attempts: tuple[RerunAttempt, ...] = ()
    also: int = 0
    """How many other attempts it repeats, because the harness can't select more narrowly."""
    also_why: AlsoWhy | None = None
    fill_in: dict[str, FillIn] = {}
    """Placeholders in the command that the user replaces, and why."""

    @property
    def line(self) -> str:
        return shlex.join(self.words)

    @property
    def words(self) -> list[str]:
        settings = [f"{name}={value}" for name, value in self.env.items()]
        return [*(["env", *settings] if settings else []), *self.argv]

    @property
    def cases(self) -> list[str]:
        return list(dict.fromkeys(attempt.case for attempt in self.attempts))


class ByHand(msgspec.Struct, frozen=True, gc=False):
    """An attempt that no command repeats."""

    attempt: RerunAttempt
    why_not: WhyNoCommand
    about: str = ""
    """The field, path, test or source that `why_not` is about."""


class PlanNote(msgspec.Struct, frozen=True):
    name: RerunNoteName
    values: tuple[str, ...] = ()


class RerunPlan(Struct):
    commands: tuple[Command, ...] = ()
    by_hand: tuple[ByHand, ...] = ()
    notes: tuple[PlanNote, ...] = ()


def judging(commands: Sequence[Command]) -> tuple[Command, ...]:
    """Those that score recorded answers; they call no subject."""
    return tuple([command for command in commands if command.purpose == "judge"])


def all_by_hand(attempts: Sequence[RerunAttempt], problem: UnfitError) -> RerunPlan:
    return RerunPlan(by_hand=tuple(ByHand(attempt, problem.why, problem.about) for attempt in attempts))


def log_value(run: Run, *names: str) -> object:
    """A value from the harness's own configuration in the log, by its path; none if the log lacks it."""
    value: object = run.extra
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def texts(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list | tuple) else []


def mapping(value: object) -> dict[str, object]:
    return {str(name): item for name, item in value.items()} if isinstance(value, dict) else {}


# --- the sentences of a rerun plan: what its enum words mean, for people
# They are here and not on the command's page because they use the terms of each harness.


WIDTH = 80
_WHY_NOT: dict[WhyNoCommand, str] = {
    "command_like_secret": "the command looks as if it contains a secret",
    "continuous_conversation": (
        "a turn of a continuous conversation can't be rerun alone, so rerun the whole conversation; "
        "`--rehydrate --only-turns` replaces earlier turns with reference answers, which is a different measurement"
    ),
    "export_without_folder": "an exported table does not contain the experiment's folder: import the folder instead",
    "field_like_option": "the {about} starts with a dash, like an option",
    "field_like_secret": "the {about} looks like a secret",
    "field_missing": "the log does not contain the {about}",
    "field_too_long": f"the {{about}} is longer than {LONGEST_NAME} characters",
    "field_unsafe": "the {about} contains characters that are not safe in a command",
    "folder_name": "the harness expects a folder whose name ends in `-{about}`",
    "no_dataset": "the tasks belong to no dataset: pass their folder to `harbor run --path`",
    "no_description": "the test has no description to select it by",
    "no_planner": "errata has no rerun command for `{about}` logs; use the harness",
    "no_subtest": "the case does not name a test, tier and subtest",
    "path_like_secret": "the {about} path looks like a secret",
    "path_unsafe": "the {about} path contains characters that are not safe in a command",
    "task_in_script": "the task was created in a script: it has neither a file nor a registered name",
}
_NOTES: dict[RerunNoteName, str] = {
    "agent_settings_left_out": "agent settings that the command leaves out: {values}",
    "every_prompt": "the prompt has no plain name to filter by: the tests run with every prompt",
    "judge_only": "`judge` scores the recorded turns; the model is not called again",
    "keys_from_env_file": "keys come from `.env`; if `CONVEX_EVAL_URL` is set, this creates a new run of these evals",
    "latest_dataset": "the log does not contain the dataset version: Harbor uses the latest",
    "new_results_folder": "results go to a new folder: in the old one, the runner skips every test that has a result",
    "new_run": "this creates a new run of these turns only; judge it like the first",
    "options_not_in_log": "`--runs`, `--tiers` and `--max-subtests` are not in the log: add the original values",
    "other_model_in_logs": "the thread logs name a different model than the summary: {values}",
    "regrade": (
        "this also runs the agent again. `harbor jobs regrade` grades the existing output, but of every trial, "
        "and only if the verifier has an environment of its own"
    ),
    "resumes_in_place": "the runner resumes each test where it stopped and keeps finished work",
    "retry_uses_log_settings": "`eval-retry` takes the task ({values}), the model and all settings from the log",
    "run_in_checkout": "run this in a checkout of {values}",
    "run_in_config_folder": "run this in the folder of the configuration, or add `--config`",
    "run_where_stored": "run this where promptfoo stores the evaluation; elsewhere, `promptfoo import` it first",
    "service_not_in_log": "add `--service` if the model needs one: it is not in the log",
    "settings_left_out": (
        "the `inspect eval` command has only the task with its arguments, the model and numeric settings: "
        "`inspect log export-config` writes all of them, and `inspect eval --run-config` reads them"
    ),
}
ALSO_WHY: dict[AlsoWhy, str] = {
    "all_errors": "promptfoo retries every result of the evaluation that is an error",
    "all_errors_and_missing": "`eval-retry` repeats every sample of the log that failed with an error or is missing",
    "cancelled_trials": "Harbor deletes the folders of cancelled trials and runs them again",
}
FILL_IN: dict[FillIn, str] = {
    "dataset_not_in_log": "the log does not name a dataset, only a folder on the machine that wrote it",
    "model_not_in_log": "the log does not name the model, and the harness would use its default",
}


def why_by_hand(by_hand: ByHand) -> str:
    return why_no_command(by_hand.why_not, by_hand.about)


def why_no_command(why_not: WhyNoCommand, about: str) -> str:
    return _WHY_NOT[why_not].format(about=about)


def note_text(note: PlanNote) -> str:
    return _NOTES[note.name].format(values=one_line(", ".join(note.values), WIDTH))


LONGEST = 100_000
"""Bytes of a command. Linux accepts 128 KiB in one argument, and some systems little more than that in total."""
ESCAPED = ".+ "
"""Characters that take up to two more in a regular expression."""

Build = Callable[[list[str], int], Command]
"""Builds a command, without its attempts, from case names and the number of attempts of each."""


def batch_commands(
    attempts: Sequence[RerunAttempt],
    shaped_case: Callable[[str], str],
    build: Build,
    notes: Sequence[PlanNote] = (),
) -> RerunPlan:
    """One command for all cases where possible; cases with unfit names are left to the user."""
    by_name: dict[str, list[RerunAttempt]] = {}
    by_hand: list[ByHand] = []
    for attempt in attempts:
        try:
            by_name.setdefault(shaped_case(attempt.case), []).append(attempt)
        except UnfitError as problem:
            by_hand.append(ByHand(attempt, problem.why, problem.about))
    for name in _secrets(by_name):
        by_hand += [ByHand(attempt, "field_like_secret", "case name") for attempt in by_name.pop(name)]
    commands: list[Command] = []
    for often, names in sorted(_equally_often(by_name).items()):
        for part in _parts(names, often, build):
            covered = tuple(attempt for name in part for attempt in by_name[name])
            commands.append(msgspec.structs.replace(build(part, often), attempts=covered))
    return RerunPlan(commands=tuple(commands), by_hand=tuple(by_hand), notes=tuple(notes) if commands else ())


def _secrets(names: Collection[str]) -> list[str]:
    together = "\n".join(names)
    return [] if for_user(together) == together else [name for name in names if for_user(name) != name]


def _equally_often(attempts: dict[str, list[RerunAttempt]]) -> dict[int, list[str]]:
    """A harness repeats every case of a command equally often."""
    groups: dict[int, list[str]] = {}
    for name, of_case in attempts.items():
        groups.setdefault(len(of_case), []).append(name)
    return groups


def _parts(names: list[str], often: int, build: Build) -> Iterator[list[str]]:
    single, double = (len(build(names[:1] * count, often).line.encode()) for count in (1, 2))
    fixed, joint = 2 * single - double, double - single - len(names[0])
    part: list[str] = []
    size = fixed
    for name in names:
        more = len(name) + joint + 2 * sum(map(name.count, ESCAPED))
        if part and size + more > LONGEST:
            yield part
            part, size = [], fixed
        part.append(name)
        size += more
    if part:
        yield part
