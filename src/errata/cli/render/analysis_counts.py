"""The counts of an analysis: measured cases, first failed checks, categories and cost."""

from errata.cli.output import money, number, plural, put
from errata.cli.render.runs import counted_in, repeated_rows
from errata.cli.table import put_parts
from errata.model.counts import holds_only_failures
from errata.render.figures import cost_parts, overlap_note, simulator_cost
from errata.runs.summary import Analysis
from errata.runs.without_failures import cases_not_in_log
from errata.text.clean import one_line
from errata.text.shell import shell_word

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


def show_categories(analysis: Analysis) -> None:
    """Failed cases out of those of the category."""
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


def show_cost(analysis: Analysis) -> None:
    counts = analysis.stored.counts
    if counts.cost is None:
        return
    unknown = counts.counted - counts.cost_known - counts.executions.get("missing", 0)
    currency = analysis.stored.run.extra.get("currency", "USD")
    if analysis.scores.cost.is_simulator_only:
        put(f"Cost     {simulator_cost(counts.cost, unknown, currency)}", hang=9)
        return
    rest = f", unknown for {plural(unknown, 'attempt')}" if unknown else ""
    parts = cost_parts(analysis.scores.cost, currency)
    whose = "agent tokens" if parts else "tokens"
    spent = f" · {number(counts.tokens)} {whose}" if counts.tokens is not None else ""
    total = money(counts.cost, 2 if counts.cost >= 1 else 4, currency)
    put(f"Cost     {total}{parts}{rest}{spent}", hang=9)
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
