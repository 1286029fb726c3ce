"""`errata review calibrate`."""

from pathlib import Path

import click
import msgspec

from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_json, say
from errata.cli.review.agreement import put_confusion, ratio
from errata.cli.table import put_table
from errata.model.identity import split_attempt_id
from errata.model.output.review import CalibrateOutput, WhyRowSkipped
from errata.review.calibrate import Calibration
from errata.verbs.review import calibrate_reviewers

SHOWN = 20

WHY_SKIPPED: dict[WhyRowSkipped, str] = {
    "contradicts_earlier_row": "an earlier row gives the same failure the label `{value}`",
    "no_failure_named": "names no failure: fill in `attempt_id` or `case`",
    "no_label": "has no label",
    "no_run": "`{value}` is a case without a run: give the RUN, or add a column `run`",
    "not_a_failure": "`{value}` names no failure",
    "not_found": "`{value}` is not in the store",
    "unknown_label": "`{value}` is not a label of this taxonomy",
}


@click.command("calibrate")
@click.argument("labels", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("run", default="", metavar="[RUN]")
@click.option("--taxonomy", default="", metavar="NAME", help="Taxonomy of the labels; default: the source's own.")
@shared_options
def command(labels: Path, run: str, taxonomy: str, options: Options) -> None:
    """Measure reviewers against labels given by people.

    LABELS is a CSV file with the columns `label`, and `attempt_id` or `case`; cases belong to RUN, or to the run in a
    column `run`. A failure that a reviewer has not reviewed counts neither as right nor as wrong.
    """
    measured = calibrate_reviewers(labels, run, options.store, taxonomy=taxonomy)
    if options.json:
        put_json(msgspec.convert(measured, CalibrateOutput, from_attributes=True))
        return
    put(f"{plural(measured.labelled, 'failure')} labelled by people · {measured.taxonomy}")
    for reviewer, calibration in measured.reviewers.items():
        put()
        _show(reviewer, calibration)
    if not measured.reviewers:
        say("no reviewer has reviewed any of them")
    for row in measured.untaken:
        say(f"line {row.line}: {WHY_SKIPPED[row.why].format(value=row.value)}")


def _show(reviewer: str, calibration: Calibration) -> None:
    right = f"{calibration.right:,} of {calibration.compared:,} right"
    put(f"{reviewer}   {right} · accuracy {ratio(calibration.accuracy)} · Cohen's kappa {ratio(calibration.kappa)}")
    rows = [
        (row.label, row.true, row.given, row.right, ratio(row.precision), ratio(row.recall))
        for row in calibration.labels
    ]
    header = ("label", "people", "given", "right", "precision", "recall")
    put_table(header, rows, right=header[1:])
    put_confusion(calibration.confusion, rows="people", columns=reviewer)
    for attempt, people, given in calibration.misses[:SHOWN]:
        put(f"  {split_attempt_id(attempt).case}   people {people}, {reviewer} {given}", hang=4)
    if len(calibration.misses) > SHOWN:
        put(f"  and {len(calibration.misses) - SHOWN:,} more")
