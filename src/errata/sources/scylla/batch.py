"""A batch folder: `batch_summary.json` of either generation, thread logs, and one folder per experiment."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from errata.model import (
    Attempt,
    Case,
    Item,
    Reported,
    Run,
    Scorer,
    Session,
    SourceInfo,
    SourceRef,
    Subject,
    case_key,
    times,
)
from errata.sources.base import folders
from errata.sources.base import number_or_none as number
from errata.sources.scylla import NAME, test_of
from errata.sources.scylla.batch_runs import children_of, with_runs
from errata.sources.scylla.batch_tests import PASS_ABOVE, SUITE, attempt_of
from errata.sources.scylla.experiment import UNDER_WAY, ScyllaExperiment, open_experiment, task_artefacts, task_text
from errata.sources.scylla.sessions import describe_sessions, number_sessions
from errata.sources.scylla.summary import (
    SummaryRow,
    entries_of,
    is_append_only,
    sessions_of,
    success_count,
    summary_rows,
    tests_of,
)
from errata.sources.scylla.thread_log import Logs, read_logs
from errata.sources.shared.documents import Documents
from errata.sources.shared.facts import UNFINISHED
from errata.sources.shared.values import last_part, mapping, moment, non_empty, parts, sequence, text


@dataclass
class ScyllaBatch:
    """The parts of a batch that are held at once; the runs of its experiments are read one by one."""

    root: Path
    documents: Documents
    summary: dict[str, Any]
    summary_ref: SourceRef
    logs: Logs
    experiments: list[ScyllaExperiment]
    append_only: bool
    rows: list[SummaryRow]
    logged: dict[str, SourceRef] = field(default_factory=dict)
    """Attempt → its position in the thread log."""

    @property
    def config(self) -> dict[str, Any]:
        return mapping(self.summary.get("config"))

    @property
    def threads(self) -> list[dict[str, Any]]:
        return [mapping(thread) for thread in sequence(self.summary.get("threads"))]

    @property
    def planned(self) -> list[str]:
        tests = (text(test) for thread in self.threads for test in sequence(thread.get("tests")))
        return list(dict.fromkeys(test for test in tests if test))


def read_batch(root: Path, summary_path: Path) -> Iterator[Item]:
    """`root` is the folder, or the summary itself if it is alone."""
    batch = _open(root, summary_path)
    run = run_of(batch)
    attempts = _attempts(batch, run)
    yield run
    yield from batch.logs.problems
    yield from batch.documents.problems()
    yield from _cases(batch, run, attempts)
    for attempt in attempts:
        yield from with_runs(_with_log(batch, attempt), attempts, batch.experiments, batch.documents)
    yield from children_of(attempts, batch.experiments, batch.documents)
    yield from batch.documents.problems()


def _open(root: Path, summary_path: Path) -> ScyllaBatch:
    alone = root == summary_path
    documents = Documents(root.parent if alone else root, NAME)
    summary = documents.get(summary_path)
    logs = Logs() if alone else read_logs(root)
    number_sessions(logs.blocks)
    experiment_folders = [] if alone else [folder for folder in folders(root) if _is_experiment(folder)]
    experiments = [open_experiment(folder, documents) for folder in experiment_folders]
    ref = documents.ref(summary_path)
    rows = summary_rows(summary, ref, documents)
    return ScyllaBatch(root, documents, summary, ref, logs, experiments, is_append_only(summary), rows)


def _is_experiment(folder: Path) -> bool:
    return test_of(folder.name) != folder.name or (folder / "checkpoint.json").is_file()


def _attempts(batch: ScyllaBatch, run: Run) -> list[Attempt]:
    """One attempt per test and session, each pointing to the one that replaced it."""
    if batch.append_only:
        pairs = [(entry.attempt(run.id), entry.block) for entry in entries_of(batch.rows, batch.logs)]
    else:
        of_rows = tests_of(
            batch.rows, batch.logs, planned=batch.planned, completed_at=batch.summary.get("completed_at")
        )
        pairs = [(attempt_of(run.id, one), one.block) for one in of_rows]
    batch.logged = {attempt.id: block.ref for attempt, block in pairs if block}
    attempts = [attempt for attempt, _ in pairs]
    attempts += _unlisted_attempts(batch, run, {attempt.case for attempt in attempts})
    latest: dict[str, Attempt] = {}
    for attempt in attempts:
        known_latest = latest.get(attempt.case)
        if known_latest is None or (attempt.session or 0) > (known_latest.session or 0):
            latest[attempt.case] = attempt
    marked = [_mark_superseded(attempt, latest[attempt.case]) for attempt in attempts]
    again = {attempt.superseded_by for attempt in marked}
    return [msgspec.structs.replace(one, provenance="retry") if one.id in again else one for one in marked]


def _unlisted_attempts(batch: ScyllaBatch, run: Run, cases: set[str]) -> list[Attempt]:
    """Experiments that are neither in the summary nor in a log: begun, but never recorded."""
    of_case = {case_key(SUITE, experiment.test): experiment for experiment in batch.experiments}
    facts = UNFINISHED._asdict()
    return [
        Attempt(
            run=run.id, case=case, session=1, native_status=experiment.checkpoint.status, ref=experiment.ref, **facts
        )
        for case, experiment in of_case.items()
        if case not in cases
    ]


def _with_log(batch: ScyllaBatch, attempt: Attempt) -> Attempt:
    """Adds what its thread logged while it ran. Read only now, because all attempts of a batch are held at once."""
    place = batch.logged.get(attempt.id)
    log = batch.documents.passage(place, "log") if place else None
    return msgspec.structs.replace(attempt, artefacts=(*attempt.artefacts, log)) if log else attempt


def _mark_superseded(attempt: Attempt, latest: Attempt) -> Attempt:
    if attempt.session == latest.session:
        return attempt
    return msgspec.structs.replace(attempt, superseded_by=latest.id)


def _cases(batch: ScyllaBatch, run: Run, attempts: list[Attempt]) -> Iterator[Item]:
    """One case per test. The task is read from its newest experiment."""
    newest = {experiment.test: experiment for experiment in batch.experiments}
    names = {
        text(row.get("test_id")): row.get("test_name") for row in map(mapping, sequence(batch.summary.get("results")))
    }
    for key in dict.fromkeys(attempt.case for attempt in attempts):
        test = key.removeprefix(f"{SUITE}/")
        experiment = newest.get(test)
        task = task_artefacts(experiment, batch.documents) if experiment else ()
        yield Case(
            run=run.id,
            suite=SUITE,
            native_id=test,
            name=text(names.get(test)),
            input=task_text(task),
            artefacts=task,
            ref=batch.documents.ref(experiment.folder / "prompt.md") if task and experiment else batch.summary_ref,
        )


def run_of(batch: ScyllaBatch) -> Run:
    config, summary = batch.config, batch.summary
    sessions = _sessions(batch)
    judge = text(config.get("judge_model"))
    results = sequence(summary.get("results"))
    return Run(
        native_id=_native_id(batch),
        source=SourceInfo(name=NAME, format_version="batch summary 2" if batch.append_only else "batch summary 1"),
        name=_native_id(batch),
        subject=Subject(model=_model(batch), params=non_empty(thinking=config.get("thinking"))),
        roles={"judge": judge} if judge else _judges(batch),
        suite=SUITE,
        expected_cases=len(batch.planned) or None,
        started_at=_extreme(min, [session.started_at for session in sessions], summary.get("started_at")),
        finished_at=_extreme(max, [session.finished_at for session in sessions], summary.get("completed_at")),
        reported=success_count(results, batch.summary_ref) if batch.append_only else _reported(batch, results),
        scorers=(Scorer(name="best tier score", kind="judge", model=judge, threshold=PASS_ABOVE),),
        sessions=sessions,
        environment=_environment(batch),
        log_evidence=tuple(batch.logs.evidence),
        ref=batch.summary_ref,
        origin=str(batch.documents.root.absolute()),
        extra=_extra(batch),
    )


def _environment(batch: ScyllaBatch) -> dict[str, Any]:
    """The configuration, and the processes whose checkpoints do not show that they ended."""
    alive = [one for one in batch.experiments if one.checkpoint.data and one.checkpoint.status in UNDER_WAY]
    return non_empty(config=batch.config, processes=[one.checkpoint.process(one.test) for one in alive])


def _native_id(batch: ScyllaBatch) -> str:
    """The name of the results folder in the log; without one, the name of the folder itself."""
    names = Counter(name for block in batch.logs.blocks if (name := _option(block.command, "--results-dir")))
    if not names:
        places = (parts(mapping(row).get("result_dir")) for row in sequence(batch.summary.get("results")))
        names.update(place[-2] for place in places if len(place) > 1)
    return names.most_common(1)[0][0] if names else batch.documents.root.absolute().name


def _option(command: str, name: str) -> str:
    words = command.split()
    return last_part(words[words.index(name) + 1]) if name in words[:-1] else ""


def _model(batch: ScyllaBatch) -> str:
    configured = text(batch.config.get("model"))
    logged_models = Counter(name for block in batch.logs.blocks if (name := _option(block.command, "--model")))
    of_experiments = [model for experiment in batch.experiments for model in experiment.models]
    return configured or (logged_models.most_common(1)[0][0] if logged_models else "") or next(iter(of_experiments), "")


def _judges(batch: ScyllaBatch) -> dict[str, str]:
    return next((experiment.judges for experiment in batch.experiments if experiment.judges), {})


def _sessions(batch: ScyllaBatch) -> tuple[Session, ...]:
    if not batch.append_only:
        return describe_sessions(batch.logs.blocks) or _only_session(batch)
    return sessions_of(entries_of(batch.rows, batch.logs))


def _only_session(batch: ScyllaBatch) -> tuple[Session, ...]:
    started, finished = moment(batch.summary.get("started_at")), moment(batch.summary.get("completed_at"))
    if not started:
        return ()
    return (Session(number=1, started_at=started, finished_at=finished, pattern="known from the summary only"),)


def _extreme(choose: Any, recorded: list[str | None], summary_time: Any) -> str | None:
    utc = [one for one in [*recorded, moment(summary_time)] if one and not times.is_local(one)]
    return str(choose(utc, key=times.parse)) if utc else moment(summary_time)


def _reported(batch: ScyllaBatch, results: list[Any]) -> tuple[Reported, ...]:
    """The summary has a status for every test, but no file has the rate."""
    rate = Reported(
        name="pass rate",
        metric="pass_rate",
        scorer="best tier score",
        filter="latest session",
        n=len(results),
        headline=True,
        ref=batch.summary_ref,
    )
    threads = [
        Reported(
            name=f"{word}, thread {thread.get('thread_id')}",
            metric=f"thread_{word}",
            filter=f"thread {thread.get('thread_id')}",
            value=value,
            ref=batch.summary_ref,
        )
        for thread in batch.threads
        for word in ("completed", "failed")
        if (value := number(thread.get(word))) is not None
    ]
    return (rate, *threads)


def _extra(batch: ScyllaBatch) -> dict[str, Any]:
    summary, logs = batch.summary, batch.logs
    states = {one.folder.name: one.checkpoint.vital_signs for one in batch.experiments if one.checkpoint.data}
    commands = {name for block in logs.blocks if (name := _option(block.command, "--model"))}
    return non_empty(
        config=batch.config,
        threads=batch.threads,
        summary={name: summary.get(name) for name in ("started_at", "completed_at") if summary.get(name)},
        thread_logs=logs.files,
        experiment_complete_blocks=sum(len(block.results) for block in logs.blocks),
        log_evidence_count=logs.evidence_count,
        models_in_commands=sorted(commands),
        experiments=[experiment.folder.name for experiment in batch.experiments],
        checkpoints=states,
    )
