"""The first screen of a report about several runs: score of each, owners, top causes, what to do; and the matrix."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

import msgspec

from errata.model.output.report.comparison import CaseGrid, ComparisonReport, Mode, ReportedRun
from errata.model.output.report.shared import ScoreLine
from errata.model.words import NOT_THE_SUBJECTS, ProofReason
from errata.render.document import (
    Block,
    Card,
    Grid,
    Line,
    Link,
    RankedCause,
    ScoreBar,
    ScoreChart,
    Table,
    line,
    paragraph,
    table,
)
from errata.render.figures import NONE, percent, plural
from errata.render.palette import LEGEND, LETTERS, owners_to_show
from errata.render.proof import proof_counts, proof_legend, sureness
from errata.report.comparison_differences import number_words
from errata.report.comparison_modes import advice_to_do
from errata.report.comparison_sections import is_provisional, mode_key, mode_title
from errata.report.front import (
    CLEAN,
    advice_card,
    best_policy,
    by_count,
    causes_card,
    interval_note,
    owner_card,
    strips_of,
)
from errata.report.parts import FAILED_ROW, answer_blocks, figures_of, interval, reasons_words, score_note, short_list
from errata.report.shared import doubt_card, doubts_of_comparison, doubts_to_do, findings_card
from errata.runs.first_page import NO_ESTIMATE

NAMED = 6
OF_REVIEWERS = 3
"""Recommendations on the first screen; all are in their own section."""
FEW = 6
"""Cases that are named in the answer."""
NOTES = {"collateral": "knock-on: follows from another failed row"}
NEWEST = ("reviewed", "clean", "strict")


def front_cards(report: ComparisonReport, chance: str) -> Iterator[Block]:
    """`chance` states whether the runs differ beyond it."""
    doubts = doubts_of_comparison(report)
    yield from doubt_card(doubts)
    yield from map(_on_page, findings_card(doubts))
    yield from answer_blocks(answer_sentences(report))
    yield _on_page(_score_card(report, chance))
    if not report.failed_rows:
        if to_do := list(doubts_to_do(doubts)):
            yield _on_page(advice_card(to_do))
        return
    owners: Counter[str] = Counter()
    for run in report.runs:
        owners.update(run.owners)
    strips = strips_of((run.label, run.owners) for run in report.runs) if len(report.runs) > 1 else []
    supported, presumed = _proofs(report.runs)
    legend = proof_legend(supported, presumed.total())
    yield _on_page(owner_card(owners, _notes(report), strips=strips, unit=FAILED_ROW, below=legend))
    causes = sorted(enumerate(report.modes), key=lambda pair: -pair[1].rows)
    yield _on_page(causes_card([_cause(at, one, report) for at, one in causes], owners, unit=FAILED_ROW))
    yield _on_page(advice_card([*doubts_to_do(doubts), *_to_do(report, owners)]))


def _score_card(report: ComparisonReport, chance: str) -> Card:
    bars = tuple(map(_bar, report.runs))
    policies = dict.fromkeys(bar.policy or "strict" for bar in bars)
    reasons = {doubt: None for run in report.runs if (doubt := _doubt(run))}
    doubt = " or ".join(reasons)
    note = interval_note(" or ".join(policies), doubt)
    means = (paragraph(CLEAN),) if "clean" in policies else ()
    if report.of_numbers:
        return Card("Score", (scores_table(report),), note=line("95 % interval"))
    chart = ScoreChart(bars, scores_table(report), doubt)
    return Card("Score", (chart, *means, paragraph(chance)), note=line(f"{note}; hollow: strict"))


def _doubt(run: ReportedRun) -> str:
    """Why no figure of the run is the best estimate."""
    return NO_ESTIMATE[run.no_estimate] if run.no_estimate else ""


def _proofs(runs: Sequence[ReportedRun]) -> tuple[int, Counter[ProofReason]]:
    presumed: Counter[ProofReason] = Counter()
    for run in runs:
        presumed.update(run.presumed)
    return sum(run.supported for run in runs), presumed


def _notes(report: ComparisonReport) -> dict[str, str]:
    """For each owner how sure that is, and the cause; of several causes, the most frequent."""
    sure: dict[str, Counter[str]] = {}
    causes: dict[str, list[Mode]] = {}
    for run in report.runs:
        for owner, words in run.how_sure.items():
            sure.setdefault(owner, Counter()).update(words)
    for mode in report.modes:
        causes.setdefault(mode.owners[0] if mode.owners else "unknown", []).append(mode)
    notes: dict[str, str] = {}
    for owner, words in sure.items():
        modes = causes.get(owner, [])
        first = mode_title(max(modes, key=lambda one: one.rows)) if modes else ""
        notes[owner] = ": ".join(filter(None, (sureness(words), f"e.g. {first}" if len(modes) > 1 else first)))
    return {**notes, **NOTES, "model": proof_counts(*_proofs(report.runs))}


def answer_sentences(report: ComparisonReport) -> list[str]:
    if report.of_numbers and not report.failed_rows:
        return list(number_words(report.differences_by_model))
    if not report.failed_rows:
        return [f"No row failed in {plural(len(report.runs), 'run')}."]
    owners: Counter[str] = Counter()
    for run in report.runs:
        owners.update(run.owners)
    lost = sum(owners[owner] for owner in NOT_THE_SUBJECTS if owner != "collateral")
    supported, presumed = _proofs(report.runs)
    by_default = presumed.total()
    counts = (
        (owners["model"] - supported - by_default, "the models' by review"),
        (supported, "supported as the models'"),
        (by_default, "presumed the models'"),
        (owners["collateral"], "knock-on"),
        (lost, "infrastructure"),
        (owners["grader"] + owners["task"], "of the grader or the task"),
        (owners["budget"], "out of budget"),
        (owners["unknown"], "without a known owner"),
    )
    listed = ", ".join(f"{count:,} {whose}" for count, whose in counts if count)
    parts = [f"{plural(report.failed_rows, FAILED_ROW)}: {listed}."]
    if len(report.runs) > 1 and report.failed_by_all_runs:
        why = ": the task or the grader may be at fault" if presumed["nobody_passed"] else ""
        parts.append(f"{_shared(report)} in every run{why}.")
    return [*parts, *(number_words(report.differences_by_model) if report.of_numbers else _difference(report))]


def _difference(report: ComparisonReport) -> Iterator[str]:
    """Whether any two runs differ significantly; nothing for one run."""
    if differing := sum(one.differs for one in report.pairs):
        yield f"{plural(differing, 'pair')} of runs {'differs' if differing == 1 else 'differ'} significantly."
    elif len(report.runs) > 1:
        yield "No two runs differ significantly."


def _shared(report: ComparisonReport) -> str:
    """`Turns 11 and 22 fail`; of many, their number."""
    cases, word = report.failed_by_all_runs, report.case_word
    if len(cases) > FEW:
        return f"{plural(len(cases), word)} fail"
    words = f"{_named_cases(cases, report)} {'fails' if len(cases) == 1 else 'fail'}"
    return f"{words[:1].upper()}{words[1:]}"


def _named_cases(cases: Sequence[str], report: ComparisonReport) -> str:
    """`turn 11`, `turns 11 and 22`; of many or long names, the first and how many more."""
    word = report.case_word if len(cases) == 1 else f"{report.case_word}s"
    listed = short_list(cases, NAMED, shorter=1)
    if listed == ", ".join(cases):
        listed = " and ".join(filter(None, (", ".join(cases[:-1]), cases[-1])))
    return f"{word} {listed}"


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
        count=figures_of(shown)[0] if shown.total else "",
        measured=strict.rate if strict is not None else None,
        policy=shown.policy,
        is_best=not _doubt(run),
    )


def _cause(at: int, mode: Mode, report: ComparisonReport) -> RankedCause:
    rows = [case for cases in mode.cases for case in cases]
    cases = list(dict.fromkeys(rows))
    runs = [
        run.label for run, own, follow in zip(report.runs, mode.cases, mode.following, strict=True) if own or follow
    ]
    where = (
        f"only {runs[0]}" if len(runs) == 1 < len(report.runs) else f"{len(runs)} of {plural(len(report.runs), 'run')}"
    )
    word = report.case_word if len(cases) == 1 else f"{report.case_word}s"
    named = short_list(cases, NAMED)
    parts = [f"{word} {named}" if cases and not named.endswith(word) else named]
    parts += [f"and {mode.followers:,} knock-on" if mode.followers else "", where]
    parts += [f"also {', '.join(mode.owners[1:])}" if mode.owners[1:] else "", _always_failing(rows, report)]
    title = line(Link(mode_title(mode), f"#{mode_key(at)}"))
    owner = mode.owners[0] if mode.owners else "unknown"
    return RankedCause(mode.rows, owner, title, line("; ".join(filter(None, parts))), followers=mode.followers)


def _always_failing(rows: Sequence[str], report: ComparisonReport) -> str:
    """Where most rows of a cause are of cases that every run fails: those may be the task's."""
    if len(report.runs) < 2:
        return ""
    shared = [case for case in rows if case in report.failed_by_all_runs]
    if 2 * len(shared) <= len(rows):
        return ""
    names = list(dict.fromkeys(shared))
    return f"{_named_cases(names, report)} {'fails' if len(names) == 1 else 'fail'} in every run"


def _to_do(report: ComparisonReport, owners: Counter[str]) -> Iterator[Line]:
    """What reviewers recommend first, then what the counts suggest."""
    yield from islice(advice_to_do(report), OF_REVIEWERS)
    shared = report.failed_by_all_runs
    if shared and len(report.runs) > 1 and report.reading.status == "provisional":
        verb = "fails" if len(shared) == 1 else "fail"
        yield line(f"Check the task and the grader of {_named_cases(shared, report)}, which {verb} in every run")
    for owner in ("grader", "task"):
        if owners[owner]:
            yield line(f"Check the {owner}: {plural(owners[owner], 'failed row')}")
    lost = {owner: owners[owner] for owner in NOT_THE_SUBJECTS if owners[owner] and owner != "collateral"}
    if again := "; ".join((*_rerun(lost), *_judge_again(report))):
        yield line(f"{again[:1].upper()}{again[1:]}")
    if is_provisional(report):
        yield line("Review the rows of each cause before you publish; rules alone decided so far")
    if differing := dict.fromkeys(one.run for one in report.findings if one.name == "aggregate_mismatch"):
        yield line(f"Recompute the summary files that differ from the rows: {', '.join(differing)}")
    mistakes = [one for one in report.modes if one.owners[:1] == ("model",)]
    if mistakes:
        first = max(mistakes, key=lambda one: one.rows)
        yield line(f"For the models, start with the most frequent mistake: {mode_title(first)} ({_rows(first)})")


def _rerun(lost: Mapping[str, int]) -> Iterator[str]:
    """`lost`: owner → rows of infrastructure failures."""
    if lost:
        listed = ", ".join(f"{owner} {count}" for owner, count in by_count(lost))
        what = f"{next(iter(lost))} failures" if len(lost) == 1 else f"infrastructure ({listed})"
        yield f"rerun {plural(sum(lost.values()), 'row')} lost to {what}"


def _judge_again(report: ComparisonReport) -> Iterator[str]:
    """Cases with a row and no verdict need no second run."""
    judged = [f"{_named_cases(run.no_verdict, report)} of {run.label}" for run in report.runs if run.no_verdict]
    if judged:
        yield f"judge again {', '.join(judged)}"


def _rows(mode: Mode) -> str:
    return plural(mode.rows, "row") + (f", and {mode.followers} knock-on" if mode.followers else "")


def scores_table(report: ComparisonReport) -> Table:
    return table(("score", *(one.label for one in report.runs)), list(_scores(report)))


def _scores(report: ComparisonReport) -> Iterator[tuple[str, ...]]:
    """Policies with the same figures in every run share a row; below them what `clean` and `reviewed` leave out."""
    named_rows: dict[tuple[str, ...], list[str]] = {}
    policies = dict.fromkeys(score.policy for one in report.runs for score in one.scores)
    for policy in policies:
        row = tuple(_figure(_score(one, policy)) for one in report.runs)
        named_rows.setdefault(row, []).append(policy.replace("_", " "))
    yield from ((" = ".join(names), *row) for row, names in named_rows.items())
    for policy in ("clean", "reviewed"):
        left = tuple(reasons_words(found) if (found := _score(one, policy)) else "" for one in report.runs)
        if any(left):
            yield (f"left out of {policy}", *(one or NONE for one in left))


def _score(run: ReportedRun, policy: str) -> ScoreLine | None:
    return next((one for one in run.scores if one.policy == policy), None)


def _figure(score: ScoreLine | None) -> str:
    if score is None or not score.total:
        return (score_note(score) if score is not None else "") or NONE
    return f"{' '.join(figures_of(score))} [{interval(score)}]"


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
