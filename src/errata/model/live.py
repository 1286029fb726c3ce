"""Reports of a runner while its run goes on. Their fields are those of the records they become."""

from typing import Any, Literal, TypeAlias

from errata.model.attempt import NO_OUTPUT, Judgement, Limit, Output
from errata.model.case import Artefact
from errata.model.check import Check, ErrorInfo
from errata.model.record import Struct
from errata.model.run import CodeVersion, Reported
from errata.model.step import Step
from errata.model.usage import NO_USAGE_BY_ROLE, UsageByRole
from errata.model.words import Execution, Measurement, Outcome

LiveStatus: TypeAlias = Literal["running", "stuck", "finished"]


class StartReport(Struct, forbid_unknown_fields=True):
    """A run begins. Sent again, it changes nothing."""

    key: str
    """The runner's own id of the run."""
    suite: str
    model: str = ""
    provider: str = ""
    agent: str = ""
    agent_version: str = ""
    params: dict[str, Any] = {}
    variant: dict[str, str] = {}
    name: str = ""
    suite_version: str = ""
    expected_cases: int | None = None
    started_at: str | None = None
    code: CodeVersion | None = None
    environment: dict[str, Any] = {}
    stuck_after: float | None = None
    """Seconds without a report after which the run counts as stuck; default: the server's."""
    extra: dict[str, Any] = {}


class AttemptReport(Struct, forbid_unknown_fields=True):
    """One try at a case. A later report of the same attempt, under another key, replaces it."""

    key: str
    """The runner's id of this report; a repeated one changes nothing."""
    case: str
    """Its name in the suite."""
    category: str = ""
    input: Any = None
    expected: Any = None
    index: int = 1
    session: int | None = None
    execution: Execution = "completed"
    """`unfinished` while it is going on."""
    measurement: Measurement = "scored"
    outcome: Outcome = "none"
    threshold: float | None = None
    native_status: str = ""
    native_reason: str = ""
    reported: float | None = None
    output: Output = NO_OUTPUT
    stop_reason: str = ""
    limit: Limit | None = None
    errors: tuple[ErrorInfo, ...] = ()
    checks: tuple[Check, ...] = ()
    judgements: tuple[Judgement, ...] = ()
    steps: tuple[Step, ...] = ()
    artefacts: tuple[Artefact, ...] = ()
    usage: UsageByRole = NO_USAGE_BY_ROLE
    started_at: str | None = None
    finished_at: str | None = None
    duration: float | None = None
    seed: int | None = None
    exit_code: int | None = None
    extra: dict[str, Any] = {}


class AttemptsReport(Struct, forbid_unknown_fields=True):
    run: str
    """The id that the start of the run answered."""
    attempts: tuple[AttemptReport, ...]


class PartReport(Struct, forbid_unknown_fields=True):
    """More about one attempt, which need not have been reported yet."""

    run: str
    key: str
    """The runner's id of this report; a repeated one changes nothing."""
    case: str
    index: int = 1
    session: int | None = None


class StepsReport(PartReport, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Steps that follow those reported before."""

    steps: tuple[Step, ...]


class ChecksReport(PartReport, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A check replaces an earlier one of the same name."""

    checks: tuple[Check, ...]


class ArtefactsReport(PartReport, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file replaces an earlier one with the same path."""

    artefacts: tuple[Artefact, ...]


class FinishReport(Struct, forbid_unknown_fields=True):
    """The run has ended; nothing can be added to it."""

    run: str
    key: str = "finish"
    status: str = "finished"
    """The runner's own word; `failed`, `cancelled` and the like make errata warn about the run."""
    finished_at: str | None = None
    reported: tuple[Reported, ...] = ()
    """The runner's own numbers, which errata recounts."""


class LiveRunState(Struct):
    """What a server knows about a run that is reported to it."""

    run: str
    """The id of the run."""
    state: LiveStatus
    started_at: str
    heard_at: str
    """When the last report arrived."""
    token: str
    """The name of the token that started it."""


class LiveAnswer(LiveRunState):
    """A report was stored: it survives a crash of the server."""

    accepted: int
    repeated: int
    """Reports whose keys were known already; they changed nothing."""


class StoreChange(Struct):
    kind: Literal["run", "attempts", "verdict", "bucket", "claim"]
    """`run`: it is new, gone, excluded, or its state changed. `attempts`: it has more of them. `claim`: somebody
    began or ended a review."""
    run: str | None = None
    """Null where more than one run may have changed."""
    attempt: str | None = None
    by: str | None = None
    """The reviewer or author, where one is known."""
