"""The failures of a run as its report tells them: what a reviewer found, else what the rules say."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from errata.buckets.suggest import bucket_of
from errata.model import Attempt, Attribution, Check, Run, StoredRun, Verdict
from errata.model.identity import split_attempt_id
from errata.model.output.report.run import Failure, Repeat
from errata.model.output.report.shared import Piece
from errata.model.run import case_name
from errata.report.run_snippets import Showing
from errata.report.shared import MACHINERY, native_label
from errata.runs.explanation import BY_DEFAULT, meaning_of
from errata.runs.failures import Failure as Found
from errata.runs.failures import Filters, failures_of
from errata.runs.history import Remembered
from errata.runs.standings import Said, standing_now
from errata.store.attempts import attempts_of, categories_of
from errata.store.buckets import Slip
from errata.store.database import Store
from errata.store.reviews import word_for
from errata.text.outgoing import short_line
from errata.triage.reasons import Quote, reason_of, says_more

SHORT, ERROR = 160, 300
FINISHED_NOT = frozenset(("unfinished", "skipped"))


@dataclass(frozen=True)
class Gathered:
    failures: tuple[Failure, ...]
    """Sorted by case."""
    ids: tuple[str, ...]
    """Attempt ids, in the same order."""
    first_failed: tuple[str, ...]
    """Of each its first failed check, in the same order; empty where no check saw it."""
    said: Mapping[str, Said]
    slips: Mapping[str, Slip]
    steps: tuple[str, ...]
    """The steps of the pipeline in their order, `""` first for what no check saw."""
    in_steps: bool
    pending: tuple[str, ...]
    missing: tuple[str, ...]


def gather(stored: StoredRun, store: Store, remembered: Remembered) -> Gathered:
    said = standing_now(stored, store)
    slips = bucket_of(stored, store)
    found = sorted(failures_of(stored, store, Filters()), key=lambda one: (one.attempt.case, one.attempt.index))
    making = _Making(
        said, slips, categories_of(store, stored.pk), remembered, _tries(found), Evidence(), Showing(stored, store)
    )
    first = tuple(_first(one.attempt) for one in found)
    steps, in_steps, pending, missing = _survey(stored, store)
    return Gathered(
        failures=tuple(making.of(one) for one in found),
        ids=tuple(one.attempt.id for one in found),
        first_failed=first,
        said=said,
        slips=slips,
        steps=tuple(step for step in steps if step or in_steps or "" in first),
        in_steps=in_steps,
        pending=tuple(pending),
        missing=tuple(missing),
    )


def _tries(found: Iterable[Found]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for one in found:
        counts[one.attempt.case] = max(counts.get(one.attempt.case, 0), one.attempt.index)
    return counts


def _survey(stored: StoredRun, store: Store) -> tuple[list[str], bool, list[str], list[str]]:
    """The steps that the harness knows, whether they are steps at all, and what did not finish or is missing."""
    order: dict[str, int] = {}
    in_steps = True
    pending, missing = [], []
    for attempt in attempts_of(store, stored.pk, counted=True):
        if attempt.execution in FINISHED_NOT:
            pending.append(case_name(stored.run, attempt.case))
        elif attempt.execution == "missing":
            missing.append(case_name(stored.run, attempt.case))
        for check in attempt.checks:
            if check.kind == "step":
                order[check.name] = min(order.get(check.name, check.order), check.order)
            elif check.counts:
                in_steps = False
    return ["", *sorted(order, key=lambda name: order[name])], in_steps and bool(order), pending, missing


def _first(attempt: Attempt) -> str:
    failed = next((check for check in attempt.checks if check.failed), None)
    return failed.name if failed is not None else ""


@dataclass(frozen=True)
class _Making:
    """What the facts of a failure are made from."""

    said: Mapping[str, Said]
    slips: Mapping[str, Slip]
    categories: Mapping[str, str]
    remembered: Remembered
    tried: Mapping[str, int]
    evidence: "Evidence"
    showing: Showing

    def of(self, found: Found) -> Failure:
        attempt, attribution = found.attempt, found.attribution
        stood = self.said.get(attempt.id)
        verdict = stood.standing.verdict if stood is not None else None
        failed = [check for check in attempt.checks if check.failed]
        owner = verdict.owner if verdict is not None else attribution.owner if attribution is not None else "unknown"
        error, reason = reason_of(attempt, None, found.expected), found.reason
        tries = self.tried[attempt.case]
        told = (verdict.error_line if verdict is not None else "") or error.text or reason
        return Failure(
            case=found.case_name,
            category=self.categories.get(attempt.case, ""),
            attempt=f"{attempt.index} of {tries}" if tries > 1 else "",
            step=_with_share(failed[0], "{} ({})") if failed else "",
            also_failed=tuple(_with_share(check, "{} {}") for check in failed[1:]),
            error=short_line(told, ERROR),
            label=_label(verdict, attribution, found.run),
            owner=owner,
            confidence=verdict.confidence if verdict is not None else attribution.confidence if attribution else "weak",
            reviewed=verdict is not None,
            by=word_for(verdict.reviewer) if verdict is not None else "",
            note=_note(stood),
            measured=attempt.measurement == "scored",
            machinery=owner in MACHINERY,
            short=short_line(verdict.cause if verdict is not None else self.evidence.short(found, reason), SHORT),
            reasoning=(verdict.reasoning or verdict.cause) if verdict else self.evidence.reasoning(found, reason),
            repeat=repeat_of(attempt.case, self.remembered),
            evidence=tuple(self.evidence.pieces(found, verdict, error)),
            snippets=self.showing.of(attempt, verdict, error.text),
            doubts=verdict.doubts if verdict is not None else (),
            bucket=self.slips[attempt.id].title if attempt.id in self.slips else "",
            follows=_follows(found),
        )


def _with_share(check: Check, form: str) -> str:
    """`tests (67 %)` where a share of it was met."""
    value = check.value
    if isinstance(value, bool) or not isinstance(value, float) or not 0 <= value <= 1 or check.kind == "reward":
        return check.name
    return form.format(check.name, f"{100 * value:.0f} %")


def _label(verdict: Verdict | None, attribution: Attribution | None, run: Run) -> str:
    if verdict is not None:
        return verdict.label if verdict.label not in ("", "none", verdict.owner) else ""
    return native_label(attribution, run)


def _note(stood: Said | None) -> str:
    """What has to be known of a verdict before one goes by it."""
    if stood is None:
        return ""
    if stood.standing.verdict.inherited_from is not None:
        return "taken over from an identical crash"
    if not stood.standing.final:
        return "needs a second reader"
    return "readers disagree" if stood.standing.is_disputed else ""


def _follows(found: Found) -> str:
    said = found.attribution
    root = said.follows if said is not None else found.attempt.follows or ""
    return case_name(found.run, split_attempt_id(root).case) if root else ""


QUOTE, QUOTES = 300, 6


class Evidence:
    """By the rules that are in use now; looked up once for a report."""

    def __init__(self) -> None:
        self._meaning = cache(meaning_of)

    def short(self, found: Found, reason: str) -> str:
        """By the rules, for a table; `reason` is what the log says."""
        said = found.attribution
        if said is None or said.decided_by in BY_DEFAULT:
            return reason or "No rule points elsewhere than to the model"
        return self._meaning(said.decided_by)

    def reasoning(self, found: Found, reason: str) -> str:
        """By the rules; two or three sentences."""
        said = found.attribution
        if said is None:
            return "Not triaged."
        if said.decided_by in BY_DEFAULT:
            told = f'The log says: "{short_line(reason, QUOTE)}". ' if reason else ""
            return f"{told}No rule points elsewhere than to the {said.owner}; nobody has read it yet."
        means = self._meaning(said.decided_by)
        return f"{means[:1].upper()}{means[1:]} (rule {said.decided_by}). Nobody has read it yet."

    def pieces(self, found: Found, verdict: Verdict | None, error: Quote) -> Iterator[Piece]:
        if verdict is not None:
            yield from _quoted(verdict)
            return
        told: list[str] = []
        if error:
            told.append(error.text)
            yield Piece(place=error.where, quote=short_line(error.text, QUOTE))
        for piece in self._seen(found):
            if len(told) < QUOTES and not any(piece.quote in one for one in told):
                told.append(piece.quote)
                yield piece

    def _seen(self, found: Found) -> Iterator[Piece]:
        """What rules saw, where that says more than that a check failed."""
        said = found.attribution
        for signal in said.signals if said is not None else ():
            if " " in signal.quote and says_more(signal.quote, found.attempt):
                place = str(signal.ref) if signal.ref is not None and signal.ref.line else signal.where
                plain = signal.name in BY_DEFAULT or (said is not None and signal.name == said.decided_by)
                means = "" if plain else self._meaning(signal.name)
                yield Piece(place=place, quote=short_line(signal.quote, QUOTE), means=means)


def _quoted(verdict: Verdict) -> Iterator[Piece]:
    for quote in verdict.evidence[:QUOTES]:
        at = f":{quote.lines[0]}" if quote.lines else ""
        yield Piece(place=f"{quote.place}{at}", quote=short_line(quote.quote, QUOTE))


DONE = 160
MODELS = 5


def repeat_of(case: str, remembered: Remembered) -> Repeat:
    before = remembered.before(case)
    said = [f"{one.label or 'named'} on {one.date}" for one in reversed(before.reports)]
    seen = {one.run for one in before.reports}
    runs = [one for one in before.runs if one.run not in seen]
    said += [f"failed on {one.at[:10]}" for one in reversed(runs)]
    action = ""
    if before.due:
        done = before.due[0].action
        what = f"{done.path} " if done.path else ""
        action = (
            f"The action of {done.date[:10]} ({what}{short_line(done.what, DONE)}) came before this run and should "
            "have resolved it. It did not."
        )
    models = sorted(({one.model for one in before.others} | {one.model for one in before.other_runs}) - {""})
    return Repeat(
        reports=len(before.reports),
        runs=len(runs),
        said=tuple(said),
        action=action,
        should_be_gone=before.should_be_gone,
        others=f"Other models fail it too: {', '.join(models[:MODELS])}." if models else "",
    )
