"""A trial of Harbor → one attempt at a task, with a child attempt per step of a multi-step task."""

import os
from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import (
    Artefact,
    Attempt,
    Case,
    Conduct,
    ErrorInfo,
    Output,
    Run,
    SourceRef,
    Usage,
    UsageByRole,
    case_key,
    times,
)
from errata.model.case_versions import CHECKSUM
from errata.model.usage import total_cost, total_of
from errata.model.words import ArtefactRole, Execution, Measurement, Outcome, Provenance
from errata.sources.harbor.agent_logs import printed_by_agent, stream_of
from errata.sources.harbor.atif import AtifTrajectory, closing_words, stop_reason, total_usage
from errata.sources.harbor.verdicts import (
    Fault,
    error_of,
    exit_code_of,
    fault_of,
    kind_of,
    limit_of,
    outcome_of,
    reward_checks,
    test_checks,
    value_of,
)
from errata.sources.paths import file_names, folder_names, names_in
from errata.sources.shared.documents import FILES_CAP, Documents
from errata.sources.shared.values import (
    cost_number,
    count,
    mapping,
    moment,
    non_empty,
    reported_cost,
    rest,
    sequence,
    settings,
    text,
)

_PHASES = ("environment_setup", "agent_setup", "agent_execution", "verifier")
_HOMES = frozenset(
    [
        "id",
        "task_name",
        "trial_name",
        "trial_uri",
        "task_id",
        "source",
        "task_checksum",
        "config",
        "agent_info",
        "agent_result",
        "verifier_result",
        "exception_info",
        "started_at",
        "finished_at",
        "step_results",
        "step_name",
    ]
) | frozenset(_PHASES)
_SPENT = frozenset(["n_input_tokens", "n_cache_tokens", "n_output_tokens", "cost_usd", "rollout_details", "metadata"])
_LOGS = ("trial.log", "exception.txt")
_RECORDED = ".cast"


class TrialContext(NamedTuple):
    """The run, case, number and folder of a trial, or of one of its steps."""

    run: Run
    case: str
    number: int
    ref: SourceRef
    place: str
    """The folder, as a text: path objects for very many trials would take long to make."""
    names: frozenset[str]
    """What is in the folder."""
    path: str = ""
    parent: str | None = None
    counted: bool | None = None
    again: Provenance | None = None

    def inside(self, *names: str) -> str:
        return os.sep.join((self.place, *names))  # noqa: PTH118

    def files(self, folder: str) -> list[str]:
        return file_names(self.inside(folder))[:FILES_CAP] if folder in self.names else []


class Thrown(NamedTuple):
    exception: dict[str, Any]
    fault: Fault
    error: ErrorInfo


def case_of(run: Run, task: str, result: dict[str, Any], ref: SourceRef) -> Case:
    return Case(
        run=run.id,
        suite=run.suite,
        native_id=task,
        digest=text(result.get(CHECKSUM)),
        extra=non_empty(task_id=result.get("task_id"), source=result.get("source"), task_checksum=result.get(CHECKSUM)),
        ref=ref,
    )


def attempts_of(result: dict[str, Any], context: TrialContext, documents: Documents, digest: str) -> Iterator[Attempt]:
    config = mapping(result.get("config"))
    source = mapping(config.get("source_trial"))
    extra = non_empty(
        id=result.get("id"),
        config=settings(config),
        task_checksum=result.get("task_checksum") if result.get("task_checksum") != digest else None,
        agent_info=_other_agent(result, context.run),
        config_file=_other_config(context, config, documents),
        lock=settings(documents.get(context.inside("lock.json"))) if "lock.json" in context.names else None,
    )
    works = tuple(filter(None, (text(result.get("id")), text(source.get("trial_id")))))
    # `regrade` is the only action that Harbor knows
    trial = _attempt(result, context, documents, extra, works=works, provenance="regrade" if source else context.again)
    yield trial
    for at, entry in enumerate(sequence(result.get("step_results"))):
        step = mapping(entry)
        name = text(step.get("step_name")) or f"step-{at + 1}"
        ref = context.ref.below("step_results", at)
        place = context.inside("steps", _folder_name(name))
        step_context = TrialContext(
            context.run,
            context.case,
            context.number,
            ref,
            place,
            names_in(place) if "steps" in context.names else frozenset(),
            path=f"{at + 1:02}-{name}",
            parent=trial.id,
        )
        yield _attempt(step, step_context, documents, {})


def unfinished(task: str, config: dict[str, Any], context: TrialContext, documents: Documents) -> Attempt:
    """A trial folder without a result: started, not finished."""
    return Attempt(
        run=context.run.id,
        case=case_key(context.run.suite, task),
        native_id=os.path.basename(context.place),  # noqa: PTH119
        index=context.number,
        execution="unfinished",
        measurement="not_run",
        outcome="none",
        native_status="no result.json",
        artefacts=artefacts_of(context, context.files("verifier"), documents),
        ref=context.ref,
        extra=non_empty(config=settings(config)),
    )


def _attempt(
    result: dict[str, Any], context: TrialContext, documents: Documents, extra: dict[str, Any], **made: Any
) -> Attempt:
    thrown = list(_thrown(result, context.ref))
    rewards = mapping(mapping(result.get("verifier_result")).get("rewards"))
    value = value_of(rewards)
    verifier = context.files("verifier")
    trajectory = AtifTrajectory(documents, context.place)
    if "agent" in context.names:
        trajectory.read()
    agent = context.files("agent")
    stream = None
    if agent and not trajectory.steps:
        stream = stream_of(printed_by_agent(Path(context.inside("agent", name)) for name in agent), documents)
    tools = stream.tools if stream else trajectory.tools_offered
    execution, measurement, outcome = _facts(result, thrown[0].fault if thrown else None, value)
    start, end = moment(result.get("started_at")), moment(result.get("finished_at"))
    words = stream.answer if stream else closing_words(trajectory.steps)
    return Attempt(
        run=context.run.id,
        case=context.case,
        native_id=text(result.get("trial_name")) or text(result.get("step_name")),
        index=context.number,
        path=context.path,
        parent=context.parent,
        execution=execution,
        measurement=measurement,
        outcome=outcome,
        native_status=kind_of(thrown[0].exception) if thrown else "",
        reported=value,
        threshold=1.0 if 0 < (value or 0) < 1 else None,
        reported_counted=context.counted,
        output=Output(text=words),
        stop_reason=(thrown[0].fault.stop_reason if thrown else "") or stop_reason(trajectory.steps),
        limit=next(filter(None, (limit_of(one.fault, one.error.message) for one in thrown)), None),
        errors=tuple(one.error for one in thrown),
        checks=(
            *reward_checks(rewards, _broken(thrown)),
            *test_checks(verifier, context.inside("verifier"), documents),
        ),
        steps=stream.steps if stream else tuple(trajectory.steps),
        conduct=Conduct(tools_offered=tools) if tools is not None else None,
        artefacts=artefacts_of(context, verifier, documents),
        usage=UsageByRole(subject=_usage(result, trajectory)),
        started_at=start,
        finished_at=end,
        duration=seconds_between(start, end),
        durations=_durations(result),
        exit_code=next((code for one in thrown if (code := exit_code_of(one.exception)) is not None), None),
        links=non_empty(trial=text(result.get("trial_uri"))),
        ref=context.ref,
        extra=extra | _more(result) | non_empty(trajectories=trajectory.heads),
        **made,
    )


def _thrown(result: dict[str, Any], ref: SourceRef) -> Iterator[Thrown]:
    """The trial's own exception, else those of its steps."""
    if isinstance(exception := result.get("exception_info"), dict):
        fault = fault_of(exception, result)
        yield Thrown(exception, fault, error_of(exception, fault, ref.below("exception_info")))
        return
    for at, step in enumerate(sequence(result.get("step_results"))):
        yield from _thrown(mapping(step), ref.below("step_results", at))


def _facts(result: dict[str, Any], fault: Fault | None, value: float | None) -> tuple[Execution, Measurement, Outcome]:
    execution: Execution = fault.execution if fault else "completed"
    is_step = "step_name" in result
    if fault is None and value is None and result.get("finished_at") is None and not is_step:
        return "unfinished", "not_run", "none"
    if value is not None:
        outcome = outcome_of(value)
        is_real = fault is None or fault.answered or outcome == "pass"
        return execution, "scored", outcome if is_real else "none"
    if fault is not None and fault.phase == "scoring" and fault.execution == "completed":
        return execution, "error", "none"
    has_verdict = isinstance(result.get("verifier_result"), dict)
    return execution, "unscored" if has_verdict and execution == "completed" else "not_run", "none"


def _broken(thrown: list[Thrown]) -> ErrorInfo | None:
    return next((one.error for one in thrown if one.fault.phase == "scoring"), None)


def _usage(result: dict[str, Any], trajectory: AtifTrajectory) -> Usage:
    """From the agent's result; for a multi-step trial the sum; else from the trajectory."""
    own = [mapping(result.get("agent_result"))]
    if not any(own):
        own = [mapping(mapping(step).get("agent_result")) for step in sequence(result.get("step_results"))]
    if not any(own):
        own = []
    cost = total_cost(cost_number(spent.get("cost_usd")) for spent in own)
    usage = Usage(
        input=total_of(count(spent.get("n_input_tokens")) for spent in own),
        output=total_of(count(spent.get("n_output_tokens")) for spent in own),
        cache_read=total_of(count(spent.get("n_cache_tokens")) for spent in own),
        **reported_cost(cost),
        includes_cache=True,
        extra={key: value for spent in own for key, value in rest(spent, _SPENT).items()},
    )
    if trajectory.final and usage.tokens is None and cost is None:
        total = total_usage(trajectory.final)
        return total if total is not None and (total.tokens is not None or total.cost is not None) else usage
    return usage


def _durations(result: dict[str, Any]) -> dict[str, float]:
    durations = {}
    for name in _PHASES:
        phase = mapping(result.get(name))
        if not phase:
            continue
        took = seconds_between(moment(phase.get("started_at")), moment(phase.get("finished_at")))
        if took is not None:
            durations[name] = took
    return durations


def _more(result: dict[str, Any]) -> dict[str, Any]:
    spent = mapping(result.get("agent_result"))
    phases = {name: settings(result[name]) for name in _PHASES if result.get(name)}
    verifier = rest(mapping(result.get("verifier_result")), ("rewards",))
    rollouts = sequence(spent.get("rollout_details"))
    details = non_empty(phases=phases, verifier_result=verifier, agent_metadata=settings(spent.get("metadata")))
    more: dict[str, Any] = settings(rest(result, _HOMES))
    return more | details | non_empty(rollouts=len(rollouts) or None)


def _other_agent(result: dict[str, Any], run: Run) -> Any:
    """The trial's `agent_info`, if it differs from the run's."""
    info = mapping(result.get("agent_info"))
    same = text(info.get("version")) == run.subject.agent_version and not rest(info, ("name", "version", "model_info"))
    more = rest(mapping(info.get("model_info")), ("name", "provider"))
    provider = text(mapping(info.get("model_info")).get("provider"))
    return None if same and not more and provider in ("", run.subject.provider) else settings(info)


def _other_config(context: TrialContext, config: dict[str, Any], documents: Documents) -> Any:
    """The config file beside the result, if it differs from the config in the result."""
    if "config.json" not in context.names:
        return None
    beside = settings(documents.get(context.inside("config.json")))
    return beside if beside != settings(config) else None


def _folder_name(name: str) -> str:
    last = name.replace("\\", "/").rpartition("/")[2]
    return "_" if last in ("", ".", "..") else last


def artefacts_of(context: TrialContext, verifier: Iterable[str], documents: Documents) -> tuple[Artefact, ...]:
    """The files of a trial or of one of its steps, which have the same folders."""
    return tuple(artefact for artefact in _all(context, verifier, documents) if artefact is not None)


def _all(context: TrialContext, verifier: Iterable[str], documents: Documents) -> Iterator[Artefact | None]:
    names = context.names
    for file in verifier:
        role: ArtefactRole = "grader" if "reward" in file or "ctrf" in file else "log"
        yield documents.artefact(context.inside("verifier", file), role, name=f"verifier/{file}")
    for name in _LOGS:
        if name in names:
            yield documents.artefact(context.inside(name), "log", name=name, clean=True)
    if "agent" in names:
        yield from _of_agent(context, documents)
    if "artifacts" in names:
        yield documents.artefact(context.inside("artifacts", "manifest.json"), "output", name="artifacts/manifest.json")
        for file in context.files("artifacts"):
            if file != "manifest.json":
                yield documents.artefact(context.inside("artifacts", file), "output", name=f"artifacts/{file}")


def _of_agent(context: TrialContext, documents: Documents) -> Iterator[Artefact | None]:
    for file in context.files("agent"):
        if not (file.startswith("trajectory") and file.endswith(".json")):
            yield documents.artefact(context.inside("agent", file), agent_role(file), name=f"agent/{file}", clean=True)
    # an installed agent has a folder for its installation and one for each command
    for part in folder_names(Path(context.inside("agent"))):
        if part == "setup" or part.startswith("command-"):
            for file in file_names(context.inside("agent", part))[:FILES_CAP]:
                path, name = context.inside("agent", part, file), f"agent/{part}/{file}"
                yield documents.artefact(path, agent_role(file), name=name, clean=True)


def agent_role(name: str) -> ArtefactRole:
    return "transcript" if name.endswith(_RECORDED) else "log"


def seconds_between(start: str | None, end: str | None) -> float | None:
    """None if a time is missing, or only one of them is local."""
    if start is None or end is None or times.is_local(start) != times.is_local(end):
        return None
    return round((times.parse(end) - times.parse(start)) / timedelta(seconds=1), 6)
