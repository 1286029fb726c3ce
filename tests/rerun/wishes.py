"""Requests for plans, as short as a test needs them."""

from collections.abc import Iterable
from typing import Any

from errata.model import SourceInfo, Subject
from errata.rerun import Others, RerunAttempt, RerunRequest
from errata.testing import a_run


def a_request(source: str, cases: Iterable[str | RerunAttempt], *, version: str = "", **changes: Any) -> RerunRequest:
    others = changes.pop("others", Others())
    given: dict[str, Any] = {
        "source": SourceInfo(name=source, format_version=version),
        "subject": Subject(model="acme/nimbus-2", provider="", agent="terminus-2"),
        "origin": "/data/runs/first",
    }
    run = a_run(**given | changes)
    return RerunRequest(run, [one if isinstance(one, RerunAttempt) else failed(one) for one in cases], others)


def failed(case: str, **changes: Any) -> RerunAttempt:
    return RerunAttempt(**{"case": case, "why": "provider", "signal": "provider_rate_limit"} | changes)
