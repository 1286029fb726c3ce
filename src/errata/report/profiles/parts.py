"""Parts that the documents of several profiles have: the score bracket, rates, counts in words."""

from collections.abc import Iterable, Sequence

from errata.report.document import Line, Paragraph, Table, line, paragraph, table
from errata.report.facts.shared import Reading, ScoreLine

NONE = "–"


def score_table(scores: Iterable[ScoreLine], *, last: str = "left out") -> Table:
    rows = [
        (
            one.policy.replace("_", " "),
            f"{one.passed}/{one.total}" if one.total else NONE,
            percent(one.rate),
            interval(one),
            "; ".join(part for part in (one.left_out, one.note) if part) or "nothing",
        )
        for one in scores
    ]
    return table(("score", "passed", "rate", "95 % interval", last), rows, right=("passed", "rate"))


def percent(rate: float | None) -> str:
    return NONE if rate is None else f"{100 * rate:.1f} %"


def interval(score: ScoreLine) -> str:
    if score.low is None or score.high is None:
        return NONE
    return f"{100 * score.low:.1f}–{100 * score.high:.1f}"


def money(value: float | None, digits: int = 4) -> str:
    return NONE if value is None else f"${value:,.{digits}f}"


def plural(count: int, word: str, words: str = "") -> str:
    return f"{count:,} {word if count == 1 else words or word + 's'}"


def named(cases: Sequence[str], most: int = 12) -> str:
    shown = ", ".join(cases[:most])
    return f"{shown} and {len(cases) - most:,} more" if len(cases) > most else shown


def status_line(reading: Reading) -> Line:
    """Whether anybody has read what stands here."""
    if not reading.failures:
        return line("final. There was no failure to read")
    read = f"{reading.read} of {plural(reading.failures, 'failure')} read"
    by = f" by {' and '.join(reading.by)}" if reading.by else ""
    heirs = f", {reading.inherited} taken over from identical crashes" if reading.inherited else ""
    second = (
        f"; {reading.second} with a second opinion" if reading.second else "; no second opinion" if reading.read else ""
    )
    disputed = f"; {reading.disputed} disputed" if reading.disputed else ""
    if reading.status == "provisional":
        rest = reading.failures - reading.read - reading.inherited
        return line(f"PROVISIONAL. {read}{by}{heirs}; {rest} judged by rules alone{second}{disputed}")
    return line(f"reviewed. {read}{by}{heirs}{second}{disputed}")


def sentence(text: str) -> Paragraph:
    return paragraph(text)
