"""Where models differ: the ranking that the data allow, and models that deviate in a category."""

from errata.cli.compare.matrix import CaseLabels
from errata.cli.output import plural, put, wash
from errata.cli.render.scores import figures
from errata.cli.table import put_table
from errata.compare.comparison import Comparison
from errata.compare.deviations import Deviation
from errata.compare.pairs import Ranked
from errata.render.figures import p_value, percent, points

MANY = 3
"""From this many models on, a ranking shows more than the pair."""
SHOWN = 10


def put_differences(comparison: Comparison, names: CaseLabels) -> None:
    models = comparison.models
    if len(models.ranking) >= MANY:
        _put_ranking(models.ranking, "models" if len(models.ranking) == len(comparison.matrix.subjects) > 1 else "runs")
    if models.deviations:
        _put_deviations(models.deviations, names, "model" if len(comparison.matrix.subjects) > 1 else "run")


def rank_in_words(ranked: Ranked) -> str:
    """`2`, or `1–3` where the data leave it open."""
    return str(ranked.best) if ranked.best == ranked.worst else f"{ranked.best}–{ranked.worst}"


def _put_ranking(ranking: tuple[Ranked, ...], word: str) -> None:
    put()
    basis = "clean, so without infrastructure failures; pairwise tests, Holm"
    if not any(row.better_than for row in ranking):
        put(f"Ranking: no two of the {len(ranking)} {word} differ significantly ({basis})", hang=0)
        return
    put(f"Ranking ({basis})", hang=0)
    rows = [
        (rank_in_words(row), wash(row.label), " ".join(part for part in figures(row.score) if part)) for row in ranking
    ]
    put_table(("rank", "model", "clean"), rows, give_way=("model",))
    if any(row.best != row.worst for row in ranking):
        put("A range of ranks: no significant difference from others in that range", hang=0)


def _put_deviations(deviations: tuple[Deviation, ...], names: CaseLabels, word: str) -> None:
    """`word`: what is compared."""
    significant = [row for row in deviations if row.deviates]
    tests = f"{plural(len(deviations), 'test')}, Benjamini-Hochberg"
    put()
    if not significant:
        least = deviations[0]
        # its interval is approximate, and may exclude 0 where the test finds nothing
        closest = f"{wash(least.label)} in {wash(least.category)}, {points(least.deviation)}"
        after = f"{p_value(least.p)}, {p_value(least.adjusted)} after correction"
        put(f"No {word} deviates significantly in a category ({tests}). The closest is {closest} ({after})", hang=0)
        return
    rows = [
        (
            wash(row.label),
            wash(row.category),
            f"{row.cases:,}",
            percent(row.rate),
            percent(row.expected),
            points(row.deviation, row.interval),
            p_value(row.adjusted).removeprefix("p = ").removeprefix("p "),
        )
        for row in significant[:SHOWN]
    ]
    header = ("model", "category", f"{names.word}s", "passed", "expected", "deviation", "p")
    put_table(header, rows, right=(f"{names.word}s", "passed", "expected"), give_way=("category", "model"))
    if len(significant) > SHOWN:
        put(f"and {len(significant) - SHOWN:,} more with --json")
    put(
        f"Expected from the model's other categories and the other models (clean; {tests}). Each interval is for its "
        "test alone",
        hang=0,
    )
