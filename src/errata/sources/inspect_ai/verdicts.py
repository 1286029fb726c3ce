"""Whether the measuring instrument gave a verdict at all. Inspect has recorded that it did not in three ways.

At first as incorrect, with an explanation that begins in fixed words; then as unscored, with a word in the metadata;
now with that word as the score's `reason`, of which some name the instrument and others the model under test.
"""

from typing import Any

from errata.sources.inspect_ai.values import words
from errata.sources.shared.values import mapping

_NOT_FOUND = "Grade not found in model output"
_INSTRUMENT = frozenset(("grader_failed", "scoring_failed", "grade_parse_failure", "partial_credit_disabled"))


def reason_of(score: dict[str, Any]) -> str:
    return words(score.get("reason")) or words(mapping(score.get("metadata")).get("unscored_reason"))


def why_no_verdict(score: dict[str, Any], answer: str) -> str:
    """In one word; empty where there is a verdict. `answer` is the subject's own, which a scorer may quote."""
    metadata = mapping(score.get("metadata"))
    reason = reason_of(score) or words(metadata.get("reason"))
    if reason in _INSTRUMENT or reason.startswith("grader_"):
        return reason
    told = words(score.get("explanation"))
    # the exchange with the judge was kept only where a grade had been found in it
    found = bool(metadata.get("grading")) or told == answer
    return "grade_parse_failure" if told.startswith(_NOT_FOUND) and not found else ""
