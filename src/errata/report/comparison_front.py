"""The first screen of a report about several runs: score of each, owners, top causes, what to do; and the matrix."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

import msgspec

from errata.model.output.report.comparison import CaseGrid, ComparisonReport, Mode, ReportedRun
from errata.model.output.report.shared import ScoreLine
from errata.model.words import NOT_THE_SUBJECTS, ProofReason
from errata.render.document import Block, Card, Grid, Line, Link, RankedCause, ScoreBar, ScoreChart, line, paragraph
from errata.render.figures import percent, plural
from errata.render.palette import LEGEND, LETTERS, owners_to_show
from errata.render.proof import PROOF_LEGEND, proof_counts
from errata.report.comparison_advice import advice_to_do
from errata.report.comparison_sections import is_provisional, mode_key, mode_title
from errata.report.front import (
    CLEAN,
    advice_card,
    best_policy,
    by_count,
    causes_card,
    findings_card,
    owner_card,
    passes_of,
    strips_of,
    suspicious_card,
    with_short_card,
    with_suspicious,
)
from errata.report.parts import FAILED_ROW, short_list

NAMED = 6
OF_REVIEWERS = 3
"""Recommendations on the first screen; all are in their own section."""
NOTES = {"collateral": "knock-on: follows from another failed row"}
NEWEST = ("reviewed", "clean", "strict")


def front_cards(report: ComparisonReport, chance: str) -> Iterator[Block]:
    """`chance` states whether the runs differ beyond it."""
    return with_short_card(list(_cards(report, chance)))


def _cards(report: ComparisonReport, chance: str) -> Iterator[Block]:
    yield paragraph(answer_words(report))
    yield from (_on_page(card) for card in findings_card(report.findings))
    passes = sum(passes_of(run.scores) for run in report.runs)
    yield from suspicious_card(report.suspicious, passes)
    bars = tuple(map(_bar, report.runs))
    policies = dict.fromkeys(best_policy(run.scores) or "strict" for run in report.runs)
    note = line(f"{' or '.join(policies)}, 95 % interval; hollow: strict")
    means = (paragraph(CLEAN),) if "clean" in policies else ()
    yield _on_page(Card("Score", (ScoreChart(bars), *means, paragraph(chance)), note=note))
    if not report.failed_rows:
        return
    owners: Counter[str] = Counter()
    for run in report.runs:
        owners.update(run.owners)
    strips = strips_of((run.label, run.owners) for run in report.runs) if len(report.runs) > 1 else []
    proofs = _proofs(report.runs)
    notes = {**NOTES, "model": proofs}
    yield _on_page(owner_card(owners, notes, strips=strips, unit=FAILED_ROW, below=PROOF_LEGEND if proofs else ()))
    causes = [_cause(at, one) for at, one in enumerate(report.modes)]
    yield _on_page(causes_card(causes, owners, unit=FAILED_ROW))
    yield _on_page(advice_card(with_suspicious(list(_to_do(report, owners)), report.suspicious, passes)))


def _proofs(runs: Sequence[ReportedRun]) -> str:
    presumed: Counter[ProofReason] = Counter()
    for run in runs:
        presumed.update(run.presumed)
    return proof_counts(sum(run.supported for run in runs), presumed)


def answer_words(report: ComparisonReport) -> str:
    """The whole report in two or three sentences: whose the failures are, and whether the runs differ."""
    if not report.failed_rows:
        return f"No row failed in {plural(len(report.runs), 'run')}."
    owners: Counter[str] = Counter()
    for run in report.runs:
        owners.update(run.owners)
    lost = sum(owners[owner] for owner in NOT_THE_SUBJECTS if owner != "collateral")
    counts = (
        (owners["model"], "the models'"),
        (owners["collateral"], "knock-on"),
        (lost, "infrastructure"),
        (owners["grader"] + owners["task"], "of the grader or the task"),
        (owners["budget"], "out of budget"),
        (owners["unknown"], "without a known owner"),
    )
    listed = ", ".join(f"{count:,} {whose}" for count, whose in counts if count)
    parts = [f"{plural(report.failed_rows, FAILED_ROW)}: {listed}."]
    if len(report.runs) > 1 and (shared := len(report.failed_by_all_runs)):
        parts.append(f"{plural(shared, report.case_word)} {'fails' if shared == 1 else 'fail'} in every run.")
    if differing := [one for one in report.pairs if one.differs]:
        parts.append(
            f"{plural(len(differing), 'pair')} of runs {'differs' if len(differing) == 1 else 'differ'} significantly."
        )
    elif len(report.runs) > 1:
        parts.append("No two runs differ significantly.")
    return " ".join(parts)


def _on_page(card: Card) -> Card:
    """Markdown has the same in its summary and tables."""
    return msgspec.structs.replace(card, in_markdown=False)


def _bar(run: ReportedRun) -> ScoreBar:
    by_policy = {one.policy: one for one in run.scores}
    shown = by_policy.get(best_policy(run.scores)) or by_policy.get("strict")
    strict = by_policy.get("strict")
    if shown is None:
        return ScoreBar(run.label, None)
    return ScoreBar(
        run.label,
        shown.rate,
        shown.low,
        shown.high,
        count=f"{shown.passed}/{shown.total}" if shown.total else "",
        measured=strict.rate if strict is not None else None,
        policy=shown.policy,
        is_best=True,
    )


def _cause(at: int, mode: Mode) -> RankedCause:
    cases = list(dict.fromkeys(case for cases in mode.cases for case in cases))
    runs = sum(bool(own or follow) for own, follow in zip(mode.cases, mode.following, strict=True))
    follow = f", {mode.followers} knock-on" if mode.followers else ""
    where = f"{short_list(cases, NAMED)}{follow}; " if cases else ""
    others = f"; also {', '.join(mode.owners[1:])}" if mode.owners[1:] else ""
    note = line(f"{where}{runs} of {plural(len(mode.cases), 'run')}{others}")
    title = line(Link(mode_title(mode), f"#{mode_key(at)}"))
    return RankedCause(mode.rows + mode.followers, mode.owners[0] if mode.owners else "unknown", title, note)


def _to_do(report: ComparisonReport, owners: Counter[str]) -> Iterator[Line]:
    """What reviewers recommend first, then what the counts suggest."""
    yield from islice(advice_to_do(report), OF_REVIEWERS)
    shared, word = report.failed_by_all_runs, report.case_word
    if shared and len(report.runs) > 1:
        verb = "fails" if len(shared) == 1 else "fail"
        yield line(
            f"Check the task and the grader of {plural(len(shared), word)} that {verb} in every run: "
            f"{short_list(shared, NAMED, shorter=1)}"
        )
    for owner in ("grader", "task"):
        if owners[owner]:
            yield line(f"Check the {owner}: {plural(owners[owner], 'failed row')}")
    lost = {owner: owners[owner] for owner in NOT_THE_SUBJECTS if owners[owner] and owner != "collateral"}
    if lost:
        listed = ", ".join(f"{owner} {count}" for owner, count in by_count(lost))
        yield line(f"Rerun {plural(sum(lost.values()), 'row')} lost to infrastructure ({listed})")
    mistakes = [one for one in report.modes if one.owners[:1] == ("model",)]
    if mistakes:
        first = max(mistakes, key=lambda one: one.rows + one.followers)
        yield line(f"For the models, start with the most frequent mistake: {mode_title(first)} ({_rows(first)})")
    if is_provisional(report):
        yield line("Review the rows of each cause before you publish; rules alone decided so far")


def _rows(mode: Mode) -> str:
    return plural(mode.rows, "row") + (f", and {mode.followers} knock-on" if mode.followers else "")


def matrix(grid: CaseGrid, runs: Sequence[ReportedRun]) -> Grid:
    """Every case that did not pass everywhere, with who has to act; on a page those that all runs fail come first."""
    cells = tuple("".join(LETTERS[state] for state in row) for row in grid.cells)
    used = {LETTERS[state] for state in grid.states}
    owners = owners_to_show(grid.cells, grid.owners)
    return Grid(
        tuple(one.label for one in runs),
        grid.cases,
        cells,
        {letter: means for letter, means in LEGEND.items() if letter in used},
        owners=owners,
        groups=tuple(_groups(owners)),
        notes=tuple(percent(_rate(one.scores)) for one in runs),
    )


def _rate(scores: Sequence[ScoreLine]) -> float | None:
    by_policy = {one.policy: one.rate for one in scores if one.total}
    return next((by_policy[name] for name in NEWEST if name in by_policy), None)


def _groups(owners: Sequence[Sequence[str]]) -> Iterator[tuple[str, tuple[int, ...]]]:
    if len(owners) < 2:
        return
    failing = [sum(map(bool, column)) for column in zip(*owners, strict=True)]
    titles = {len(owners): "Failed by all", 1: "Failed by one", 0: "Not decided"}
    members: dict[str, list[int]] = {}
    for at in sorted(range(len(failing)), key=lambda one: -failing[one]):
        members.setdefault(titles.get(failing[at], "Failed by some"), []).append(at)
    yield from ((title, tuple(columns)) for title, columns in members.items())
