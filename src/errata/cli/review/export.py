"""`errata review export` and `import`: packets and verdicts in files."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, cast

import click

from errata.cli.options import OneOfMany, Options, Word, reports_option, shared_options
from errata.cli.output import plural, put, put_json, say
from errata.cli.progress import end_status_line
from errata.cli.review.options import no_failure, packet_options, reader_options
from errata.errors import SettingsError
from errata.model import StoredRun
from errata.model.filters import Filters
from errata.model.output.review import ImportedRowOutput, PacketExportOutput, RefusedRowOutput
from errata.model.times import now_as_text
from errata.model.words import OWNERS
from errata.render.files import replacing
from errata.review.import_answers import BadRow, ImportRequest, KeptRow
from errata.review.packet import PacketOptions
from errata.review.packet_size import BUDGET, UNLIMITED
from errata.review.redaction import redacted
from errata.review.tables import ExportRow, write_packets, write_rows, write_table
from errata.runs.names import are_judged_turns, runs_named
from errata.runs.review_context import question_for
from errata.verbs.review import export, has_failures, import_answers, inherit, reader_for

Rows = Callable[[int], Iterator[ExportRow]]
"""Called once for each file, with the token budget of a packet."""
Writer = Callable[[Rows, IO[str]], int]

PACKETS, TABLE = "packets.jsonl", "review.csv"
JUDGED_ROWS, JUDGED_TABLE = "failure_review_rows.jsonl", "failure_review_rows.csv"


@click.command("export")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="File, or folder for all formats.")
@click.option("--format", "form", type=Word(("jsonl", "csv")), help="Default: by file name, else JSON Lines.")
@click.option("--case", default="", help="Only cases whose name contains this text.")
@click.option("--owner", cls=OneOfMany, type=Word(OWNERS), help="Only failures with this owner by triage.")
@click.option("--bucket", default="", metavar="SLUG", help="Only failures in this bucket.")
@packet_options
@click.option("--force", is_flag=True, help="Overwrite existing files.")
@reports_option
@shared_options
def command(
    runs: tuple[str, ...],
    output: Path | None,
    form: str | None,
    case: str,
    owner: str | None,
    bucket: str,
    taxonomy: str,
    blind: bool,
    force: bool,
    options: Options,
) -> None:
    """Write failures to review as JSON Lines or a table.

    One packet per line, or one row per failure with empty columns to fill in; `errata review import` reads both. Runs
    from conversation-bench get the `failure_review_rows` columns.
    """
    store = options.store
    meant = list(runs_named(runs, store))
    question = question_for("", taxonomy) if taxonomy else None
    filters = Filters(case=case, owner=owner or "", bucket=bucket)
    if not has_failures(meant, store, filters):
        say(no_failure(filters, *runs))

    def rows(budget: int) -> Iterator[ExportRow]:
        packet_form = PacketOptions(question=question, blind=blind, budget=budget)
        return export(meant, store, filters, options=packet_form)

    if output is None:
        end_status_line()
        _writer(form or "jsonl", meant)(rows, sys.stdout)
        return
    files = _files(output, form, meant)
    _refuse_existing(files, force=force)
    for path, write in files.items():
        with replacing(path) as unfinished, unfinished.open("w", encoding="utf-8", newline="") as file:
            count = write(rows, file)
        if options.json:
            put_json(PacketExportOutput(file=str(path), rows=count))
        else:
            say(f"wrote {path} · {plural(count, 'row')}")


def _files(output: Path, form: str | None, runs: list[StoredRun]) -> dict[Path, Writer]:
    is_file = not output.is_dir() and (form is not None or output.suffix in (".csv", ".jsonl", ".json"))
    if is_file:
        return {output: _writer(form or ("csv" if output.suffix == ".csv" else "jsonl"), runs)}
    files: dict[Path, Writer] = {output / PACKETS: _writer("jsonl", runs), output / TABLE: _writer("csv", runs)}
    if are_judged_turns(runs):
        files[output / JUDGED_ROWS] = lambda rows, file: write_rows(rows(UNLIMITED), file, redact=redacted)
        files[output / JUDGED_TABLE] = lambda rows, file: write_table(
            rows(UNLIMITED), file, judged=True, redact=redacted, answers=False
        )
    return files


def _writer(form: str, runs: list[StoredRun]) -> Writer:
    if form == "jsonl":
        return lambda rows, file: write_packets(rows(BUDGET), cast(IO[bytes], _AsBytes(file)), redact=redacted)
    judged = are_judged_turns(runs)
    return lambda rows, file: write_table(rows(BUDGET), file, judged=judged, redact=redacted)


class _AsBytes:
    """A text file for writers of bytes."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, data: bytes) -> int:
        return self._file.write(data.decode("utf-8", "replace"))


def _refuse_existing(files: dict[Path, Writer], *, force: bool) -> None:
    there = next((path for path in files if path.exists()), None)
    if there is not None and not force:
        raise SettingsError(
            f"`{there}` already exists and may have been filled in", hint="use another name, or `--force`"
        )


REFUSED = 2


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@reader_options
@packet_options
@reports_option
@shared_options
def import_(file: Path, reviewer: str, model: str, person: bool, taxonomy: str, blind: bool, options: Options) -> int:
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
