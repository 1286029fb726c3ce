"""Text about owners: whether a failure is shown or presumed to be the model's, and whether rules or verdicts say so."""

from collections.abc import Mapping

from errata.model import Attribution
from errata.model.output.report.shared import ReviewCoverage
from errata.model.words import ProofReason
from errata.render.figures import plural

REASONS: dict[ProofReason, str] = {
    "passed_elsewhere": "{these} passed elsewhere",
    "self_evident": "the mistake is self-evident",
    "no_other_result": "there is no other run of {these} to compare with",
    "nobody_passed": "nobody else passed {these} either",
    "in_doubt": "something points to another owner",
    "simulated_user": "the user is simulated, and may have caused it",
    "no_answer_logged": "the log has no answer",
}


SHOWN_OR_PRESUMED = "shown: proven by the log or another run · presumed: not proven"
"""Explains the two words, below the first place where a page counts them."""


def proof_counts(shown: int, presumed: Mapping[ProofReason, int]) -> str:
    """`19 shown, 12 presumed: there is no other run of these cases to compare with`; empty where no rule decided."""
    whole = sum(presumed.values())
    if not shown and not whole:
        return ""
    if not whole:
        return "shown" if shown == 1 else "all shown"
    reason, often = max(presumed.items(), key=lambda pair: pair[1])
    words = REASONS[reason].format(these="these cases" if often > 1 else "this case")
    counts = f"{shown:,} shown, {whole:,} presumed" if shown else f"{'all ' if whole > 1 else ''}presumed"
    return f"{counts}: {words}" if often == whole else f"{counts}, most often because {words}"


def proof_reason(reason: ProofReason) -> str:
    """For one failure."""
    return REASONS[reason].format(these="this case")


def how_sure(attribution: Attribution) -> str:
    """`shown`, `presumed`, or the confidence of the rule that decided."""
    return attribution.proof or attribution.confidence


def proof_words(attribution: Attribution) -> str:
    """`presumed: nobody else passed this case either`; the confidence where the owner is not the model."""
    if not attribution.proof:
        return attribution.confidence
    return f"{attribution.proof}: {proof_reason(attribution.proof_reason)}"


# --- where the owners of failures come from: rules, verdicts, or verdicts that still need a second reviewer


def owners_state(failures: int, *, by_rules: int, need_second: int) -> str:
    """`PROVISIONAL: 3 owners assigned by rules`; every command and report states it in these words."""
    if by_rules == failures:
        return "PROVISIONAL: owners assigned by rules"
    if by_rules:
        return f"PROVISIONAL: {plural(by_rules, 'owner')} assigned by rules"
    if need_second:
        still = "still needs" if need_second == 1 else "still need"
        return f"PROVISIONAL: owners come from verdicts, {need_second:,} {still} a second review"
    return "Owners come from verdicts"


def coverage_state(reading: ReviewCoverage) -> str:
    """The same of a report, with the number of reviewed failures."""
    state = owners_state(
        reading.failures,
        by_rules=reading.failures - reading.read - reading.inherited,
        need_second=reading.read - reading.final,
    )
    inherited = f", {reading.inherited:,} inherited" if reading.inherited else ""
    return f"{state}; {reading.read:,} of {plural(reading.failures, 'failure')} reviewed{inherited}"
