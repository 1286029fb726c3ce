"""`errata score`."""

import click

from errata import pipeline
from errata.cli.options import Options, shared_options
from errata.cli.output import money, plural, put, put_json
from errata.compare.policies import Score
from errata.pipeline.scoring import Scores
from errata.pipeline.selecting import short

MOST = 8


@click.command("score")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@click.option("--by-category", is_flag=True, help="The strict and the clean score of each category too.")
@shared_options
def command(runs: tuple[str, ...], by_category: bool, options: Options) -> None:
    """Tell what the score is, under each policy."""
    store = options.store
    for at, stored in enumerate(pipeline.runs_named(runs, store)):
        scores = pipeline.score_run(stored, store)
        if options.json:
            put_json(_json_of(scores))
            continue
        if at:
            put()
        run = stored.run
        parts = (f"Run {short(run.native_id)}", run.subject.model, run.subject.agent, run.suite, run.source.name)
        put(" · ".join(part for part in parts if part))
        if run.excluded is not None:
            put(f"EXCLUDED from every score: {run.excluded.reason}")
        put()
        show_scores(scores)
        if by_category:
            _show_categories(scores)


def show_scores(scores: Scores, label: str = "") -> None:
    if scores.unavailable:
        put("UNAVAILABLE: every attempt ended in one error; this run says nothing about its subject")
    for policy, score in scores.scores.items():
        put(f"{label}{policy:<12} {figures(score)}".rstrip())
        label = " " * len(label)
    clean = scores.scores["clean"]
    if clean.recovered:
        put(f"recovered    {plural(len(clean.recovered), 'case')} from an earlier session: {_names(scores, clean)}")
    if clean.left_out and clean.bounds:
        low, high = clean.bounds
        put(f"bounds       {100 * low:.1f} % if all left out had failed, {100 * high:.1f} % if all had passed")
    cost = scores.cost
    if cost.total is not None:
        put(f"cost         {money(cost.total, 2)} in all · {money(cost.of_passes, 2)} of passes · "
            f"{money(cost.of_failures, 2)} of failures · {money(cost.per_pass)} per pass")  # fmt: skip
        if cost.unknown:
            put(f"             unknown for {plural(cost.unknown, 'attempt')}")


def figures(score: Score) -> str:
    if not score.total or score.interval is None or score.rate is None:
        return f"–        {score.note}"
    low, high = score.interval
    told = f"{f'{score.passed}/{score.total}':<8} {100 * score.rate:5.1f} %   [{100 * low:.1f}, {100 * high:.1f}]"
    out = sum(score.left_out.values())
    why = ", ".join(f"{reason} {count}" for reason, count in sorted(score.left_out.items(), key=lambda pair: -pair[1]))
    note = score.note if score.policy == "as_reported" else ""
    rest = f"{out} left out: {why}" if out else note
    return f"{told:<33} {rest}".rstrip()


def _names(scores: Scores, clean: Score) -> str:
    names = [case.removeprefix(f"{scores.stored.run.suite}/") for case in clean.recovered]
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    return ", ".join(names[:MOST]) + more


def _show_categories(scores: Scores) -> None:
    if scores.categories:
        put()
    for name, parts in scores.categories.items():
        strict, clean = parts["strict"], parts["clean"]
        shown = f"clean {clean.passed}/{clean.total}" if clean.total else "clean –"
        put(f"{name:<28} strict {strict.passed}/{strict.total:<6} {shown}")


def _json_of(scores: Scores) -> dict[str, object]:
    return {
        "run": scores.stored.run.native_id,
        "run_id": scores.stored.run.id,
        "model": scores.stored.run.subject.model,
        "unit": scores.unit,
        "unavailable": scores.unavailable,
        "scores": {policy: json_score(score) for policy, score in scores.scores.items()},
        "categories": {
            name: {policy: json_score(score) for policy, score in parts.items()}
            for name, parts in scores.categories.items()
        },
        "cost": scores.cost,
    }


def json_score(score: Score) -> dict[str, object]:
    return {
        "passed": score.passed,
        "total": score.total,
        "rate": score.rate,
        "interval": score.interval,
        "bounds": score.bounds,
        "left_out": score.left_out,
        "recovered": score.recovered,
        "note": score.note or None,
    }
