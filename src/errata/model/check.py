"""What was measured about an attempt."""

from errata.model.error_info import ErrorInfo
from errata.model.record import Record
from errata.model.words import CheckKind, CheckStatus


class CheckEdit(Record):
    """An earlier value of a check, kept when somebody changed it."""

    value: float | str | bool | None
    by: str = ""
    at: str | None = None
    why: str = ""


class Check(Record):
    name: str
    status: CheckStatus
    scorer: str = ""
    judge: str = ""
    order: int = 0
    kind: CheckKind = "assertion"
    value: float | str | bool | None = None
    achieved: float | None = None
    max: float | None = None
    threshold: float | None = None
    lower_is_better: bool = False
    is_primary: bool = False
    counts: bool = True
    """False for checks that a harness reports but leaves out of the outcome."""
    explanation: str = ""
    reason_code: str = ""
    error: ErrorInfo | None = None
    duration: float | None = None
    step: int | None = None
    """Where in the transcript it was measured."""
    history: tuple[CheckEdit, ...] = ()

    @property
    def failed(self) -> bool:
        return self.status == "fail" and self.counts
