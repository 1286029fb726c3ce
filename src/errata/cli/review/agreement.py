"""`errata review agreement`."""

import click
import msgspec

from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_command, put_json, say
from errata.cli.render.confusion import put_confusion, ratio
from errata.model.output.review import AgreementOutput
from errata.review.agreement import ReviewDispute, TaxonomyAgreement
from errata.review.answers import NO_LABEL
from errata.runs.names import runs_named
from errata.verbs.review import agreement_of


@click.command("agreement")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@shared_options
def command(runs: tuple[str, ...], options: Options) -> None:
    """Tell how far independent reviewers of RUNS agree.

    Cohen's kappa for two, Fleiss' kappa and Krippendorff's alpha for all. What an identical failure inherited does not
    count. What they disagree about is listed: a person decides with `errata review next ATTEMPT`.
    """
    found = agreement_of(list(runs_named(runs, options.store)), options.store)
    for one in found:
        if options.json:
            put_json(msgspec.convert(one, AgreementOutput, from_attributes=True))
        else:
            _show(one)
    if not found and not options.json:
        say("nobody has reviewed anything yet: `errata review run RUN` or `errata review next RUN` begins")


def _show(found: TaxonomyAgreement) -> None:
    measured = found.agreement
    if not measured.attempts:
        put(f"{found.taxonomy} · no failure was read by two independent reviewers: agreement cannot be given")
        return
    chance = " (all gave one label, as chance alone would)" if measured.alpha is None else ""
    alpha = f"Krippendorff's alpha {ratio(measured.alpha)}{chance}"
    fleiss = f" · Fleiss' kappa {ratio(measured.fleiss)}" if measured.fleiss is not None else ""
    put(f"{found.taxonomy} · {plural(measured.attempts, 'failure')} read by two or more · {alpha}{fleiss}")
    fleiss = f" · Fleiss' kappa {ratio(found.owners.fleiss)}" if found.owners.fleiss is not None else ""
    put(f"on who has to act · Krippendorff's alpha {ratio(found.owners.alpha)}{fleiss}")
    for pair, owner in zip(measured.pairs, found.owners.pairs, strict=True):
        put()
        kappa = f"Cohen's kappa {ratio(pair.kappa)}"
        put(f"{pair.first} and {pair.other}: {pair.same:,} of {pair.both:,} the same · {kappa}")
        put(f"  on who has to act: {owner.same:,} the same · Cohen's kappa {ratio(owner.kappa)}")
        put_confusion(pair.confusion, rows=pair.first, columns=pair.other)
    if found.disputes:
        put()
        put(f"Disputed {len(found.disputes):,}")
    for dispute in found.disputes:
        _show_dispute(dispute)


def _show_dispute(dispute: ReviewDispute) -> None:
    said = [(reviewer, label, dispute.owners[reviewer]) for reviewer, label in dispute.labels.items()]
    labels = " · ".join(f"{who} {label}" + (f" ({owner})" if label == NO_LABEL else "") for who, label, owner in said)
    decided = f"   a person decided: {dispute.decided}" if dispute.decided else ""
    put(f"  {dispute.case}   {labels}{decided}", hang=4)
    if not decided:
        put_command("", ["errata", "review", "next", dispute.attempt_id], indent=4)
