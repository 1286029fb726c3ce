"""Where models differ: ranking, pairs, categories, and what changed between two runs, as facts and as blocks."""

from collections.abc import Iterator, Sequence

from errata.compare.comparison import Comparison
from errata.model.output.compare import DeviationOutput, RunPairOutput
from errata.model.output.report.comparison import (
    CategoryDeviation,
    ModelComparison,
    ModelPair,
    PairTest,
    RankedModel,
    RunChanges,
)
from errata.render.document import Block, Section, Strong, items, line, paragraph, table
from errata.render.figures import p_value, percent, plural, points
from errata.report.comparison_rows import ReportedCaseNames, called
from errata.report.parts import figures_of, heads_of, interval, name_list
from errata.report.shared import score_line

PAIRS, LISTED, SENTENCES = 15, 20, 5


# facts


def model_comparison(comparison: Comparison) -> ModelComparison:
    models, of_numbers = comparison.models, comparison.matrix.has_numbers
    exceptions = () if of_numbers else models.exceptions
    return ModelComparison(
        ranking=tuple(
            RankedModel(name=called(row.label), best=row.best, worst=row.worst, score=score_line(row.score))
            for row in models.ranking
        ),
        pairs=tuple(
            sorted(
                filter(None, (_pair(pairing, of_numbers=of_numbers) for pairing in models.pairings)),
                key=lambda row: row.p,
            )
        ),
        # an expected rate of a category is one of passes
        deviations=() if of_numbers else tuple(map(_deviation, exceptions or models.deviations[:1])),
        significant=len(exceptions),
        tested=0 if of_numbers else len(models.deviations),
    )


def _pair(pairing: RunPairOutput, *, of_numbers: bool) -> ModelPair | None:
    """None where the two share no case."""
    shares, tally = pairing.shares, pairing.clean
    difference = shares.mean if shares is not None else tally.difference
    if difference is None:
        return None
    return ModelPair(
        first=called(pairing.first),
        second=called(pairing.second),
        cases=shares.cases if shares is not None else tally.shared,
        difference=difference,
        interval=pairing.difference.interval,
        p=pairing.difference.p,
        adjusted=pairing.difference.adjusted,
        by_attempts=shares is not None,
        better=pairing.better,
        of_numbers=of_numbers and shares is not None,
    )


def _deviation(deviation: DeviationOutput) -> CategoryDeviation:
    return CategoryDeviation(
        name=called(deviation.label),
        category=deviation.category,
        cases=deviation.cases,
        rate=deviation.rate,
        expected=deviation.expected,
        deviation=deviation.deviation,
        interval=deviation.interval,
        p=deviation.p,
        adjusted=deviation.adjusted,
    )


def run_changes(comparison: Comparison, names: ReportedCaseNames) -> RunChanges | None:
    flips = comparison.sets.flips
    if flips is None:
        return None
    return RunChanges(
        first=called(flips.first),
        second=called(flips.second),
        regressed=names.of(flips.regressed),
        fixed=names.of(flips.fixed),
        still_failing=names.of(flips.still_failing),
        infrastructure=names.of(flips.infrastructure),
        edited=names.of(flips.edited),
    )


# words


def changes_words(changes: RunChanges) -> str:
    named = f": {name_list(changes.regressed)}" if changes.regressed else ""
    other = len(changes.infrastructure)
    beside = f" {other:,} more changed or failed only because of infrastructure." if other else ""
    beside += f" {plural(len(changes.edited), 'task')} edited between the runs." if changes.edited else ""
    counts = f"{len(changes.fixed):,} fixed, {len(changes.regressed):,} regressed"
    return f"From {changes.first} to {changes.second}: {counts}{named}.{beside}"


def number_words(models: ModelComparison) -> Iterator[str]:
    """`good minus bad: +0.354 [+0.295, +0.412] over 30 cases (p < 0.001): good is better.`"""
    corrected = ", Holm" if len(models.pairs) > 1 else ""
    for row in models.pairs[:SENTENCES]:
        first, second = (row.first, row.second) if row.better >= 0 else (row.second, row.first)
        result = f"{first} is better than {second}" if row.better else "no significant difference"
        test = f"{p_value(row.adjusted)}, paired t-test{corrected}"
        cases = plural(row.cases, "case")
        yield f"{row.first} minus {row.second}: {_apart(row)} over {cases} ({test}): {result}."


def _apart(row: ModelPair) -> str:
    if not row.of_numbers:
        return points(row.difference, row.interval)
    between = f" [{row.interval[0]:+.3g}, {row.interval[1]:+.3g}]" if row.interval is not None else ""
    return f"{row.difference:+.3g}{between}"


def deviation_words(models: ModelComparison) -> Iterator[str]:
    for row in models.deviations[: models.significant]:
        side = "below" if row.deviation < 0 else "above"
        rates = f"{percent(row.rate)} passed, {percent(row.expected)} expected"
        yield f"{row.name} is {side} expectation in {row.category}: {rates} ({p_value(row.adjusted)})."


# blocks


def differences_section(
    models: ModelComparison, changes: RunChanges | None, case_word: str, shown: Sequence[PairTest] = ()
) -> Section | None:
    """None for a single run. `shown` are pairs whose tests by cases another section has."""
    elsewhere = {(pair.first, pair.second) for pair in shown}
    pairs = [row for row in models.pairs if row.by_attempts or (row.first, row.second) not in elsewhere]
    blocks = [*_changes(changes), *_ranking(models), *_pairs(pairs), *_deviations(models, case_word)]
    return Section(title="Where Models Differ", blocks=tuple(blocks)) if blocks else None


def _changes(changes: RunChanges | None) -> Iterator[Block]:
    if changes is None:
        return
    kinds = {
        "Regressed": changes.regressed,
        "Fixed": changes.fixed,
        "Still failing": changes.still_failing,
        "Infrastructure failure in one of the two, so no change": changes.infrastructure,
        **({"Task edited between the runs, so not compared": changes.edited} if changes.edited else {}),
    }
    yield paragraph(f"From {changes.first} to {changes.second}:")
    yield items(
        line(Strong(f"{kind} ({len(cases)})"), ": ", name_list(cases, LISTED) or "none")
        for kind, cases in kinds.items()
    )


def _ranking(models: ModelComparison) -> Iterator[Block]:
    if len(models.ranking) < 2:
        return
    rows = [(_rank(row), row.name, *figures_of(row.score), interval(row.score)) for row in models.ranking]
    yield paragraph(
        "Ranking by clean score (without infrastructure failures). A range of ranks is what the data leave open: "
        "pairwise tests with Holm's correction."
    )
    heads = heads_of(row.score for row in models.ranking)
    yield table(("rank", "model", *heads, "95 % interval"), rows, right=heads)


def _rank(ranked: RankedModel) -> str:
    return str(ranked.best) if ranked.best == ranked.worst else f"{ranked.best}–{ranked.worst}"


def _pairs(pairs: Sequence[ModelPair]) -> Iterator[Block]:
    if not pairs:
        return
    rows = [
        (
            f"{row.first} minus {row.second}",
            str(row.cases),
            _apart(row),
            _p(row.p),
            _p(row.adjusted),
            "numbers" if row.of_numbers else "attempts" if row.by_attempts else "cases",
        )
        for row in pairs[:PAIRS]
    ]
    of_numbers = pairs[0].of_numbers
    methods = [
        *(["by cases: exact McNemar, Newcombe's interval"] if not all(row.by_attempts for row in pairs) else []),
        *(["by attempts: paired t-test and its interval"] if any(row.by_attempts for row in pairs) else []),
    ]
    method = "paired t-test and its interval" if of_numbers else "; ".join(methods)
    more = f" The {PAIRS} with the smallest p of {len(pairs)} are shown." if len(pairs) > PAIRS else ""
    how = "how much higher the mean of the first is" if of_numbers else "how much more often the first passes"
    yield paragraph(
        f"Pairwise differences on the same cases, without infrastructure failures: {how}, with the 95 % interval of "
        f"each pair alone ({method}).{more}"
    )
    yield table(("pair", "cases", "difference", "p", "p, Holm", "by"), rows, right=("cases",))


def _p(p: float) -> str:
    return p_value(p).removeprefix("p = ").removeprefix("p ")


def _deviations(models: ModelComparison, case_word: str) -> Iterator[Block]:
    if not models.tested:
        return
    tests = f"{plural(models.tested, 'test')}, Benjamini-Hochberg"
    if not models.significant:
        closest = models.deviations[0]
        apart = points(closest.deviation)  # its interval may exclude 0 where the test finds nothing
        yield paragraph(
            f"No model deviates significantly in a category ({tests}). The closest is {closest.name} in "
            f"{closest.category}, {apart} ({p_value(closest.p)}, {p_value(closest.adjusted)} after correction)."
        )
        return
    yield paragraph(
        "Models that do better or worse in a category than their other categories and the other models lead to expect "
        f"({tests}; each interval is for its test alone):"
    )
    rows = [
        (
            row.name,
            row.category,
            str(row.cases),
            percent(row.rate),
            percent(row.expected),
            points(row.deviation, row.interval),
            _p(row.adjusted),
        )
        for row in models.deviations
    ]
    header = ("model", "category", f"{case_word}s", "passed", "expected", "deviation", "p, corrected")
    yield table(header, rows, right=(f"{case_word}s", "passed", "expected"))
