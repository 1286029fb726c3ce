"""`errata review run`."""

import sys
from datetime import UTC, datetime

import click

from errata import verbs
from errata.cli.choice import Word
from errata.cli.options import Options, shared_options
from errata.cli.output import money, say
from errata.cli.reports_option import reports_option
from errata.cli.review.reviewers import packet_options
from errata.cli.review.run_page import show_dry_run, show_plan
from errata.cli.review.watching import watched
from errata.errors import ErrataError, SettingsError
from errata.model.failure import Filters
from errata.model.times import to_iso
from errata.model.words import OWNERS
from errata.review.choose import ReviewerFlags
from errata.review.limits import Limits
from errata.review.plan import Plan, Request, first_prompt, refuse_unpriced_cap
from errata.review.run import Tally
from errata.runs.failures import refuse_unknown


@click.command("run")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@click.option("--model", default="", metavar="PROVIDER:NAME", help="Ask this model; with --base-url, its name there.")
@click.option("--base-url", default="", metavar="URL", help="A server that speaks OpenAI's protocol.")
@click.option(
    "--command", default="", metavar="PROGRAM", help="Ask claude, codex or gemini; or a program and its words."
)
@click.option("--reviewer", default="", metavar="NAME", help="Ask this reviewer of your settings.")
@click.option("--parallel", type=click.IntRange(1, 256), default=4, help="So many at once.")
@click.option(
    "--max-cost", type=click.FloatRange(min=0), metavar="DOLLARS", help="Spend no more than this, in this one command."
)
@click.option("--max-tokens", type=click.IntRange(min=1), help="Use no more than this, in this one command.")
@click.option("--limit", type=click.IntRange(min=1), help="Read no more than this, some of every group.")
@click.option("--case", default="", help="Only cases whose name contains this text.")
@click.option("--owner", type=Word(OWNERS), help="Only those that triage gives this owner.")
@click.option("--bucket", default="", metavar="SLUG", help="Only members of this bucket.")
@click.option(
    "--second", is_flag=True, help="What others have read, for a second opinion that does not know the first."
)
@packet_options
@click.option("--with-tools", is_flag=True, help="Let the model read and search what is too long for a packet.")
@click.option("--allow-tools", is_flag=True, help="Start an agent although its tools are not known to be off.")
@click.option("--dry-run", is_flag=True, help="Only show what would be sent, and what it would cost.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask before spending.")
@reports_option
@shared_options
def command(
    runs: tuple[str, ...],
    parallel: int,
    max_cost: float | None,
    max_tokens: int | None,
    limit: int | None,
    case: str,
    owner: str | None,
    bucket: str,
    second: bool,
    taxonomy: str,
    blind: bool,
    dry_run: bool,
    yes: bool,
    options: Options,
    **whom: str | bool,
) -> None:
    """Have a model or a program read the failures of RUNS.

    Says first what it will cost. Each verdict is kept as soon as it is there; what was answered once is never asked
    again, so that a review which was broken off goes on where it stopped.
    """
    store = options.store
    request = Request(
        chosen=verbs.choose(ReviewerFlags(**whom), options.settings.reviewers),  # type: ignore[arg-type]
        limits=Limits(parallel=parallel, max_cost=max_cost, max_tokens=max_tokens),
        filters=Filters(case=case, owner=owner or "", bucket=bucket),
        wanted="second" if second else "unread",
        at_most=limit,
        taxonomy=taxonomy,
        blind=blind,
    )
    meant = list(verbs.runs_named(runs, store))
    plan = verbs.plan_review(meant, store, request, now=to_iso(datetime.now(UTC)))
    if not any(part.queue.failures for part in plan.parts):
        refuse_unknown(request.filters, meant, store)
    if not options.json:
        show_plan(plan)
    if dry_run:
        show_dry_run(plan, first_prompt(plan, store), as_json=options.json)
        return
    refuse_unpriced_cap(plan)
    tally = Tally(plan.packets)
    if plan.packets and not _may_begin(plan, yes=yes):
        say("nothing was asked")
        return
    with watched(plan, tally, as_json=options.json) as on_end:
        if plan.packets:
            verbs.review(plan, store, tally, on_end)
    _refuse_nothing(tally)


def _may_begin(plan: Plan, *, yes: bool) -> bool:
    """Whoever spends is asked first; where nobody can answer, a flag has to say so."""
    estimate, limits = plan.estimate, plan.request.limits
    if yes or not estimate.calls or estimate.cost == 0:
        return True
    if sys.stdin.isatty():
        return click.confirm("Begin?", default=True, err=True)
    if limits.max_cost is None and limits.max_tokens is None:
        cost = "an unknown sum" if estimate.cost is None else f"about {money(estimate.cost)}"
        raise SettingsError(
            f"This would make {estimate.calls:,} calls for {cost}, and nobody is here to be asked",
            hint="add `--yes`, or a cap: `--max-cost DOLLARS`, `--max-tokens N`; `--dry-run` shows what would be sent",
        )
    return True


def _refuse_nothing(tally: Tally) -> None:
    """What could not be done at all is an error, whatever was kept before."""
    if tally.stopped:
        raise ErrataError(f"The reviewer can't be asked any more: {tally.stopped}", hint="what was read so far is kept")
    if tally.failed and not tally.reviewed and not tally.refused:
        why = tally.reasons.most_common(1)[0][0]
        raise ErrataError(
            f"Not one failure could be reviewed: {why}", hint="`errata review status RUN` tells of all calls"
        )
