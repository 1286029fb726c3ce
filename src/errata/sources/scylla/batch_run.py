"""A batch as a run: what its summary, its logs and its experiments say of it as a whole."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from errata.model import Reported, Run, Scorer, Session, SourceInfo, SourceRef, Subject, times
from errata.sources.scylla.append_only import success_count
from errata.sources.scylla.checkpoint import UNDER_WAY
from errata.sources.scylla.experiment import Experiment
from errata.sources.scylla.facts import PASS_ABOVE
from errata.sources.scylla.layout import NAME
from errata.sources.scylla.sessions import describe_sessions
from errata.sources.scylla.tests_of_batch import SUITE
from errata.sources.scylla.thread_log import Logs
from errata.sources.scylla.values import number
from errata.sources.shared.documents import Documents
from errata.sources.shared.values import known, last_part, mapping, moment, parts, sequence, text


@dataclass
class Batch:
    """All of a batch that has to be held at once; the runs of its experiments are read one by one."""

    root: Path
    documents: Documents
    summary: dict[str, Any]
    summary_ref: SourceRef
    logs: Logs
    experiments: list[Experiment]
    append_only: bool
    logged: dict[str, SourceRef] = field(default_factory=dict)
    """Attempt → where its thread logged it."""

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


def run_of(batch: Batch) -> Run:
    config, summary = batch.config, batch.summary
    sessions = describe_sessions(batch.logs.blocks) or _only_session(batch)
    judge = text(config.get("judge_model"))
    results = sequence(summary.get("results"))
    return Run(
        native_id=_native_id(batch),
        source=SourceInfo(name=NAME, format_version="batch summary 2" if batch.append_only else "batch summary 1"),
        name=_native_id(batch),
        subject=Subject(model=_model(batch), params=known(thinking=config.get("thinking"))),
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


def _environment(batch: Batch) -> dict[str, Any]:
    """How it was configured, and the processes whose checkpoints do not say that they ended."""
    alive = [one for one in batch.experiments if one.checkpoint.data and one.checkpoint.status in UNDER_WAY]
    return known(config=batch.config, processes=[one.checkpoint.process(one.test) for one in alive])


def _native_id(batch: Batch) -> str:
    """The name of the results folder as the log gives it; the folder's own name where it gives none."""
    named = Counter(name for block in batch.logs.blocks if (name := _option(block.command, "--results-dir")))
    if not named:
        places = (parts(mapping(row).get("result_dir")) for row in sequence(batch.summary.get("results")))
        named.update(place[-2] for place in places if len(place) > 1)
    return named.most_common(1)[0][0] if named else batch.documents.root.absolute().name


def _option(command: str, name: str) -> str:
    words = command.split()
    return last_part(words[words.index(name) + 1]) if name in words[:-1] else ""


def _model(batch: Batch) -> str:
    stated = text(batch.config.get("model"))
    logged = Counter(name for block in batch.logs.blocks if (name := _option(block.command, "--model")))
    of_experiments = [model for experiment in batch.experiments for model in experiment.models]
    return stated or (logged.most_common(1)[0][0] if logged else "") or next(iter(of_experiments), "")


def _judges(batch: Batch) -> dict[str, str]:
    return next((experiment.judges for experiment in batch.experiments if experiment.judges), {})


def _only_session(batch: Batch) -> tuple[Session, ...]:
    started, finished = moment(batch.summary.get("started_at")), moment(batch.summary.get("completed_at"))
    if batch.append_only or not started:
        return ()
    return (Session(number=1, started_at=started, finished_at=finished, pattern="known from the summary only"),)


def _extreme(choose: Any, found: list[str | None], stated: Any) -> str | None:
    utc = [one for one in [*found, moment(stated)] if one and not times.is_local(one)]
    return str(choose(utc, key=times.parse)) if utc else moment(stated)


def _reported(batch: Batch, results: list[Any]) -> tuple[Reported, ...]:
    """The summary gives every test its status, but no file states the rate."""
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


def _extra(batch: Batch) -> dict[str, Any]:
    summary, logs = batch.summary, batch.logs
    states = {one.folder.name: one.checkpoint.vital_signs for one in batch.experiments if one.checkpoint.data}
    commands = {name for block in logs.blocks if (name := _option(block.command, "--model"))}
    return known(
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
