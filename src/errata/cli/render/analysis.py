"""The parts of an analysis: owners, causes, counts and costs of a run, and an overview of several."""

from collections.abc import Collection, Sequence
from pathlib import PurePath

from errata.cli.fitting import WIDTH, columns, padded
from errata.cli.output import number, plural, put, put_command, say
from errata.cli.render.runs import counted_in, failures_in_words, repeated_rows
from errata.cli.render.scores import figures
from errata.cli.table import put_parts, put_table, some_of
from errata.compare.matrix import natural
from errata.compare.scores import Score
from errata.model import CauseSummary, Run
from errata.model.check import ScorerCount
from errata.model.counts import holds_only_failures
from errata.model.run import subject_label
from errata.render.figures import cost_parts, mean_words, overlap_note
from errata.render.proof import proof_legend
from errata.runs.first_page import cases_not_in_log
from errata.runs.summary import Analysis
from errata.runs.view import RunView
from errata.text.clean import one_line
from errata.text.shell import shell_word

MOST_CAUSES, MOST_SINGLE_CAUSES = 5, 3
HEIGHTS = "▁▂▃▄▅▆▇█"
BAR = 20 if WIDTH >= 100 else 10 if WIDTH >= 80 else 8
CAUSE = 72
REASON = 26
"""With fewer columns than this beside the bar, a reason goes on at the left."""


def show_owners(analysis: Analysis) -> None:
    most = max((one.count for one in analysis.owners), default=0)
    digits = max(4, len(f"{most:,}"))
    stored = analysis.stored
    repeated = stored.counts.attempts_in_log > stored.counts.cases and bool(stored.run.suite)
    for at, owner in enumerate(analysis.owners):
        bar = "█" * max(1, round(BAR * owner.count / most))
        if at == 0:
            put(f"Owners   {failures_in_words(analysis.stored)}, by who has to act", hang=9)
        line = f"{'':<8} {owner.owner:<12} {owner.count:>{digits},}   {bar}"
        hang = columns(line) + 3
        if WIDTH - hang < REASON:
            hang = 12
        reason = owner.note(repeated=repeated)
        put(f"{line}   {reason}" if reason else line, hang=hang, colour=[owner.owner])
    shown, presumed = (sum(one.shown for one in analysis.owners), any(one.presumed for one in analysis.owners))
    if legend := proof_legend(shown, presumed):
        put(f"{'':<8} {legend}", hang=9)


def show_causes(analysis: Analysis) -> None:
    several = sum(cause.count > 1 for cause in analysis.causes)
    most = min(MOST_CAUSES, max(several, MOST_SINGLE_CAUSES))
    shown, more = analysis.causes[:most], analysis.causes[most:]
    owner = max((columns(cause.owner) for cause in shown), default=0)
    all_differ = all(cause.count == 1 for cause in more)
    digits = max((len(f"{_own_count(cause):,}") for cause in shown), default=0)
    heads = [f"{_own_count(cause):>{digits},}× {cause.owner:<{owner}}  " for cause in shown]
    texts = [f"{head}{_cause_title(cause)}" for head, cause in zip(heads, shown, strict=True)]
    width = max(map(columns, texts), default=0)
    room = WIDTH - 9 - width - 3
    beside = all(len(cause.cases) < room and columns(", ".join(cause.cases)) <= room for cause in shown)
    indent = 9 + max(map(columns, heads), default=0)
    for at, (text, cause) in enumerate(zip(texts, shown, strict=True)):
        line = f"{'' if at else 'Causes':<8} {padded(text, width)}"
        cases = sorted(cause.cases, key=natural)
        put(f"{line}   {some_of(cases, room)}" if beside else line.rstrip(), hang=indent)
        if not beside:
            put(f"{'':<12} {some_of(cases, WIDTH - 13)}", hang=13)
    if more:
        rest = plural(sum(cause.count for cause in more), "failure")
        note = f"{plural(len(more), 'more cause')}, {'1 failure each' if all_differ and len(more) > 1 else rest}"
        put_command("", ["errata", "buckets", "list", analysis.handle, "--all"], note)
    elif analysis.owners and not shown:
        put_command("Causes", ["errata", "buckets", "suggest", analysis.handle], "group the failures by cause")


def _own_count(cause: CauseSummary) -> int:
    """Without knock-on failures, which have an owner of their own."""
    return cause.count - cause.knock_on or cause.count


def _cause_title(cause: CauseSummary) -> str:
    knock_on = f" (+ {cause.knock_on:,} knock-on)" if 0 < cause.knock_on < cause.count else ""
    return f"{one_line(cause.title, CAUSE - len(knock_on))}{knock_on}"


HEADER = ("run", "model", "strict", "clean", "failures", "fit")


def tell_number(views: Sequence[RunView]) -> None:
    say(f"found     {len(views):,} runs: a summary of each, then an overview\n", lines=True)


def files_of(views: Sequence[RunView]) -> list[str]:
    """The log of each run: its name, with as many folders before it as tell different logs apart."""
    logs = [_log_of(view.run) for view in views]
    return [_shortest(log, {other for other in logs if other != log}) for log in logs]


def _log_of(run: Run) -> PurePath:
    origin = PurePath(run.origin)
    return origin if run.ref is None or origin.name == PurePath(run.ref.file).name else origin / run.ref.file


def _shortest(log: PurePath, others: Collection[PurePath]) -> str:
    for count in range(1, len(log.parts)):
        ending = log.parts[-count:]
        if all(other.parts[-count:] != ending for other in others):
            return str(PurePath(*ending))
    return str(log)


def put_overview(views: Sequence[RunView]) -> None:
    put(f"\nOverview of {len(views):,} runs")
    put_table(HEADER, [_row(view) for view in views], right=("strict", "clean", "failures"), whole=("model",))


def _row(view: RunView) -> tuple[object, ...]:
    analysis = view.summary
    scores = analysis.scores.scores
    return (
        view.handle,
        subject_label(view.run) or "–",
        _score(scores["strict"]),
        _score(scores["clean"]),
        number(analysis.stored.counts.failures),
        {"fit": "yes", "not fit": "no"}.get(analysis.health.word, analysis.health.word),
    )


def _score(score: Score) -> str:
    counts, rate, _ = figures(score)
    return f"{counts} {rate}".strip()


MOST_CHECKS, MOST_SINGLE_CHECKS = 8, 3
MOST_CATEGORIES = 10
CHECK_NAME = 40


def show_steps(analysis: Analysis) -> None:
    """The first failed checks, most frequent first. A suite with checks of its own for each case has many."""
    word = "step" if analysis.in_steps else "check"
    named = [(one_line(name, CHECK_NAME), count) for name, count in analysis.first_failed if name]
    if not named:
        return
    several = sum(count > 1 for _, count in named)
    most = MOST_CHECKS if len(named) <= MOST_CHECKS else min(MOST_CHECKS, max(several, MOST_SINGLE_CHECKS))
    parts = [f"{name} {count:,}" for name, count in named[:most]]
    if rest := [count for _, count in named[most:]]:
        parts.append(f"{len(rest):,} others, {'once each' if max(rest) == 1 else f'{sum(rest):,} failures'}")
    if without := dict(analysis.first_failed).get(""):
        parts.append(f"{without:,} without a failed {word}")
    put_parts(f"First failed {word}  ", parts)


def show_other_checks(analysis: Analysis) -> None:
    """Not those of a single attempt, where others have several."""
    ranked = sorted(analysis.other_checks.items(), key=lambda pair: -pair[1].total)
    shown = ([pair for pair in ranked if pair[1].total > 1] or ranked)[:MOST_CHECKS]
    parts = [f"{one_line(name, CHECK_NAME)} {scorer_words(count)}" for name, count in shown]
    if more := len(ranked) - len(shown):
        parts.append(plural(more, "other"))
    if parts:
        put_parts("Other checks  ", parts)


def scorer_words(count: ScorerCount) -> str:
    return f"mean {count.mean:.3g}" if count.passed is None else f"{count.passed:,} of {count.total:,}"


def show_categories(analysis: Analysis) -> None:
    if analysis.not_judged:
        return
    whole = not holds_only_failures(analysis.stored)
    entries = [
        f"{name} {failed:,} of {cases:,}" if whole else f"{name} {failed:,}"
        for name, failed, cases, _ in analysis.categories
        if failed
    ]
    rest = entries[MOST_CATEGORIES:]
    parts = [*entries[:MOST_CATEGORIES], *([f"and {plural(len(rest), 'other')}"] if rest else [])]
    if parts:
        unscored = [f"{one.name} {one.unscored:,}" for one in analysis.categories if one.unscored]
        notes = [
            "" if whole else "passes have no row in the log",
            overlap_note(analysis.overlap),
            f"not counted because not scored: {', '.join(unscored)}" if unscored else "",
        ]
        put_parts("Failed by category  ", parts, f"({note})" if (note := "; ".join(filter(None, notes))) else "")


def show_values(analysis: Analysis) -> None:
    """Of results that are numbers: how they are spread, and their means by category."""
    scores = analysis.scores
    spread = scores.scores["clean"].spread
    if spread is None:
        return
    most = max(spread.bins)
    drawn = "".join(HEIGHTS[round((len(HEIGHTS) - 1) * often / most)] if often else "·" for often in spread.bins)
    low, median, high = (mean_words(value) for value in (spread.low, spread.median, spread.high))
    middle = f"half between {mean_words(spread.quarter)} and {mean_words(spread.three_quarters)}"
    put(f"Spread   {low} {drawn} {high}   median {median}, {middle}", hang=9)
    means = [
        f"{name} {mean_words(part.mean)} ({part.total:,})"
        for name, parts in scores.categories.items()
        if (part := parts["clean"]).mean is not None
    ]
    more = [f"and {plural(len(means) - MOST_CATEGORIES, 'other')}"] if len(means) > MOST_CATEGORIES else []
    if means:
        put_parts("Mean by category  ", [*means[:MOST_CATEGORIES], *more])


def show_cost(analysis: Analysis) -> None:
    counts = analysis.stored.counts
    if counts.cost is None:
        return
    if analysis.scores.cost.is_simulator_only:
        put(f"Cost     {analysis.cost_words}", hang=9)
        return
    whose = "agent tokens" if cost_parts(analysis.scores.cost) else "tokens"
    spent = f" · {number(counts.tokens)} {whose}" if counts.tokens is not None else ""
    put(f"Cost     {analysis.cost_words}{spent}", hang=9)
    if len(analysis.stored.run.sessions) > 1:
        put(f"         {cost_of_sessions(analysis.handle)}", hang=9)


def cost_of_sessions(handle: str) -> str:
    return f"cost of the latest session's results; `errata sessions {shell_word(handle)}` shows that of each session"


def measured_share(analysis: Analysis) -> str:
    """How many of the planned cases have a verdict, and what became of others; empty where it is not known."""
    run, counts = analysis.stored.run, analysis.stored.counts
    if run.expected_cases is None or analysis.unit == "attempts" or cases_not_in_log(analysis.stored):
        return ""
    verdicts = sum(often for outcome, often in counts.outcomes.items() if outcome != "none")
    verdicts += sum(counts.labels.values()) if counts.measurements.get("scored") else 0
    measured = verdicts - repeated_rows(analysis.stored, analysis.unit)
    recovered = len(analysis.scores.scores["clean"].recovered)
    planned = plural(run.expected_cases, f"planned {counted_in(run, analysis.unit)}")
    parts = [f"{measured + recovered:,} of {planned} measured"]
    if recovered:
        parts.append(f"{recovered:,} of them in an earlier session")
    if (broken := counts.measurements.get("scored", 0) - verdicts) > 0:
        parts.append(f"{broken:,} scored but not usable (infrastructure or knock-on)")
    if skipped := counts.executions.get("skipped"):
        parts.append(f"{skipped:,} skipped")
    return f"{', '.join(parts)} · "
