"""The error modes of a comparison: its buckets, the mistake in each, datapoints that show it, advice."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from errata.memory.spelling import folded
from errata.model import Attempt, Bucket
from errata.model.attribution import suggested_label
from errata.model.output.report.comparison import ComparisonReport, Mistake, Mode, ReviewerAdvice, Trigger
from errata.model.verdict import word_for
from errata.model.words import RecommendationGroup
from errata.render.document import Block, Code, Line, LineContent, Section, line, paragraph, table
from errata.report.comparison_rows import ComparedRun, FailedRow, asked_in, datapoint, owner_of
from errata.report.parts import NO_BUCKET, short_list
from errata.report.run_advice import GROUPS
from errata.report.shared import in_common, native_label
from errata.review.answers import NO_LABEL
from errata.text.outgoing import short_line
from errata.triage.rulesets import rules_in_use

SHOWN = 6
"""Datapoints of a mode."""
ENOUGH = 3
"""Reviews before a bucket is final; all members where it has fewer."""
ASKED = 80
TRIGGERS, MISTAKES = 6, 3


Members = Sequence[tuple[int, FailedRow]]
"""Each with the place of its run."""


@dataclass(frozen=True)
class FoundMode:
    """A mode, and the rows it was made from."""

    mode: Mode
    members: Members


def collect_modes(runs: Sequence[ComparedRun]) -> list[FoundMode]:
    """The largest first; failures without a bucket form one of them.

    Rows that rules put into a bucket with reviewed rows, and that nobody has reviewed, are a mode of their own.
    """
    groups: dict[tuple[str, bool], list[tuple[int, FailedRow]]] = {}
    for at, run in enumerate(runs):
        places = run.view.buckets
        for row in run.rows:
            place = places.get(row.attempt.id)
            apart = place is not None and place.is_apart and not row.follows
            groups.setdefault((place.id if place is not None else "", apart), []).append((at, row))
    known = runs[0].view.known_buckets
    slugs = {bucket: known[bucket].slug if bucket in known else NO_BUCKET for bucket, _ in groups}
    ordered = sorted(groups.items(), key=lambda pair: (-len(pair[1]), slugs[pair[0][0]], pair[0][1]))
    return [
        FoundMode(_mode(known.get(bucket), members, runs, apart=apart), members) for (bucket, apart), members in ordered
    ]


def _mode(bucket: Bucket | None, members: Members, runs: Sequence[ComparedRun], *, apart: bool) -> Mode:
    own = [(at, row) for at, row in members if not row.follows]
    follow = [(at, row) for at, row in members if row.follows]
    read = [(at, row) for at, row in members if _is_read(runs[at], row)]
    label = _label(own or follow, runs)
    triggers = list(dict.fromkeys(row.name for _, row in own))
    return Mode(
        title=_title(bucket, label, runs[members[0][0]].view.buckets[members[0][1].attempt.id].title if apart else ""),
        label=label,
        owners=_owners(own or follow, runs),
        status="assigned" if apart else bucket.status if bucket is not None else "provisional",
        rows=len(own),
        followers=len(follow),
        cases=tuple(tuple(row.name for at, row in own if at == place) for place in range(len(runs))),
        following=tuple(tuple(row.name for at, row in follow if at == place) for place in range(len(runs))),
        dimensions=dict(Counter(name for _, row in members for name in row.failed).most_common()),
        read=sum(not row.follows for _, row in read),
        needed=min(ENOUGH, len(own)),
        mistake=mistake_of(members, runs),
        triggers=tuple(_triggers(own, runs)),
        more_triggers=max(0, len(triggers) - TRIGGERS),
        datapoints=tuple(datapoint(row, runs[at]) for at, row in _telling(own or follow, runs)),
        parameters=in_common(bucket.parameters) if bucket is not None else {},
        rebucketed=sum(_was_moved(runs[at], row) for at, row in read),
    )


def _title(bucket: Bucket | None, label: str, apart: str) -> str:
    """The title of the bucket, or what rules call unreviewed members; else the meaning of its label."""
    if bucket is None:
        return ""
    title = apart or bucket.title
    if title and folded(title) != folded(label):
        return title
    return _meaning(label) or title


def _meaning(label: str) -> str:
    meanings = {one.name: one.meaning for book in rules_in_use().taxonomies for one in book.label}
    means = meanings.get(label, "")
    return f"{means[:1].upper()}{means[1:]}"


def mistake_of(members: Members, runs: Sequence[ComparedRun]) -> Mistake:
    """In the words of reviewers, without knock-on failures; else the meaning of the label."""
    read = [(at, row) for at, row in members if _is_read(runs[at], row)]
    own = [pair for pair in read if not pair[1].follows] or read
    verdicts = [runs[at].view.standings[row.attempt.id].standing.verdict for at, row in own]
    words = Counter(one.underlying_mistake or one.cause for one in verdicts if one.inherited_from is None)
    if words:
        return Mistake(verdicts=tuple(text for text, _ in words.most_common(MISTAKES)))
    return Mistake(label_means=_meaning(_label(members, runs)))


def _is_read(run: ComparedRun, row: FailedRow) -> bool:
    review = run.view.standings.get(row.attempt.id)
    return review is not None and review.standing.final


def _was_moved(run: ComparedRun, row: FailedRow) -> bool:
    """Whether a reviewer gave it another label than the rules."""
    stood = run.view.standings[row.attempt.id].standing
    attribution = run.view.attributions.get(row.attempt.id)
    suggested = suggested_label(attribution, stood.verdict.taxonomy)
    return bool(suggested) and stood.verdict.label != suggested


def _label(members: Members, runs: Sequence[ComparedRun]) -> str:
    """The label of most of them; empty where reviewers named an owner without a label."""
    labels: Counter[str] = Counter()
    for at, row in members:
        review = runs[at].view.standings.get(row.attempt.id)
        attribution = runs[at].view.attributions.get(row.attempt.id)
        if review is not None:
            given = review.standing.verdict.label
            labels["" if given == NO_LABEL else given] += 1
        elif suggested := native_label(attribution, runs[at].view.run):
            labels[suggested] += 1
    return labels.most_common(1)[0][0] if labels else ""


def _owners(members: Members, runs: Sequence[ComparedRun]) -> tuple[str, ...]:
    owners = Counter(owner_of(row, runs[at]) for at, row in members)
    return tuple(owner for owner, _ in owners.most_common())


def _triggers(members: Members, runs: Sequence[ComparedRun]) -> Iterator[Trigger]:
    seen: dict[str, tuple[int, Attempt]] = {}
    for at, row in members:
        seen.setdefault(row.name, (at, row.attempt))
    for name, (at, attempt) in list(seen.items())[:TRIGGERS]:
        yield Trigger(case=name, asks=short_line(asked_in(runs[at].view.case_for(attempt)), ASKED))


def _telling(members: Members, runs: Sequence[ComparedRun]) -> list[tuple[int, FailedRow]]:
    """Reviewed rows first, then the first of each run, then the others."""
    seen: Counter[int] = Counter()
    ranked = []
    for place, (at, row) in enumerate(members):
        ranked.append((not _is_read(runs[at], row), seen[at], place, (at, row)))
        seen[at] += 1
    picked = [member for *_, member in sorted(ranked, key=lambda one: one[:3])[:SHOWN]]
    return sorted(picked, key=lambda pair: (pair[0], pair[1].attempt.position or 0))


NAMED = 8


class _ReviewerAdviceKey(NamedTuple):
    model: str
    cause: str
    group: RecommendationGroup
    text: str
    path: str


def collect_reviewer_advice(runs: Sequence[ComparedRun], modes: Sequence[FoundMode]) -> Iterator[ReviewerAdvice]:
    """Models in the order of their runs, causes with the largest first; the same advice for several rows once."""
    members: dict[_ReviewerAdviceKey, tuple[dict[str, None], dict[str, None]]] = {}
    for mode in modes:
        for at, row in mode.members:
            if key := _key(runs[at], row, mode.mode.title):
                cases, reviewers = members.setdefault(key, ({}, {}))
                cases[row.name] = None
                reviewers[_reviewer(runs[at], row)] = None
    models = list(dict.fromkeys(run.view.run.subject.model for run in runs))
    for key in sorted(members, key=lambda each: models.index(each.model)):
        cases, reviewers = members[key]
        yield ReviewerAdvice(**key._asdict(), cases=tuple(cases), reviewers=tuple(reviewers))


def _key(run: ComparedRun, row: FailedRow, cause: str) -> _ReviewerAdviceKey | None:
    review = run.view.standings.get(row.attempt.id)
    given = review.standing.verdict.recommendation if review is not None else None
    if given is None or not given.text.strip():
        return None
    return _ReviewerAdviceKey(
        run.view.run.subject.model, cause, given.group, given.text.strip().rstrip("."), given.target_path
    )


def _reviewer(run: ComparedRun, row: FailedRow) -> str:
    return word_for(run.view.standings[row.attempt.id].standing.verdict.reviewer)


def advice_section(report: ComparisonReport) -> Section | None:
    return Section(title="Recommendations", blocks=tuple(_table(report))) if report.advice else None


def _table(report: ComparisonReport) -> Iterator[Block]:
    yield paragraph("From reviewers, by model and cause.")
    rows: list[tuple[LineContent, ...]] = []
    for advice in report.advice:
        target: tuple[str | Code, ...] = (Code(advice.path), ": ") if advice.path else ()
        what = line(*target, f"{advice.text} ({GROUPS[advice.group].lower()})")
        cases, reviewers = short_list(advice.cases, NAMED), ", ".join(advice.reviewers)
        rows.append((advice.model, advice.cause or NO_BUCKET, what, cases, reviewers))
    yield table(("model", "cause", "recommendation", f"{report.case_word}s", "recommended by"), rows)


def advice_to_do(report: ComparisonReport) -> Iterator[Line]:
    """What somebody can carry out, the same advice for several models once."""
    models: dict[tuple[str, str], list[str]] = {}
    for advice in report.advice:
        if advice.group != "none":
            models.setdefault((advice.path, advice.text), []).append(advice.model)
    for (path, text), names in models.items():
        target: tuple[str | Code, ...] = (Code(path), ": ") if path else ()
        yield line(*target, f"{text} (recommended after review of {', '.join(dict.fromkeys(names))})")
