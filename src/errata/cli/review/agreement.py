"""`errata review agreement`."""

from collections.abc import Mapping

import click

from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_command, put_json, say
from errata.cli.table import put_table
from errata.model.output.agreement import AgreementOutput, RaterAgreementOutput, RaterPairOutput, ReviewDisputeOutput
from errata.review.agreement import NONE
from errata.review.answers import NO_LABEL
from errata.runs.names import runs_named
from errata.verbs.review import agreement_of


@click.command("agreement")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@shared_options
def command(runs: tuple[str, ...], options: Options) -> None:
    """Measure agreement between independent reviewers.

    Cohen's kappa for two, Fleiss' kappa and Krippendorff's alpha for all, on the label, the owner, the decisive step
    and its agent. Inherited verdicts and adjudications do not count. Disputes are listed; a person decides them with
    `errata review next ATTEMPT`.
    """
    measured = agreement_of(list(runs_named(runs, options.store)), options.store)
    for agreement in measured:
        if options.json:
            put_json(agreement)
        else:
            _show(agreement)
    if not measured and not options.json:
        say("no reviews yet: start with `errata review run RUN` or `errata review next RUN`")


def _show(agreement: AgreementOutput) -> None:
    measured = agreement.agreement
    if not measured.attempts:
        put(f"{agreement.taxonomy} · no failure has two independent reviews, so agreement is unknown")
        return
    chance = " (all labels are the same)" if measured.alpha is None else ""
    alpha = f"Krippendorff's alpha {ratio(measured.alpha)}{chance}"
    fleiss = f" · Fleiss' kappa {ratio(measured.fleiss)}" if measured.fleiss is not None else ""
    put(f"{agreement.taxonomy} · {plural(measured.attempts, 'failure')} reviewed by two or more · {alpha}{fleiss}")
    fields = {"owner": agreement.owners, "step": agreement.steps, "agent": agreement.agents}
    for field, of_field in fields.items():
        _show_field(field, of_field, whole=measured.attempts)
    for pair in measured.pairs:
        put()
        kappa = f"Cohen's kappa {ratio(pair.kappa)}"
        put(f"{pair.first} and {pair.other}: {pair.same:,} of {pair.both:,} the same · {kappa}")
        for field, of_field in fields.items():
            _show_pair(field, next((one for one in of_field.pairs if _are_same(one, pair)), None), whole=pair.both)
        put_confusion(pair.confusion, rows=pair.first, columns=pair.other)
    if agreement.disputes:
        put()
        put(f"Disputed {len(agreement.disputes):,}")
    for dispute in agreement.disputes:
        _show_dispute(dispute)


def _show_field(field: str, agreement: RaterAgreementOutput, *, whole: int) -> None:
    if not agreement.attempts:
        return
    over = "" if agreement.attempts == whole else f" · {plural(agreement.attempts, 'failure')}"
    fleiss = f" · Fleiss' kappa {ratio(agreement.fleiss)}" if agreement.fleiss is not None else ""
    put(f"on the {field}{over} · Krippendorff's alpha {ratio(agreement.alpha)}{fleiss}")


def _show_pair(field: str, pair: RaterPairOutput | None, *, whole: int) -> None:
    if pair is None:
        return
    of = "" if pair.both == whole else f" of {pair.both:,}"
    put(f"  on the {field}: {pair.same:,}{of} the same · Cohen's kappa {ratio(pair.kappa)}")


def _are_same(first: RaterPairOutput, other: RaterPairOutput) -> bool:
    return (first.first, first.other) == (other.first, other.other)


def _show_dispute(dispute: ReviewDisputeOutput) -> None:
    labels = " · ".join(f"{who} {_opinion(dispute, who)}" for who in dispute.labels)
    decided = f"   decided: {dispute.decided}" if dispute.decided else ""
    put(f"  {dispute.case}   {labels}{decided}", hang=4)
    if not decided:
        put_command("", ["errata", "review", "next", dispute.attempt_id], indent=4)


def _opinion(dispute: ReviewDisputeOutput, reviewer: str) -> str:
    label, step, agent = dispute.labels[reviewer], dispute.steps[reviewer], dispute.agents[reviewer]
    owner = f" ({dispute.owners[reviewer]})" if label == NO_LABEL else ""
    at = f" at step {step}" if step != NONE else ""
    return f"{label}{owner}{at}{f' by {agent}' if agent != NONE else ''}"


def put_confusion(confusion: Mapping[str, Mapping[str, int]], *, rows: str, columns: str) -> None:
    """Printed only if they differ."""
    others = sorted({label for given in confusion.values() for label in given})
    if all(list(given) == [label] for label, given in confusion.items()):
        return
    put(f"  {rows} below, {columns} across", hang=4)
    cells = [("  " + label, *(given.get(other, 0) or "·" for other in others)) for label, given in confusion.items()]
    put_table(("", *others), cells, right=others)


def ratio(value: float | None) -> str:
    """A dash for a coefficient that is undefined."""
    return "–" if value is None else f"{value:.2f}"
