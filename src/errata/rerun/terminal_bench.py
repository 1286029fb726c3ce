"""terminal-bench, which Harbor came from: a new run of the same agent and model, the tasks by their ids."""

import re

from errata.model import Run
from errata.rerun.batches import repeated
from errata.rerun.fit import MODEL, NAME, fit, shaped
from errata.rerun.plan import Command, Plan, Request

FORMAT = "terminal-bench"
FOLDER = "FOLDER"
NO_DATASET = "the log names no dataset, only a folder of the machine that it was made on"
TASK = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")
"""It is looked for as a glob below the folder of the dataset."""


def plan(request: Request) -> Plan:
    run = request.run
    dataset, fill_in = _dataset(run)
    model = "/".join(part for part in (run.subject.provider, run.subject.model) if part)
    subject = (f"--agent={fit(run.subject.agent, 'agent')}", *_named(model))

    def build(names: list[str], often: int) -> Command:
        tasks = [f"--task-id={name}" for name in names]
        return Command(argv=("tb", "run", dataset, *subject, f"--n-attempts={often}", *tasks), fill_in=fill_in)

    return repeated(request.wanted, lambda case: shaped(case, "id of the task", TASK), build)


def _named(model: str) -> tuple[str, ...]:
    return (f"--model={fit(model, 'model', MODEL)}",) if model else ()


def _dataset(run: Run) -> tuple[str, dict[str, str]]:
    """Without a name in the log, the suite is only called after the harness."""
    if run.suite in ("", FORMAT):
        return f"--dataset-path={FOLDER}", {FOLDER: NO_DATASET}
    name = fit(run.suite, "dataset")
    version = f"=={run.suite_version}" if NAME.fullmatch(run.suite_version) else ""
    return f"--dataset={name}{version}", {}
