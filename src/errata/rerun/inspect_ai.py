"""Inspect: `eval-retry` where it repeats just what is wanted, else a new evaluation of samples by their ids."""

from pathlib import Path

from errata.model import Run
from errata.rerun.batches import repeated
from errata.rerun.fit import FILE, MODEL, VALUE, UnfitError, fit, fit_number, fit_path, shaped
from errata.rerun.plan import Command, Plan, Request, Wanted, all_by_hand, mapping, told

OPTIONS = (
    "temperature", "top_p", "top_k", "max_tokens", "seed", "frequency_penalty", "presence_penalty",
    "reasoning_tokens", "message_limit", "token_limit", "turn_limit", "time_limit", "working_limit", "cost_limit",
)  # fmt: skip
"""Numbers of a log's configuration that are options of `inspect eval` of the same name."""

SCRIPTED = "the task was made in a script: it has neither a file nor a registered name to be called by"
OTHER_ERRORS = "`eval-retry` repeats every sample of the log that ended in an error or is missing"
SETTINGS = (
    "settings that are no numbers (solver, sandbox, model roles …) are not in the command: `inspect log export-config` "
    "writes them all, and `inspect eval --run-config` takes them"
)


def plan(request: Request) -> Plan:
    run = request.run
    task = _task(run)
    retried = [one for one in request.wanted if one.broke]
    rest = [one for one in request.wanted if not one.broke]
    if retried and not request.others.broke:
        chosen = _chosen(run, task, rest)
        retry = _retry(run, retried)
        notes = (_takes(task), *chosen.notes)
        return Plan(commands=(retry, *chosen.commands), by_hand=chosen.by_hand, notes=notes)
    chosen = _chosen(run, task, [*retried, *rest])
    return _with_retry(request, chosen, task) if any(one.wanted.broke for one in chosen.by_hand) else chosen


def _with_retry(request: Request, chosen: Plan, task: str) -> Plan:
    """What can't be chosen by its id can be had with everything else that broke."""
    retried = [one.wanted for one in chosen.by_hand if one.wanted.broke]
    others = request.others.broke + sum(one.broke for command in chosen.commands for one in command.wanted)
    retry = _retry(request.run, retried, also=others)
    rest = tuple(one for one in chosen.by_hand if not one.wanted.broke)
    return Plan(commands=(*chosen.commands, retry), by_hand=rest, notes=(*chosen.notes, _takes(task)))


def _task(run: Run) -> str:
    """As Inspect itself finds it again: a file and a name in it, or a registered name."""
    name, file = told(run, "eval", "task"), told(run, "eval", "task_file")
    if file:
        return f"{fit(file, 'file of the task', FILE)}@{fit(run.suite, 'task')}"
    registered = told(run, "eval", "task_registry_name") or name
    if not isinstance(registered, str) or "/" not in registered:
        raise UnfitError(SCRIPTED)
    return fit(registered, "task")


def _takes(task: str) -> str:
    return f"`eval-retry` takes the task ({task}), the model and all settings from the log itself"


def _retry(run: Run, wanted: list[Wanted], *, also: int = 0) -> Command:
    log = Path(run.origin) / (run.ref.file if run.ref else "")
    return Command(
        argv=("inspect", "eval-retry", fit_path(log, "log")),
        wanted=tuple(wanted),
        also=also,
        also_why=OTHER_ERRORS if also else "",
    )


def _chosen(run: Run, task: str, wanted: list[Wanted]) -> Plan:
    if not wanted:
        return Plan()
    try:
        fixed = ("inspect", "eval", task, f"--model={fit(run.subject.model, 'model', MODEL)}", *_arguments(run))
    except UnfitError as problem:
        return all_by_hand(wanted, str(problem))

    def build(names: list[str], often: int) -> Command:
        return Command(argv=(*fixed, f"--epochs={often}", f"--sample-id={','.join(names)}"))

    return repeated(wanted, lambda case: shaped(case, "id of the sample"), build, [SETTINGS])


def _arguments(run: Run) -> tuple[str, ...]:
    """Of the task, and the numbers that steer generation and limits."""
    passed = told(run, "eval", "task_args_passed")
    given = {name: str(value) for name, value in mapping(passed).items()} if isinstance(passed, dict) else run.variant
    words: list[str] = []
    for name, value in given.items():
        words += ["-T", f"{fit(name, 'name of a task argument')}={fit(value, f'task argument `{name}`', VALUE)}"]
    config = {**mapping(run.environment.get("config")), **run.subject.params}
    for name in OPTIONS:
        if number := fit_number(config.get(name)):
            words.append(f"--{name.replace('_', '-')}={number}")
    return tuple(words)
