"""Harbor: a new job of the same agent and model with the tasks by name; `resume` where trials are only missing.

Also terminal-bench, Harbor's predecessor: a new run of the same agent and model, with the tasks by id.
"""

from pathlib import Path

from errata.model import Run
from errata.model.output.act import FillIn
from errata.rerun.plan import (
    MODEL,
    NAME,
    NEVER_MADE,
    Command,
    PlanNote,
    RerunAttempt,
    RerunPlan,
    RerunRequest,
    UnfitError,
    all_by_hand,
    batch_commands,
    fit,
    fit_path,
    log_value,
    mapping,
    shaped,
)
from errata.text.lazy_regex import lazy_regex

ADHOC = "adhoc"
CANCELLED = "CancelledError"

TERMINAL_BENCH = "terminal-bench"
FOLDER = "FOLDER"
TASK = lazy_regex(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")
"""terminal-bench treats a task id as a glob below the dataset's folder."""


def plan(request: RerunRequest) -> RerunPlan:
    if request.run.source.format_version == TERMINAL_BENCH:
        return _terminal_bench(request)
    missing = [attempt for attempt in request.attempts if attempt.execution in NEVER_MADE]
    resume = _resume(request, missing) if missing else None
    rest = [attempt for attempt in request.attempts if resume is None or attempt.execution not in NEVER_MADE]
    new_job = _new_job(request.run, rest)
    commands = (*([resume] if resume else []), *new_job.commands)
    return RerunPlan(commands=commands, by_hand=new_job.by_hand, notes=new_job.notes)


def _resume(request: RerunRequest, missing: list[RerunAttempt]) -> Command | None:
    """Only a whole job with its configuration can be resumed, and only if the job is a single run."""
    run = request.run
    if not mapping(log_value(run, "config")) or run.group:
        return None
    try:
        job = fit_path(Path(run.origin), "job")
    except UnfitError:
        return None
    # without another filter, `resume` treats cancelled trials as missing
    also = request.others.statuses[CANCELLED]
    return Command(
        argv=("harbor", "jobs", "resume", f"--job-path={job}"),
        attempts=tuple(missing),
        also=also,
        also_why="cancelled_trials" if also else None,
    )


def _new_job(run: Run, attempts: list[RerunAttempt]) -> RerunPlan:
    if not attempts:
        return RerunPlan()
    try:
        fixed = _fixed(run)
    except UnfitError as problem:
        return all_by_hand(attempts, problem)

    def build(names: list[str], often: int) -> Command:
        tasks = [f"--include-task-name={name}" for name in names]
        return Command(argv=("harbor", "run", *fixed, f"--n-attempts={often}", *tasks))

    agent_finished = all(attempt.execution in ("completed", "limit") for attempt in attempts)
    notes = [*_notes(run), *([PlanNote("regrade")] if agent_finished else [])]
    return batch_commands(attempts, lambda case: shaped(case, "task name"), build, notes)


def _fixed(run: Run) -> tuple[str, ...]:
    if run.suite in ("", ADHOC):
        raise UnfitError("no_dataset")
    name, version = fit(run.suite, "dataset"), _version(run)
    dataset = f"{name}@{version}" if version else name
    return (f"--dataset={dataset}", f"--agent={fit(run.subject.agent, 'agent')}", *_model(run))


def _model(run: Run) -> tuple[str, ...]:
    model = "/".join(part for part in (run.subject.provider, run.subject.model) if part)
    return (f"--model={fit(model, 'model', MODEL)}",) if model else ()


def _version(run: Run) -> str:
    """The dataset's version, if the job's configuration has it."""
    datasets = log_value(run, "config", "datasets")
    for dataset in map(mapping, datasets if isinstance(datasets, list) else ()):
        version = dataset.get("version") or dataset.get("ref")
        if dataset.get("name") == run.suite and isinstance(version, str) and NAME.fullmatch(version):
            return fit(version, "dataset version")
    return ""


def _notes(run: Run) -> list[PlanNote]:
    params = sorted(name for name, value in run.subject.params.items() if value not in (None, False, {}, []))
    return [
        *([] if _version(run) else [PlanNote("latest_dataset")]),
        *([PlanNote("agent_settings_left_out", tuple(params))] if params else []),
    ]


def _terminal_bench(request: RerunRequest) -> RerunPlan:
    run = request.run
    dataset, fill_in = _terminal_bench_dataset(run)
    subject = (f"--agent={fit(run.subject.agent, 'agent')}", *_model(run))

    def build(names: list[str], often: int) -> Command:
        tasks = [f"--task-id={name}" for name in names]
        return Command(argv=("tb", "run", dataset, *subject, f"--n-attempts={often}", *tasks), fill_in=fill_in)

    return batch_commands(request.attempts, lambda case: shaped(case, "task id", TASK), build)


def _terminal_bench_dataset(run: Run) -> tuple[str, dict[str, FillIn]]:
    """If the log does not name a dataset, the suite has the harness's name."""
    if run.suite in ("", TERMINAL_BENCH):
        return f"--dataset-path={FOLDER}", {FOLDER: "dataset_not_in_log"}
    name = fit(run.suite, "dataset")
    version = f"=={run.suite_version}" if NAME.fullmatch(run.suite_version) else ""
    return f"--dataset={name}{version}", {}
