"""`errata review import`."""

from collections import Counter
from pathlib import Path

import click

from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_json, say
from errata.cli.review.options import packet_options, reader_options
from errata.cli.shared_options import reports_option
from errata.model.output.review import ImportedRowOutput, RefusedRowOutput
from errata.model.times import now_as_text
from errata.review.import_answers import BadRow, ImportRequest, KeptRow
from errata.verbs.review import import_answers, inherit, reader_for

REFUSED = 2


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@reader_options
@packet_options
@reports_option
@shared_options
def command(file: Path, reviewer: str, model: str, person: bool, taxonomy: str, blind: bool, options: Options) -> int:
    """Import verdicts from a completed file.

    FILE is a table or JSON Lines from `errata review export`, or any with `attempt_id` and a verdict's fields.
    Rows without an answer are skipped. Bad rows are listed with their line and the exit code is 2; the other rows are
    imported. Earlier verdicts are kept.
    """
    store = options.store
    who = reader_for(reviewer or file.stem, options.settings, kind="person" if person else "file", model=model)
    at = now_as_text()
    reading = ImportRequest(reviewer=who, at=at, taxonomy=taxonomy, blind=blind)
    states: Counter[str] = Counter()
    kept: list[KeptRow] = []
    for row in import_answers(file, store, reading):
        states["refused" if isinstance(row, BadRow) else row.kept.state] += 1
        if isinstance(row, KeptRow):
            kept.append(row)
        _show(row, as_json=options.json)
    inherited = inherit([row.kept.verdict for row in kept], store, at)
    if not options.json:
        counts = [f"{states[state]:,} {state}" for state in ("new", "changed", "unchanged", "refused")]
        put(f"{plural(len(kept), 'verdict')} imported · {' · '.join(counts)}")
        if inherited:
            say(f"{plural(inherited, 'failure')} of the same crash inherited a verdict")
    return REFUSED if states["refused"] else 0


def _show(row: KeptRow | BadRow, *, as_json: bool) -> None:
    if as_json:
        put_json(_json_of(row))
    elif isinstance(row, BadRow):
        for reason in row.reasons:
            put(f"line {row.line:<4} {row.case}   refused: {reason}", hang=10)
    elif row.kept.old_label not in ("", row.kept.verdict.label):
        put(f"line {row.line:<4} {row.case}   {row.kept.old_label} → {row.kept.verdict.label}", hang=10)


def _json_of(row: KeptRow | BadRow) -> ImportedRowOutput | RefusedRowOutput:
    if isinstance(row, BadRow):
        return RefusedRowOutput(line=row.line, case=row.case or None, reasons=row.reasons)
    verdict = row.kept.verdict
    return ImportedRowOutput(
        line=row.line,
        case=row.case,
        state=row.kept.state,
        id=verdict.id,
        attempt_id=verdict.attempt,
        label=verdict.label,
        old_label=row.kept.old_label or None,
    )
