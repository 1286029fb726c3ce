"""Short ways to build the runs that a checkup looks at."""

from collections.abc import Iterable
from datetime import UTC, datetime

from errata.checkup import examine
from errata.model import (
    Attempt,
    Case,
    Check,
    ErrorInfo,
    Finding,
    Output,
    Run,
    SourceRef,
    Unreadable,
    Usage,
    UsageByRole,
)
from errata.testing import a_run, an_attempt

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
RUN = a_run(ref=SourceRef(file="run.json"))


def row(number: int, **changes) -> Attempt:
    """A healthy row: an answer of its own, one check passed, tokens and cost known."""
    given = {
        "run": RUN.id,
        "case": f"suite/case-{number}",
        "outcome": "pass",
        "output": Output(text=f"answer {number}"),
        "checks": (Check(name="tests", status="pass"),),
        "usage": UsageByRole(subject=Usage(input=10, output=5, cost=0.01)),
        "ref": SourceRef(file="rows.jsonl", line=number + 1),
    }
    return an_attempt(**given | changes)


def rows(count: int, **changes) -> list[Attempt]:
    return [row(number, **changes) for number in range(count)]


def failed(number: int, **changes) -> Attempt:
    return row(number, outcome="fail", checks=(Check(name="tests", status="fail"),), **changes)


def crashed(number: int, message: str = "401 unauthorized", **changes) -> Attempt:
    """An attempt that ended in an error before anything was answered."""
    given = {
        "execution": "error",
        "measurement": "not_run",
        "outcome": "none",
        "output": Output(),
        "checks": (),
        "usage": UsageByRole(),
        "errors": (ErrorInfo(type="AuthError", message=message, phase="subject"),),
    }
    return row(number, **given | changes)


def missing(number: int, **changes) -> Attempt:
    return crashed(number, execution="missing", errors=(), **changes)


def check(
    attempts: Iterable[Attempt],
    run: Run = RUN,
    unreadables: Iterable[Unreadable] = (),
    descriptions: Iterable[Case] = (),
) -> tuple[Finding, ...]:
    return examine(run, list(attempts), unreadables, now=NOW, descriptions=descriptions)


def named(name: str, findings: Iterable[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.name == name]


def the(name: str, findings: Iterable[Finding]) -> Finding:
    """The one finding of a name."""
    (found,) = named(name, findings)
    return found
