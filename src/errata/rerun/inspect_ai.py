"""Inspect: `eval-retry` where it repeats exactly these samples, otherwise a new evaluation with their ids."""

from pathlib import Path

from errata.model import Run
from errata.rerun.plan import (
    FILE,
    MODEL,
    VALUE,
    Command,
    PlanNote,
    RerunAttempt,
    RerunPlan,
    RerunRequest,
    UnfitError,
    all_by_hand,
    batch_commands,
    fit,
    fit_number,
    fit_path,
    log_value,
    mapping,
    shaped,
)

OPTIONS = (
    "temperature", "top_p", "top_k", "max_tokens", "seed", "frequency_penalty", "presence_penalty",
    "reasoning_tokens", "message_limit", "token_limit", "turn_limit", "time_limit", "working_limit", "cost_limit",
)  # fmt: skip
"""Numbers in a log's configuration that `inspect eval` takes as options of the same name."""


def plan(request: RerunRequest) -> RerunPlan:
    run = request.run
    task = _task(run)
    retried = [one for one in request.attempts if one.broke]
    rest = [one for one in request.attempts if not one.broke]
    if retried and not request.others.broke:
        chosen = _chosen(run, task, rest)
        retry = _retry(run, retried)
        notes = (_retry_note(task), *chosen.notes)
        return RerunPlan(commands=(retry, *chosen.commands), by_hand=chosen.by_hand, notes=notes)
    chosen = _chosen(run, task, [*retried, *rest])
    return _with_retry(request, chosen, task) if any(one.attempt.broke for one in chosen.by_hand) else chosen


def _with_retry(request: RerunRequest, chosen: RerunPlan, task: str) -> RerunPlan:
    """Samples that can't be selected by id are retried together with all others that broke."""
    retried = [one.attempt for one in chosen.by_hand if one.attempt.broke]
    others = request.others.broke + sum(one.broke for command in chosen.commands for one in command.attempts)
    retry = _retry(request.run, retried, also=others)
    rest = tuple(one for one in chosen.by_hand if not one.attempt.broke)
    return RerunPlan(commands=(*chosen.commands, retry), by_hand=rest, notes=(*chosen.notes, _retry_note(task)))


def _task(run: Run) -> str:
    """The name by which Inspect finds the task: a file and a name in it, or a registered name."""
    name, file = log_value(run, "eval", "task"), log_value(run, "eval", "task_file")
    if file:
        return f"{fit(file, 'task file', FILE)}@{fit(run.suite, 'task')}"
    registered = log_value(run, "eval", "task_registry_name") or name
    if not isinstance(registered, str) or "/" not in registered:
        raise UnfitError("task_in_script")
    return fit(registered, "task")


def _retry_note(task: str) -> PlanNote:
    return PlanNote("retry_uses_log_settings", (task,))


def _retry(run: Run, attempts: list[RerunAttempt], *, also: int = 0) -> Command:
    log = Path(run.origin) / (run.ref.file if run.ref else "")
    return Command(
        argv=("inspect", "eval-retry", fit_path(log, "log")),
        attempts=tuple(attempts),
        also=also,
        also_why="all_errors_and_missing" if also else None,
    )


def _chosen(run: Run, task: str, attempts: list[RerunAttempt]) -> RerunPlan:
    if not attempts:
        return RerunPlan()
    try:
        fixed = ("inspect", "eval", task, f"--model={fit(run.subject.model, 'model', MODEL)}", *_arguments(run))
    except UnfitError as problem:
        return all_by_hand(attempts, problem)

    def build(names: list[str], often: int) -> Command:
        return Command(argv=(*fixed, f"--epochs={often}", f"--sample-id={','.join(names)}"))

    return batch_commands(attempts, lambda case: shaped(case, "sample id"), build, [PlanNote("settings_left_out")])


def _arguments(run: Run) -> tuple[str, ...]:
    """The task's arguments, and the numbers that control generation and limits."""
    passed = log_value(run, "eval", "task_args_passed")
    given = {name: str(value) for name, value in mapping(passed).items()} if isinstance(passed, dict) else run.variant
    words: list[str] = []
    for name, value in given.items():
        words += ["-T", f"{fit(name, 'task argument name')}={fit(value, f'task argument {name}', VALUE)}"]
    config = {**mapping(run.environment.get("config")), **run.subject.params}
    for name in OPTIONS:
        if number := fit_number(config.get(name)):
            words.append(f"--{name.replace('_', '-')}={number}")
    return tuple(words)
