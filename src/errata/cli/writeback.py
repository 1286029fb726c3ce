"""`errata writeback`."""

from collections import Counter
from pathlib import Path

import click

from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_command, put_json
from errata.cli.render.fields import place_of
from errata.cli.render.runs import title_of
from errata.cli.table import put_parts, put_table
from errata.model.output.act import WritebackChange, WritebackOutput, WritebackRun
from errata.runs.names import handle_of
from errata.verbs.export import write_settled
from errata.verbs.store import Store
from errata.writeback.files import LEFT_TEXT, LogChange, WrittenBack, opinion_text

FOLDER = "writeback"
LISTED = 12


@click.command("writeback")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@click.option("-o", "--output", "output", type=click.Path(path_type=Path), default=FOLDER, show_default=True)
@shared_options
def command(runs: tuple[str, ...], output: Path, options: Options) -> None:
    """Write owners and verdicts into copies of the harness's logs.

    Changes no log. For Inspect, writes score edits and invalidations, and a script that applies them to a copy of the
    log. For promptfoo, writes a copy of the export with comments. Covers only failures that are not the model's, by a
    final verdict or a certain rule.
    """
    store = options.store
    for at, made in enumerate(write_settled(runs, store, output)):
        if options.json:
            put_json(_json_of(made))
            continue
        if at:
            put()
        _show(made, store)


def _show(made: WrittenBack, store: Store) -> None:
    for run in made.runs:
        put(title_of(run.stored.run, handle_of(run.stored, store)))
    failures = len(made.changes) + sum(made.left.values())
    if not made.changes:
        put(f"Nothing to write back among {plural(failures, 'failure')}")
    else:
        put_parts("Write", [f"{len(made.changes):,} of {plural(failures, 'failure')}", *_tally(made)])
    if made.left:
        put_parts("left out", [f"{LEFT_TEXT[why]} {count:,}" for why, count in made.left.items()])
    if not made.changes:
        return
    put()
    rows = [(_case_of(change), change.do, opinion_text(change.settled.opinion)) for change in made.changes]
    put_table(("case", "do", "because"), rows[:LISTED], give_way=("because",), whole=("case",))
    if len(rows) > LISTED:
        put(f"… {len(rows) - LISTED:,} more in the files")
    put()
    put_parts("wrote", [place_of(str(one.path.absolute())) for one in made.files])
    words = [place_of(word) if Path(word).is_absolute() else word for word in made.command]
    put_command("next", words, "shows what it would change" if "--dry-run" in words else "")
    put("No log was changed.")


def _case_of(change: LogChange) -> str:
    settled = change.settled
    return settled.case + (f" #{settled.attempt.index}" if settled.attempt.index > 1 else "")


def _tally(made: WrittenBack) -> list[str]:
    often = Counter((change.do, change.settled.opinion.owner) for change in made.changes)
    return [f"{do} {owner} {count:,}" for (do, owner), count in often.most_common()]


def _json_of(made: WrittenBack) -> WritebackOutput:
    return WritebackOutput(
        runs=tuple(WritebackRun(run=one.stored.run.native_id, run_id=one.stored.run.id) for one in made.runs),
        source=made.runs[0].stored.run.source.name,
        log=str(made.log),
        changes=tuple(map(_json_of_change, made.changes)),
        left=made.left,
        files=tuple(str(one.path) for one in made.files),
        command=made.command,
    )


def _json_of_change(change: LogChange) -> WritebackChange:
    settled, opinion = change.settled, change.settled.opinion
    return WritebackChange(
        do=change.do,
        run_id=settled.attempt.run,
        case=settled.case,
        attempt=settled.attempt.index,
        owner=opinion.owner,
        by=opinion.by,
        author=opinion.author,
        version=opinion.version,
        confidence=opinion.confidence,
        cause=opinion.cause or None if opinion.by == "verdict" else None,
    )
