"""A run on the terminal."""

from textwrap import wrap

from errata.cli.output import WIDTH, money, number, plural, put
from errata.pipeline.showing import ShownRun

MOST = 12


def show_run(shown: ShownRun, *, raw: bool) -> None:
    run, counts = shown.stored.run, shown.stored.counts

    def line(label: str, text: str) -> None:
        # a path stays in one piece, so that it can be copied
        for at, part in enumerate(wrap(text, WIDTH - 11, break_long_words=False, break_on_hyphens=False)):
            put(f"{'' if at else label:<10} {part}", raw=raw)

    put(f"Run {run.native_id}", raw=raw)
    line("id", f"{run.id} · revision {run.revision} · imported {shown.stored.imported_at}")
    line("source", f"{run.source.name} {run.source.format_version}".rstrip() + f" · {run.origin}")
    line("subject", " · ".join(part for part in (run.subject.model, run.subject.provider, run.subject.agent) if part))
    line("suite", " · ".join([part for part in (run.suite, run.suite_version) if part]))
    line("variant", ", ".join(f"{name} {value}" for name, value in run.variant.items()))
    line("roles", ", ".join(f"{role} {model}" for role, model in run.roles.items()))
    line("time", " – ".join(part for part in (run.started_at, run.finished_at) if part))
    line("status", run.native_status)
    if run.excluded is not None:
        line("EXCLUDED", f"{run.excluded.reason} ({run.excluded.by}, {run.excluded.at})")
    put()
    line("cases", f"{counts.cases}" + (f" of {run.expected_cases} expected" if run.expected_cases else ""))
    line("attempts", f"{plural(counts.counted, 'counted attempt')} of {counts.attempts}")
    line("outcome", _listed(counts.outcomes))
    line("execution", _listed(counts.executions))
    line("measured", _listed(counts.measurements))
    line("failures", str(counts.failures))
    line("failed", _listed(counts.failed_checks))
    line("unreadable", str(counts.unreadable) if counts.unreadable else "")
    line("cost", money(counts.cost) if counts.cost is not None else "")
    line("tokens", number(counts.tokens) if counts.tokens is not None else "")
    for session in run.sessions:
        line(f"session {session.number}", " · ".join(part for part in (session.started_at, session.pattern) if part))
    if run.reported:
        put()
        put("the harness's own numbers", raw=raw)
        for reported in run.reported[:MOST]:
            value = "–" if reported.value is None else f"{reported.value:g}"
            of = f" of {reported.n}" if reported.n is not None else ""
            mark = "  headline" if reported.headline else ""
            put(f"  {reported.name:<32} {reported.metric:<12} {value}{of}{mark}", raw=raw)
        if len(run.reported) > MOST:
            put(f"  … {len(run.reported) - MOST} more with --json")


def _listed(counts: dict[str, int]) -> str:
    return " · ".join(f"{name} {count}" for name, count in sorted(counts.items(), key=lambda pair: -pair[1]))
