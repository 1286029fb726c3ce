"""Harbor: a new job of the same agent and model with the tasks by name; where trials are only lacking, `resume`."""

from pathlib import Path

from errata.model import Run
from errata.rerun import terminal_bench
from errata.rerun.batches import repeated
from errata.rerun.fit import MODEL, NAME, UnfitError, fit, fit_path, shaped
from errata.rerun.plan import NEVER_MADE, Command, Plan, Request, Wanted, all_by_hand, mapping, told

ADHOC = "adhoc"
CANCELLED = "CancelledError"
REGRADE = (
    "the agent works again too. `harbor jobs regrade` grades what it left, but that of every trial, and only where the "
    "verifier has an environment of its own"
)


def plan(request: Request) -> Plan:
    if request.run.source.format_version == terminal_bench.FORMAT:
        return terminal_bench.plan(request)
    lacking = [one for one in request.wanted if one.execution in NEVER_MADE]
    resumed = _resumed(request, lacking) if lacking else None
    rest = [one for one in request.wanted if resumed is None or one.execution not in NEVER_MADE]
    made = _new_job(request.run, rest)
    return Plan(commands=(*([resumed] if resumed else []), *made.commands), by_hand=made.by_hand, notes=made.notes)


def _resumed(request: Request, lacking: list[Wanted]) -> Command | None:
    """Only a whole job with its configuration can be resumed, and only one that is one run to us."""
    run = request.run
    if not mapping(told(run, "config")) or run.group:
        return None
    try:
        job = fit_path(Path(run.origin), "job")
    except UnfitError:
        return None
    # without another filter `resume` takes cancelled trials for lacking ones
    also = request.others.statuses[CANCELLED]
    return Command(
        argv=("harbor", "jobs", "resume", f"--job-path={job}"),
        wanted=tuple(lacking),
        also=also,
        also_why="Harbor removes the folders of cancelled trials and makes these again" if also else "",
    )


def _new_job(run: Run, wanted: list[Wanted]) -> Plan:
    if not wanted:
        return Plan()
    try:
        fixed = _fixed(run)
    except UnfitError as problem:
        return all_by_hand(wanted, str(problem))

    def build(names: list[str], often: int) -> Command:
        tasks = [f"--include-task-name={name}" for name in names]
        return Command(argv=("harbor", "run", *fixed, f"--n-attempts={often}", *tasks))

    answered = all(one.execution in ("completed", "limit") for one in wanted)
    notes = [*_notes(run), *([REGRADE] if answered else [])]
    return repeated(wanted, lambda case: shaped(case, "name of the task"), build, notes)


def _fixed(run: Run) -> tuple[str, ...]:
    if run.suite in ("", ADHOC):
        raise UnfitError("the tasks are of no dataset: give their folder to `harbor run --path`")
    name, version = fit(run.suite, "dataset"), _version(run)
    dataset = f"{name}@{version}" if version else name
    model = "/".join(part for part in (run.subject.provider, run.subject.model) if part)
    agent = fit(run.subject.agent, "agent")
    return (f"--dataset={dataset}", f"--agent={agent}", *([f"--model={fit(model, 'model', MODEL)}"] if model else []))


def _version(run: Run) -> str:
    """Of the dataset, where the job's configuration tells."""
    datasets = told(run, "config", "datasets")
    for one in map(mapping, datasets if isinstance(datasets, list) else ()):
        found = one.get("version") or one.get("ref")
        if one.get("name") == run.suite and isinstance(found, str) and NAME.fullmatch(found):
            return fit(found, "version of the dataset")
    return ""


def _notes(run: Run) -> list[str]:
    told_version = (
        [] if _version(run) else ["the log does not tell the version of the dataset: Harbor takes its latest"]
    )
    params = sorted(name for name, value in run.subject.params.items() if value not in (None, False, {}, []))
    carried = [f"settings of the agent that are not in the command: {', '.join(params)}"] if params else []
    return [*told_version, *carried]
