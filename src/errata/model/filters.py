"""Which failures are meant: the filters of commands (`--case`, `--owner`, `--bucket` …), and those of the pages."""

from collections.abc import Mapping
from typing import Protocol

from errata.model.record import Struct
from errata.model.run import Run, case_name


class FilteredAttempt(Protocol):
    @property
    def case(self) -> str: ...
    @property
    def execution(self) -> str: ...
    @property
    def measurement(self) -> str: ...
    @property
    def outcome(self) -> str: ...


class Filters(Struct):
    case: str = ""
    category: str = ""
    failed_check: str = ""
    execution: str = ""
    measurement: str = ""
    outcome: str = ""
    owner: str = ""
    bucket: str = ""
    """The slug of a bucket, or the beginning of it."""

    def fits(self, run: Run, attempt: FilteredAttempt, categories: Mapping[str, tuple[str, ...]]) -> bool:
        """By the facts of an attempt; its failed checks, owner and bucket are looked up where they are known."""
        return (
            self.case in case_name(run, attempt.case)
            and (not self.category or self.category in categories.get(attempt.case, ()))
            and self.execution in ("", attempt.execution)
            and self.measurement in ("", attempt.measurement)
            and self.outcome in ("", attempt.outcome)
        )


class FailureFilters(Struct):
    """Empty fields do not filter."""

    owners: tuple[str, ...] = ()
    check: str = ""
    """The first check that failed."""
    signal: str = ""
    review: str = ""
    category: str = ""
    bucket: str = ""
    key: str = ""
    """The mark of an exact failure key."""
    past: str = ""
    text: str = ""
