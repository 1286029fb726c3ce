"""The gate of a CI job: does a run fail where its baseline passed, is its score below a bar, is it fit at all?"""

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from errata.compare.changes import CaseChange, Changes
from errata.compare.intervals import Interval
from errata.compare.scores import Policy, Score
from errata.errors import SettingsError
from errata.model import StoredRun
from errata.model.gate import GateVerdict
from errata.model.words import NOT_THE_SUBJECTS

GateCode = Literal[
    "new_failures",
    "missing_cases",
    "score_below",
    "not_fit",
    "stale_allowances",
    "not_comparable",
    "nothing_shared",
    "no_score",
    "no_baseline",
    "too_few_cases",
    "baseline_not_fit",
]
_FAILED: tuple[GateCode, ...] = ("not_fit", "new_failures", "missing_cases", "score_below", "stale_allowances")


class AllowedCase(msgspec.Struct, frozen=True):
    """A case that may fail."""

    name: str
    reason: str = ""
    line: int = 0


class GateRules(msgspec.Struct, frozen=True, kw_only=True):
    owners: frozenset[str] = frozenset(("model",))
    """Whose new failures count."""
    without_presumed: bool = False
    """Without failures that are only presumed to be the model's."""
    fail_on_missing: bool = False
    min_score: float | None = None
    policy: Policy = "clean"
    allowed: tuple[AllowedCase, ...] = ()
    needs_baseline: bool = True
    """Whether a gate without a baseline is not comparable; else only the fit and the score are checked."""


class GateInput(msgspec.Struct, frozen=True, kw_only=True):
    """What is known about a run and its baseline."""

    run: StoredRun
    scores: dict[Policy, Score]
    fit: bool
    problems: tuple[str, ...] = ()
    """Findings that make the run unfit."""
    case_states: dict[str, bool] = {}
    """Name of a case → whether it passes; only looked at where some are allowed to fail."""
    baseline: StoredRun | None = None
    baseline_scores: dict[Policy, Score] = {}
    baseline_problems: tuple[str, ...] = ()
    changes: Changes | None = None
    refusal: str = ""
    """Why the two can't be compared."""
    differences: tuple[str, ...] = ()
    """The same in detail."""


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    verdict: GateVerdict
    codes: tuple[GateCode, ...]
    """Why it did not pass."""
    notes: tuple[GateCode, ...]
    """What has to be known beside the verdict."""
    rules: GateRules
    given: GateInput
    new: tuple[CaseChange, ...] = ()
    """Cases that passed in the baseline and fail now, of the chosen owners."""
    allowed: tuple[CaseChange, ...] = ()
    """The same, but allowed to fail."""
    others: tuple[CaseChange, ...] = ()
    """The same, of other owners."""
    infrastructure: tuple[CaseChange, ...] = ()
    """Cases that passed in the baseline and were kept from passing by infrastructure."""
    stale: tuple[AllowedCase, ...] = ()
    """Entries of the allow-list whose case passes, or is not in the run."""

    @property
    def score(self) -> Score:
        return self.given.scores[self.rules.policy]


def decide(given: GateInput, rules: GateRules) -> Gate:
    regressed, infrastructure = (
        (given.changes.of("regressed"), given.changes.of("infrastructure")) if given.changes is not None else ((), ())
    )
    counting = [one for one in (*regressed, *infrastructure) if _counts(one, rules)]
    names = {one.name for one in rules.allowed}
    new = tuple(one for one in counting if one.name not in names)
    stale = tuple(_stale(given, rules))
    codes = tuple(_codes(given, rules, new=bool(new), stale=bool(stale)))
    return Gate(
        verdict=_verdict(codes),
        codes=codes,
        notes=tuple(_notes(given, rules)),
        rules=rules,
        given=given,
        new=new,
        allowed=tuple(one for one in counting if one.name in names),
        others=tuple(one for one in regressed if not _counts(one, rules)),
        infrastructure=tuple(one for one in infrastructure if not _counts(one, rules)),
        stale=stale,
    )


def _verdict(codes: Sequence[GateCode]) -> GateVerdict:
    """A failure that was found stays one, whatever could not be compared."""
    if any(code in _FAILED for code in codes):
        return "failed"
    return "not_comparable" if codes else "passed"


def _counts(change: CaseChange, rules: GateRules) -> bool:
    failure = change.failure
    owner = failure.owner or "unknown"
    return owner in rules.owners and not (rules.without_presumed and failure.is_presumed)


def _codes(given: GateInput, rules: GateRules, *, new: bool, stale: bool) -> Iterator[GateCode]:
    if not given.fit:
        yield "not_fit"
    if given.refusal:
        yield "not_comparable"
    elif given.changes is None:
        if rules.needs_baseline:
            yield "no_baseline"
    elif not given.changes.shared:
        yield "nothing_shared"
    if new:
        yield "new_failures"
    if rules.fail_on_missing and given.changes is not None and given.changes.of("missing"):
        yield "missing_cases"
    if rules.min_score is not None:
        between = _interval(given.scores[rules.policy])
        if between is None:
            yield "no_score"
        elif between[1] < rules.min_score:
            yield "score_below"
    if stale:
        yield "stale_allowances"


def _notes(given: GateInput, rules: GateRules) -> Iterator[GateCode]:
    between = _interval(given.scores[rules.policy])
    if rules.min_score is not None and between is not None and between[0] < rules.min_score <= between[1]:
        yield "too_few_cases"
    if given.baseline_problems:
        yield "baseline_not_fit"
    if given.changes is None and not given.refusal and not rules.needs_baseline:
        yield "no_baseline"


def _interval(score: Score) -> Interval | None:
    """Of a single graded value there is no interval: then the rate itself."""
    if score.rate is None:
        return None
    return score.interval or (score.rate, score.rate)


def _stale(given: GateInput, rules: GateRules) -> Iterator[AllowedCase]:
    """What fails in the baseline too is still needed; what was not measured may be."""
    for entry in rules.allowed:
        if given.case_states.get(entry.name, True):
            yield entry


def parse_allowed(text: str, *, place: str) -> tuple[AllowedCase, ...]:
    """A case on each line; after ` # ` the reason. Empty lines and lines that begin with `#` are skipped."""
    entries: dict[str, AllowedCase] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, _, reason = line.partition(" # ")
        entry = AllowedCase(name.strip(), reason.strip(), number)
        if entry.name in entries:
            first = entries[entry.name].line
            raise SettingsError(
                f"`{place}` lists `{entry.name}` twice: in lines {first} and {number}", hint="remove one of them"
            )
        entries[entry.name] = entry
    return tuple(entries.values())


INFRASTRUCTURE = "infrastructure"


def owners_of(words: Sequence[str]) -> frozenset[str]:
    """`infrastructure` means all of its owners."""
    chosen = frozenset(word for word in words if word != INFRASTRUCTURE)
    return chosen | (NOT_THE_SUBJECTS if INFRASTRUCTURE in words else frozenset())
