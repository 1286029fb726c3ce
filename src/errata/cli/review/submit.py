"""`errata review submit`."""

from datetime import UTC, datetime
from typing import IO

import click

from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_json, say
from errata.cli.review.options import reader_options
from errata.cli.shared_options import reports_option
from errata.json_output.review import accepted_output, rejected_output
from errata.model.identity import is_task_id
from errata.model.verdict import DROPPED
from errata.review.submit import AcceptedVerdict, RejectedVerdict, read_submission, text_of
from errata.verbs.review import reader_for, submit_verdict

REFUSED = 2
LARGEST = 4 * 1024 * 1024
NAMED = 20


@click.command("submit")
@click.argument("file", default="-", type=click.File("rb"))
@reader_options
@reports_option
@shared_options
def command(file: IO[bytes], reviewer: str, model: str, person: bool, options: Options) -> int:
    """Submit a verdict.

    FILE holds one JSON object; default: standard input. Its quotes must occur at the places it names. A rejected
    verdict changes nothing: the reasons are listed, the exit code is 2, and you keep the packet.
    """
    given = read_submission(text_of(file.read(LARGEST)))
    who = reader_for(reviewer, options.settings, kind="person" if person else "agent", model=model)
    result = submit_verdict(given, options.store, who, now=datetime.now(UTC))
    if isinstance(result, RejectedVerdict):
        show_reasons(result, as_json=options.json)
        return REFUSED
    show_taken(result, as_json=options.json)
    return 0


def show_taken(accepted: AcceptedVerdict, *, as_json: bool) -> None:
    verdict, kept = accepted.kept.verdict, accepted.kept
    if as_json:
        put_json(accepted_output(accepted))
        return
    change = f" (was {kept.old_label})" if kept.old_label not in ("", verdict.label) else ""
    known = "   unchanged" if kept.state == "unchanged" else ""
    put(f"{accepted.case}   {verdict.label}{change} · {verdict.owner}   {verdict.id}{known}")
    if verdict.needs_second:
        say("it rests on text that the subject could have written: not final until another reviewer agrees")
    if accepted.inherited:
        what = "this task" if is_task_id(verdict.attempt) else "the same crash"
        say(f"{plural(accepted.inherited, 'failure')} of {what} inherited it")
    for note in verdict.extra.get(DROPPED, ()):
        say(f"accepted without one part: {note}")
    if accepted.ignored:
        say(f"ignored unknown fields: {', '.join(accepted.ignored)}")


def show_reasons(rejected: RejectedVerdict, *, as_json: bool) -> None:
    """What is wrong, and the valid choices."""
    choices = {name: list(words) for name, words in (("labels", rejected.labels), ("places", rejected.places)) if words}
    if as_json:
        put_json(rejected_output(rejected))
        return
    say("this verdict is rejected:")
    for reason in rejected.reasons:
        say(f"  - {reason}")
    for name, words in choices.items():
        # skip what a reason already lists
        if not any(all(word in reason for word in words) for reason in rejected.reasons):
            more = f" and {len(words) - NAMED} more" if len(words) > NAMED else ""
            say(f"{name}: {', '.join(words[:NAMED])}{more}")
