"""`errata score`: a run, or the runs of each subject pooled, under every policy."""

import click

from errata.cli.fitting import WIDTH
from errata.cli.harness_words import counted_in, harness_title
from errata.cli.options import Options, shared_options
from errata.cli.output import money, plural, put, put_json
from errata.cli.render.scores import LABEL, ScoreWords, lines_of
from errata.cli.score_details import put_categories, put_left_out, put_tiers
from errata.cli.score_json import json_pool, json_scores
from errata.cli.table import some_of
from errata.compare.costs import Cost
from errata.compare.policies import POLICIES
from errata.compare.pooling import Pool
from errata.compare.scores import Score
from errata.compare.trials import Trial
from errata.model import Run
from errata.model.run import case_name
from errata.runs.names import handle_of, runs_named, short
from errata.runs.scores import Scores
from errata.verbs.compare import score, score_pooled


@click.command("score")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@click.option("--by-category", is_flag=True, help="Each category too, and what a pass costs in each tier.")
@click.option("--pooled", is_flag=True, help="The runs of each subject as one, where their suites are equal.")
@shared_options
def command(runs: tuple[str, ...], by_category: bool, pooled: bool, options: Options) -> None:
    """Tell what the score is, under each policy."""
    store = options.store
    chosen, timeouts = runs_named(runs, store), options.settings.timeouts
    pools = score_pooled(list(chosen), store, timeouts=timeouts) if pooled else []
    for at, stored in enumerate(chosen if not pooled else ()):
        scores = score(stored, store, timeouts=timeouts)
        if options.json:
            put_json(json_scores(scores))
        else:
            show_run(scores, handle_of(scores.stored, store), by_category=by_category, first=at == 0)
    for at, one in enumerate(pools):
        if options.json:
            put_json(json_pool(one))
        else:
            show_pool(one, by_category=by_category, first=at == 0)


FINE = 0.1
"""Below this, cents are too coarse."""


def show_run(scores: Scores, handle: str, *, by_category: bool, first: bool) -> None:
    run, counted = scores.stored.run, counted_in(scores.stored.run, scores.unit)
    told = ScoreWords(harness_title(run), counted)
    if not first:
        put()
    put(" · ".join([f"Run {handle}", *_described(run), _whole(scores, counted)]))
    if run.excluded is not None:
        put(f"EXCLUDED from every score: {run.excluded.reason}")
    if scores.unavailable:
        put("UNAVAILABLE: every attempt ended in one error; this run says nothing about its subject")
    put()
    for line in lines_of(scores.scores, tuple(POLICIES), told):
        put(line)
    clean, reviewed = scores.scores["clean"], scores.scores["reviewed"]
    _put_below(clean, run)
    if scores.timeouts == "drop":
        put(f"{'timeouts':<{LABEL}}dropped from clean and reviewed, as the settings say")
    _put_cost(scores.cost)
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
    told = ScoreWords(harness_title(runs[0]), counted_in(runs[0], pool.unit))
    put(" · ".join([*_described(runs[0]), f"{plural(len(pool.runs), 'run')} pooled"]))
    put(f"{'runs':<{LABEL}}{some_of([short(run.native_id) for run in pool.runs], WIDTH - LABEL) or '–'}")
    for run, why in pool.left_out:
        put(f"{'left out':<{LABEL}}{short(run.native_id)}: {why}", hang=LABEL)
    put()
    for line in lines_of(pool.scores, tuple(POLICIES), told):
        put(line)
    _put_clustered(pool.scores["strict"], told.counted)
    _put_below(pool.scores["clean"], runs[0])
    if by_category:
        put_categories(pool.categories, {})


def _described(run: Run) -> list[str]:
    subject = run.subject
    agent = " ".join(part for part in (subject.agent, subject.agent_version) if part)
    who = f"{subject.model} (agent {agent})" if subject.model and agent else subject.model or agent
    suite = ", ".join(filter(None, (run.suite, *(f"{key} {value}" for key, value in run.variant.items()))))
    harness = harness_title(run)
    return [part for part in (who, suite, harness if harness != run.suite else "") if part]


def _name(run: Run, one: Trial, unit: str) -> str:
    name = case_name(run, one.case)
    return f"{name} #{one.index}" if unit == "attempts" else name


def _put_below(score: Score, run: Run) -> None:
    if score.recovered:
        names = [case_name(run, case) for case in score.recovered]
        put(f"{'recovered':<{LABEL}}{plural(len(names), 'case')} from an earlier session:")
        put(f"{'':<{LABEL}}{some_of(names, WIDTH - LABEL)}")
    if score.groups and score.bounds:
        low, high = score.bounds
        told = f"{100 * low:.1f} % if all left out had failed, {100 * high:.1f} % if all had passed"
        put(f"{'bounds':<{LABEL}}{told}")


def _put_clustered(score: Score, counted: str) -> None:
    if score.effective is not None and round(score.effective) < score.total:
        worth = plural(round(score.effective), "independent one")
        put(f"{'clustered':<{LABEL}}the same cases again: {plural(score.total, counted)} are worth {worth} (strict)")


def _put_cost(cost: Cost) -> None:
    if cost.total is None:
        return
    parts = [f"{_dollars(cost.total)} in all", f"{_dollars(cost.of_passes)} of passes"]
    parts += [f"{_dollars(cost.of_failures)} of failures"]
    parts += [f"{money(cost.per_pass)} per pass" if cost.per_pass is not None else f"– per pass: {cost.note}"]
    put(f"{'cost':<{LABEL}}{' · '.join(parts)}", hang=LABEL)
    if cost.unknown:
        put(f"{'':<{LABEL}}unknown for {plural(cost.unknown, 'attempt')}")
    passes = cost.cost_of_pass
    if passes is not None:
        known = "" if passes.priced == passes.passed else f", known for {passes.priced} of them"
        told = f"mean {_dollars(passes.mean)} · median {_dollars(passes.median)}, each pass at its cheapest tier{known}"
        put(f"{'cost of pass':<{LABEL}}{told if passes.mean is not None else f'–   {passes.note}'}")
    if cost.frontier is not None:
        found, stated = cost.frontier.cost_of_pass, cost.frontier.stated
        where = f" in {cost.frontier.category}" if found is not None else f"   {cost.note or ''}"
        says = f"   the harness says {money(stated)}" if stated is not None else ""
        put(f"{'frontier':<{LABEL}}{money(found)}{where}{says}".rstrip())


def _dollars(value: float | None) -> str:
    return money(value, 2 if value is None or value >= FINE else 4)
