"""Failures that differ only in the reason of their one check: those of a case are judged once.

Nothing but its one check speaks about such an attempt. All that triage sees of it, the reason aside, is the same for
every attempt of its kind at the same case.
"""

from msgspec.structs import replace

from errata.model import Attempt, Attribution, Case, SourceRef
from errata.model.attempt import NO_OUTPUT
from errata.model.usage import NO_USAGE_BY_ROLE
from errata.text.tool_output import key_line
from errata.triage.broken_tests import may_not_parse
from errata.triage.facts import LOOKED_AT
from errata.triage.keys import key_of_check
from errata.triage.observed import Observed, short_quote

MOST_CASES = 50_000


def is_failed_by_one_check(attempt: Attempt) -> bool:
    (check,) = attempt.checks
    return (
        (attempt.execution, attempt.measurement, attempt.outcome) == ("completed", "scored", "fail")
        and attempt.is_status_known
        and attempt.output is NO_OUTPUT
        and attempt.usage is NO_USAGE_BY_ROLE
        and not (attempt.native_status or attempt.errors or attempt.judgements or attempt.artefacts or attempt.steps)
        and all(each is None for each in (attempt.conduct, attempt.undelivered, attempt.http_status, attempt.limit))
        and attempt.started_at is None
        and check.failed
        and check.error is None
        and check.kind not in LOOKED_AT
    )


class JudgedCases:
    """Attributions by case and kind, for later attempts that differ only in the reason."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], Attribution] = {}

    def learn(
        self, attempt: Attempt, case: Case | None, kind: int, observed: list[Observed], attribution: Attribution
    ) -> None:
        """Only where nothing was seen but that the check failed, and the attempt's own reason yields the same again.

        Of a case with a task or an expected answer, rules compare that with the reason.
        """
        if len(observed) != 1 or observed[0].breaks or (case is not None and case.digest):
            return
        made = _with_reason(attribution, attempt.id, attempt.ref, attempt.checks[0].explanation)
        if made == attribution:
            if len(self._known) >= MOST_CASES:
                self._known.clear()
            self._known[attempt.case, kind] = attribution

    def attribute(self, case: str, kind: int, attempt: str, ref: SourceRef | None, reason: str) -> Attribution | None:
        """None where it has to be judged by itself."""
        known = self._known.get((case, kind))
        return None if known is None else _with_reason(known, attempt, ref, reason)


def _with_reason(known: Attribution, attempt: str, ref: SourceRef | None, reason: str) -> Attribution | None:
    line = key_line(reason)
    if not line or may_not_parse(reason):  # it may say more than that the check failed
        return None
    first, *others = known.signals
    signals = (replace(first, quote=short_quote(line), ref=ref), *others)
    return replace(known, attempt=attempt, signals=signals, failure_key=key_of_check(known.failure_key.coarse, line))
