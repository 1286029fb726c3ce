"""`errata show`."""

import click

from errata.cli.options import Options, Word, raw_option, reports_option, shared_options
from errata.cli.output import money, number, plural, put, put_json
from errata.cli.render import packet as packet_page
from errata.cli.render.fields import place_of
from errata.cli.render.packet import FORMS
from errata.cli.render.runs import attempts_in_words, without_verdict
from errata.cli.show_attempt import show_attempt
from errata.errors import NotFoundError
from errata.render.figures import mean_words, parts_of_cost
from errata.review.packet import PacketOptions
from errata.runs.show import ShownAttempt, ShownRun, find_shown
from errata.verbs.review import packet_of
from errata.verbs.store import Store


@click.command("show")
@click.argument("thing", metavar="RUN | RUN/CASE | ATTEMPT")
@click.option("--full", is_flag=True, help="Show whole texts, files and transcript.")
@click.option("--packet", is_flag=True, help="Show the packet that a reviewer gets.")
@click.option("--format", "form", type=Word(FORMS), default="json", help="Format of the packet.")
@reports_option
@raw_option
@shared_options
def command(thing: str, full: bool, packet: bool, form: str, raw: bool, options: Options) -> None:
    """Show a run, a case or an attempt, with evidence.

    Name a case after its run: `errata show jn7mqywb/003-mutations/005-batch_insert`; add `#2` for the second attempt.
    """
    store = options.store
    shown = find_shown(thing, store)
    if packet:
        show_packet(shown, store, form="json" if options.json else form, raw=raw)
    elif options.json:
        put_json(shown.as_json(), raw=raw)
    elif isinstance(shown, ShownAttempt):
        show_attempt(shown, full=full, raw=raw)
    else:
        show_run(shown, raw=raw)


MOST = 12
HANG = 11
LARGE = 1e12


def show_run(shown: ShownRun, *, raw: bool) -> None:
    run, counts = shown.stored.run, shown.stored.counts

    def line(label: str, text: str) -> None:
        if text:
            put(f"{label:<10} {text}", hang=HANG, raw=raw)

    put(f"Run {run.native_id}", raw=raw)
    line("id", f"{run.id} · revision {run.revision} · imported {shown.stored.imported_at}")
    line("source", f"{run.source.name} {run.source.format_version}".rstrip() + f" · {place_of(run.origin)}")
    agent = " ".join(part for part in (run.subject.agent, run.subject.agent_version) if part)
    line("subject", " · ".join(part for part in (run.subject.model, run.subject.provider, agent) if part))
    line("suite", " · ".join([part for part in (run.suite, run.suite_version) if part]))
    line("variant", ", ".join(f"{name} {value}" for name, value in run.variant.items()))
    line("roles", ", ".join(f"{role} {model}" for role, model in run.roles.items()))
    line("time", " – ".join(part for part in (run.started_at, run.finished_at) if part))
    line("status", run.native_status)
    if run.excluded is not None:
        line("EXCLUDED", f"{run.excluded.reason} ({run.excluded.by}, {run.excluded.at})")
    put()
    line("cases", f"{counts.cases:,}" + (f" of {run.expected_cases:,} expected" if run.expected_cases else ""))
    more = counts.attempts - counts.counted
    line(
        "attempts",
        ", ".join(
            [attempts_in_words(shown.stored), *([f"{more:,} replaced or nested attempts not counted"] if more else [])]
        ),
    )
    line("outcome", _listed(counts.outcomes))
    line("execution", _listed(counts.executions))
    line("measured", _listed(counts.measurements))
    unjudged = without_verdict(shown.stored)
    rows = f" ({counts.failures - unjudged:,} failed rows, {unjudged:,} not scored)" if unjudged else ""
    line("mean", f"{mean_words(counts.mean)} over {plural(counts.values, 'result')}" if counts.mean is not None else "")
    is_rated = counts.mean is None and not counts.has_only_labels
    line("labels", _listed(counts.labels) if counts.has_only_labels else "")
    line("failures", f"{counts.failures:,}{rows}" if counts.failures or is_rated else "")
    line("failed", _listed(counts.failed_checks) if counts.failures or counts.mean is None else "")
    line("unreadable", str(counts.unreadable) if counts.unreadable else "")
    parts = parts_of_cost(shown.cost_of_subject, shown.cost_of_simulator, None)
    line("cost", f"{money(counts.cost)}{parts}" if counts.cost is not None else "")
    line("tokens", number(counts.tokens) if counts.tokens is not None else "")
    for session in run.sessions:
        line(f"session {session.number}", " · ".join(part for part in (session.started_at, session.pattern) if part))
    _reported(shown, raw=raw)


def _reported(shown: ShownRun, *, raw: bool) -> None:
    reported = [figure for figure in shown.stored.run.reported if figure.value is not None]
    if not reported:
        return
    put()
    put("the harness's own numbers", raw=raw)
    for figure in reported[:MOST]:
        amount = figure.value or 0.0
        value = f"{amount:,.0f}" if amount.is_integer() and abs(amount) < LARGE else f"{amount:,.6g}"
        of = f" of {figure.n:,}" if figure.n is not None else ""
        put(f"  {figure.name:<32} {figure.metric:<12} {value}{of}{'  headline' if figure.headline else ''}", raw=raw)
    if len(reported) > MOST:
        put(f"  … {len(reported) - MOST} more with --json")


def _listed(counts: dict[str, int]) -> str:
    """The most frequent. A suite with separate checks for every case has too many to list."""
    ordered = sorted(counts.items(), key=lambda pair: -pair[1])
    more = f" · {len(ordered) - MOST} others" if len(ordered) > MOST else ""
    return " · ".join(f"{name} {count:,}" for name, count in ordered[:MOST]) + more


def show_packet(shown: ShownRun | ShownAttempt, store: Store, *, form: str, raw: bool) -> None:
    """Redacted as it would be sent."""
    if not isinstance(shown, ShownAttempt):
        hint = "name a case: `errata show RUN/CASE --packet`; `errata review export RUN` writes all"
        raise NotFoundError("A packet is about one failure, not about a run", hint=hint)
    packet = packet_of(shown.attempt.id, store, options=PacketOptions(raw=raw))
    if form == "text":
        packet_page.show_packet(packet, raw=raw)
    else:
        put_json(packet, raw=raw)
