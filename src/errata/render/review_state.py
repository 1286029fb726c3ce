"""Where the owners of failures come from: rules, verdicts, or verdicts that still need a second reviewer."""

from errata.model.output.report.shared import ReviewCoverage
from errata.render.figures import plural


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
