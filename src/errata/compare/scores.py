"""The score of a policy: passes, total, what was left out and why, and the interval."""

from collections import Counter
from collections.abc import Iterable, Mapping
from math import inf
from typing import Literal, get_args

from errata.compare.intervals import Cluster, Interval, wilson
from errata.compare.significance import mean_interval
from errata.compare.trials import Trial
from errata.model import StoredRun
from errata.model.output.score import NoteOutput, SpreadOutput
from errata.model.record import Struct
from errata.render.figures import hundredths, percent

Policy = Literal["strict", "as_reported", "clean", "reviewed"]
POLICY_NAMES: tuple[Policy, ...] = get_args(Policy)
ROUNDED = 0.005
"""However few digits a harness writes, a number that is farther off than this is another one."""


class LeftOutGroup(Struct):
    """Attempts that share a reason."""

    why: str
    """The owner; `missing`, `contradictory`, `not measured` and the like; or the harness's own word."""
    signal: str = ""
    """What decided it; empty where the facts alone do."""
    members: tuple[Trial, ...] = ()
    unnamed: int = 0
    """Cases without any row or name in the log."""

    @property
    def count(self) -> int:
        return len(self.members) + self.unnamed


class Score(Struct):
    policy: Policy
    passed: int = 0
    total: int = 0
    mean: float | None = None
    """Where what is averaged is not only passed or failed; then this is the score, and `total` is its n."""
    stderr: float | None = None
    stated: float | None = None
    """The harness's own number."""
    groups: tuple[LeftOutGroup, ...] = ()
    """What was left out."""
    beside: tuple[LeftOutGroup, ...] = ()
    """What counts as failed although it is not the subject's alone."""
    presumed: int = 0
    """Of what counts as failed: how many are only presumed to be the model's. Failures of an earlier session are."""
    recovered: tuple[str, ...] = ()
    """Cases whose result was taken from an earlier session."""
    recovered_passes: int = 0
    remark: NoteOutput | None = None
    spread: SpreadOutput | None = None
    """Of results that are numbers."""
    lower_is_better: bool = False
    by_case: Mapping[str, Cluster] = {}
    """What each case adds; kept only where cases may come several times."""
    effective: float | None = None
    """How many independent tries the total is worth, where the same cases are in it several times."""

    @property
    def note(self) -> str:
        """The remark as text; empty where there is none."""
        return note_text(self.remark) if self.remark is not None else ""

    @property
    def rate(self) -> float | None:
        if self.mean is not None:
            return self.mean
        return self.passed / self.total if self.total else None

    @property
    def worth(self) -> float:
        if self.rate is None:
            return inf
        return self.rate if self.lower_is_better else -self.rate

    @property
    def interval(self) -> Interval | None:
        if self.mean is not None:
            between = mean_interval(self.mean, self.stderr, len(self.by_case) or self.total)
            if between is None or self.spread is None or self.spread.low < 0 or self.spread.high > 1:
                return between
            return max(0.0, between[0]), min(1.0, between[1])
        if self.effective and self.rate is not None:
            return wilson(self.rate * self.effective, self.effective)
        return wilson(self.passed, self.total)

    @property
    def left_out(self) -> dict[str, int]:
        """Why → how many cases, the commonest first."""
        counts: Counter[str] = Counter()
        for group in self.groups:
            counts[group.why] += group.count
        return dict(counts.most_common())

    @property
    def bounds(self) -> Interval | None:
        """The rate if everything left out had failed, and if it had passed; none for a mean."""
        out = sum(group.count for group in self.groups)
        whole = self.total + out
        return (self.passed / whole, (self.passed + out) / whole) if self.total and self.mean is None else None

    @property
    def without_beside(self) -> tuple[int, int]:
        """Passed, and of how many, were those left out too that are not the subject's alone."""
        return self.passed, self.total - sum(group.count for group in self.beside)

    @property
    def rate_without_presumed(self) -> float | None:
        """The rate if none of the presumed failures were the model's; none where nothing is presumed."""
        left = self.total - self.presumed
        return self.passed / left if self.presumed and left > 0 and self.mean is None else None

    @property
    def reproduced(self) -> bool | None:
        """Whether the harness's own number follows from the rows; none where it states none, or rows are missing."""
        if self.stated is None or self.rate is None:
            return None
        is_equal = abs(self.rate - self.stated) <= _rounding(self.stated)
        # a number that the harness itself supplied proves nothing
        return None if is_equal and self.remark is not None and self.remark.code == "passes_without_rows" else is_equal


def group_by_reason(
    reasons: Iterable[tuple[str, str, Trial]], *, unnamed: Mapping[str, int] = {}
) -> tuple[LeftOutGroup, ...]:
    """By reason and signal, the largest first; `unnamed` counts further cases of a reason."""
    members: dict[tuple[str, str], list[Trial]] = {(why, ""): [] for why, often in unnamed.items() if often}
    for why, signal, trial in reasons:
        members.setdefault((why, signal), []).append(trial)
    made = [
        LeftOutGroup(why=why, signal=signal, members=tuple(those), unnamed=0 if signal else unnamed.get(why, 0))
        for (why, signal), those in members.items()
    ]
    return tuple(sorted(made, key=lambda group: -group.count))


def note_text(note: NoteOutput) -> str:
    states = "gives no number" if note.stated is None else f"reports {note.stated:.4g}"
    count, of = note.count or 0, note.of or 0
    match note.code:
        case "counted_as_failed":
            return f"{' or '.join(note.words)} = not passed"
        case "empty_counts_zero":
            return f"{count} without a value count as 0"
        case "headline_rule":
            return f"as the {' '.join(note.words)}"
        case "headline_rules":
            return f"not reproduced by the {', nor by the '.join(note.words)}"
        case "no_attempts":
            return "the log has no attempts"
        case "no_headline":
            return "the harness gives no headline number"
        case "no_rows":
            return f"the harness {states}; the log has no rows to recompute it from"
        case "no_run_left":
            return "no run is left"
        case "nothing_failed":
            return "nothing failed"
        case "nothing_scored":
            return "nothing was scored, so there are neither passes nor failures"
        case "passes_elsewhere":
            return f"unknown: {_passes(count)} of the run {'has' if count == 1 else 'have'} no row, here or elsewhere"
        case "passes_unassigned":
            stated = "" if note.stated is None else f"the harness reports {note.stated:.4g}; "
            are = "pass is" if count == 1 else "passes are"
            return f"{stated}{count:,} {are} counted by the harness, but the log does not show which rows passed"
        case "passes_without_rows":
            failed = f"; {' or '.join(note.words)} = not passed" if note.words else ""
            others = f" and {of - count:,} failure{'' if of - count == 1 else 's'}" if of > count else ""
            return f"{_passes(count)}{others} without a row, by the harness's count{failed}"
        case "reviewed":
            return f"{count} of {of} reviewed"
        case "rows_not_in_log":
            if note.between is None:
                return f"the harness {states}; {count:,} of the rows it counts are not in the log"
            low, high = note.between
            rows = f"{count:,} of {of:,} were measured, but their rows are not in the log"
            return f"unknown (between {hundredths(low)} and {percent(high)}): {rows}"
        case "rule_unknown":
            return f"the harness {states}; errata does not recompute `{' '.join(note.words)}`"
        case "runs_counted":
            return f"of {count} of {of} runs"
        case "runs_reviewed":
            return f"{count} of {of} runs reviewed"
        case "without_number":
            return f"{count:,} without a result {'is' if count == 1 else 'are'} not in the mean"
        case "labels":
            return f"{count:,} labels without an order: neither passes nor failures"
        case "unavailable":
            return "model unavailable: every failure was infrastructure, so there is nothing to score"


def _passes(count: int) -> str:
    return "1 pass" if count == 1 else f"{count:,} passes"


def _rounding(stated: float) -> float:
    """Half of the last digit that was written, and what floating point does to a sum."""
    digits = len(f"{stated!r}".partition(".")[2].partition("e")[0])
    return min(ROUNDED, 0.5 * 10.0**-digits) + 1e-9


class BoardRun(Struct):
    """A run of a subject, with its scores."""

    stored: StoredRun
    scores: Mapping[Policy, Score]
    why_not: str = ""
    """Why it has no rank; empty for a run that can be ranked."""

    @property
    def day(self) -> str:
        return (self.stored.run.started_at or self.stored.imported_at)[:10]

    @property
    def dated(self) -> str:
        """As people read it: the day of an import is not that of a run."""
        return self.day if self.stored.run.started_at else f"imported {self.day}"


class BoardRow(Struct):
    label: str
    newest: BoardRun
    """The newest fit run; of a subject without one, its newest run."""
    history: tuple[BoardRun, ...]
    """Every run, the oldest first."""
    best: int | None = None
    """The ranks that the data leave open; none where the subject has no fit run, or where nothing can be ranked."""
    worst: int | None = None


class SuiteBoard(Struct):
    suite: str
    version: str
    experiment: str
    cases: int
    """Of the run with most of them."""
    ranked: tuple[BoardRow, ...]
    """The best clean score first."""
    unranked: tuple[BoardRow, ...]
    shared: int | None = None
    """On how many cases the ranks rest, where the runs do not have the same."""
    why_no_ranks: str = ""
    waiting: tuple[StoredRun, ...] = ()
    """Runs that are left out because a server still works out their owners."""
