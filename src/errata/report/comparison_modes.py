"""The error modes of a comparison: its buckets, what goes wrong in each, and what shows it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from errata.buckets.suggest import bucket_of
from errata.memory.spelling import folded
from errata.model import Bucket
from errata.model.output.report.comparison import Mode
from errata.report.comparison_rows import Compared, Row, asked_in, datapoint
from errata.report.shared import in_common, native_label
from errata.runs.rules import rules_in_use
from errata.runs.standings import suggested_label
from errata.store.attempts import case_of
from errata.store.buckets import buckets_of
from errata.store.database import Store
from errata.text.outgoing import short_line

SHOWN = 6
"""Datapoints of a mode."""
ENOUGH = 3
"""So many are read before a bucket is final, or all where it has fewer."""
ASKED = 80
TRIGGERS, MISTAKES = 6, 3
NO_BUCKET = "In no bucket yet"


Members = Sequence[tuple[int, Row]]
"""Each with the place of its run."""


@dataclass(frozen=True)
class Found:
    """A mode, and the rows it was made from."""

    mode: Mode
    members: Members


def modes_of(runs: Sequence[Compared], store: Store) -> list[Found]:
    """The largest first; what stands in no bucket is one of them."""
    groups: dict[str, list[tuple[int, Row]]] = {}
    for at, one in enumerate(runs):
        slips = bucket_of(one.stored, store)
        for row in one.rows:
            slip = slips.get(row.attempt.id)
            groups.setdefault(slip.id if slip is not None else "", []).append((at, row))
    known = {one.id: one for one in buckets_of(store, runs[0].stored.run.suite)}
    made = [Found(_mode(known.get(bucket), members, runs, store), members) for bucket, members in groups.items()]
    return sorted(made, key=lambda one: (-one.mode.rows - one.mode.followers, one.mode.title))


def _mode(bucket: Bucket | None, members: Members, runs: Sequence[Compared], store: Store) -> Mode:
    own = [(at, row) for at, row in members if not row.follows]
    follow = [(at, row) for at, row in members if row.follows]
    read = [(at, row) for at, row in members if _is_read(runs[at], row)]
    label = _label(own or follow, runs)
    return Mode(
        title=_title(bucket, label),
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
        mistake=mistake_of(members, runs),
        triggers=tuple(_triggers(own, runs, store)),
        datapoints=tuple(datapoint(row, runs[at], store) for at, row in _telling(own or follow, runs)),
        parameters=in_common(bucket.parameters) if bucket else "",
        rebucketed=sum(_was_moved(runs[at], row) for at, row in read),
    )


def _title(bucket: Bucket | None, label: str) -> str:
    """In plain words: as the bucket is called, else what its label means."""
    if bucket is None:
        return NO_BUCKET
    title = bucket.title
    if title and folded(title) != folded(label):
        return title
    return _meaning(label) or title or NO_BUCKET


def _meaning(label: str) -> str:
    meanings = {one.name: one.meaning for book in rules_in_use().taxonomies for one in book.label}
    means = meanings.get(label, "")
    return f"{means[:1].upper()}{means[1:]}"


def mistake_of(members: Members, runs: Sequence[Compared]) -> str:
    """As readers say it, of what does not only follow; else what the label means, and that nobody has read it."""
    read = [(at, row) for at, row in members if _is_read(runs[at], row)]
    own = [pair for pair in read if not pair[1].follows] or read
    verdicts = [runs[at].said[row.attempt.id].standing.verdict for at, row in own]
    told = Counter(one.underlying_mistake or one.cause for one in verdicts if one.inherited_from is None)
    if told:
        words = "; ".join(text.strip().rstrip(".") for text, _ in told.most_common(MISTAKES))
        return f"{words[:1].upper()}{words[1:]}"
    means = _meaning(_label(members, runs))
    return f"{means}. By rule: nobody has read it yet" if means else "Nobody has read it yet"


def _is_read(run: Compared, row: Row) -> bool:
    found = run.said.get(row.attempt.id)
    return found is not None and found.standing.final


def _was_moved(run: Compared, row: Row) -> bool:
    """Whether a reviewer gave it another label than the rules."""
    stood = run.said[row.attempt.id].standing
    said = run.attributed.get(row.attempt.id)
    suggested = suggested_label(said, stood.verdict.taxonomy)
    return bool(suggested) and stood.verdict.label != suggested


def _label(members: Members, runs: Sequence[Compared]) -> str:
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


def _owner(members: Members, runs: Sequence[Compared]) -> str:
    owners: Counter[str] = Counter()
    for at, row in members:
        found = runs[at].said.get(row.attempt.id)
        said = runs[at].attributed.get(row.attempt.id)
        owners[
            found.standing.verdict.owner if found is not None else said.owner if said is not None else "unknown"
        ] += 1
    return ", ".join(owner for owner, _ in owners.most_common())


def _triggers(members: Members, runs: Sequence[Compared], store: Store) -> Iterator[str]:
    seen: dict[str, tuple[int, str]] = {}
    for at, row in members:
        seen.setdefault(row.name, (at, row.attempt.case))
    for name, (at, key) in list(seen.items())[:TRIGGERS]:
        case = case_of(store, runs[at].stored.pk, key)
        asked = short_line(asked_in(case), ASKED)
        yield f"{name} (“{asked}”)" if asked else name
    if len(seen) > TRIGGERS:
        yield f"and {len(seen) - TRIGGERS} more"


def _telling(members: Members, runs: Sequence[Compared]) -> list[tuple[int, Row]]:
    """Those that were read first, then the first of each run, then the others."""
    seen: Counter[int] = Counter()
    ranked = []
    for place, (at, row) in enumerate(members):
        ranked.append((not _is_read(runs[at], row), seen[at], place, (at, row)))
        seen[at] += 1
    picked = [member for *_, member in sorted(ranked, key=lambda one: one[:3])[:SHOWN]]
    return sorted(picked, key=lambda pair: (pair[0], pair[1].attempt.position or 0))
