"""`errata review next`, `submit`, `release` and `tasks`: a packet, at a terminal the question, and the verdict."""

import json
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import IO, Any

import click

from errata.cli.options import OneOfMany, Options, Word, reports_option, shared_options
from errata.cli.output import plural, put, put_command, put_json, say
from errata.cli.render.packet import FORMS, show_lease, show_packet, show_readings
from errata.cli.render.suspects import put_suspects
from errata.cli.review.options import no_failure, packet_options, reader_options
from errata.json_output.review import accepted_output, next_output, nothing_output, rejected_output
from errata.model import Packet, Reviewer
from errata.model.filters import Filters
from errata.model.identity import is_task_id
from errata.model.output.review import ReleaseOutput
from errata.model.verdict import DROPPED, word_for
from errata.model.words import OWNERS
from errata.review.answers import CONFIDENCES, NO_LABEL, labels_to_give, owners_without_label
from errata.review.redaction import packet_hash
from errata.review.stored.lease import LeasedPacket, LeaseRequest, NothingWaiting
from errata.review.submit import AcceptedVerdict, RejectedVerdict, Submission, read_submission, text_of
from errata.runs.names import handle_of, runs_named
from errata.text.lazy_regex import lazy_regex
from errata.text.shell import command_line
from errata.verbs.review import lease_next, reader_for, release, released_if_interrupted, submit_verdict, suspects_of
from errata.verbs.store import Store

_LINES = lazy_regex(r"(?P<place>.+?):(?P<first>\d+)(?:-(?P<last>\d+))?")
_WHO = "; programs without `--model MODEL@VERSION` are one reviewer"
RETURNED = "reviewed before, evidence changed since"


@click.command("next")
@click.argument("thing", metavar="RUN | RUN/CASE | ATTEMPT | FOLDER | BUCKET")
@click.argument("bucket_name", default="", metavar="[BUCKET]")
@reader_options
@click.option("--another", is_flag=True, help="Get one more, in addition to those leased to you.")
@click.option(
    "--second", is_flag=True, help="Review failures that others have reviewed, without seeing their verdicts."
)
@click.option("--tasks", is_flag=True, help="Review suspect tasks instead of failures.")
@click.option("--adjudicate", is_flag=True, help="Decide between verdicts that disagree; shows them without names.")
@click.option("--case", default="", help="Only cases whose name contains this text.")
@click.option("--owner", cls=OneOfMany, type=Word(OWNERS), help="Only failures with this owner by triage.")
@click.option("--bucket", default="", metavar="SLUG", help="Only failures in this bucket.")
@packet_options
@click.option("--format", "form", type=Word(FORMS), help="Print the packet in this format, without questions.")
@reports_option
@shared_options
def command(
    thing: str,
    bucket_name: str,
    reviewer: str,
    model: str,
    person: bool,
    case: str,
    owner: str | None,
    bucket: str,
    form: str | None,
    options: Options,
    **how: Any,
) -> None:
    """Get the next failure to review.

    FOLDER holds runs or a comparison, BUCKET is the slug or id of a cause; `RUN BUCKET` is short for `--bucket`.

    At a terminal, shows the packet and asks for label, cause and note. Otherwise prints it as JSON, with an answer to
    fill in for `errata review submit`; it is then leased to you for an hour. Until you submit it, you get the same one
    again; `errata review release` returns it.
    """
    store = options.store
    asks = sys.stdin.isatty() and sys.stdout.isatty() and not options.json and form is None
    who = reader_for(reviewer, options.settings, kind="person" if person or asks else "agent", model=model)
    request = LeaseRequest(
        reviewer=who, filters=Filters(case=case, owner=owner or "", bucket=bucket or bucket_name), **how
    )
    leased = lease_next(thing, store, request, now=datetime.now(UTC))
    as_json = not asks and (options.json or form != "text")
    if isinstance(leased, NothingWaiting):
        _show_nothing(leased, request, thing, as_json=as_json)
        return
    _show_remarks(leased)
    if as_json:
        command = command_line(["errata", "review", "release", leased.packet.attempt_id])
        say(f"leased to `{word_for(who)}` until {leased.until}; `{command}` returns it")
        put_json(next_output(leased, who))
        return
    with released_if_interrupted(leased, store, who):
        show_packet(leased.packet)
        show_readings(leased.readings)
        if asks:
            if owner is None:
                put("The owner by rules is hidden, so that your verdict is independent; `errata show` shows it.")
            put("Give labels by name or number. Ctrl-C quits and returns the failure unreviewed.")
            ask_and_submit(leased, store, who)
        else:
            show_lease(leased, who)


def _show_remarks(leased: LeasedPacket) -> None:
    if leased.again:
        say(f"already leased to you until {leased.until}: {leased.case}; `--another` gets one more")
    if leased.returned:
        say(f"{RETURNED}: {leased.case}")
    if leased.also:
        say(f"also leased to you: {', '.join(leased.also)}")


def _show_nothing(nothing: NothingWaiting, request: LeaseRequest, thing: str, *, as_json: bool) -> None:
    sentence = why_nothing(nothing, request, thing)
    if not as_json:
        put(sentence)
        return
    say(sentence)
    put_json(nothing_output(nothing, request))


def why_nothing(nothing: NothingWaiting, asked: LeaseRequest, run: str) -> str:
    word, is_unnamed = word_for(asked.reviewer), asked.reviewer.caller.startswith("program:")
    if asked.tasks:
        progress = f"{nothing.read:,} of {plural(nothing.failures, 'suspect task')} reviewed"
        return f"no suspect task is waiting for `{word}`: {progress}"
    if not nothing.failures:
        return no_failure(asked.filters, run)
    if nothing.in_hand:
        command = command_line(["errata", "review", "release", run, "--reviewer", asked.reviewer.name])
        hint = f"submit them, or return them with `{command}`"
        return f"everything that is waiting is leased to `{word}`, {nothing.in_hand:,} in all: {hint}"
    if asked.adjudicate:
        return f"no dispute is waiting for `{word}`"
    if asked.second:
        return f"nothing that others have reviewed is waiting for `{word}`{_WHO if is_unnamed else ''}"
    progress = f"nothing is waiting for `{word}`: {nothing.read:,} of {plural(nothing.failures, 'failure')} reviewed"
    if nothing.others:
        return f"{progress}; `--second` gives {nothing.others:,} that others have reviewed"
    return progress


def ask_and_submit(leased: LeasedPacket, store: Store, who: Reviewer) -> None:
    while True:
        submitted = Submission(
            which=leased.packet.attempt_id,
            lease=leased.token,
            packet_hash=packet_hash(leased.packet),
            taxonomy=leased.packet.question.taxonomy,
            adjudicates=leased.adjudicates,
            answer=json.dumps(_answer(leased.packet), ensure_ascii=False),
        )
        result = submit_verdict(submitted, store, who, now=datetime.now(UTC))
        if not isinstance(result, RejectedVerdict):
            show_taken(result, as_json=False)
            say(f"{leased.waiting:,} more waiting")
            return
        show_reasons(result, as_json=False)


def _answer(packet: Packet) -> dict[str, Any]:
    label = _word("Label", labels_to_give(packet.question))
    answer: dict[str, Any] = {"label": label}
    if label == NO_LABEL:
        answer["owner"] = _word("Owner", owners_without_label(packet.question))
    answer["cause"] = click.prompt("Cause, in one sentence", err=True)
    answer["evidence"] = list(_quotes(packet))
    answer["reasoning"] = _text("Why (optional)")
    note = _text("Doubts, what could not be checked (optional)")
    answer["doubts"] = [note] if note else []
    if packet.facts.get("steps"):
        answer |= {"decisive_step": _text("Decisive step (number; empty if none)").strip() or None}
    answer["confidence"] = _word("Confidence", CONFIDENCES, default="likely")
    return answer


def _text(asked: str) -> str:
    return str(click.prompt(asked, default="", show_default=False, err=True))


def _word(asked: str, words: Sequence[str], default: str | None = None) -> str:
    """By its name, its number, or an unambiguous start of its name."""
    while True:
        given = str(click.prompt(f"{asked} ({', '.join(words)})", default=default, err=True)).strip()
        if given.isdecimal() and 1 <= int(given) <= len(words):
            return words[int(given) - 1]
        meant = [word for word in words if word.casefold().startswith(given.casefold())]
        exact = [word for word in meant if word.casefold() == given.casefold()]
        if len(exact or meant) == 1:
            return (exact or meant)[0]
        say(f"`{given}` is not one of them: give a name or a number from 1 to {len(words)}")


def _quotes(packet: Packet) -> Iterator[dict[str, str]]:
    """`run.log:13` or `task:2-4`: quotes these lines verbatim."""
    while given := _text("Evidence as PLACE:LINE or PLACE:FIRST-LAST (empty to continue)").strip():
        quote = quote_at(packet, given)
        if quote is None:
            say(f"there is no `{given}`; the texts are {', '.join(place.place for place in packet.places)}")
        else:
            say(f"  > {quote['quote']}")
            yield quote


def quote_at(packet: Packet, given: str) -> dict[str, str] | None:
    named = _LINES.fullmatch(given)
    if named is None:
        return None
    texts = {place.place: place.text for place in packet.places}
    first = int(named["first"])
    lines = texts.get(named["place"], "").split("\n")[first - 1 : int(named["last"] or first)] if first else []
    quote = "\n".join(lines).strip()
    return {"place": named["place"], "quote": quote} if quote else None


@click.command("release")
@click.argument("thing", metavar="RUN | RUN/CASE | ATTEMPT")
@reader_options
@shared_options
def release_packets(thing: str, reviewer: str, model: str, person: bool, options: Options) -> None:
    """Return failures that you have not reviewed.

    Returns one failure, or all of a RUN that are leased to you. Every reviewer can get them again at once.
    """
    who = reader_for(reviewer, options.settings, kind="person" if person else "agent", model=model)
    released = release(thing, options.store, who, now=datetime.now(UTC))
    if options.json:
        put_json(ReleaseOutput(reviewer=word_for(who), released=tuple(released)))
    elif released:
        put(f"{plural(len(released), 'failure')} returned by `{word_for(who)}`")
        for attempt in released:
            put(f"  {attempt}", hang=4)
    else:
        put(f"`{word_for(who)}` has no lease on `{thing}`")


@click.command("tasks")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@shared_options
def tasks(runs: tuple[str, ...], options: Options) -> None:
    """List suspect tasks: passed by few models or none.

    Shows the evidence against each task; tasks with evidence come first. With one RUN, all runs of its suite in the
    store are taken into account. `errata review next RUN --tasks` gives a task to review.
    """
    chosen = list(runs_named(runs, options.store))
    suspects = suspects_of(chosen, options.store)
    if options.json:
        put_json(suspects)
        return
    handle = handle_of(chosen[0], options.store)
    if not suspects and suspects.failed_by_all:
        put_suspects(suspects, handle)
        return
    if not suspects:
        models = plural(len(suspects.subjects), "model")
        put(f"No suspect tasks: {models} in the store for this suite" if suspects.subjects else _too_few())
        return
    put_suspects(suspects, handle, every=True)
    put_command("Next", ["errata", "review", "next", handle, "--tasks"], "review them, one by one")


def _too_few() -> str:
    return "Suspect tasks need several models on the same suite, and the store holds only one"


REFUSED = 2
LARGEST = 4 * 1024 * 1024
NAMED = 20


@click.command("submit")
@click.argument("file", default="-", type=click.File("rb"))
@reader_options
@reports_option
@shared_options
def submit(file: IO[bytes], reviewer: str, model: str, person: bool, options: Options) -> int:
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
