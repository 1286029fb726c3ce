"""Known gaps: limitations of a suite that were accepted, which cases have one, and where it is on record."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

import msgspec

from errata.errors import NotFoundError
from errata.memory.report_files import ReportFile, RunReports, is_about
from errata.memory.spelling import CaseSpellings, canonical_step, folded
from errata.model import KnownGap, Run, SourceRef, StoredRun
from errata.model.action import RecordedGap
from errata.model.identity import case_key, fingerprint
from errata.model.prior_report import PriorFailure, PriorReport
from errata.model.record import Struct
from errata.text.lazy_regex import lazy_regex

GLOB = frozenset("*?[")


class GapRequest(Struct):
    case: str
    text: str
    suite: str = ""
    author: str = ""


class GapRecord(Struct):
    gap: KnownGap
    cases: tuple[str, ...] = ()
    previous: KnownGap | None = None
    runs: tuple[StoredRun, ...] = ()

    @property
    def name(self) -> str:
        name = self.gap.case_key or self.gap.pattern
        return name.removeprefix(f"{self.gap.suite}/") if self.gap.suite else name

    @property
    def undo(self) -> list[str]:
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
    """A glob over the names of a suite's cases as one over their keys; the suite's own name is not a glob."""
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
        raise NotFoundError(f"`{pattern}` matches cases of {len(fitting)} suites", hint=f"name one: {listed}")
    raise NotFoundError(
        f"No case matches the pattern `{pattern}`",
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

_MENTION = lazy_regex(r"known[\W_]{0,8}gap", re.IGNORECASE)


def mentions_gaps(file: ReportFile) -> bool:
    return _MENTION.search(file.text) is not None


def gaps_of_model(reports: RunReports) -> dict[str, tuple[RecordedGap, ...]]:
    """Case → what earlier reports on the same model say, if the newest with a label still calls it a gap.

    A report about this very run, or a later one, is not a record: it may have been made from this.
    """
    records: dict[str, tuple[RecordedGap, ...]] = {}
    settled: set[str] = set()
    for report in reports.related.same_model:
        gaps = dict(_gaps_in(report, reports.case_names))
        for key, gap in gaps.items():
            if key not in settled:
                records[key] = (*records.get(key, ()), gap)
        settled |= set(_called_otherwise(report, reports.case_names)) - set(gaps)
    return records


def gaps_of_others(reports: RunReports, run: Run, others: Sequence[Run]) -> Iterator[tuple[str, RecordedGap, Run]]:
    """The same for other models: case, record, and the run that the report is about; only of the same experiment.

    Without that run, nobody knows whether the failure is the same.
    """
    for report in reports.related.others:
        its_run = next((one for one in others if is_about(report, one)), None)
        if its_run is None or _experiment(its_run) != _experiment(run):
            continue
        for key, gap in _gaps_in(report, reports.case_names):
            yield key, msgspec.structs.replace(gap, where=f"{gap.where} ({gap.model})"), its_run


def _experiment(run: Run) -> str:
    name = folded(run.variant.get("experiment", ""))
    return "" if name == "default" else name


def _gaps_in(report: PriorReport, names: CaseSpellings) -> Iterator[tuple[str, RecordedGap]]:
    failures = {failure.case: failure for failure in report.failures}
    for case in report.gaps if not is_broken_run(report) else ():
        keys, failure = names.find(case), failures.get(case)
        if len(keys) == 1 and not is_infrastructure(failure):
            ref = SourceRef(file=report.path, line=failure.ref.line if failure and failure.ref else None)
            quote = (failure.reasoning or failure.label) if failure else ""
            check = failure.failed_check if failure else ""
            checks = frozenset(filter(None, (check, canonical_step(check))))
            yield (
                keys[0],
                RecordedGap(where=str(ref), quote=quote, ref=ref, checks=checks, model=report.model, date=report.date),
            )


def _called_otherwise(report: PriorReport, names: CaseSpellings) -> Iterator[str]:
    """Cases with another label that somebody gave, not only rules."""
    for failure in report.failures:
        if failure.label and not failure.by_rule and len(keys := names.find(failure.case)) == 1:
            yield keys[0]


# --- failures in reports that show nothing about a case: infrastructure, and runs that did not work at all


_OWNERS = frozenset(("provider", "environment", "harness", "simulator", "collateral"))
# some call a failure of the provider or of the set-up a known gap, for want of another word; it is none of the case
_WORDS = lazy_regex(
    r"(?i)\b(?:infra\w*|provider|endpoint|rate[ -]?limit\w*|timed? ?out|network|connection|quota|unavailable|sandbox)\b"
)
_LABEL = lazy_regex(r"^(?:infra|provider|environment|harness|time-?out|unavailable|not-measured|flak)")
FEWEST = 3
"""Failures of a run where nothing passed that are enough to call it broken."""


def is_infrastructure(failure: PriorFailure | None, *, by_words: bool = True) -> bool:
    """By owner, label or step; `by_words` also by its words, which may be about anything."""
    if failure is None:
        return False
    steps = ("none", "null", "n-a", "install") if by_words else ("none", "null")
    is_named = failure.owner in _OWNERS or _LABEL.match(folded(failure.label)) is not None
    is_described = by_words and _WORDS.search(failure.reasoning) is not None
    return is_named or is_described or folded(failure.failed_check) in steps


def is_broken_run(report: PriorReport) -> bool:
    """Nothing passed, and no failure is one of the model's work."""
    failures = report.failures
    if report.total is None or report.passed or len(failures) < min(FEWEST, report.total):
        return False
    return all(is_infrastructure(one) or not one.failed_check for one in failures)


def measured_failures(report: PriorReport) -> tuple[PriorFailure, ...]:
    if is_broken_run(report):
        return ()
    return tuple(one for one in report.failures if not is_infrastructure(one, by_words=False))
