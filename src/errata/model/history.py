"""What is known of a case from before a run: earlier reports and runs, and what actions changed."""

from collections.abc import Sequence
from typing import Literal, get_args

import msgspec

from errata.model.action import Action
from errata.model.record import Struct

Worked = Literal["yes", "no", "unknown"]
EffectReason = Literal["cases", "names_no_case", "run_time_unknown", "made_after_run", "same_day", "no_run"]
"""Why an action worked or not: what its cases show, or why no run can show it."""
CaseReason = Literal[
    "fails_again",
    "fails_otherwise",
    "passes_now",
    "passed_before",
    "no_earlier_run",
    "mixed_attempts",
    "not_measured",
    "several_cases",
    "fails_elsewhere",
]
Match = Literal["same_key", "same_text", "same_check", "same_bucket", "same_case", "similar_text"]
"""Why a failure is like another: the same failure key, the very words that were looked for, the same check of the same
case, the same bucket, the same case in a report that names no check, or a similar text."""
MATCHES: tuple[Match, ...] = get_args(Match)
"""The nearest first."""
NAMED_CASES = 3


class CaseEffect(Struct):
    """What one run shows of one case that an action addresses."""

    case: str
    worked: Worked
    reason: CaseReason
    passes: bool | None = None
    """Whether it passes now; none where the run has no single result for it."""
    matches: int = 1
    """How many cases of the run have this name."""


class ActionResult(Struct):
    """What one run shows of an action."""

    action: Action
    worked: Worked
    reason: EffectReason
    cases: tuple[CaseEffect, ...] = ()
    run: str = ""
    """The run that was looked at."""
    report: str = ""
    """The report that shows how it went, where the store does not."""

    @property
    def why(self) -> str:
        place = f" ({self.report})" if self.report and self.reason == "cases" else ""
        return effect_text(self.reason, self.cases, self.worked) + place

    @property
    def resolved(self) -> Action:
        """The action with what this run showed of it."""
        shown = self.run if self.worked != "unknown" else ""
        return msgspec.structs.replace(self.action, worked=self.worked, worked_in=shown)


def effect_text(reason: EffectReason, cases: Sequence[CaseEffect], worked: Worked) -> str:
    """The reason as a phrase: `003-mutations/002-cascade_remove passes now`."""
    if reason != "cases":
        return _REASONS[reason]
    groups: dict[tuple[CaseReason, bool | None, int], list[str]] = {}
    for case in cases:
        if case.worked == worked:
            groups.setdefault((case.reason, case.passes, case.matches), []).append(case.case)
    parts = [f"{_names(names)} {_case_text(*key, len(names))}" for key, names in groups.items()]
    passing = sum(case.worked == "yes" for case in cases)
    if worked != "yes" and passing:
        parts.append(f"{passing} of {len(cases)} {'passes' if passing == 1 else 'pass'} now")
    return "; ".join(parts)


_REASONS: dict[EffectReason, str] = {
    "names_no_case": "it does not name a case",
    "run_time_unknown": "the start time of the run is unknown",
    "made_after_run": "it was made after the run began",
    "same_day": "it was made on the day of the run; which came first is unknown",
    "no_run": "no run of its cases is in the store",
}


def late_action_text(path: str, what: str, date: str, reason: EffectReason) -> str:
    """`eslint.config.mjs was changed on 2026-03-04, after this run`; empty for one that came before it."""
    when = {"made_after_run": "after this run", "same_day": "the day of this run; which came first is unknown"}
    if reason not in when:
        return ""
    done = f"{path} was changed" if path else f'"{what}" was done'
    return f"{done} on {date[:10]}, {when[reason]}"


def _names(cases: Sequence[str]) -> str:
    more = f" and {len(cases) - NAMED_CASES} more" if len(cases) > NAMED_CASES else ""
    return ", ".join(cases[:NAMED_CASES]) + more


def _case_text(reason: CaseReason, passes: bool | None, matches: int, count: int) -> str:
    fail, pass_ = ("fails", "passes") if count == 1 else ("fail", "pass")
    now = pass_ if passes else fail
    match reason:
        case "fails_again":
            return f"{fail} again"
        case "fails_otherwise":
            return f"{fail} now for another reason than before"
        case "passes_now":
            return f"{pass_} now"
        case "passed_before":
            return f"{now} now and passed before the action"
        case "no_earlier_run":
            return f"{now} now; no earlier run of this model is in the store"
        case "mixed_attempts":
            return f"{fail} in one attempt and {'passes' if count == 1 else 'pass'} in another"
        case "not_measured":
            return "not measured since"
        case "fails_elsewhere":
            return f"{fail} for another model"
        case "several_cases":
            return f"{'matches' if count == 1 else 'match'} {matches} cases of the run"


class Mention(Struct):
    """One case in one earlier report."""

    report: str
    line: int | None = None
    date: str = ""
    run: str = ""
    model: str = ""
    label: str = ""
    by_rule: bool = False
    """Whether nobody had read the failure that errata called so."""
    failed_check: str = ""
    text: str = ""
    is_same: bool | None = None
    """Whether it is the failure of now: the same check, the same failure key; null where that is unknown."""


class FailedRun(Struct):
    """Another run of the store where the same case failed."""

    run: str
    run_id: str
    at: str = ""
    model: str = ""
    is_same: bool | None = None
    """Whether it is the failure of now: the same check, the same failure key; null where that is unknown."""


class History(Struct):
    """What is known of a case from before a run; newest first."""

    reports: tuple[Mention, ...] = ()
    """Without what errata's own reports about `runs` only repeat from the rules."""
    runs: tuple[FailedRun, ...] = ()
    own_reports: tuple[Mention, ...] = ()
    """What errata's own reports about `runs` say: these count as the runs, not as reports."""
    actions: tuple[ActionResult, ...] = ()
    """What was done about the case, whenever that was, and what this run shows of it."""
    others: tuple[Mention, ...] = ()
    """What reports about other models say of it."""
    other_runs: tuple[FailedRun, ...] = ()
    """Other models that fail it."""

    @property
    def counted_reports(self) -> tuple[Mention, ...]:
        """Each earlier failure counts once: as a run where the store has it."""
        return tuple(one for one in self.reports if one not in self.own_reports)

    @property
    def is_repeat(self) -> bool:
        """Whether it failed before, in the same way as far as that is known."""
        compared = (*(one.is_same for one in self.reports), *(one.is_same for one in self.runs))
        return any(is_same is not False for is_same in compared)

    @property
    def failed_otherwise(self) -> bool:
        """Whether it failed before, but each time at another check or with another failure key."""
        return bool(self.reports or self.runs) and not self.is_repeat

    @property
    def should_be_gone(self) -> bool:
        return bool(self.due)

    @property
    def due(self) -> tuple[ActionResult, ...]:
        """What was done about it after it had failed and before this run: it should have resolved it, and did not."""
        return tuple(one for one in self.actions if one.worked == "no")
