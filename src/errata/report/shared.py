"""What the reports of every profile are told of a run: its score bracket, and how far its failures were read."""

from collections.abc import Iterable, Mapping

from errata.compare.scores import Policy, Score
from errata.model import Attribution, Run, StoredRun
from errata.model.output.report.shared import Reading, ScoreLine
from errata.runs.standings import Said
from errata.store.reviews import word_for

MACHINERY = frozenset(("provider", "environment", "harness", "simulator", "collateral"))
"""Owners whose failures say nothing about the subject."""


def score_lines(scores: Mapping[Policy, Score]) -> tuple[ScoreLine, ...]:
    return tuple(_line(policy, score) for policy, score in scores.items() if _says_something(policy, score))


def _says_something(policy: Policy, score: Score) -> bool:
    return score.total > 0 or score.mean is not None or policy in ("strict", "clean")


def _line(policy: Policy, score: Score) -> ScoreLine:
    low, high = score.interval or (None, None)
    worst, best = score.bounds or (None, None)
    return ScoreLine(
        policy=policy,
        passed=score.passed,
        total=score.total,
        rate=score.rate,
        low=low,
        high=high,
        if_failed=worst,
        if_passed=best,
        left_out=left_out(score),
        note=_note(policy, score),
    )


def left_out(score: Score) -> str:
    """`2 left out: provider 1, environment 1`."""
    count = sum(score.left_out.values())
    return f"{count} left out: {', '.join(f'{why} {often}' for why, often in score.left_out.items())}" if count else ""


def _note(policy: Policy, score: Score) -> str:
    told = [score.note] if score.note else []
    if score.recovered:
        told.append(f"{len(score.recovered)} taken from an earlier session that measured them")
    if policy == "as_reported" and score.reproduced is not None:
        told.append("the harness's own number, reproduced" if score.reproduced else f"the harness says {score.stated}")
    return "; ".join(told)


def reading_of(failures: Iterable[str], said: Mapping[str, Said]) -> Reading:
    """`failures` are attempt ids."""
    total = read = second = inherited = disputed = 0
    names: dict[str, None] = {}
    for attempt in failures:
        total += 1
        found = said.get(attempt)
        if found is None:
            continue
        standing = found.standing
        if standing.verdict.inherited_from is not None:
            inherited += 1
            continue
        read += standing.final
        disputed += standing.is_disputed
        readers = {word_for(one.reviewer): one for one in found.verdicts if one.inherited_from is None}
        names |= dict.fromkeys(readers)
        second += len({one.reviewer.name.casefold() for one in readers.values()}) > 1
    return Reading(failures=total, read=read, by=tuple(names), second=second, inherited=inherited, disputed=disputed)


def day_of(run: Run) -> str:
    return (run.started_at or run.finished_at or "")[:10]


def is_unjudged(stored: StoredRun) -> bool:
    """Answers were given, and nothing was scored: neither passed nor failed can be said of any of them."""
    counts = stored.counts
    return set(counts.measurements) <= {"not_run"} and bool(counts.executions.get("completed"))


def native_label(said: Attribution | None, run: Run) -> str:
    """What triage would call a failure in the words of the run's own project; else of any taxonomy that fits it."""
    if said is None:
        return ""
    labels = said.suggested_labels
    return labels.get(run.source.name) or next(iter(labels.values()), "")


def in_common(parameters: Mapping[str, str]) -> str:
    """What the members of a bucket share besides their cause; the owner is told elsewhere."""
    return ", ".join(f"{name} {value}" for name, value in parameters.items() if name != "owner")
