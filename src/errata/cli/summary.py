"""What `errata analyze` says of a run: the score, whose failures they are, what they share, what to do next."""

from errata.cli.attempts_in_words import beside
from errata.cli.check import put_findings
from errata.cli.fitting import WIDTH, columns, cut, padded
from errata.cli.harness_words import counted_in
from errata.cli.output import money, number, plural, put, put_command, put_quote, say
from errata.cli.render.history import show_memory, tell_history
from errata.cli.render.scores import put_bracket
from errata.cli.runs import title_of
from errata.cli.table import put_parts
from errata.runs.causes import Cause
from errata.runs.summary import Analysis
from errata.runs.without_failures import untold_of
from errata.text.clean import one_line

MOST_CAUSES = 5
MOST_CHECKS = 8
MOST_CATEGORIES = 10
CHECK_NAME = 40
BAR = 20
CAUSE = 72


def tell_summary(analysis: Analysis) -> None:
    """The talk before the result: what was done, a line each."""
    run, counts = analysis.stored.run, analysis.stored.counts
    made = counts.attempts_in_log
    checks = sum(sum(often for status, often in one.items() if status != "not_run") for one in counts.checks.values())
    word = counted_in(run, "attempts")
    more = counts.attempts - counts.counted
    of = "" if made <= counts.cases else f" of {plural(counts.cases, 'case')}"
    read = ", ".join([f"{plural(made, 'attempt' if of else word)}{of}", *beside(analysis.stored)])
    read += f", {more:,} more not counted" if more else ""
    measured = f", {plural(checks, 'check')}" if checks else ""
    say(f"read      {run.source.name} · {read}{measured} · {number(counts.unreadable)} unreadable")
    say(f"checkup   {_finished(analysis)}{analysis.health.summary}")
    if counts.failures:
        unknown = analysis.unknown_to_triage
        known = counts.failures - unknown
        say(f"triage    {plural(counts.failures, 'failure')} · {known:,} attributed · {unknown:,} unknown")
        tell_history(analysis)
    say()


def _finished(analysis: Analysis) -> str:
    run, counts = analysis.stored.run, analysis.stored.counts
    never = sum(counts.executions.get(one, 0) for one in ("missing", "unfinished", "skipped"))
    if run.expected_cases is None or analysis.unit == "attempts" or untold_of(analysis.stored):
        return ""
    finished = counts.cases - never
    return f"{finished:,} of {plural(run.expected_cases, f'planned {counted_in(run, analysis.unit)}')} finished · "


def show_summary(analysis: Analysis, *, kept: bool) -> None:
    run = analysis.stored.run
    if run.excluded is not None:
        put(f"EXCLUDED from every score: {run.excluded.reason}")
    if analysis.unavailable is not None:
        _show_unavailable(analysis)
    elif analysis.all_passed and analysis.health.fit:
        put(f"Run {analysis.handle} · {run.subject.model} · {_passed(analysis)} passed. Nothing to analyse.")
        _show_grave(analysis)
    else:
        _show_failures(analysis)
        if kept:
            _show_next(analysis)


def _show_unavailable(analysis: Analysis) -> None:
    run, scores = analysis.stored.run, analysis.scores.scores
    assert analysis.unavailable is not None
    put(f"Run {analysis.handle} · {run.subject.model} · UNAVAILABLE: {analysis.unavailable.text}:", hang=2)
    for evidence in analysis.unavailable.evidence[:1]:
        put_quote(evidence.quote, indent=2)
    strict = f"strict {scores['strict'].passed:,}/{scores['strict'].total:,}"
    left = plural(0, counted_in(run, analysis.unit))
    put(f"This run says nothing about the model. Score: {strict}, clean n/a ({left} left).")


def _show_failures(analysis: Analysis) -> None:
    run, counts = analysis.stored.run, analysis.stored.counts
    put(title_of(run, analysis.handle))
    if counts.failures:
        read = f"{analysis.reviewed:,} of {plural(counts.failures, 'failure')} reviewed"
        inherited = f", {analysis.inherited:,} inherited" if analysis.inherited else ""
        where = f" (`errata score {analysis.handle}` counts by the verdicts)" if analysis.reviewed else ""
        put(f"{_where_owners_come_from(analysis)}; {read}{inherited}{where}", hang=4)
    else:
        put(f"{analysis.without_failures}.", hang=4)
    put()
    if _basis(analysis):
        put(f"Passed   {_passed(analysis)}{_rate(analysis)}{_basis(analysis)}")
    put_bracket(analysis.scores)
    put()
    _show_owners(analysis)
    _show_causes(analysis)
    _show_steps(analysis)
    _show_categories(analysis)
    show_memory(analysis)
    _show_cost(analysis)
    _show_grave(analysis)


def _where_owners_come_from(analysis: Analysis) -> str:
    failures = analysis.stored.counts.failures
    by_rules = failures - analysis.reviewed - analysis.inherited
    if by_rules == failures:
        return "PROVISIONAL: owners come from rules"
    if by_rules:
        return f"PROVISIONAL: owners of {plural(by_rules, 'failure')} come from rules"
    if analysis.need_second:
        return f"PROVISIONAL: owners come from verdicts, {analysis.need_second:,} without the second they need"
    return "Owners come from verdicts"


def _show_grave(analysis: Analysis) -> None:
    grave = [finding for finding in analysis.health.findings if finding.severity != "info"]
    if grave:
        put()
        put_findings(grave)


def _show_owners(analysis: Analysis) -> None:
    most = max((one.count for one in analysis.owners), default=0)
    digits = max(4, len(f"{most:,}"))
    for at, one in enumerate(analysis.owners):
        bar = "█" * max(1, round(BAR * one.count / most))
        head = "Owners" if at == 0 else f"(of {analysis.stored.counts.failures})" if at == 1 else ""
        line = f"{head if len(head) <= 8 else '':<8} {one.owner:<12} {one.count:>{digits},}   {bar}"
        only = "" if one.because_of_it == one.count else "e.g. "
        put(f"{line}   {only}{one_line(one.reason)}" if one.reason else line, hang=columns(line) + 3)
    if analysis.owners:
        put()


def _show_causes(analysis: Analysis) -> None:
    causes = analysis.causes
    shown = causes.shared[:MOST_CAUSES]
    texts = [_cause(cause) for cause in shown]
    width = max(map(columns, texts), default=0)
    room = WIDTH - 9 - width - 3
    beside = all(len(cause.cases) < room and columns(", ".join(cause.cases)) <= room for cause in shown)
    for at, (text, cause) in enumerate(zip(texts, shown, strict=True)):
        head = f"{'' if at else 'Causes':<8} {padded(text, width)}"
        put(f"{head}   {_names(cause.cases, room)}" if beside else head.rstrip())
        if not beside:
            put(f"{'':<12} {_names(cause.cases, WIDTH - 13)}")
    more = causes.shared[MOST_CAUSES:]
    if more:
        put(f"         {plural(len(more), 'more text is', 'more texts are')} shared too")
    if causes.alone:
        word = "failure shares" if causes.alone == 1 else "failures share"
        put(f"{'' if shown else 'Causes':<8} {causes.alone:,} {word} no error text with another")


def _cause(cause: Cause) -> str:
    text = one_line(cause.text, CAUSE)
    return f'{cause.count:,}× "{text}"' if cause.verbatim else f"{cause.count:,}× {text}"


def _names(cases: tuple[str, ...], room: int) -> str:
    """As many as a line holds, and how many more there are."""
    told = cases[0]
    for at, case in enumerate(cases[1:], 1):
        longer, left = f"{told}, {case}", len(cases) - at - 1
        if columns(longer) + (len(f" +{left:,}") if left else 0) > room:
            return f"{cut(told, room - len(f' +{left + 1:,}'))} +{left + 1:,}"
        told = longer
    return cut(told, room)


def _show_steps(analysis: Analysis) -> None:
    """What failed first, the commonest first; suites with a check of its own for every case have too many to list."""
    named = [(one_line(name or "none", CHECK_NAME), count) for name, count in analysis.first_failed]
    if not named or (len(named) == 1 and not analysis.first_failed[0][0]):
        return
    parts = [f"{name} {count:,}" for name, count in named[:MOST_CHECKS]]
    rest = named[MOST_CHECKS:]
    if rest:
        parts.append(f"{len(rest):,} others {sum(count for _, count in rest):,}")
    word = "step" if analysis.in_steps else "check"
    put_parts(f"{word.capitalize()}s", parts, f"(first failed {word})")


def _show_categories(analysis: Analysis) -> None:
    told = [f"{name} {failed:,}/{total:,}" for name, failed, total in analysis.categories]
    rest = told[MOST_CATEGORIES:]
    parts = [*told[:MOST_CATEGORIES], *([f"and {plural(len(rest), 'other')}"] if rest else [])]
    if parts:
        put_parts("Category", parts, "(failures / attempts)")


def _show_cost(analysis: Analysis) -> None:
    counts = analysis.stored.counts
    if counts.cost is None:
        return
    unknown = counts.counted - counts.cost_known - counts.executions.get("missing", 0)
    rest = f", unknown for {plural(unknown, 'attempt')}" if unknown else ""
    spent = f" · {number(counts.tokens)} tokens" if counts.tokens is not None else ""
    put(f"Cost     {money(counts.cost, 2 if counts.cost >= 1 else 4)}{rest}{spent}")


def _show_next(analysis: Analysis) -> None:
    """Commands to go on with; each is there today."""
    handle, failures = analysis.handle, analysis.stored.counts.failures
    shown = f"{handle}/{analysis.first_case}" if analysis.first_case else handle
    again = analysis.scores.to_repeat
    steps = []
    if failures:
        steps.append((["errata", "failures", handle], f"the {plural(failures, 'failure')}, with reasons"))
    if again:
        steps.append((["errata", "rerun", handle], f"how to repeat the {again:,} left out of clean; runs nothing"))
    if any(finding.severity == "info" for finding in analysis.health.findings):
        steps.append((["errata", "check", handle], "what else is to be said of the run"))
    width = max((len(" ".join(words)) for words, _ in steps), default=0)
    steps.append((["errata", "show", shown], ""))
    put()
    for at, (words, note) in enumerate(steps):
        put_command("" if at else "Next", words, note, width=width)


def _passed(analysis: Analysis) -> str:
    unit = " attempts" if analysis.unit == "attempts" else ""
    return f"{analysis.passed:,} of {analysis.total:,}{unit}"


def _rate(analysis: Analysis) -> str:
    told = analysis.total and not analysis.not_judged
    return f"   {100 * analysis.passed / analysis.total:.1f} %" if told else ""


def _basis(analysis: Analysis) -> str:
    if analysis.by_harness:
        return f"   as the harness counts; {plural(analysis.stored.counts.cases, 'case')} in the log"
    return "   nothing was judged" if analysis.not_judged else ""
