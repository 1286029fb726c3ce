"""`errata review agreement` and `calibrate`: reviewers against one another and against people."""

from collections.abc import Mapping
from pathlib import Path

import click
import msgspec

from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_command, put_json, say
from errata.cli.table import put_table
from errata.errors import SettingsError
from errata.model.counts import Interval, RightShare
from errata.model.identity import split_attempt_id
from errata.model.output.agreement import (
    AgreementOutput,
    CalibrateOutput,
    RaterAgreementOutput,
    RaterPairOutput,
    ReviewDisputeOutput,
    WhyRowSkipped,
)
from errata.review.agreement import NONE
from errata.review.answers import NO_LABEL
from errata.review.calibrate import Calibration, CalibrationResult, StepMeasure
from errata.runs.names import runs_named
from errata.verbs.review import agreement_of, calibrate_from_log, calibrate_reviewers
from errata.verbs.store import Store

SHOWN = 20
STANDING = "verdicts that count"

WHY_SKIPPED: dict[WhyRowSkipped, str] = {
    "contradicts_earlier_row": "an earlier row gives the same failure `{value}`",
    "no_failure_named": "does not name a failure: fill in `attempt_id` or `case`",
    "no_label": "has no label, step or agent",
    "no_run": "`{value}` is a case without a run: give the RUN, or add a column `run`",
    "not_a_failure": "`{value}` does not name a failure",
    "not_found": "`{value}` is not in the store",
    "unknown_label": "`{value}` is not a label of this taxonomy",
    "unknown_step": "`{value}` is not the number of a step",
}


@click.command("calibrate")
@click.argument("labels", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=False)
@click.argument("run", default="", metavar="[RUN]")
@click.option("--labels-from-log", default="", metavar="RUN", help="Use the human labels in RUN's log.")
@click.option("--taxonomy", default="", metavar="NAME", help="Taxonomy of the labels; default: the source's own.")
@shared_options
def command(labels: Path | None, run: str, labels_from_log: str, taxonomy: str, options: Options) -> None:
    """Measure reviewers against human labels.

    LABELS is a CSV file with `attempt_id` or `case`, and any of the columns `label`, `step` (the decisive step) and
    `agent`; cases belong to RUN, or to the run in a column `run`. A failure that a reviewer has not reviewed counts
    neither as right nor as wrong. Intervals are Wilson, 95 %.
    """
    measured = _measure(labels, run, labels_from_log, taxonomy, options.store)
    if options.json:
        put_json(msgspec.convert(measured, CalibrateOutput, from_attributes=True))
        return
    put(f"{plural(measured.labelled, 'failure')} labelled by people · {measured.taxonomy}")
    for reviewer, calibration in measured.reviewers.items():
        put()
        _show(reviewer, calibration)
    if measured.standing is not None:
        put()
        _show(STANDING, measured.standing)
    if not measured.reviewers:
        say("no reviewer has reviewed any of them")
    for row in measured.untaken:
        say(f"line {row.line}: {WHY_SKIPPED[row.why].format(value=row.value)}")


def _measure(labels: Path | None, run: str, from_log: str, taxonomy: str, store: Store) -> CalibrationResult:
    if bool(labels) == bool(from_log):
        problem = "Both a table and `--labels-from-log` are given" if labels else "There are no labels to compare with"
        hint = "`errata review calibrate LABELS.csv RUN`, or `errata review calibrate --labels-from-log RUN`"
        raise SettingsError(problem, hint=hint)
    if labels is None:
        return calibrate_from_log(from_log, store, taxonomy=taxonomy)
    return calibrate_reviewers(labels, run, store, taxonomy=taxonomy)


def _show(reviewer: str, calibration: Calibration) -> None:
    if calibration.compared:
        right = f"{calibration.right:,} of {calibration.compared:,} right"
        accuracy = f"accuracy {ratio(calibration.accuracy)}{_range(calibration.interval)}"
        put(f"{reviewer}   {right} · {accuracy} · Cohen's kappa {ratio(calibration.kappa)}")
        rows = [
            (row.label, row.true, row.given, row.right, ratio(row.precision), ratio(row.recall))
            for row in calibration.labels
        ]
        header = ("label", "people", "given", "right", "precision", "recall")
        put_table(header, rows, right=header[1:])
        put_confusion(calibration.confusion, rows="people", columns=reviewer)
    else:
        put(reviewer)
    _show_steps(calibration.steps)
    if calibration.agents is not None:
        put(f"  agent        {_share(calibration.agents)}")
    for attempt, people, given in calibration.misses[:SHOWN]:
        put(f"  {split_attempt_id(attempt).case}   people {people}, {reviewer} {given}", hang=4)
    if len(calibration.misses) > SHOWN:
        put(f"  and {len(calibration.misses) - SHOWN:,} more")


def _show_steps(steps: StepMeasure | None) -> None:
    if steps is None:
        return
    unnamed = f" · no step named {steps.unnamed:,}×" if steps.unnamed else ""
    put(f"  step exact   {_share(steps.exact)}{unnamed}")
    put(f"  step ±1      {_share(steps.within_one)}")
    put(f"  step ±3      {_share(steps.within_three)}")


def _share(share: RightShare) -> str:
    return f"{share.right:,} of {share.of:,} · {ratio(share.rate)}{_range(share.interval)}"


def _range(interval: Interval | None) -> str:
    return f" [{interval[0]:.2f}, {interval[1]:.2f}]" if interval else ""


@click.command("agreement")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@shared_options
def agreement(runs: tuple[str, ...], options: Options) -> None:
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
            _show_agreement(agreement)
    if not measured and not options.json:
        say("no reviews yet: start with `errata review run RUN` or `errata review next RUN`")


def _show_agreement(agreement: AgreementOutput) -> None:
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
