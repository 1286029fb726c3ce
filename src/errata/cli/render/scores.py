"""Scores in columns: a line for each policy, with the attempts it leaves out."""

from collections.abc import Collection, Mapping

from errata.cli.fitting import WIDTH, columns, fold, padded
from errata.cli.output import plural, put, wash
from errata.cli.render.runs import counted_in, harness_title
from errata.compare.scores import Policy, Score
from errata.render.figures import hundredths, left_out_reason, left_out_reasons, percent
from errata.runs.explanation import meaning_of
from errata.runs.first_page import best_of, estimate_words, why_no_estimate
from errata.runs.scores import Scores
from errata.runs.view import RunView

LABEL = 14
"""The width of the first column, also of the lines below the scores."""

GAP = "   "
ESTIMATES: tuple[Policy, ...] = ("reviewed", "clean")
CORRELATED = "attempts at the same case are correlated"


class ScoreWords:
    """The words for one run: what its harness is called, and what it counts."""

    def __init__(self, harness: str, counted: str, *, nothing_scored: bool = False) -> None:
        self.harness, self.counted, self._nothing_scored = harness, counted, nothing_scored

    def note(self, score: Score, estimate: str = "") -> str:
        """`estimate`: whether the figure is the best estimate, in words."""
        return "; ".join(filter(None, (estimate, self._note(score))))

    def _note(self, score: Score) -> str:
        if score.policy == "strict":
            if not score.total:
                return score.note
            none = "none was scored, so none passed" if self._nothing_scored else ""
            return "; ".join(filter(None, (f"every {self.counted}", none, score.note)))
        if score.policy == "as_reported":
            return self._of_harness(score)
        failed = len(score.recovered) - score.recovered_passes
        results = f"{score.recovered_passes:,} passed, {failed:,} failed"
        recovered = f"{len(score.recovered):,} taken from an earlier session ({results})" if score.recovered else ""
        return " · ".join(part for part in (self._left_out(score), recovered, score.note) if part)

    def _of_harness(self, score: Score) -> str:
        if not score.total:
            return score.note
        parts = [score.note] if score.note else []
        if score.groups:
            out = plural(sum(score.left_out.values()), self.counted)
            why = "" if [*score.left_out] == ["not counted"] else _why(score)
            parts.append(f"{self.harness} leaves out {out}{why}")
        if score.reproduced is False:
            parts.append(f"the harness reports {score.stated:.4g}")
        return "; ".join(parts) or f"as {self.harness} {'reports' if score.reproduced else 'counts'}"

    def _left_out(self, score: Score) -> str:
        if not score.groups:
            return "" if score.recovered or not score.total else "nothing left out"
        out = plural(sum(score.left_out.values()), self.counted)
        only = score.groups[0] if len(score.groups) == 1 else None
        return f"{out} left out: {meaning_of(only.signal) if only and only.signal else _counts(score)}"


def lines_of(
    scores: Mapping[Policy, Score],
    policies: Collection[Policy],
    words: ScoreWords,
    *,
    width: int = WIDTH,
    estimate: str = "",
) -> list[str]:
    """Under a header, where there are figures. A note that is too long for its line continues below.

    `estimate`: whether the last figure, by verdicts or by rules, is the best estimate, in words.
    """
    last = next((policy for policy in ESTIMATES if policy in policies and scores[policy].total), None)
    notes = {policy: words.note(scores[policy], estimate if policy == last else "") for policy in policies}
    rows: list[tuple[str, str, str, str, str]] = [
        (policy, *figures(scores[policy]), notes[policy]) for policy in policies
    ]
    if any(interval for *_, interval, _ in rows):
        is_graded = any(scores[policy].mean is not None for policy in policies)
        rows.insert(0, ("", *(("values", "mean") if is_graded else ("passed", "rate")), "95 % interval", ""))
    widths = [max(columns(row[at]) for row in rows) for at in (1, 2, 3)]
    lines: list[str] = []
    for policy, counts, rate, interval, note in rows:
        cells = [padded(counts, widths[0]), padded(rate, widths[1], right=True), padded(interval, widths[2])]
        head = f"{policy:<{LABEL}}{GAP.join(cells)}"
        indent = columns(head) + len(GAP)
        beside, below = (fold(wash(note), max(width - at, 1)) for at in (indent, LABEL))
        if len(below) + 1 < len(beside) or any(columns(line) > width - indent for line in beside):
            lines += [head.rstrip(), *(" " * LABEL + line for line in below)]
            continue
        first, *rest = beside
        lines += [f"{head}{GAP}{first}".rstrip(), *(" " * indent + one for one in rest)]
    return lines


def figures(score: Score) -> tuple[str, str, str]:
    """Counts, rate and interval; of graded values n, mean and interval."""
    rate, interval = score.rate, score.interval
    if not score.total or rate is None:
        return "–", "", ""
    if score.mean is not None:
        between = f"[{interval[0]:.3f}, {interval[1]:.3f}]" if interval else ""
        return f"n = {score.total:,}", f"{rate:.4f}", between
    between = f"[{hundredths(interval[0])}, {hundredths(interval[1])}]" if interval else ""
    return f"{score.passed:,}/{score.total:,}", percent(rate), between


def _why(score: Score) -> str:
    """`with AgentTimeoutError`, where one error explains them all."""
    only = score.groups[0] if len(score.groups) == 1 else None
    if only is not None and only.members and only.why == only.members[0].error_type:
        return f" with {only.why}"
    return f": {_counts(score)}"


def _counts(score: Score) -> str:
    """Without the count where all have one reason: the total is beside it."""
    return left_out_reason(*score.left_out) if len(score.left_out) == 1 else left_out_reasons(score.left_out)


SHOWN: tuple[Policy, ...] = ("strict", "as_reported", "clean")
BESIDE = 9


def put_bracket(scores: Scores, *, estimate: str, is_reviewed: bool = False) -> None:
    """`estimate`: whether the last figure is the best estimate, in words."""
    run = scores.stored.run
    nothing_scored = not scores.stored.counts.measurements.get("scored")
    words = ScoreWords(harness_title(run), counted_in(run, scores.unit), nothing_scored=nothing_scored)
    shown: tuple[Policy, ...] = (*SHOWN, "reviewed") if is_reviewed else SHOWN
    lines = lines_of(scores.scores, shown, words, width=WIDTH - BESIDE, estimate=estimate)
    for at, line in enumerate([*lines, *clusters_in_words(scores.scores["strict"])]):
        put(f"{'' if at else 'Score':<{BESIDE}}{line}", hang=BESIDE + LABEL)


def clusters_in_words(score: Score) -> list[str]:
    """How many independent attempts an interval rests on, where a case has several."""
    if not 0 < len(score.by_case) < score.total or score.interval is None:
        return []
    cases = plural(len(score.by_case), "case")
    if score.effective is None:
        return [f"{'effective n':<{LABEL}}{score.total:,} attempts at only {cases}: {CORRELATED}"]
    size = f"{score.effective:,.0f} instead of {score.total:,} attempts at {cases}"
    return [f"{'effective n':<{LABEL}}{size} ({score.policy}): {CORRELATED}"]


def estimate_of(view: RunView) -> str:
    """Whether the last figure of a run is the best estimate, in words."""
    scores, health = view.overview.scores.scores, view.overview.health
    best = best_of(scores)
    return estimate_words(why_no_estimate(view.stored, best, findings=health.findings, doubts=health.doubts))
