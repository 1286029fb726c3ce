"""Known gaps: limitations of a suite that were accepted, which cases have one, and where it is on record."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

import msgspec

from errata.errors import NotFoundError
from errata.memory.relation import RunReports
from errata.memory.report_files import ReportFile
from errata.memory.spelling import folded
from errata.model import KnownGap, SourceRef, StoredRun
from errata.model.action import RecordedGap
from errata.model.identity import case_key, fingerprint
from errata.model.prior_report import PriorFailure, PriorReport

GLOB = frozenset("*?[")


class GapRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The user's description of a gap: a case or a pattern, and the limitation."""

    case: str
    text: str
    suite: str = ""
    author: str = ""


class GapRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A known gap, and the cases and runs that it is about."""

    gap: KnownGap
    cases: tuple[str, ...] = ()
    """Those of the store that it covers."""
    previous: KnownGap | None = None
    """The gap of the same cases before."""
    runs: tuple[StoredRun, ...] = ()
    """Those with failures on them, newest first."""

    @property
    def name(self) -> str:
        """As its harness names the case."""
        name = self.gap.case_key or self.gap.pattern
        return name.removeprefix(f"{self.gap.suite}/") if self.gap.suite else name

    @property
    def undo(self) -> list[str]:
        """The command that brings it back."""
        words = ["errata", "known", "add", self.name, "--text", self.gap.text]
        words += ["--suite", self.gap.suite] if self.gap.suite else []
        return [*words, *(["--author", self.gap.author] if self.gap.author else [])]


def gap_for(key: str, gaps: Iterable[KnownGap]) -> KnownGap | None:
    """The gap of a case; one of the case itself before one of a pattern."""
    by_pattern = None
    for gap in gaps:
        if gap.case_key and gap.case_key == key:
            return gap
        if by_pattern is None and gap.pattern and fnmatchcase(key, gap.pattern):
            by_pattern = gap
    return by_pattern


def gap_id(gap: KnownGap) -> str:
    """A case or a pattern has one gap: recorded again, in the same or other words, it is the same one."""
    return fingerprint("gap", gap.suite, gap.case_key, gap.pattern)


def is_pattern(text: str) -> bool:
    return not GLOB.isdisjoint(text)


def pattern_over_keys(suite: str, pattern: str) -> str:
    """A glob over the names of a suite's cases as one over their keys; the suite's own name is no glob."""
    bare = "".join(f"[{letter}]" if letter in GLOB else letter for letter in suite)
    prefix = case_key(bare, "")
    return pattern if prefix and pattern.startswith(prefix) else f"{prefix}{pattern}"


def gap_by_pattern(pattern: str, keys: Mapping[str, Sequence[str]]) -> KnownGap:
    """The gap, still without a text, of the one suite with a case that the pattern fits; `keys` are by suite."""
    over_keys = ((suite, pattern_over_keys(suite, pattern)) for suite in sorted(keys))
    fitting = {suite: over for suite, over in over_keys if any(fnmatchcase(key, over) for key in keys[suite])}
    if len(fitting) == 1:
        ((suite, over),) = fitting.items()
        return KnownGap(suite=suite, pattern=over, text="")
    if fitting:
        listed = ", ".join(f"`--suite {suite}`" for suite in fitting)
        raise NotFoundError(f"`{pattern}` fits cases of {len(fitting)} suites", hint=f"say which: {listed}")
    raise NotFoundError(
        f"No case fits the pattern `{pattern}`",
        hint="`*` matches anything, including slashes; `errata failures RUN` lists the cases that failed",
    )


def gap_by_name(name: str, records: Sequence[GapRecord]) -> KnownGap | None:
    """By its case, the end of the case's name, or its pattern; none where nothing has that name."""
    matching = [record for record in records if name in (record.name, record.gap.case_key, record.gap.pattern)]
    matching = matching or [record for record in records if record.name.endswith(f"/{name}")]
    if len(matching) > 1:
        listed = "\n".join(f"`{one.gap.id}` {one.gap.case_key or one.gap.pattern}" for one in matching)
        raise NotFoundError(f"`{name}` names {len(matching)} known gaps", hint=f"name one by its id:\n{listed}")
    return matching[0].gap if matching else None


# gaps on record in earlier reports

_MENTION = re.compile(r"known[\W_]{0,8}gap", re.IGNORECASE)
# some call a failure of the provider or of the set-up a known gap, for want of another word; it is none of the case
_INFRASTRUCTURE = re.compile(
    r"(?i)\b(?:infra\w*|provider|endpoint|rate[ -]?limit\w*|timed? ?out|network|connection|quota|unavailable|sandbox)\b"
)
_NO_STEP = frozenset(("none", "null", "n-a", "install"))


def mentions_gaps(file: ReportFile) -> bool:
    return _MENTION.search(file.text) is not None


def gaps_in_reports(reports: RunReports) -> dict[str, tuple[RecordedGap, ...]]:
    """Case → what earlier reports say, those about the same model first.

    A report about this very run, or a later one, is no record: it may have been made from this.
    """
    records: dict[str, tuple[RecordedGap, ...]] = {}
    for report in (*reports.related.same_model, *reports.related.others):
        for key, record in _gaps_in(report, reports):
            records[key] = (*records.get(key, ()), record)
    return records


def _gaps_in(report: PriorReport, reports: RunReports) -> Iterator[tuple[str, RecordedGap]]:
    failures = {failure.case: failure for failure in report.failures}
    for case in report.gaps:
        keys, failure = reports.case_names.find(case), failures.get(case)
        if len(keys) == 1 and not _is_infrastructure(failure):
            ref = SourceRef(file=report.path, line=failure.ref.line if failure and failure.ref else None)
            quote = (failure.reasoning or failure.label) if failure else ""
            yield keys[0], RecordedGap(where=str(ref), quote=quote, ref=ref)


def _is_infrastructure(failure: PriorFailure | None) -> bool:
    if failure is None:
        return False
    return folded(failure.failed_check) in _NO_STEP or _INFRASTRUCTURE.search(failure.reasoning) is not None
