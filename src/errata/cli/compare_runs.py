"""What a comparison is made of: the suite, who is in it with which score, who is not, and what differs."""

from collections.abc import Mapping, Sequence

from errata.cli.fitting import WIDTH, columns, cut, padded
from errata.cli.harness_words import counted_in
from errata.cli.output import plural, put, wash
from errata.cli.score_lines import figures
from errata.compare.scores import Policy, Score
from errata.compare.suites import Difference
from errata.model import Run
from errata.pipeline.comparing import Compared, Comparison
from errata.pipeline.comparing_suites import told_of
from errata.pipeline.selecting import variant_of
from errata.text.clean import one_line

WHO = 40
LABEL = 9
GAP = "  "

# what decided, in a word where the owner alone would say too little
_WORDS = {"provider_empty_response": "empty", "no_verdict": "unjudged"}


def word_for_cases(comparison: Comparison) -> str:
    return counted_in(comparison.runs[0].runs[0].run, "cases")


def put_head(comparison: Comparison, handles: Mapping[str, str]) -> None:
    run = comparison.matrix.columns[0].run
    refusing = any(one.refuses for one in comparison.differences)
    count = plural(len(comparison.matrix.rows), word_for_cases(comparison))
    of = " that all were measured on" if comparison.wish.common else ""
    parts = [_suite(comparison, run), f"{count}{of}", "" if refusing else "same suite in all runs", _judge(run)]
    put(" · ".join(part for part in parts if part))
    if comparison.wish.category:
        put(f"{'only':<{LABEL}}category {comparison.wish.category}")
    for one in comparison.differences:
        _put_difference(one, comparison)
    for stored, why in comparison.left_out:
        named = f"{handles[stored.run.id]} {stored.run.subject.model}".strip()
        put(f"{'left out':<{LABEL}}{named}: {why}", hang=LABEL)


def _suite(comparison: Comparison, run: Run) -> str:
    """With what of the variant is the same in all runs."""
    runs = [column.run for column in comparison.matrix.columns]
    shared = set.intersection(*(set(variant_of(one)) for one in runs))
    suites = " and ".join(dict.fromkeys(one.suite for one in runs if one.suite)) or run.source.name
    return ", ".join([suites, *(part for part in variant_of(run) if part in shared)])


def _judge(run: Run) -> str:
    judges = [
        " ".join(part for part in (one.model, f"v{one.version.removeprefix('v')}" if one.version else "") if part)
        for one in run.scorers
        if one.kind == "judge" and one.model
    ]
    return f"judge {', '.join(dict.fromkeys(judges))}" if judges else ""


def _put_difference(one: Difference, comparison: Comparison) -> None:
    if one.what == "tasks":
        edited = [comparison.cases[case].name for case in comparison.edited]
        if edited:
            put(f"{'edited':<{LABEL}}{', '.join(edited)}: another task than before, no part of the test of pairs", hang=LABEL)
        return
    for line in told_of(one):
        put(f"{'differs':<{LABEL}}{line}", hang=LABEL)


def put_runs(comparison: Comparison, handles: Mapping[str, str]) -> None:
    shown = comparison.columns
    who = [_who(one, handles, by_model=comparison.wish.by_model) for one in shown]
    policies = _shown_policies([one.scores for one in shown])
    rows = [[cut(wash(named), WHO), *(_figures(one.scores[policy]) for policy in policies.values())]
            for one, named in zip(shown, who, strict=True)]
    heads = ["model" if comparison.wish.by_model else f"{'run':<{_handle_width(shown, handles)}} model", *policies]
    out = [_in_a_line(left_out_in_words(one.scores["clean"])) for one in shown]
    widths = [max(columns(row[at]) for row in [heads, *rows]) for at in range(len(heads))]
    beside = sum(widths) + len(GAP) * len(widths) + max(map(columns, [*out, "left out"])) <= WIDTH
    put()
    _put_row([*heads, "left out"] if beside else heads, widths)
    for row, left in zip(rows, out, strict=True):
        _put_row([*row, left or "–"] if beside else row, widths)
        if left and not beside:
            put(f"    left out of clean: {left}")


def _put_row(cells: Sequence[str], widths: Sequence[int]) -> None:
    parts = [padded(cell, widths[at]) if at < len(widths) else cell for at, cell in enumerate(cells)]
    put(GAP.join(parts).rstrip())


def _who(one: Compared, handles: Mapping[str, str], *, by_model: bool) -> str:
    if by_model:
        return f"{one.label} ({plural(len(one.runs), 'run')})" if len(one.runs) > 1 else one.label
    return f"{handles[one.runs[0].run.id]:<{_handle_width((one,), handles)}} {one.label}"


def _handle_width(those: Sequence[Compared], handles: Mapping[str, str]) -> int:
    return max(columns(handles[one.runs[0].run.id]) for one in those)


def _shown_policies(scores: Sequence[Mapping[Policy, Score]]) -> dict[str, Policy]:
    """Heading → policy; where two agree for all, they share a column."""
    reported = [one["as_reported"] for one in scores]
    if not any(one.total for one in reported):
        return {"strict": "strict", "clean": "clean"}
    if all(figures(one["as_reported"]) == figures(one["strict"]) for one in scores):
        return {"strict = as_reported": "strict", "clean": "clean"}
    return {"strict": "strict", "as_reported": "as_reported", "clean": "clean"}


def _figures(score: Score) -> str:
    return " ".join(part for part in figures(score) if part)


def left_out_in_words(score: Score) -> dict[str, int]:
    """`empty`, `unjudged`, `collateral` and the like → how many."""
    counts: dict[str, int] = {}
    for group in score.groups:
        word = one_line(_WORDS.get(group.signal, group.why), 24)
        counts[word] = counts.get(word, 0) + group.count
    return counts


def _in_a_line(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {word}" for word, count in counts.items())
