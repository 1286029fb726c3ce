"""terminal-bench, Harbor's predecessor: `results.json` with a row per trial, `run_metadata.json`, trial folders."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from errata.model import (
    Artefact,
    Attempt,
    Case,
    Check,
    CodeVersion,
    Conduct,
    ErrorInfo,
    Item,
    Output,
    Reported,
    Run,
    SourceInfo,
    SourceRef,
    Subject,
    Usage,
    UsageByRole,
    attempt_id,
    case_key,
)
from errata.model.words import Execution, Measurement, Outcome
from errata.sources.base import Numbering, Row, convert_each, folders, is_file
from errata.sources.harbor import NAME
from errata.sources.harbor.agent_logs import RunLog, names_of_trials, stream_of
from errata.sources.harbor.attempts import agent_role, seconds_between
from errata.sources.harbor.runs import model_of
from errata.sources.harbor.verdicts import OF_FAILURE_MODE, Fault, limit_of, test_check
from errata.sources.shared.documents import Documents, files
from errata.sources.shared.fields import JsonFields
from errata.sources.shared.runs import CaseNumbering
from errata.sources.shared.values import (
    count,
    last_part,
    mapping,
    moment,
    non_empty,
    number,
    plain,
    rest,
    sequence,
    settings,
    text,
)
from errata.text.lazy_regex import lazy_regex

_SILENT = ("", "unset", "none")
_NUMBER = lazy_regex(r"\.(\d{1,6})-of-\d+\.")
_PHASES = ("trial", "agent", "test")
_FOLDERS = ("panes", "sessions", "agent-logs")
SUITE = "terminal-bench"
_VERSION = lazy_regex(r"v?\d+(?:\.\d+)*$|head$")


class ResultRows(NamedTuple):
    document: dict[str, Any]
    rows: list[Row]


def read(path: Path) -> Iterator[Item]:
    root = path if path.is_dir() else path.parent
    documents = Documents(root, NAME, keep="end")
    results = _rows(path, root, documents)
    metadata = documents.get(root / "run_metadata.json")
    lock = documents.get(root / "tb.lock")
    ref = documents.ref(path if path.is_file() else root / "results.json")
    rows = [mapping(row.data) for row in results.rows]
    log = RunLog(root / "run.log", documents, names_of_trials(rows))
    run = run_of(results.document, metadata, lock, rows=rows, root=root, ref=ref)
    if log.artefact is not None:
        run = msgspec.structs.replace(run, context=(log.artefact,))
    yield run
    yield from documents.problems()
    trials = TrialConverter(run, documents, log, any(map(_tokens, rows)))
    yield from convert_each(results.rows, trials.items, source=NAME)
    yield from _never_run(run, metadata, results.document, rows)


class TrialConverter:
    """Converts rows to attempts, numbered as in the trials' names, with one case per task."""

    def __init__(self, run: Run, documents: Documents, log: RunLog, counts_tokens: bool) -> None:
        self._run = run
        self._documents = documents
        self._log = log
        self._counts_tokens = counts_tokens
        self._taken: dict[tuple[str, int], str] = {}
        self._cases = CaseNumbering()

    def items(self, row: Row) -> Iterator[Item]:
        trial = JsonFields(row.data)
        task, instruction = text(trial.require("task_id")), trial.take("instruction")
        run, asked = self._run, plain(instruction)
        case = Case(run=run.id, suite=run.suite, native_id=task, input=asked, ref=row.ref)
        if self._cases.is_news(case):
            yield case
        index, first = self._index(task, text(trial.take("trial_name")))
        duplicate = None
        if first is not None:
            duplicate = attempt_id(self._run.id, case_key(self._run.suite, task), index=first)
        yield self._attempt(trial, task, row.ref, index=index, duplicate_of=duplicate)
        yield from self._documents.problems()

    def _index(self, task: str, name: str) -> tuple[int, int | None]:
        """`task.2-of-3.run` is the second trial; a repeated name is a duplicate of the first trial of that name."""
        numbered = _NUMBER.search(name)
        index = int(numbered[1]) if numbered else 1
        first = next((at for (of, at), other in self._taken.items() if of == task and name and other == name), None)
        while (task, index) in self._taken:
            index += 1
        self._taken[task, index] = name
        return index, first

    def _attempt(
        self, trial: JsonFields, task: str, ref: SourceRef, *, index: int, duplicate_of: str | None
    ) -> Attempt:
        mode = text(trial.take("failure_mode"))
        fault = _fault(mode)
        execution, measurement, outcome = _facts(trial, fault)
        start, end = moment(trial.get("trial_started_at")), moment(trial.get("trial_ended_at"))
        resolved = trial.take("is_resolved")
        name = text(trial.get("trial_name"))
        folder = self._folder(task, name)
        stream = stream_of((folder / "panes" / "post-agent.txt",), self._documents) if folder else None
        errors: tuple[ErrorInfo, ...] = (
            (ErrorInfo(type=mode, message=mode, phase=fault.phase, ref=ref),) if fault else ()
        )
        if stream is not None and stream.error:
            errors += (ErrorInfo(type="agent", message=stream.error, phase="subject", ref=stream.ref),)
        return Attempt(
            run=self._run.id,
            case=case_key(self._run.suite, task),
            native_id=name,
            index=index,
            duplicate_of=duplicate_of,
            execution=execution,
            measurement=measurement,
            outcome=outcome,
            native_status=mode,
            # an unresolved trial counts as 0, even if it was never measured
            reported=1.0 if resolved is True else 0.0,
            reported_counted=True,
            limit=limit_of(fault, mode) if fault else None,
            output=Output(text=stream.answer) if stream else Output(),
            errors=tuple(errors),
            checks=_checks(trial),
            steps=stream.steps if stream else (),
            conduct=Conduct(tools_offered=stream.tools) if stream else None,
            artefacts=self._artefacts(folder, f"{task}/{name}", self._log.about(name)),
            usage=UsageByRole(subject=self._usage(trial)),
            started_at=start,
            finished_at=end,
            duration=seconds_between(start, end),
            durations=_durations(trial),
            ref=ref,
            extra=self._extra(trial),
        )

    def _usage(self, trial: JsonFields) -> Usage:
        """Agents installed in the container report 0 tokens because they do not count: then no trial has a count."""
        if not self._counts_tokens:
            return Usage()
        return Usage(input=count(trial.get("total_input_tokens")), output=count(trial.get("total_output_tokens")))

    def _extra(self, trial: JsonFields) -> dict[str, Any]:
        times = {
            f"{phase}_{end}_at": trial.take(f"{phase}_{end}_at") for phase in _PHASES for end in ("started", "ended")
        }
        tokens = (
            {}
            if self._counts_tokens
            else non_empty(tokens_told=_tokens(trial) if "total_input_tokens" in trial else None)
        )
        resolved = trial.get("is_resolved")
        odd = non_empty(is_resolved=resolved) if not isinstance(resolved, bool) else {}
        trial.drop("total_input_tokens", "total_output_tokens")
        return rest(trial.rest()) | non_empty(times=non_empty(**times)) | tokens | odd

    def _folder(self, task: str, name: str) -> Path | None:
        return self._documents.root / task / name if _is_name(task) and _is_name(name) else None

    def _artefacts(self, folder: Path | None, below: str, log: Artefact | None) -> tuple[Artefact, ...]:
        if folder is None:
            return (log,) if log is not None else ()
        logs = [
            self._documents.artefact(file, agent_role(file.name), name=f"{below}/{part}/{file.name}")
            for part in _FOLDERS
            for file in files(folder / part)
        ]
        commands = self._documents.artefact(folder / "commands.txt", "log", name=f"{below}/commands.txt")
        everything = (*logs, commands, log)
        return tuple(artefact for artefact in everything if artefact is not None)


def _rows(path: Path, root: Path, documents: Documents) -> ResultRows:
    """The rows of `results.json`, else those in the trial folders."""
    file = path if path.is_file() else root / "results.json"
    document = documents.get(file)
    if isinstance(document.get("results"), list):
        place = partial(documents.ref, file)
        return ResultRows(document, [Row(row, place(f"/results/{at}")) for at, row in enumerate(document["results"])])
    rows = []
    for trial in (trial for task in folders(root) for trial in folders(task) if is_file(trial / "results.json")):
        row = documents.get(trial / "results.json")
        if "task_id" in row:
            rows.append(Row(row, documents.ref(trial / "results.json")))
    return ResultRows(document, rows)


def _fault(mode: str) -> Fault | None:
    if mode in _SILENT:
        return None
    return OF_FAILURE_MODE.get(mode) or Fault("error", "")


def _facts(trial: JsonFields, fault: Fault | None) -> tuple[Execution, Measurement, Outcome]:
    resolved = trial.get("is_resolved")
    execution: Execution = fault.execution if fault else "completed"
    if isinstance(resolved, bool):
        if fault is not None and not fault.answered and not resolved:
            return execution, "scored", "none"
        return execution, "scored", "pass" if resolved else "fail"
    if fault is not None:
        return execution, "error" if fault.phase == "scoring" else "not_run", "none"
    ended = moment(trial.get("trial_ended_at")) is not None
    return ("completed", "unscored", "none") if ended else ("unfinished", "not_run", "none")


def _checks(trial: JsonFields) -> tuple[Check, ...]:
    """A trial is resolved only if all tests pass."""
    results = mapping(trial.take("parser_results"))
    return tuple(
        test_check(name, text(status) or str(plain(status)), order, counts=True)
        for order, (name, status) in enumerate(results.items())
    )


def _durations(trial: JsonFields) -> dict[str, float]:
    durations = {}
    for phase in ("agent", "test"):
        start, end = moment(trial.get(f"{phase}_started_at")), moment(trial.get(f"{phase}_ended_at"))
        if (took := seconds_between(start, end)) is not None:
            durations[phase] = took
    return durations


def _never_run(
    run: Run, metadata: dict[str, Any], document: dict[str, Any], rows: list[dict[str, Any]]
) -> Iterator[Item]:
    """Planned tasks without a row that the results do not count either."""
    made = {text(row.get("task_id")) for row in rows}
    made |= {text(task) for name in ("resolved_ids", "unresolved_ids") for task in sequence(document.get(name))}
    numbering = Numbering()
    for at, task in enumerate(sequence(metadata.get("task_ids"))):
        if text(task) and task not in made and numbering.next(task) == 1:
            yield Attempt(
                run=run.id,
                case=case_key(run.suite, task),
                execution="missing",
                measurement="not_run",
                outcome="none",
                ref=SourceRef(file="run_metadata.json", pointer=f"/task_ids/{at}"),
            )


def _tokens(row: Mapping[str, Any]) -> int:
    return (count(row.get("total_input_tokens")) or 0) + (count(row.get("total_output_tokens")) or 0)


def _is_name(name: str) -> bool:
    return bool(name) and not {"/", "\\", "\x00"} & set(name) and name not in (".", "..")


def run_of(
    document: dict[str, Any],
    metadata: dict[str, Any],
    lock: dict[str, Any],
    *,
    rows: list[dict[str, Any]],
    root: Path,
    ref: SourceRef,
) -> Run:
    counts, about = JsonFields(document), JsonFields(metadata)
    provider, model = model_of(text(about.take("model_name")))
    commit = text(about.take("commit_hash"))
    ended = moment(about.take("end_time"))
    return Run(
        native_id=text(about.take("run_id")) or text(counts.take("id")) or root.name,
        external_id=text(about.take("uuid")) or text(counts.take("id")),
        source=SourceInfo(name=NAME, format_version="terminal-bench"),
        name=text(about.take("run_id")),
        subject=Subject(
            model=model,
            provider=provider,
            agent=text(about.take("agent_name")),
            params=settings(mapping(about.take("agent_kwargs"))),
        ),
        suite=text(about.take("dataset_name")) or SUITE,
        suite_version=_suite_version(about),
        expected_cases=_expected(about),
        measured_attempts=_measured_attempts(counts, len(rows)),
        started_at=moment(about.take("start_time")),
        finished_at=ended,
        native_status="running" if metadata and ended is None else "",
        reported=tuple(_reported(counts, about, len(rows), ref)),
        code=CodeVersion(commit=commit) if commit not in ("", "unknown") else None,
        origin=str(root),
        ref=ref,
        extra=_extra(counts, about, rows) | non_empty(lock=settings(lock)),
    )


def _suite_version(about: JsonFields) -> str:
    """The given version, else one in the name of the dataset's folder."""
    folder = last_part(about.get("dataset_path"))
    return text(about.take("dataset_version")) or (folder if _VERSION.match(folder) else "")


def _expected(about: JsonFields) -> int | None:
    planned = {text(task) for task in sequence(about.take("task_ids"))} - {""}
    return len(planned) or count(about.get("dataset_size")) or None


def _measured_attempts(counts: JsonFields, rows: int) -> int | None:
    """Only if more trials were counted than there are rows."""
    counted = sum(count(counts.take(name)) or 0 for name in ("n_resolved", "n_unresolved"))
    return counted if counted > rows else None


def _reported(counts: JsonFields, about: JsonFields, n: int, ref: SourceRef) -> Iterator[Reported]:
    """The two files may disagree: a killed run has its accuracy in only one of them."""
    counted, in_metadata = number(counts.take("accuracy")), number(about.take("accuracy"))
    other = SourceRef(file="run_metadata.json", pointer="/accuracy")
    first = counted if counted is not None else in_metadata
    place = SourceRef(file=ref.file, pointer="/accuracy") if counted is not None or in_metadata is None else other
    yield Reported(name="accuracy", metric="pass_rate", value=first, n=n, headline=True, ref=place)
    if in_metadata is not None and in_metadata != first:
        yield Reported(name="accuracy", metric="pass_rate", value=in_metadata, n=n, ref=other)
    if (resolved := number(counts.take("n_resolved"))) is not None:
        yield Reported(name="n_resolved", metric="passed", value=resolved, n=n, ref=ref)
    if (unresolved := number(counts.take("n_unresolved"))) is not None:
        yield Reported(name="n_unresolved", metric="n_unresolved", value=unresolved, n=n, ref=ref)
    for k, value in (mapping(about.take("pass_at_k")) | mapping(counts.take("pass_at_k"))).items():
        yield Reported(name=f"pass@{k}", metric="pass_at_k", reducer=f"pass_at_{k}", value=number(value), ref=ref)


def _extra(counts: JsonFields, about: JsonFields, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The lists of resolved and unresolved tasks are kept only if they differ from the rows."""
    resolved = [row.get("task_id") for row in rows if row.get("is_resolved") is True]
    others = [row.get("task_id") for row in rows if row.get("is_resolved") is not True]
    counts.drop("results")
    lists = {
        name: counts.take(name)
        for name, tasks in (("resolved_ids", resolved), ("unresolved_ids", others))
        if sorted(map(str, sequence(counts.take(name)))) != sorted(map(str, tasks))
    }
    more: dict[str, Any] = settings(rest(about.rest()))
    ids = non_empty(id=counts.take("id"), commit_hash=about.take("commit_hash"), **lists)
    return more | rest(counts.rest()) | ids
