"""Thread logs: one file per worker thread, appended over sessions; each test is between `Starting` and `Completed`.

Standard output is buffered and may come after later log lines, so each line is interpreted by its content, not by its
position. Times in square brackets are UTC, times of the logger are local.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from errata.model import Evidence, SourceRef, Unreadable, times
from errata.model.words import Phase
from errata.sources.base import children, describe, relative, unreadable
from errata.sources.base import number_or_none as number
from errata.sources.scylla import NAME
from errata.sources.scylla.log_errors import LoggedError, LoggedErrors, split_exception
from errata.sources.scylla.log_lines import (
    AT_AGENT,
    AT_JUDGED,
    FAILED_IN_STATE,
    JUDGE_FAILED,
    NEVER,
    Progress,
    failed_in_state,
    meaning_of,
    part_of,
    phase_of_logger,
    progress_of,
)
from errata.sources.shared.values import integer, moment
from errata.text.lazy_regex import lazy_regex
from errata.text.redact import redact

EVIDENCE_CAP = 2_000
QUOTE_CAP = 500
LINE_CAP = 1024 * 1024
NOTE_CAP = 200

_FILE = lazy_regex(r"thread_(\d+)\.log$")
_EVIDENCE = lazy_regex(r"ValidationError|criteria_scores|is_error|Error|Exception")


@dataclass
class TierResult:
    tier: str
    passed: bool
    score: float | None
    cost: float | None
    line: int


@dataclass
class ResultBlock:
    """The lines below `EXPERIMENT COMPLETE`."""

    line: int
    duration: float | None = None
    cost: float | None = None
    best_tier: str = ""
    best_subtest: str = ""
    frontier_cop: str = ""
    none_passed: bool = False
    tiers: list[TierResult] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        return self.cost is not None and bool(self.best_tier or self.none_passed)

    @property
    def best_score(self) -> float | None:
        """The batch runner's definition: the best tier's score, and 0 if no tier is best."""
        if not self.best_tier:
            return 0.0 if self.none_passed else None
        return next((tier.score for tier in self.tiers if tier.tier == self.best_tier), None)


@dataclass
class LogBlock:
    """One test in one session, as one thread logged it."""

    file: str
    test: str
    line: int
    started_at: str
    last_line: int
    start: int = 0
    end: int = 0
    """Byte positions of its beginning and its end in the file."""
    session: int = 0
    command: str = ""
    finished_at: str | None = None
    seconds: float | None = None
    exit_code: int | None = None
    results: list[ResultBlock] = field(default_factory=list)
    errors: LoggedErrors = field(default_factory=LoggedErrors)
    stages: dict[str, str] = field(default_factory=dict)
    resumed_from: str = ""
    previously_completed: int | None = None
    reused: int = 0
    notes: list[tuple[int, str]] = field(default_factory=list)

    @property
    def result(self) -> ResultBlock | None:
        return self.results[-1] if self.results else None

    @property
    def ref(self) -> SourceRef:
        return SourceRef(file=self.file, line=self.line, start=self.start, end=self.end)


@dataclass
class Logs:
    """All thread logs of a batch."""

    files: list[str] = field(default_factory=list)
    blocks: list[LogBlock] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)
    evidence_count: int = 0
    problems: list[Unreadable] = field(default_factory=list)

    def of_test(self, test: str) -> list[LogBlock]:
        """In the order of time: a later session may give a test to another thread."""
        blocks = (block for block in self.blocks if block.test == test)
        return sorted(blocks, key=lambda block: times.parse(block.started_at))


def read_logs(root: Path) -> Logs:
    logs = Logs()
    logs_by_number = [
        (int(shape[1]), path) for path in children(root / "thread_logs") if (shape := _FILE.search(path.name))
    ]
    for _, path in sorted(logs_by_number):
        name = relative(path, root)
        before = len(logs.blocks)
        try:
            _read_log(path, name, logs)
        except OSError as error:
            logs.problems.append(unreadable(NAME, SourceRef(file=name), describe(error)))
            continue
        logs.files.append(name)
        if len(logs.blocks) == before:
            logs.problems.append(unreadable(NAME, SourceRef(file=name), "no `Starting` line"))
    return logs


def _read_log(path: Path, name: str, logs: Logs) -> None:
    block: LogBlock | None = None
    place = 0
    for number_, (line, size) in enumerate(_lines(path), 1):
        _keep_evidence(logs, name, number_, line)
        started = _STARTING.match(line)
        if started and (at := moment(started["ts"])):
            block = LogBlock(
                file=name, test=started["test"], line=number_, started_at=at, last_line=number_, start=place
            )
            logs.blocks.append(block)
        elif block is not None:
            _take(block, line, number_)
        place += size
        if block is not None:
            block.end = place


def _lines(path: Path) -> Iterator[tuple[str, int]]:
    """Each line with its size in bytes."""
    with path.open("rb") as file:
        while data := file.readline(LINE_CAP):
            yield data.decode("utf-8", "replace").rstrip("\r\n"), len(data)


def _keep_evidence(logs: Logs, file: str, number_: int, line: str) -> None:
    match = _EVIDENCE.search(line)
    if not match:
        return
    logs.evidence_count += 1
    if len(logs.evidence) < EVIDENCE_CAP:
        quote = redact(line)[:QUOTE_CAP]
        logs.evidence.append(Evidence(quote=quote, name=match[0], ref=SourceRef(file=file, line=number_)))


def _take(block: LogBlock, line: str, number_: int) -> None:
    logged = _LOGGED.match(line)
    if logged:
        block.errors.close()
        block.last_line = number_ if block.finished_at is None else block.last_line
        _take_logged(block, logged, number_)
        return
    for shape, take in _SHAPES:
        if match := shape.match(line):
            block.errors.close()
            take(block, match, number_)
            break
    else:
        block.errors.continue_with(line)
    if block.finished_at is None and line.strip("="):
        block.last_line = number_


def _take_logged(block: LogBlock, logged: re.Match[str], number_: int) -> None:
    message = logged["msg"].strip()
    progress = progress_of(message)
    if progress is not None:
        block.errors.advance(number_, progress)
    if stage := _STAGE.match(message):
        block.stages[stage["where"]] = stage["stage"]
    elif resumed := _RESUMED.match(message):
        block.resumed_from = resumed["path"]
    elif previously := _PREVIOUSLY.match(message):
        block.previously_completed = int(previously["n"])
    elif error := _error_of(block, logged, number_):
        block.errors.open(error)
    elif _REUSED.match(message):
        block.reused += 1
        block.errors.stored_verdicts += "Agent" not in message
    elif (logged["lvl"] == "WARNING" or _NOTED.match(message)) and len(block.notes) < NOTE_CAP:
        block.notes.append((number_, redact(message)[:QUOTE_CAP]))


def _error_of(block: LogBlock, logged: re.Match[str], number_: int) -> LoggedError | None:
    """By what the line means; a line of unknown meaning is an error only at that level."""
    message, logger, at = logged["msg"].strip(), logged["logger"], moment(logged["ts"])
    phase = phase_of_logger(logger)
    if worker := _WORKER.match(message):
        part, stage = f"{worker['tier']}/{worker['sub']}", block.stages.get(f"{worker['tier']}_{worker['sub']}", "")
        return LoggedError(worker["what"], part, number_, at, phase, stage=stage, overcome_at=AT_JUDGED)
    if meaning := meaning_of(message, logger):
        where, judge = part_of(message) or logger, meaning.shape.match(message)
        number = int(judge["judge"]) if judge and meaning.type == JUDGE_FAILED else 0
        return LoggedError(
            message, where, number_, at, meaning.phase, meaning.type,
            overcome_at=meaning.overcome_at, is_fatal=meaning.is_fatal, judge=number,
        )  # fmt: skip
    if stopped := failed_in_state(message):
        where = stopped.part or "experiment"
        kind, level = split_exception(stopped.what)[0] or FAILED_IN_STATE, AT_JUDGED if stopped.part else NEVER
        return LoggedError(stopped.what, where, number_, at, kind=kind, overcome_at=level, is_fatal=not stopped.part)
    if failed := _FAILED.match(message):
        return LoggedError(failed["what"], failed["where"].lower(), number_, at, phase, is_fatal=True)
    if logged["lvl"] in ("ERROR", "CRITICAL"):
        return LoggedError(message, logger, number_, at, phase, overcome_at=AT_JUDGED)
    return None


def _completed(block: LogBlock, match: re.Match[str], number_: int) -> None:
    if match["test"] != block.test:
        return
    block.finished_at = moment(match["ts"])
    block.seconds = number(match["secs"])
    block.exit_code = integer(match["rc"])
    block.last_line = number_


def _command(block: LogBlock, match: re.Match[str], _: int) -> None:
    block.command = block.command or match["cmd"]


def _not_started(block: LogBlock, match: re.Match[str], number_: int) -> None:
    is_start = match["kind"] == "ERROR"
    phase: Phase = "setup" if is_start else "aggregation"
    where = "start" if is_start else "thread"
    block.errors.open(LoggedError(match["msg"], where, number_, phase=phase, is_fatal=True))
    block.errors.close()


def _experiment_complete(block: LogBlock, _: re.Match[str], number_: int) -> None:
    block.results.append(ResultBlock(line=number_))


def _cost(block: LogBlock, match: re.Match[str], number_: int) -> None:
    if block.result is not None:
        block.result.cost = number(match[1])
        if block.result.cost:  # whatever was in the way of the agents, they worked
            block.errors.advance(number_, Progress(AT_AGENT))


def _of_result(
    take: Callable[[ResultBlock, re.Match[str], int], None],
) -> Callable[[LogBlock, re.Match[str], int], None]:
    def apply(block: LogBlock, match: re.Match[str], number_: int) -> None:
        if block.result is not None:
            take(block.result, match, number_)

    return apply


def _duration(result: ResultBlock, match: re.Match[str], _: int) -> None:
    result.duration = number(match[1])


def _best_tier(result: ResultBlock, match: re.Match[str], _: int) -> None:
    result.best_tier = match[1]


def _best_subtest(result: ResultBlock, match: re.Match[str], _: int) -> None:
    result.best_subtest = match[1]


def _frontier(result: ResultBlock, match: re.Match[str], _: int) -> None:
    result.frontier_cop = match[1]


def _none_passed(result: ResultBlock, _: re.Match[str], __: int) -> None:
    result.none_passed = True


def _tier(result: ResultBlock, match: re.Match[str], number_: int) -> None:
    result.tiers.append(TierResult(match[1], match[2] == "PASS", number(match[3]), number(match[4]), number_))


_TS = r"\[(?P<ts>\d{4}-\d\d-\d\dT[\d:.]+(?:\+00:00|Z))\]"
_STARTING = lazy_regex(rf"^{_TS} Starting (?P<test>\S+)$")
_LOGGED = lazy_regex(r"^(?P<ts>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\S* \[(?P<lvl>[A-Z]+)\] (?P<logger>[\w.]+): (?P<msg>.*)$")
_STAGE = lazy_regex(r"^\S+Z \[(?P<where>T\d+_\w+)\] Stage: (?P<stage>[A-Z]+)")
_WORKER = lazy_regex(r"^Worker exception for (?P<tier>T\d+)/(?P<sub>\w+): (?P<what>.*)$")
_FAILED = lazy_regex(r"^(?P<where>Tier T\d+|Experiment) failed: (?P<what>.*)$")
_RESUMED = lazy_regex(r"^Resuming from checkpoint: (?P<path>.*)$")
_PREVIOUSLY = lazy_regex(r"^Previously completed: (?P<n>\d+) runs")
_REUSED = lazy_regex(r"^(?:Skipping completed run: |\[SKIP\] )")
_NOTED = lazy_regex(r"^(?:Rate limit|Previously completed run is invalid)")

_SHAPES: tuple[tuple[re.Pattern[str], Callable[[LogBlock, re.Match[str], int], None]], ...] = (
    (lazy_regex(rf"^{_TS} Completed (?P<test>\S+) in (?P<secs>[\d.]+)s \(exit code: (?P<rc>-?\d+)\)$"), _completed),
    (lazy_regex(r"^Command: (?P<cmd>.+)$"), _command),
    (lazy_regex(r"^(?P<kind>ERROR|UNEXPECTED ERROR): (?P<msg>.+)$"), _not_started),
    (lazy_regex(r"^EXPERIMENT COMPLETE$"), _experiment_complete),
    (lazy_regex(r"^Duration: ([\d.]+)s$"), _of_result(_duration)),
    (lazy_regex(r"^Total Cost: \$([\d.]+)$"), _cost),
    (lazy_regex(r"^Best Tier: (T\d+)$"), _of_result(_best_tier)),
    (lazy_regex(r"^Best Sub-test: (\w+)$"), _of_result(_best_subtest)),
    (lazy_regex(r"^Frontier CoP: \$(\S+)$"), _of_result(_frontier)),
    (lazy_regex(r"^No passing results found$"), _of_result(_none_passed)),
    (lazy_regex(r"^  (T\d+): (PASS|FAIL) \(score: ([\d.]+), cost: \$([\d.]+)\)$"), _of_result(_tier)),
    (lazy_regex(r"^(?:=+|-+|Tier Results:)?$"), lambda _block, _found, _line: None),
)
