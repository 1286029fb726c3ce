"""The error modes of a comparison: its buckets, what goes wrong in each, and datapoints that show it."""

from collections import Counter
from collections.abc import Iterator, Sequence

from errata.model import Attempt, Bucket, Case
from errata.pipeline.bucketing import bucket_of
from errata.pipeline.reporting.comparison_rows import Compared, Row
from errata.pipeline.reporting.shared import native_label
from errata.pipeline.standings import suggested_label
from errata.report.facts.comparison import Datapoint, Mode
from errata.store.attempts import attempts_of, case_of
from errata.store.buckets import buckets_of
from errata.store.database import Store
from errata.text.clean import one_line

SHOWN = 6
"""Datapoints of a mode."""
ENOUGH = 3
"""So many are read before a bucket is final, or all where it has fewer."""
ASKED, CALL = 80, 160
TRIGGERS = 6
ALONE = "stands alone"


def modes_of(runs: Sequence[Compared], store: Store) -> tuple[Mode, ...]:
    """The largest first; what stands in no bucket comes last, one by one."""
    groups: dict[str, list[tuple[int, Row]]] = {}
    for at, one in enumerate(runs):
        slips = bucket_of(one.stored, store)
        for row in one.rows:
            slip = slips.get(row.attempt.id)
            groups.setdefault(slip.id if slip is not None else f"{ALONE} {row.attempt.id}", []).append((at, row))
    known = {one.id: one for one in buckets_of(store, runs[0].stored.run.suite)}
    made = [_mode(known.get(bucket), members, runs, store) for bucket, members in groups.items()]
    return tuple(sorted(made, key=lambda one: (-one.rows - one.followers, one.title)))


def _mode(bucket: Bucket | None, members: Sequence[tuple[int, Row]], runs: Sequence[Compared], store: Store) -> Mode:
    own = [(at, row) for at, row in members if not row.follows]
    follow = [(at, row) for at, row in members if row.follows]
    read = [(at, row) for at, row in members if _is_read(runs[at], row)]
    label = _label(own or follow, runs)
    return Mode(
        title=bucket.title if bucket is not None else label or "Alone",
        label=label,
        owner=_owner(own or follow, runs),
        status=bucket.status if bucket is not None else "provisional",
        rows=len(own),
        followers=len(follow),
        cases=tuple(tuple(row.name for at, row in own if at == place) for place in range(len(runs))),
        following=tuple(tuple(row.name for at, row in follow if at == place) for place in range(len(runs))),
        dimensions=dict(Counter(name for _, row in members for name in row.failed).most_common()),
        read=len(read),
        needed=min(ENOUGH, len(members)),
        mistake=_mistake(read, runs),
        triggers=tuple(_triggers(own, runs, store)),
        datapoints=tuple(_datapoint(at, row, runs, store) for at, row in _telling(own, runs)),
        parameters=", ".join(f"{name} {value}" for name, value in bucket.parameters.items()) if bucket else "",
        rebucketed=sum(_was_moved(runs[at], row) for at, row in read),
    )


def _is_read(run: Compared, row: Row) -> bool:
    found = run.said.get(row.attempt.id)
    return found is not None and found.standing.final


def _was_moved(run: Compared, row: Row) -> bool:
    """Whether a reviewer gave it another label than the rules."""
    stood = run.said[row.attempt.id].standing
    said = run.attributed.get(row.attempt.id)
    suggested = suggested_label(said, stood.verdict.taxonomy)
    return bool(suggested) and stood.verdict.label != suggested


def _label(members: Sequence[tuple[int, Row]], runs: Sequence[Compared]) -> str:
    """The word of the taxonomy that most of them have."""
    labels: Counter[str] = Counter()
    for at, row in members:
        found = runs[at].said.get(row.attempt.id)
        said = runs[at].attributed.get(row.attempt.id)
        if found is not None:
            labels[found.standing.verdict.label] += 1
        elif suggested := native_label(said, runs[at].stored.run):
            labels[suggested] += 1
    return labels.most_common(1)[0][0] if labels else ""


def _owner(members: Sequence[tuple[int, Row]], runs: Sequence[Compared]) -> str:
    owners: Counter[str] = Counter()
    for at, row in members:
        found = runs[at].said.get(row.attempt.id)
        said = runs[at].attributed.get(row.attempt.id)
        owners[
            found.standing.verdict.owner if found is not None else said.owner if said is not None else "unknown"
        ] += 1
    return ", ".join(owner for owner, _ in owners.most_common())


def _mistake(read: Sequence[tuple[int, Row]], runs: Sequence[Compared]) -> str:
    verdicts = [runs[at].said[row.attempt.id].standing.verdict for at, row in read]
    told = Counter(one.underlying_mistake or one.cause for one in verdicts if one.inherited_from is None)
    return "; ".join(text for text, _ in told.most_common(2))


def _triggers(members: Sequence[tuple[int, Row]], runs: Sequence[Compared], store: Store) -> Iterator[str]:
    seen: dict[str, tuple[int, str]] = {}
    for at, row in members:
        seen.setdefault(row.name, (at, row.attempt.case))
    for name, (at, key) in list(seen.items())[:TRIGGERS]:
        case = case_of(store, runs[at].stored.pk, key)
        asked = one_line(_input(case), ASKED)
        yield f"{name} (“{asked}”)" if asked else name
    if len(seen) > TRIGGERS:
        yield f"and {len(seen) - TRIGGERS} more"


def _telling(members: Sequence[tuple[int, Row]], runs: Sequence[Compared]) -> list[tuple[int, Row]]:
    """Those that were read first, then the first of each run, then the others."""
    seen: Counter[int] = Counter()
    ranked = []
    for place, (at, row) in enumerate(members):
        ranked.append((not _is_read(runs[at], row), seen[at], place, (at, row)))
        seen[at] += 1
    picked = [member for *_, member in sorted(ranked, key=lambda one: one[:3])[:SHOWN]]
    return sorted(picked, key=lambda pair: (pair[0], pair[1].attempt.position or 0))


def _datapoint(at: int, row: Row, runs: Sequence[Compared], store: Store) -> Datapoint:
    run = runs[at]
    tries = attempts_of(store, run.stored.pk, case=row.attempt.case, steps=True)
    whole = next((one for one in tries if one.id == row.attempt.id), row.attempt)
    found = run.said.get(row.attempt.id)
    verdict = found.standing.verdict if found is not None else None
    return Datapoint(
        run=run.label,
        case=row.name,
        input=_input(case_of(store, run.stored.pk, row.attempt.case)) or _asked(whole),
        output=whole.output.text or whole.output.answer or "",
        calls=tuple(_calls(whole)),
        results=tuple(_results(whole)),
        judge=next((one.reasoning for one in whole.judgements if one.reasoning), "") or _explained(whole),
        failed=row.failed,
        read=verdict is not None,
        cause=verdict.cause if verdict is not None else "",
        consequences=verdict.consequences if verdict is not None else (),
    )


def _input(case: Case | None) -> str:
    return case.input if case is not None and isinstance(case.input, str) else ""


def _asked(attempt: Attempt) -> str:
    return next((step.text for step in attempt.steps if step.actor.role == "user" and step.text), "")


def _explained(attempt: Attempt) -> str:
    return next((check.explanation for check in attempt.checks if check.status == "fail" and check.explanation), "")


def _calls(attempt: Attempt) -> Iterator[str]:
    for step in attempt.steps:
        for call in step.tool_calls:
            yield one_line(f"{call.name} {call.arguments_raw or call.arguments or ''}", CALL)


def _results(attempt: Attempt) -> Iterator[str]:
    for step in attempt.steps:
        if step.kind == "tool_result" and step.text:
            yield one_line(step.text, CALL)
        for call in step.tool_calls:
            if call.result is not None and call.result.text:
                yield one_line(call.result.text, CALL)
