"""The failures of a run as its report tells them: what a reviewer found, else what the rules say."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from errata.model import Attempt, Attribution, Check, Run, StoredRun, Verdict
from errata.model.identity import split_attempt_id
from errata.pipeline.bucketing import bucket_of
from errata.pipeline.explaining import BY_DEFAULT, meaning_of
from errata.pipeline.failures import Failure as Found
from errata.pipeline.failures import Filters, case_name, failures_of
from errata.pipeline.reasons import Quote, reason_of
from errata.pipeline.remembering import Remembered
from errata.pipeline.reporting.shared import MACHINERY, native_label
from errata.pipeline.standings import Said, standing_of
from errata.report.facts.run import Failure, Repeat
from errata.report.facts.shared import Piece
from errata.store.attempts import attempts_of, categories_of
from errata.store.buckets import Slip
from errata.store.database import Store
from errata.store.reviews import word_for
from errata.text.clean import one_line

SHORT, QUOTE, QUOTES = 160, 300, 6
FINISHED_NOT = frozenset(("unfinished", "skipped"))


@dataclass(frozen=True)
class Gathered:
    failures: tuple[Failure, ...]
    """Sorted by case."""
    ids: tuple[str, ...]
    """Attempt ids, in the same order."""
    said: Mapping[str, Said]
    attributed: Mapping[str, Attribution]
    slips: Mapping[str, Slip]
    steps: tuple[str, ...]
    """The steps of the pipeline in their order, `""` first for what no check saw."""
    in_steps: bool
    first_failed: Mapping[int, str]
    """By the identity of a failure: its first failed check."""
    pending: tuple[str, ...]
    missing: tuple[str, ...]


def gather(stored: StoredRun, store: Store, remembered: Remembered) -> Gathered:
    said = standing_of(store, stored.run.id)
    slips = bucket_of(stored, store)
    categories = categories_of(store, stored.pk)
    found = sorted(failures_of(stored, store, Filters()), key=lambda one: (one.attempt.case, one.attempt.index))
    tried = _tries(found)
    made = [_failure(one, said, slips, categories, remembered, tried) for one in found]
    first = {id(fact): _first(one.attempt) for fact, one in zip(made, found, strict=True)}
    steps, in_steps, pending, missing = _survey(stored, store)
    return Gathered(
        failures=tuple(made),
        ids=tuple(one.attempt.id for one in found),
        said=said,
        attributed={one.attempt.id: one.attribution for one in found if one.attribution is not None},
        slips=slips,
        steps=tuple(step for step in steps if step or any(not name for name in first.values())),
        in_steps=in_steps,
        first_failed=first,
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
        name = case_name(stored.run, attempt.case)
        if attempt.execution in FINISHED_NOT:
            pending.append(name)
        elif attempt.execution == "missing":
            missing.append(name)
        for check in attempt.checks:
            if check.kind == "step":
                order[check.name] = min(order.get(check.name, check.order), check.order)
            elif check.counts:
                in_steps = False
    return ["", *sorted(order, key=lambda name: order[name])], in_steps and bool(order), pending, missing


def _first(attempt: Attempt) -> str:
    failed = next((check for check in attempt.checks if check.failed), None)
    return failed.name if failed is not None else ""


def _failure(
    found: Found,
    said: Mapping[str, Said],
    slips: Mapping[str, Slip],
    categories: Mapping[str, str],
    remembered: Remembered,
    tried: Mapping[str, int],
) -> Failure:
    attempt, attribution = found.attempt, found.attribution
    stood = said.get(attempt.id)
    verdict = stood.standing.verdict if stood is not None else None
    failed = [check for check in attempt.checks if check.failed]
    owner = verdict.owner if verdict is not None else attribution.owner if attribution is not None else "unknown"
    slip = slips.get(attempt.id)
    error = reason_of(attempt, None, found.expected)
    return Failure(
        case=found.case_name,
        category=categories.get(attempt.case, ""),
        attempt=f"{attempt.index} of {tried[attempt.case]}" if tried[attempt.case] > 1 else "",
        step=_named(failed[0]) if failed else "",
        also_failed=tuple(_named(check) for check in failed[1:]),
        error=one_line((verdict.error_line if verdict is not None else "") or error.text or found.reason, QUOTE),
        label=_label(verdict, attribution, found.run),
        owner=owner,
        confidence=verdict.confidence if verdict is not None else attribution.confidence if attribution else "weak",
        reviewed=verdict is not None,
        by=word_for(verdict.reviewer) if verdict is not None else "",
        measured=attempt.measurement == "scored",
        machinery=owner in MACHINERY,
        short=one_line(verdict.cause if verdict is not None else _by_rule(found, attribution), SHORT),
        reasoning=verdict.reasoning or verdict.cause if verdict is not None else _reasoning(found, attribution),
        repeat=_repeat(attempt.case, remembered),
        evidence=tuple(_evidence(verdict, attribution, error)),
        model_snippet=verdict.model_snippet if verdict is not None else "",
        expected_snippet=verdict.expected_snippet if verdict is not None else "",
        language=_language(verdict),
        doubts=verdict.doubts if verdict is not None else (),
        bucket=slip.title if slip is not None else "",
        follows=_follows(found, attribution),
    )


def _named(check: Check) -> str:
    """`tests (67 %)` where a share of it was met."""
    value = check.value
    share = isinstance(value, float) and not isinstance(value, bool) and 0 <= value <= 1 and check.kind != "reward"
    return f"{check.name} ({100 * float(value):.0f} %)" if share and value is not None else check.name


def _label(verdict: Verdict | None, attribution: Attribution | None, run: Run) -> str:
    if verdict is not None:
        return verdict.label if verdict.label not in ("", "none", verdict.owner) else ""
    return native_label(attribution, run)


def _by_rule(found: Found, attribution: Attribution | None) -> str:
    if attribution is None or attribution.decided_by in BY_DEFAULT:
        return found.reason or "No rule points elsewhere than to the model"
    return meaning_of(attribution.decided_by)


def _reasoning(found: Found, attribution: Attribution | None) -> str:
    if attribution is None:
        return "Not triaged."
    if attribution.decided_by in BY_DEFAULT:
        told = f'The log says: "{one_line(found.reason, QUOTE)}". ' if found.reason else ""
        return f"{told}No rule points elsewhere than to the {attribution.owner}; nobody has read it yet."
    means = meaning_of(attribution.decided_by)
    return f"{means[:1].upper()}{means[1:]} (rule {attribution.decided_by}). Nobody has read it yet."


def _evidence(verdict: Verdict | None, attribution: Attribution | None, error: Quote) -> Iterator[Piece]:
    if verdict is not None:
        for quote in verdict.evidence[:QUOTES]:
            at = f":{quote.lines[0]}" if quote.lines else ""
            yield Piece(place=f"{quote.place}{at}", quote=one_line(quote.quote, QUOTE))
        return
    told = {error.text}
    if error:
        yield Piece(place=error.where, quote=one_line(error.text, QUOTE))
    for signal in attribution.signals if attribution is not None else ():
        if len(signal.quote.split()) > 1 and signal.quote not in told and len(told) < QUOTES:
            told.add(signal.quote)
            place = str(signal.ref) if signal.ref is not None and signal.ref.line else signal.where
            yield Piece(place=place, quote=one_line(signal.quote, QUOTE))


def _language(verdict: Verdict | None) -> str:
    places = [quote.place for quote in verdict.evidence] if verdict is not None else []
    suffixes = (PurePosixPath(place.partition(":")[0]).suffix for place in places)
    return next((suffix[1:] for suffix in suffixes if suffix[1:] in ("ts", "tsx", "js", "py", "json")), "")


def _repeat(case: str, remembered: Remembered) -> Repeat:
    before = remembered.before(case)
    said = [f"{one.label or 'named'} on {one.date}" for one in reversed(before.reports)]
    seen = {one.run for one in before.reports}
    runs = [one for one in before.runs if one.run not in seen]
    said += [f"failed on {one.at[:10]}" for one in reversed(runs)]
    due = before.due[0] if before.due else None
    action = ""
    if due is not None:
        what = f"{due.action.path} " if due.action.path else ""
        action = (
            f"The action of {due.action.date[:10]} ({what}{one_line(due.action.what, SHORT)}) came before this run and "
            "should have resolved it. It did not."
        )
    models = sorted(
        {name for name in [*(one.model for one in before.others), *(one.model for one in before.other_runs)] if name}
    )
    others = f"Other models fail it too: {', '.join(models[:5])}." if models else ""
    return Repeat(
        reports=len(before.reports),
        runs=len(runs),
        said=tuple(said),
        action=action,
        should_be_gone=before.should_be_gone,
        others=others,
    )


def _follows(found: Found, attribution: Attribution | None) -> str:
    root = attribution.follows if attribution is not None else found.attempt.follows or ""
    return case_name(found.run, split_attempt_id(root).case) if root else ""
