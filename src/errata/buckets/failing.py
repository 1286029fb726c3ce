"""One failure as the grouping sees it: whose it is, what it says, and what was said of it."""

import msgspec

from errata.model import FailureKey, Verdict

NO_KEY = FailureKey(exact="", coarse="")


class Failing(msgspec.Struct, frozen=True, kw_only=True):
    """Put together by the pipeline out of an attempt, its attribution and the verdict that stands on it."""

    attempt: str
    case: str = ""
    """The case key."""
    suite: str = ""
    """Failures of two suites are never in one bucket."""
    category: str = ""
    owner: str = "unknown"
    """Of the verdict, where there is one; else of the attribution."""
    decided_by: str = ""
    """The signal that decided the attribution."""
    means: str = ""
    """What that rule says in words; empty where none decided (`check_failed`, `phase`, `nothing known`)."""
    cluster: str = ""
    """The label that a taxonomy of causes suggests (conversation-bench's eight); not `other`, and no owner's word."""
    key: FailureKey = NO_KEY
    texts: tuple[str, ...] = ()
    """What it says of itself, most telling first: the error's message, a check's explanation, a judge's reasoning."""
    verdict: Verdict | None = None
    """The one that stands."""
    final: bool = False
    """Whether that verdict counts: read by its reviewer, and seconded where that is needed (`Standing.final`)."""
    parameters: dict[str, str] = {}
    """provider, model, tool, category, step, slice …: what may hide behind a symptom."""
    follows: str | None = None
    """The attempt whose failure this one only repeats."""
