"""One execution of one suite by one subject in one variant, as its harness left it."""

from typing import Any

import msgspec
from msgspec.structs import replace

from errata.model import identity
from errata.model.case import Artefact
from errata.model.check import Part
from errata.model.record import Evidence, Record, Struct
from errata.model.usage import NO_USAGE_BY_ROLE, UsageByRole
from errata.model.words import LeftOutCode, MeasuredUnit, ScorerKind


class SourceInfo(Record):
    """Which source read the run, and which version of the harness's format it saw."""

    name: str
    format_version: str = ""
    adapter_version: str = "1"
    records_work: bool = True
    """Whether the log can hold an answer, tokens or steps; a table without such columns can't."""


class Subject(Record):
    """What was tested: a model, or an agent with a model."""

    model: str = ""
    provider: str = ""
    agent: str = ""
    agent_version: str = ""
    params: dict[str, Any] = {}


class Reported(Record):
    """One of the harness's own numbers; `value` is absent where no file states it."""

    name: str
    metric: str = ""
    """`pass_rate` of attempts, or of the check of that name; `passes` of a check; `scored`, `passed`, `failed` and
    `unscored` attempts; `mean_or_pass_rate` if the rule is not given. These a checkup recounts; any other metric is
    kept as it is."""
    scorer: str = ""
    filter: str = ""
    reducer: str = ""
    value: float | None = None
    stderr: float | None = None
    n: int | None = None
    """The denominator the harness itself gives."""
    headline: bool = False
    null_passes: bool = False
    """By some versions of the harness, rows that the check did not fail are passes of it."""


class FileConflict(Record):
    """Two files of a run contradict each other; `ref` is the place in the one that counts."""

    text: str
    """One sentence that names both files."""
    counted: float | None = None
    """The number that differs, in the file that counts."""
    stated: float | None = None
    """The same number in the other file."""
    cases: tuple[str, ...] = ()
    """The first cases with different results."""
    differing: int = 0
    """How many such cases there are."""
    is_certain: bool = False
    """One of the files must be wrong: no way of counting makes both right."""


class Scorer(Record):
    name: str
    kind: ScorerKind = "code"
    model: str = ""
    version: str = ""
    threshold: float | None = None
    lower_is_better: bool = False


class ScoreScale(Record):
    """Which scores an attempt can get, where the harness or its log defines that."""

    lowest: float | None = None
    highest: float | None = None
    is_product: bool = False
    """The score is the product of the checks that count."""


class Session(Record):
    """One of several executions whose traces lie in one folder."""

    number: int
    started_at: str | None = None
    finished_at: str | None = None
    pattern: str = ""
    """In words: what happened in this session as a whole."""


class CodeVersion(Record):
    repo: str = ""
    commit: str = ""


class Exclusion(Record):
    """A run that is kept but left out of every score."""

    reason: str
    by: str = ""
    at: str | None = None


class SameWork(Exclusion):
    """No person excluded it: another of the runs that are held together has its work. It is never stored."""


FOLDER = "folder"
"""In the variant of a run that its folder distinguishes from another with its id."""


class Run(Record):
    id: str = ""
    """Computed from source, native id, subject and variant where it is not given."""
    native_id: str
    external_id: str = ""
    group: str = ""
    source: SourceInfo
    name: str = ""
    subject: Subject = Subject()
    roles: dict[str, str] = {}
    """Role → model, for judges, simulators and the like."""
    variant: dict[str, str] = {}
    suite: str = ""
    suite_version: str = ""
    expected_cases: int | None = None
    measured_attempts: int | None = None
    """How many attempts the harness measured by its own count; the log need not hold a row of each."""
    measured_unit: MeasuredUnit = "attempts"
    """`cases` where `measured_attempts` counts a case once, however often it was tried."""
    measured_passes: int | None = None
    """How many of them passed by its own count."""
    started_at: str | None = None
    finished_at: str | None = None
    native_status: str = ""
    revision: int = 1
    reported: tuple[Reported, ...] = ()
    conflicts: tuple[FileConflict, ...] = ()
    scorers: tuple[Scorer, ...] = ()
    scale: ScoreScale | None = None
    context: tuple[Artefact, ...] = ()
    """System prompt, policy text, knowledge base."""
    code: CodeVersion | None = None
    environment: dict[str, Any] = {}
    sessions: tuple[Session, ...] = ()
    log_evidence: tuple[Evidence, ...] = ()
    usage: UsageByRole = NO_USAGE_BY_ROLE
    parts: tuple[Part, ...] = ()
    excluded: Exclusion | None = None
    origin: str = ""
    """The path on this machine that every `ref.file` of the run is relative to. No part of the run's content."""
    works_of: tuple[str, ...] = ()
    """The harness's ids of runs whose work it judges again or continues."""
    parts_at: tuple[str, ...] = ()
    """Where the logs of its parts lie, if it was put together from several."""

    def __post_init__(self) -> None:
        if not self.id:
            subject = (
                self.subject.model,
                self.subject.provider,
                self.subject.agent,
                self.subject.agent_version,
            )
            made = identity.run_id(self.source.name, self.native_id, subject, self.variant)
            msgspec.structs.force_setattr(self, "id", made)

    @property
    def conditions(self) -> dict[str, str]:
        """What was tested, beside the subject: its variant without a folder that only sets two logs apart."""
        return {name: value for name, value in self.variant.items() if name != FOLDER}

    @property
    def lower_is_better(self) -> bool:
        """By the scorer that decides."""
        return bool(self.scorers) and self.scorers[0].lower_is_better

    @property
    def harness_passes(self) -> int | None:
        """Passes by the harness's own count, with or without a row in the log."""
        if self.measured_passes is not None:
            return self.measured_passes
        counted = (one.value for one in self.reported if one.metric == "passed" and not (one.filter or one.scorer))
        usable = (int(value) for value in counted if value is not None and float(value).is_integer())
        return next((value for value in usable if value >= 0), None)

    @property
    def stated_passes(self) -> tuple[int, int] | None:
        """Passes and total as the harness counts; from a rate only where it does not state the number."""
        usable = [one for one in self.reported if one.value is not None and not one.filter]
        rate = next((one for one in usable if one.metric == "pass_rate" and one.n), None)
        if rate is None or rate.n is None or rate.value is None:
            return None
        counted = (int(one.value) for one in usable if one.metric == "passed" and one.value is not None)
        return next(counted, round(rate.value * rate.n)), rate.n


RUNNING = ("running", "pending", "started", "paused_rate_limit", "in_progress", "stuck")
"""Words of harnesses for a run that has not ended."""


def is_running(run: Run) -> bool:
    """Whether the log itself calls the run unfinished."""
    return run.native_status in RUNNING


LISTS_EVERY_CHECK = frozenset(("promptfoo",))
"""Sources whose log lists every check, so that a pass without a check was not tested."""


def case_name(run: Run, key: str) -> str:
    return key.removeprefix(f"{run.suite}/") if run.suite else key


FROM_FOLDER = "from_folder"


def with_folder_names(run: Run, names: dict[str, str]) -> Run:
    """A run with the `name` and `model` that only its folder has; `extra` shows where they are from."""
    if not names:
        return run
    subject = replace(run.subject, model=names.get("model", run.subject.model))
    return replace(run, name=names.get("name", run.name), subject=subject, extra=run.extra | {FROM_FOLDER: names})


def without_folder_names(run: Run) -> Run:
    """The run as its log has it, wherever it lies."""
    names = run.extra.get(FROM_FOLDER)
    if not names:
        return run
    subject = replace(run.subject, model="" if "model" in names else run.subject.model)
    extra = {key: value for key, value in run.extra.items() if key != FROM_FOLDER}
    return replace(run, name="" if "name" in names else run.name, subject=subject, extra=extra)


def subject_key(run: Run) -> tuple[str, ...]:
    """Equal for runs of one subject. A run of an unknown model is a subject of its own: nobody knows its equals."""
    subject = run.subject
    variant = (f"{key}={value}" for key, value in sorted(run.conditions.items()))
    return (*(() if subject.model else (run.id,)), subject.model, subject.agent, subject.agent_version, *variant)


def subject_label(run: Run) -> str:
    """The model; where it is unknown, the agent and the run's name. Empty where only the native id is known."""
    if run.subject.model:
        return run.subject.model
    name = run.name or run.native_id
    if run.subject.agent and run.subject.agent != name:
        return f"{run.subject.agent} ({name})"
    return name if name != run.native_id else ""


class Harness(Struct):
    name: str
    """The name of its source, such as `inspect-ai`."""
    title: str
    """What people call it."""
    titles: dict[str, str] = {}
    """Another title by the version of a format, where a source reads the logs of several harnesses."""
    unit: str = ""
    """Its own word for what it counts, such as `sample`; empty where it has none."""
    is_batch: bool = False
    """A run is a batch of sessions that can be resumed."""
    judges_turns: bool = False
    """A judge scores each turn of one conversation, dimension by dimension."""
    has_only_failures: bool = False
    """Its logs were chosen because they failed, so that no score can be estimated from them."""


class WhyLeftOut(msgspec.Struct, frozen=True):
    """Why a run is left out; as text, the reason in words."""

    code: LeftOutCode
    detail: str = ""
    """`excluded`: the reason that was given; `same_work`: the run that has the work, and how it came by it."""

    def __str__(self) -> str:
        text = _LEFT_OUT[self.code]
        return f"{text}: {self.detail}" if self.detail else text


_LEFT_OUT: dict[LeftOutCode, str] = {
    "excluded": "excluded",
    "same_work": "the same work counts once",
    "unavailable": "unavailable: every attempt ended in the same error before it reached the model",
    "only_failures": "its log holds only failures, so its passes can't be compared case by case",
    "no_rows": "its log holds no rows, so it can't be compared case by case",
    "not_scored": "no attempt was scored",
    "not_judged": "no attempt was judged",
    "no_run_folder": "its rows are not in a run folder",
}


def why_excluded(run: Run) -> WhyLeftOut | None:
    if run.excluded is None:
        return None
    return WhyLeftOut("same_work" if isinstance(run.excluded, SameWork) else "excluded", run.excluded.reason)
