"""The failures of a run as facts of its report: by review, else by rule."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import NamedTuple

from errata.model import Attempt, Attribution, FailureKey, Run, Verdict
from errata.model.identity import split_attempt_id
from errata.model.output.report.run import EarlierFailure, FailedCheck, ProposedFix, Repeat, RunFailure, VerdictDoubt
from errata.model.output.report.shared import QuotedEvidence
from errata.model.run import case_name
from errata.model.standing import AttemptReview
from errata.model.verdict import word_for
from errata.model.words import NOT_THE_SUBJECTS
from errata.report.run_snippets import SnippetFinder
from errata.report.shared import done_action, native_label
from errata.runs.explanation import BY_DEFAULT, meaning_of
from errata.runs.failures import Failure as JoinedFailure
from errata.runs.history import RunHistory
from errata.runs.view import RunView
from errata.text.lazy_regex import lazy_regex
from errata.text.mask import mask
from errata.text.outgoing import short_line
from errata.transcript.error_text import LogLine, ReasonQuote, error_lines, has_logs, says_more
from errata.triage.keys import is_informative, lists_only_names, text_in_key
from errata.triage.reasons import reason_of


class SharedError(NamedTuple):
    text: str
    is_verbatim: bool
    """All failures have exactly this text; else the parts that differ are masked."""
    cases: tuple[str, ...]
    failures: int


def shared_errors(
    run: Run, failures: Iterable[tuple[str, Attribution]], lines: Mapping[str, Sequence[LogLine]]
) -> list[SharedError]:
    groups: dict[str, _SharingFailures] = {}
    for case, attribution in failures:
        for error in _errors_of(attribution, lines.get(attribution.attempt, ())):
            group = groups.setdefault(error.shape, _SharingFailures(error))
            group.add(attribution.attempt, case_name(run, case), error)
    shared = [group for group in groups.values() if len(group.members) > 1]
    # at equal size, what the harness reports comes before what its logs hold
    return list(_distinct(sorted(shared, key=lambda group: -len(group.members))))


SHORT, ERROR, REASON, DONE = 160, 300, 300, 160
QUOTE, QUOTES = 300, 6


@dataclass(frozen=True)
class RunFailures:
    failures: tuple[RunFailure, ...]
    """Sorted by case."""
    first_failed: tuple[str, ...]
    """Of each its first failed check, in the same order; empty where no check saw it."""
    bucket_ids: tuple[str, ...]
    """Of each its bucket, in the same order; empty where it has none."""
    shared_errors: tuple[SharedError, ...]


def collect_failures(view: RunView) -> RunFailures:
    """One pass over the failures."""
    failures = sorted(view.failures(), key=lambda one: (one.attempt.case, one.attempt.index))
    making = _Making(view, view.last_attempts, _cases_with_several_rows(view), EvidenceQuotes(), SnippetFinder(view))
    return RunFailures(
        failures=tuple(making.fact(one) for one in failures),
        first_failed=tuple(_first_failed(one.attempt) for one in failures),
        bucket_ids=tuple(one.bucket.id if one.bucket is not None else "" for one in failures),
        shared_errors=tuple(_shared_errors(view, failures)),
    )


def _cases_with_several_rows(view: RunView) -> frozenset[str]:
    """Whose further rows are about the same attempt."""
    if not any(one.name == "duplicate_case" for one in view.health.findings):
        return frozenset()
    return frozenset(one.case for one in view.attempts() if one.duplicate_of is not None)


def _shared_errors(view: RunView, failures: Sequence[JoinedFailure]) -> list[SharedError]:
    attributed = [(one.attempt.case, one.attribution) for one in failures if one.attribution is not None]
    return shared_errors(view.run, attributed, log_lines(view, (one.attempt for one in failures)))


def _first_failed(attempt: Attempt) -> str:
    failed = next((check for check in attempt.checks if check.failed), None)
    return failed.name if failed is not None else ""


@dataclass(frozen=True)
class _Making:
    """What the facts of a failure are made from."""

    view: RunView
    tried: Mapping[str, int]
    """Cases with several attempts → how many."""
    repeated_rows: frozenset[str]
    evidence: "EvidenceQuotes"
    snippets: SnippetFinder

    def fact(self, failure: JoinedFailure) -> RunFailure:
        attempt, attribution = failure.attempt, failure.attribution
        standing = self.view.standings.get(attempt.id)
        verdict = standing.standing.verdict if standing is not None else None
        owner = verdict.owner if verdict is not None else attribution.owner if attribution is not None else "unknown"
        error, reason = reason_of(attempt, None, failure.expected), failure.reason
        shown = (verdict.error_line if verdict is not None else "") or error.text or reason
        decided_by = attribution.decided_by if attribution is not None and verdict is None else ""
        return RunFailure(
            case=failure.case_name,
            categories=self.view.categories.get(attempt.case, ()),
            attempt_id=attempt.id,
            attempt=attempt.index,
            attempts=max(self.tried.get(attempt.case, 1), attempt.index),
            is_row=attempt.case in self.repeated_rows,
            checks=tuple(
                FailedCheck(name=check.name, share=check.share, has_tests=check.share_passed is not None)
                for check in attempt.checks
                if check.failed
            ),
            error=short_line(shown, ERROR),
            label=_label(verdict, attribution, failure.run),
            owner=owner,
            confidence=verdict.confidence if verdict is not None else attribution.confidence if attribution else "weak",
            proof=attribution.proof if attribution is not None and verdict is None else "",
            proof_reason=attribution.proof_reason if attribution is not None and verdict is None else "",
            reviewed=verdict is not None,
            by=word_for(verdict.reviewer) if verdict is not None else "",
            doubt=_doubt(standing),
            measured=attempt.measurement == "scored",
            machinery=owner in NOT_THE_SUBJECTS,
            cause=short_line(verdict.cause, SHORT) if verdict is not None else "",
            reasoning=(verdict.reasoning or verdict.cause) if verdict is not None else "",
            decisive_step=verdict.decisive_step if verdict is not None else None,
            decisive_agent=verdict.decisive_agent if verdict is not None else "",
            second_candidate=verdict.second_candidate if verdict is not None else None,
            decided_by=decided_by,
            rule_means=self.evidence.meaning(decided_by) if decided_by not in ("", *BY_DEFAULT) else "",
            reason=short_line(reason, REASON),
            repeat=repeat_of(attempt.case, self.view.history),
            evidence=tuple(self.evidence.pieces(failure, verdict, error)),
            snippets=self.snippets.find(attempt, verdict, error.text),
            fix=_proposed_fix(verdict),
            doubts=verdict.doubts if verdict is not None else (),
            bucket=failure.bucket.title if failure.bucket is not None else "",
            bucket_slug=failure.bucket.slug if failure.bucket is not None else "",
            follows=_follows(failure),
        )


def _proposed_fix(verdict: Verdict | None) -> ProposedFix | None:
    fix = verdict.fix if verdict is not None else None
    return None if fix is None else ProposedFix(path=fix.path, before=fix.before, after=fix.after)


def _label(verdict: Verdict | None, attribution: Attribution | None, run: Run) -> str:
    if verdict is not None:
        return verdict.label if verdict.label not in ("", "none", verdict.owner) else ""
    return native_label(attribution, run)


def _doubt(standing: AttemptReview | None) -> VerdictDoubt | None:
    """Why a verdict may not be reliable yet."""
    if standing is None:
        return None
    if standing.standing.verdict.inherited_from is not None:
        return "inherited"
    if not standing.standing.final:
        return "needs_second"
    return "disputed" if standing.standing.is_disputed else None


def _follows(failure: JoinedFailure) -> str:
    attribution = failure.attribution
    root = attribution.follows if attribution is not None else failure.attempt.follows or ""
    return case_name(failure.run, split_attempt_id(root).case) if root else ""


class EvidenceQuotes:
    """Quotes with their places, by the rules that are in use now; looked up once for a report."""

    def __init__(self) -> None:
        self.meaning = cache(meaning_of)

    def pieces(self, failure: JoinedFailure, verdict: Verdict | None, error: ReasonQuote) -> Iterator[QuotedEvidence]:
        if verdict is not None:
            yield from _quoted(verdict)
            return
        shown: list[str] = []
        if error:
            shown.append(error.text)
            yield QuotedEvidence(place=error.where, quote=short_line(error.quote, QUOTE), stated=error.stated)
        for piece in self._signal_quotes(failure):
            text = ": ".join(filter(None, (piece.stated, piece.quote)))
            if len(shown) < QUOTES and not any(text in one for one in shown):
                shown.append(text)
                yield piece

    def _signal_quotes(self, failure: JoinedFailure) -> Iterator[QuotedEvidence]:
        """What rules saw, where that is more than a failed check."""
        attribution = failure.attribution
        for signal in attribution.signals if attribution is not None else ():
            if " " in signal.words and says_more(signal.words, failure.attempt):
                place = str(signal.ref) if signal.ref is not None and signal.ref.line else signal.where
                plain = signal.name in BY_DEFAULT or (attribution is not None and signal.name == attribution.decided_by)
                means = "" if plain else self.meaning(signal.name)
                quote = short_line(signal.quote, QUOTE)
                yield QuotedEvidence(place=place, quote=quote, stated=signal.stated, means=means)


def _quoted(verdict: Verdict) -> Iterator[QuotedEvidence]:
    for quote in verdict.evidence[:QUOTES]:
        at = f":{quote.lines[0]}" if quote.lines else ""
        yield QuotedEvidence(place=f"{quote.place}{at}", quote=short_line(quote.quote, QUOTE))


def repeat_of(case: str, history: RunHistory) -> Repeat:
    """Earlier failures of a case that fails now, and whether an action should have fixed it."""
    before = history.before(case)
    reports = before.counted_reports
    named = [EarlierFailure(kind="report", date=one.date, label=one.label) for one in reversed(reports)]
    seen, labels = {one.run for one in reports}, {one.run: one.label for one in before.own_reports}
    runs = [one for one in before.runs if one.run not in seen]
    failed = [EarlierFailure(kind="run", date=one.at[:10], label=labels.get(one.run, "")) for one in reversed(runs)]
    due = done_action(before.due[0].action, most=DONE) if before.due else None
    late = next((one for one in before.actions if one.reason in ("made_after_run", "same_day")), None)
    models = {one.model for one in before.others} | {one.model for one in before.other_runs}
    return Repeat(
        reports=len(reports),
        runs=len(before.runs),
        earlier=(*named, *failed),
        due=due,
        later=done_action(late.action, most=DONE) if late is not None else None,
        later_reason=late.reason if late is not None else "made_after_run",
        should_be_gone=before.should_be_gone,
        otherwise=before.failed_otherwise,
        other_models=tuple(sorted(models - {""})),
    )


# --- error texts that several failures of a run share, whatever their causes: a hint for the reader of a report


MOST_COMPARED = 50
LOGS_SEARCHED = 1_000
"""Failures whose own logs are searched."""
_MASKED = lazy_regex(r"<\w+>(?:[\s:]+<\w+>)*")


class _ErrorText(NamedTuple):
    shape: str
    """Equal for failures with the same error."""
    verbatim: str
    """The text itself; empty where it is another text than the shape."""


class _SharingFailures:
    def __init__(self, first: _ErrorText) -> None:
        self._first = first
        self._is_verbatim = bool(first.verbatim)
        self.members: dict[str, str] = {}
        """Attempt → case."""

    def add(self, attempt: str, case: str, error: _ErrorText) -> None:
        self.members[attempt] = case
        self._is_verbatim = self._is_verbatim and error.verbatim == self._first.verbatim

    @property
    def shared(self) -> SharedError:
        text = self._first.verbatim if self._is_verbatim else _readable(self._first.shape)
        return SharedError(text, self._is_verbatim, tuple(dict.fromkeys(self.members.values())), len(self.members))


def _readable(shape: str) -> str:
    """`… is defined but never used no-unused-vars`: an ellipsis where the texts differ, none at their ends."""
    return _MASKED.sub("…", shape).strip(" …") or shape


def log_lines(view: RunView, attempts: Iterable[Attempt]) -> dict[str, list[LogLine]]:
    searched = islice((attempt for attempt in attempts if has_logs(attempt)), LOGS_SEARCHED)
    return {attempt.id: list(error_lines(view.with_texts(attempt))) for attempt in searched}


def _distinct(groups: Sequence[_SharingFailures]) -> Iterator[SharedError]:
    """Without those that only repeat, in other words or longer, the text of a larger group of the same failures."""
    kept: list[_SharingFailures] = []
    for group in groups:
        if not any(_repeats(group, other) for other in kept[:MOST_COMPARED]):
            kept.append(group)
            yield group.shared


def _repeats(group: _SharingFailures, larger: _SharingFailures) -> bool:
    if not group.members.keys() <= larger.members.keys():
        return False
    text, other = group.shared.text, larger.shared.text
    return group.members.keys() == larger.members.keys() or text in other or other in text


def _errors_of(attribution: Attribution, lines: Sequence[LogLine]) -> Iterator[_ErrorText]:
    key = attribution.failure_key
    quote = next((signal.words for signal in attribution.signals if signal.name == attribution.decided_by), "")
    if is_informative(key) and not lists_only_names(key):
        yield _error_in_key(key, quote)
    elif attribution.decided_by not in BY_DEFAULT and quote:
        yield _ErrorText(mask(quote), quote)
    for line in {line.shared: line for line in lines}.values():
        yield _ErrorText(line.shared, line.message)


def _error_in_key(key: FailureKey, quote: str) -> _ErrorText:
    shape = text_in_key(key)
    # the quote that decided may be another text, or only a part of it
    is_whole = shape in (mask(quote), mask(quote, strings=False))
    return _ErrorText(shape, quote if is_whole else "" if _MASKED.search(shape) else shape)
