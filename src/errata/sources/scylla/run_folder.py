"""One run of one subtest, `T0/00/run_01`: the agent's result and its judgements."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from errata.model import Artefact, Attempt, Check, ErrorInfo, Usage, UsageByRole
from errata.model.words import ArtefactRole, Measurement, Outcome
from errata.sources.base import children
from errata.sources.base import number_or_none as number
from errata.sources.scylla.agent import Agent, broke_down, read_agent, usage_of
from errata.sources.scylla.judges import (
    ScyllaJudge,
    checks_of,
    consensus_check,
    criteria_checks,
    judgement_of,
    read_judges,
)
from errata.sources.shared.documents import Documents
from errata.sources.shared.facts import MISSING, NOT_MADE, UNFINISHED, Facts
from errata.sources.shared.values import differing, integer, mapping, moment, non_empty, sequence, text

ARTEFACT_CAP = 40
_LOGS: tuple[tuple[str, str, ArtefactRole], ...] = (
    (".", "task_prompt.md", "task"),
    ("agent", "prompt.md", "task"),
    ("agent", "stdout.log", "log"),
    ("agent", "stderr.log", "log"),
    ("agent", "cmd_*.log", "log"),
    (".", "cmd_*.log", "log"),
    ("commands", "*.log", "log"),
    (".", "*.diff", "patch"),
    (".", "*.patch", "patch"),
    (".", "judge_prompt.md", "grader"),
)
_KEPT = (
    *("run_number", "tokens_input", "tokens_output", "judge_grade"),
    *("baseline_pipeline_summary", "process_metrics", "progress_tracking", "changes"),
)
_SETUP_FILES = ("CLAUDE.md", ".claude")
"""Put there by the test, not by the agent."""
BROKEN = frozenset({"failed", "rate_limited"})
FINAL = frozenset({"run_finalized", "report_written", "checkpointed", "worktree_cleaned", "run_complete"})
_RECORDED = frozenset({"passed", "failed"})


class AttemptPosition(msgspec.Struct, frozen=True):
    """The position of the run among the attempts."""

    run: str
    case: str
    index: int = 1
    session: int | None = None
    path: str = ""
    parent: str | None = None
    superseded_by: str | None = None


class RunProgress(NamedTuple):
    """`state`: the last step of the run; `recorded`: the entry in `completed_runs`, which may be wrong."""

    state: str = ""
    recorded: str = ""

    @property
    def word(self) -> str:
        return self.state or self.recorded

    @property
    def broken(self) -> bool:
        return self.state in BROKEN

    @property
    def over(self) -> bool:
        return self.state in FINAL or (not self.state and self.recorded in _RECORDED)


class RunPlace(NamedTuple):
    tier: str
    subtest: str
    number: int
    folder: Path | None
    """None for a run that is only in the checkpoint."""
    corner: str = ""
    """`in_progress`, `completed` or `.failed` in the later layout."""
    state: RunProgress = RunProgress()

    @property
    def name(self) -> str:
        return f"{self.tier}/{self.subtest}/run_{self.number:02}"


class _Read(NamedTuple):
    """All documents of one run folder."""

    place: RunPlace
    result: dict[str, Any]
    consensus: dict[str, Any]
    """`judge/result.json`, which is written before `run_result.json`."""
    agent: Agent
    judges: list[ScyllaJudge]
    usage: Usage
    judge_timing: dict[str, Any]
    report: dict[str, Any]

    @property
    def passed(self) -> bool | None:
        verdict = self.result.get("judge_passed", self.consensus.get("passed"))
        return verdict if isinstance(verdict, bool) else None

    @property
    def score(self) -> float | None:
        return number(self.result.get("judge_score", self.consensus.get("score")))

    @property
    def exit_code(self) -> int | None:
        return integer(self.result.get("exit_code", self.agent.result.get("exit_code")))


def run_attempt(place: RunPlace, position: AttemptPosition, documents: Documents) -> Attempt:
    if place.folder is None:
        return _only_in_checkpoint(place, position, documents)
    read = _read(place, place.folder, documents)
    facts = _facts(read)
    file = place.folder / ("run_result.json" if read.result else "")
    return Attempt(
        **msgspec.structs.asdict(position),
        execution=facts.execution,
        measurement=facts.measurement,
        outcome=facts.outcome,
        native_status=place.state.word or text(read.result.get("judge_grade")),
        reported=read.score,
        reported_counted=read.score is not None and facts.measurement == "scored",
        output=read.agent.output,
        stop_reason=text(read.agent.cli.get("subtype")),
        limit=read.agent.limit,
        errors=_errors(read, facts),
        checks=tuple(_checks(read)),
        judgements=tuple(judgement_of(judge) for judge in read.judges),
        artefacts=tuple(_artefacts(read, place.folder, documents)),
        usage=UsageByRole(subject=read.usage),
        finished_at=_finished_at(read),
        duration=number(read.result.get("duration_seconds")),
        durations=_durations(read),
        exit_code=read.exit_code,
        ref=documents.ref(file),
        extra=_extra(read),
    )


def _only_in_checkpoint(place: RunPlace, position: AttemptPosition, documents: Documents) -> Attempt:
    broken = place.state.broken or place.state.word == "failed"
    facts = NOT_MADE if broken else (MISSING if place.state.over else UNFINISHED)
    ref = documents.ref(documents.root / "checkpoint.json", pointer=f"/run_states/{place.tier}/{place.subtest}")
    return Attempt(
        **msgspec.structs.asdict(position),
        execution=facts.execution,
        measurement=facts.measurement,
        outcome=facts.outcome,
        native_status=place.state.word,
        errors=(_stop_error(place),) if broken else (),
        ref=ref,
        extra={"run": place.name},
    )


def _read(place: RunPlace, folder: Path, documents: Documents) -> _Read:
    result = documents.get(folder / "run_result.json")
    agent = read_agent(folder, documents)
    stats = mapping(result.get("token_stats")) or mapping(agent.result.get("token_stats"))
    cost = result.get("cost_usd", agent.result.get("cost_usd"))
    return _Read(
        place=place,
        result=result,
        consensus=documents.get(folder / "judge" / "result.json"),
        agent=agent,
        judges=read_judges(folder, result, documents.ref(folder / "run_result.json"), documents),
        usage=usage_of(stats, cost=cost, requests=agent.result.get("api_calls")),
        judge_timing=documents.get(folder / "judge" / "timing.json"),
        report=documents.get(folder / "report.json"),
    )


def _facts(read: _Read) -> Facts:
    state = read.place.state
    measurement = _measurement(read)
    if read.place.corner == ".failed" or state.broken:
        return Facts("error", measurement, "none")
    if not read.result and (state.word or not read.consensus):
        failed = state.recorded == "failed" and not state.state
        return NOT_MADE if failed else UNFINISHED
    outcome: Outcome = "none"
    if measurement == "scored":
        outcome = "pass" if read.passed else "fail"
    if read.agent.limit:
        return Facts("limit", measurement, outcome)
    if read.agent.is_error or broke_down(read.exit_code, read.usage):
        # the judge saw a workspace without an agent's work; only a pass shows that there was an answer
        return Facts("error", measurement, "pass" if outcome == "pass" else "none")
    return Facts("completed", measurement, outcome)


def _measurement(read: _Read) -> Measurement:
    if read.judges and not any(judge.valid for judge in read.judges):
        return "error"
    if read.passed is not None:
        return "scored"
    return "unscored" if read.judges or read.score is not None else "not_run"


def _errors(read: _Read, facts: Facts) -> tuple[ErrorInfo, ...]:
    errors = list(read.agent.errors)
    if facts.execution == "error" and not errors:
        errors.append(_stop_error(read.place, exit_code=read.exit_code))
    if facts.measurement == "error":
        reasons = dict.fromkeys(text(judge.data.get("reasoning")) for judge in read.judges)
        message = "; ".join(reason for reason in reasons if reason)
        why = message or "no judge is valid"
        errors.append(ErrorInfo(type="InvalidJudges", message=why, phase="scoring", derived=("type",)))
    return tuple(errors)


def _stop_error(place: RunPlace, *, exit_code: int | None = None) -> ErrorInfo:
    word = place.state.word or ("failed" if place.corner else f"exit code {exit_code}")
    kind = {"rate_limited": "RateLimited", "failed": "RunFailed"}.get(word, "ExitCode")
    message = f"the run ended as `{word}`" + (f" with exit code {exit_code}" if kind != "ExitCode" else "")
    return ErrorInfo(type=kind, message=message.replace(" with exit code None", ""), phase="subject")


def _checks(read: _Read) -> Iterator[Check]:
    if read.passed is not None or read.score is not None:
        reasoning = text(read.result.get("judge_reasoning")) or text(read.consensus.get("reasoning"))
        grade = text(read.result.get("judge_grade")) or text(read.consensus.get("grade"))
        check = consensus_check(read.score, read.passed, reasoning, grade)
        yield check
    yield from criteria_checks(read.result.get("criteria_scores"))
    for judge in read.judges:
        yield from checks_of(judge)


def _artefacts(read: _Read, folder: Path, documents: Documents) -> Iterator[Artefact]:
    """Each text once: the harness writes the same log under several names."""
    seen, count = {read.agent.output_file}, 0
    judges = [(f"judge/{judge.name}", "response.txt", "log") for judge in read.judges]
    for below, pattern, role in (*_LOGS, *judges):
        for path in children(folder / below):
            if not path.match(pattern) or count >= ARTEFACT_CAP:
                continue
            artefact = documents.artefact(path, role, name=path.relative_to(folder).as_posix())  # type: ignore[arg-type]
            if artefact is not None and artefact.text and artefact.text not in seen:
                seen.add(artefact.text)
                count += 1
                yield artefact
    yield from _changed_files(read, folder, documents)


def _changed_files(read: _Read, folder: Path, documents: Documents) -> Iterator[Artefact]:
    """Files that the agent changed in its workspace, if the harness lists them and the workspace was kept."""
    for entry in sequence(read.result.get("changes"))[:ARTEFACT_CAP]:
        name = text(entry) or text(mapping(entry).get("path")) or text(mapping(entry).get("file"))
        parts = Path(name).parts
        if not name or "\x00" in name or Path(name).is_absolute() or ".." in parts or set(parts) & set(_SETUP_FILES):
            continue
        artefact = documents.artefact(folder / "workspace" / name, "output", name=f"workspace/{name}")
        if artefact is not None:
            yield artefact


def _durations(read: _Read) -> dict[str, float]:
    durations = {
        "agent": read.result.get("agent_duration_seconds", read.agent.timing.get("agent_duration_seconds")),
        "judge": read.result.get("judge_duration_seconds"),
    }
    return {name: seconds for name, value in durations.items() if (seconds := number(value)) is not None}


def _finished_at(read: _Read) -> str | None:
    moments = (
        read.judge_timing.get("measured_at"),
        read.agent.timing.get("measured_at"),
        read.report.get("generated_at"),
    )
    return next((time for one in moments if (time := moment(one))), None)


def _extra(read: _Read) -> dict[str, Any]:
    facts = non_empty(**{name: read.result.get(name) for name in _KEPT})
    if "criteria_scores" in read.result and read.result["criteria_scores"] is None:
        facts["criteria_scores_null"] = True
    place = non_empty(run=read.place.name, corner=read.place.corner)
    place |= non_empty(state=read.place.state.state, recorded=read.place.state.recorded)
    times = non_empty(
        agent_finished_at=read.agent.timing.get("measured_at"), reported_at=read.report.get("generated_at")
    )
    return facts | place | times | read.agent.extra | non_empty(told_otherwise=_differing_repeats(read))


def _differing_repeats(read: _Read) -> dict[str, Any]:
    """The harness writes most facts several times; differences between them are kept."""
    result = read.result
    judge_fields = {name.removeprefix("judge_"): value for name, value in result.items() if name.startswith("judge_")}
    agent = {name: value for name, value in read.agent.result.items() if name in ("token_stats", "cost_usd")}
    timing = {name: value for name, value in (read.agent.timing | read.judge_timing).items() if name != "measured_at"}
    report = {name: value for name, value in read.report.items() if name != "generated_at"}
    consensus = {name: value for name, value in read.consensus.items() if name != "criteria_scores"}
    return non_empty(
        agent=differing(agent, result),
        timing=differing(timing, result),
        judge=differing(consensus, judge_fields),
        report=differing(report, result | judge_fields),
    )
