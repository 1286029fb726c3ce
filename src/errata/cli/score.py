"""`errata score`: a run, or the runs of each subject pooled, under every policy."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import click

from errata.cli.fitting import WIDTH, columns, fold, padded, short_path
from errata.cli.options import Options, shared_options, with_project
from errata.cli.output import money, plural, put, put_json, wash
from errata.cli.render.analysis import cost_of_sessions
from errata.cli.render.runs import counted_in, harness_title
from errata.cli.render.scores import (
    CORRELATED,
    LABEL,
    ScoreWords,
    clusters_in_words,
    estimate_of,
    figures,
    lines_of,
)
from errata.cli.table import some_of
from errata.compare.after_fixes import AfterFixes
from errata.compare.policies import POLICIES
from errata.compare.pooling import Pool
from errata.compare.scores import LeftOutGroup, Policy, Score
from errata.compare.trials import Trial
from errata.json_output.scores import json_pool, json_scores
from errata.model import Run
from errata.model.output.score import CostOutput, PriceOutput
from errata.model.run import case_name, subject_label
from errata.render.figures import amount, cost_parts, hundredths, percent, simulator_cost
from errata.runs.names import runs_named, short
from errata.runs.scores import Proof, Scores
from errata.runs.view import RunView
from errata.text.clean import one_line
from errata.verbs import compare as verbs


@click.command("score")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@click.option("--by-category", is_flag=True, help="Also show each category, and the cost of a pass in each tier.")
@click.option("--pooled", is_flag=True, help="Pool the runs of each model if their suites are equal.")
@shared_options
def command(runs: tuple[str, ...], by_category: bool, pooled: bool, options: Options) -> None:
    """Show scores under every scoring policy."""
    store = options.store
    chosen, timeouts = runs_named(runs, store), options.settings.timeouts
    pools = verbs.score_pooled(list(chosen), store, timeouts=timeouts) if pooled else []
    for at, stored in enumerate(chosen if not pooled else ()):
        if options.json:
            put_json(with_project(json_scores(verbs.score(stored, store, timeouts=timeouts)), scores=True))
            continue
        if at:
            put()
        view = RunView(stored, store)
        scores = view.overview.scores if timeouts == "count" else view.scores(timeouts=timeouts)
        show_run(scores, view, by_category=by_category)
    for at, pool in enumerate(pools):
        if options.json:
            put_json(with_project(json_pool(pool), scores=True))
        else:
            show_pool(pool, by_category=by_category, first=at == 0)


def show_run(scores: Scores, view: RunView, *, by_category: bool) -> None:
    run, counted = scores.stored.run, counted_in(scores.stored.run, scores.unit)
    nothing_scored = not scores.stored.counts.measurements.get("scored")
    words = ScoreWords(harness_title(run), counted, nothing_scored=nothing_scored)
    described = [part for part in _described(run) if part != view.handle]
    put(" · ".join([f"Run {view.handle}", *described, _whole(scores, counted)]))
    if run.excluded is not None:
        put(f"EXCLUDED from every score: {run.excluded.reason}")
    if scores.unavailable:
        put("UNAVAILABLE: every attempt ended in the same error; this run does not measure the model")
    put()
    for line in lines_of(scores.scores, POLICIES, words, estimate=estimate_of(view)):
        put(line)
    for line in clusters_in_words(scores.scores["strict"]):
        put(line, hang=LABEL)
    clean, reviewed = scores.scores["clean"], scores.scores["reviewed"]
    _put_below(clean, run, scores.unit)
    _put_after_fixes(scores.after_fixes)
    if scores.timeouts == "drop":
        put(f"{'timeouts':<{LABEL}}left out of clean and reviewed (setting `timeouts`)", hang=LABEL)
    _put_cost(scores.cost, run.extra.get("currency", "USD"))
    if scores.cost.total is not None and len(run.sessions) > 1:
        put(f"{'sessions':<{LABEL}}{cost_of_sessions(view.handle)}", hang=LABEL)
    for shown in (clean, reviewed) if reviewed.groups != clean.groups else (clean,):
        put_left_out(scores, shown, lambda one: _name(run, one, scores.unit))
    if by_category:
        put_categories(scores.categories, {one.category: one for one in scores.cost.prices if one.category})
        put_tiers(scores.cost, lambda case: case_name(run, case))


def _whole(scores: Scores, counted: str) -> str:
    total, counts = scores.scores["strict"].total, scores.stored.counts
    if total:
        return plural(max(score.total for score in scores.scores.values()), counted)
    return f"{plural(counts.attempts_in_log if scores.unit == 'attempts' else counts.cases, counted)} in the log"


def show_pool(pool: Pool, *, by_category: bool, first: bool) -> None:
    if not first:
        put()
    runs = pool.runs or tuple(run for run, _ in pool.left_out)
    words = ScoreWords(harness_title(runs[0]), counted_in(runs[0], pool.unit))
    put(" · ".join([*_described(runs[0]), f"{plural(len(pool.runs), 'run')} pooled"]))
    put(f"{'runs':<{LABEL}}{some_of([short(run.native_id) for run in pool.runs], WIDTH - LABEL) or '–'}")
    for run, why in pool.left_out:
        put(f"{'left out':<{LABEL}}{short(run.native_id)}: {why}", hang=LABEL)
    put()
    for line in lines_of(pool.scores, tuple(POLICIES), words):
        put(line)
    _put_clustered(pool.scores["strict"], words.counted)
    _put_below(pool.scores["clean"], runs[0], pool.unit)
    if by_category:
        put_categories(pool.categories, {})


def _described(run: Run) -> list[str]:
    subject = run.subject
    agent = " ".join(part for part in (subject.agent, subject.agent_version) if part)
    who = f"{subject.model} (agent {agent})" if subject.model and agent else subject_label(run)
    suite = ", ".join(filter(None, (run.suite, *(f"{key} {value}" for key, value in run.variant.items()))))
    harness = harness_title(run)
    return [part for part in (who, suite, "" if run.suite.lower().startswith(harness.lower()) else harness) if part]


def _name(run: Run, trial: Trial, unit: str) -> str:
    name = case_name(run, trial.case)
    return f"{name} #{trial.index}" if unit == "attempts" else name


def _put_below(score: Score, run: Run, unit: str) -> None:
    if score.recovered:
        names = [case_name(run, case) for case in score.recovered]
        put(f"{'recovered':<{LABEL}}{plural(len(names), 'case')} that only an earlier session measured:")
        put(f"{'':<{LABEL}}{some_of(names, WIDTH - LABEL)}")
    if score.groups and score.bounds:
        low, high = score.bounds
        out = sum(group.count for group in score.groups)
        every = "both" if out == 2 else "all"
        word = counted_in(run, unit)
        which = f"if {every if out == 2 else f'all {out:,}'} left-out {word}s failed / passed"
        which = f"if the left-out {word} failed / passed" if out == 1 else which
        put(f"{'clean range':<{LABEL}}{hundredths(low)}–{percent(high)} ({which})", hang=LABEL)
    if score.rate_without_presumed is not None:
        earlier = len(score.recovered) - score.recovered_passes
        presumed = f"{plural(score.presumed, 'failure')} counted in clean {'is' if score.presumed == 1 else 'are'}"
        whose = f"only presumed to be the model's{f' ({earlier:,} from an earlier session)' if earlier else ''}"
        counts = f"{score.passed:,}/{score.total - score.presumed:,}, {percent(score.rate_without_presumed)}"
        other = f"; if {'it is not' if score.presumed == 1 else 'none is'}, clean is at most {counts}"
        if score.passed == score.total - score.presumed:  # at most 100 % is nothing to know
            presumed, other = f"{'the' if score.presumed == 1 else 'all'} {presumed}".replace("the 1 ", "the only "), ""
        put(f"{'presumed':<{LABEL}}{presumed} {whose}{other}", hang=LABEL)


def _put_after_fixes(after: AfterFixes | None) -> None:
    if after is not None:
        fixed = plural(len(after.cases), "grader or task failure")
        shares = [
            f"{policy} {score.passed:,}/{score.total:,} ({percent(score.rate)})"
            for policy, score in after.scores.items()
        ]
        put(f"{'after fixes':<{LABEL}}{', '.join(shares)}: if {fixed} with an accepted fix passed", hang=LABEL)


def _put_clustered(score: Score, counted: str) -> None:
    if score.effective is not None and round(score.effective) < score.total:
        size = f"{round(score.effective):,} for {plural(score.total, counted)} (strict)"
        put(f"{'effective n':<{LABEL}}{size}: {CORRELATED}", hang=LABEL)


def _put_cost(cost: CostOutput, currency: str) -> None:
    if cost.total is None:
        return
    if cost.is_simulator_only:
        put(f"{'cost':<{LABEL}}{simulator_cost(cost.total, cost.unknown, currency)}", hang=LABEL)
        return
    parts = [
        f"{amount(cost.total, currency)} total{cost_parts(cost, currency)}",
        f"{amount(cost.of_passes, currency)} on passes",
    ]
    if cost.of_failures is not None or cost.of_unscored is None:
        parts += [f"{amount(cost.of_failures, currency)} on failures"]
    if cost.of_unscored is not None:
        parts += [f"{amount(cost.of_unscored, currency)} not scored"]
    parts += [
        f"{amount(cost.per_pass, currency)} total cost per pass"
        if cost.per_pass is not None
        else f"– total cost per pass: {cost.note}"
    ]
    put(f"{'cost':<{LABEL}}{' · '.join(parts)}", hang=LABEL)
    if cost.unknown:
        put(f"{'':<{LABEL}}unknown for {plural(cost.unknown, 'attempt')}")
    passes = cost.cost_of_pass
    if passes is not None:
        known = "" if passes.priced == passes.passed else f", known for {passes.priced} of them"
        sentence = (
            f"mean {amount(passes.mean)} · median {amount(passes.median)}, of each pass at its cheapest tier{known}"
        )
        put(f"{'cost of pass':<{LABEL}}{sentence if passes.mean is not None else f'–   {passes.note}'}")
    if cost.frontier is not None:
        cost_of_pass, stated = cost.frontier.cost_of_pass, cost.frontier.stated
        where = f" in {cost.frontier.category}" if cost_of_pass is not None else f"   {cost.note or ''}"
        says = f"   the harness reports {money(stated)}" if stated is not None else ""
        put(f"{'frontier':<{LABEL}}{money(cost_of_pass)}{where}{says}".rstrip())


NARROW = 26

Row = tuple[str, str, str, str, str, str]
"""Category, policies, counts, rate, interval, cost of a pass."""


def put_categories(categories: Mapping[str, Mapping[Policy, Score]], prices: Mapping[str, PriceOutput]) -> None:
    if not categories:
        put("\nBy category: the log names none")
        return
    rows = [row for name, scores in categories.items() for row in _rows(name, scores, prices.get(name))]
    put("\nBy category")
    widths = [max(columns(row[at]) for row in rows) for at in range(6)]
    if sum(widths) + 2 * len(widths) > WIDTH:
        _put_categories_stacked(rows)
        return
    for row in rows:
        cells = [padded(cell, widths[at], right=at == 3) for at, cell in enumerate(row)]
        put(f"  {'  '.join(cells)}".rstrip())


def _put_categories_stacked(rows: Sequence[Row]) -> None:
    """On a narrow page: the category, and its scores below it."""
    for name, policies, *numbers in rows:
        if name:
            put(f"  {name}")
        put(f"    {policies}  {'  '.join(filter(None, numbers))}".rstrip())


def _rows(name: str, scores: Mapping[Policy, Score], price: PriceOutput | None) -> Iterator[Row]:
    alike: dict[tuple[str, str, str], list[str]] = {}
    for policy, score in scores.items():
        if score.total:
            alike.setdefault(figures(score), []).append(policy)
    first = wash(name)
    if not alike:
        yield first, "–", "", "", "", ""
    for at, (cells, policies) in enumerate(alike.items()):
        yield "" if at else first, ", ".join(policies), *cells, "" if at or price is None else _per_pass(price)


def _per_pass(price: PriceOutput) -> str:
    return f"{money(price.cost_of_pass)}/pass" if price.cost_of_pass is not None else f"–: {price.note}"


def put_tiers(cost: CostOutput, name: Callable[[str], str]) -> None:
    tiers: dict[str, list[PriceOutput]] = {}
    for price in cost.prices:
        if price.path and "/" not in price.path:
            tiers.setdefault(price.case, []).append(price)
    if not tiers:
        return
    put("\nCost of a pass by tier (runs passed)")
    for case, prices in tiers.items():
        tier_costs = [f"{one.path} {money(one.cost_of_pass)} ({one.passed}/{one.made})" for one in prices]
        put(f"  {name(case)}  {' · '.join(tier_costs)}", hang=4)


QUOTE = 150
FEW = 3
LEAST = 18

_ENDED = {
    "completed": "completed",
    "limit": "reached a limit",
    "error": "ended in an error",
    "cancelled": "cancelled",
}

Name = Callable[[Trial], str]


def put_left_out(scores: Scores, score: Score, name: Name) -> None:
    groups = (*score.groups, *score.beside)
    width = max([LEAST, *(columns(_label(group)) for group in groups)])
    if score.groups:
        put(f"\nLeft out of {score.policy} ({sum(score.left_out.values()):,})")
        _put_groups(score.groups, width, scores, name)
    if score.beside:
        count = sum(group.count for group in score.beside)
        put(f"\nCounted in {score.policy}, but not the model's ({count:,})")
        _put_groups(score.beside, width, scores, name)
        passed, total = score.without_beside
        rest = f"{passed:,}/{total:,}   {percent(passed / total)}" if total else "nothing left"
        put(f"  {score.policy} without these: {rest}")


def _put_groups(groups: Sequence[LeftOutGroup], width: int, scores: Scores, name: Name) -> None:
    for group in groups:
        head = f"  {_label(group):<{width}} {group.count:>4,}   "
        room = WIDTH - columns(head)
        if room < NARROW:
            put(head.rstrip())
            head, room = " " * 6, WIDTH - 6
        parts = _parts(group, scores.proof_of(group), name)
        lines = [line for part in parts for line in fold(wash(part), room, whole_words=True)]
        if len(group.members) > 1 or not lines:
            lines.append(_names(group, name, room))
        for at, line in enumerate(lines):
            put((head if at == 0 else " " * columns(head)) + line)


def _label(group: LeftOutGroup) -> str:
    return one_line(group.signal or group.why)


def _parts(group: LeftOutGroup, proof: Proof | None, name: Name) -> list[str]:
    """The evidence, and how the attempts ended if they ended differently."""
    parts = []
    if proof is not None:
        quote = f'"{one_line(proof.quote, QUOTE)}"' if proof.quote else one_line(proof.stated, QUOTE)
        only = f" ({name(group.members[0])})" if len(group.members) == 1 else ""
        place = f"{short_path(one_line(proof.where))} " if _is_file(proof.where) else ""
        parts.append(f"{place}{quote}{only}")
    kinds: dict[str, list[Trial]] = {}
    for trial in group.members:
        kinds.setdefault("timed out" if trial.timed_out else _ENDED.get(trial.execution, trial.execution), []).append(
            trial
        )
    if len(kinds) > 1:
        first, *others = sorted(kinds.items(), key=lambda pair: -len(pair[1]))
        endings = [f"{len(first[1])} {first[0]}", *(_kind(word, those, name) for word, those in others)]
        parts.append(", ".join(endings))
    return parts


def _kind(word: str, those: Sequence[Trial], name: Name) -> str:
    named = f" ({', '.join(map(name, those))})" if len(those) <= FEW else ""
    return f"{len(those)} {'also ' if those[0].execution == 'limit' else ''}{word}{named}"


def _is_file(where: str) -> bool:
    """A file of the log, not a field of errata's own record."""
    return "[" not in where and ("/" in where or "." in where)


def _names(group: LeftOutGroup, name: Name, room: int) -> str:
    if not group.members:
        return "the log does not name them"
    unnamed = f" and {group.unnamed:,} without a name" if group.unnamed else ""
    return some_of([name(one) for one in group.members], room - len(unnamed)) + unnamed
