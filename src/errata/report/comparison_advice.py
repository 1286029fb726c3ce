"""What reviewers recommend after several runs: by model and cause, with the cases and who recommended it."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from errata.model.output.report.comparison import ComparisonReport, ReviewerAdvice
from errata.model.verdict import word_for
from errata.model.words import RecommendationGroup
from errata.render.document import Block, Code, Line, LineContent, Section, line, paragraph, table
from errata.report.comparison_modes import FoundMode
from errata.report.comparison_rows import ComparedRun, FailedRow
from errata.report.parts import NO_BUCKET, short_list
from errata.report.run_advice import GROUPS

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
