"""Owners and causes of a run's failures, as lists under the score."""

from errata.cli.fitting import WIDTH, columns, padded
from errata.cli.output import plural, put, put_command
from errata.cli.render.runs import failures_in_words
from errata.cli.table import some_of
from errata.compare.matrix import natural
from errata.model import CauseSummary
from errata.render.proof import proof_counts, proof_legend
from errata.runs.summary import Analysis, Owned
from errata.text.clean import one_line

MOST_CAUSES, MOST_SINGLE_CAUSES = 5, 3
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
        reason = proof_counts(owner.shown, owner.presumed, repeated=repeated) or _reasons(owner)
        put(f"{line}   {reason}" if reason else line, hang=hang, colour=[owner.owner])
    shown, presumed = (sum(one.shown for one in analysis.owners), any(one.presumed for one in analysis.owners))
    if legend := proof_legend(shown, presumed):
        put(f"{'':<8} {legend}", hang=9)


def _reasons(owner: Owned) -> str:
    """`the rate limit was reached`; with counts if there are two reasons, or not all failures have that one."""
    reasons = [(often, one_line(reason)) for reason, often in owner.reasons.items()]
    if len(reasons) == 2 and sum(owner.reasons.values()) == owner.count:
        return "; ".join(f"{often:,}: {reason}" for often, reason in reasons)
    for often, reason in reasons[:1]:
        return reason if often == owner.count else f"{often:,} of {owner.count:,}: {reason}"
    return ""


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
