"""`/runs/{run}/cases/{case}/{attempt}`: what happened here, and which line proves it?"""

from shlex import quote as shell_quoted

import msgspec

from errata.errors import NotFoundError
from errata.model import Attempt
from errata.model.run import subject_label
from errata.model.words import NO_TRIAL
from errata.render.blocks_html import page_text
from errata.render.diff import diff_html
from errata.render.figures import NONE, decimal
from errata.server.exchange import Answer, Bytes, Endpoint, Exchange, Page
from errata.server.layout import link
from errata.server.pages.addresses import attempt_address, case_page, run_page
from errata.server.pages.attempt_side import (
    checks_card,
    kin_card,
    others_card,
    outline,
    same_card,
    signals_card,
    source_card,
)
from errata.server.pages.attempt_steps import folded, log_section, step_article, transcript
from errata.server.pages.attempt_texts import AttemptTexts, LinedText, as_text
from errata.server.pages.attempt_verdicts import ShownVerdict, marks_of, readings_of, verdict_columns
from errata.server.pages.run_query import RunQuery
from errata.server.problems import waiting_notice
from errata.text.lazy_regex import lazy_regex
from errata.text.outgoing import page_lines
from errata.verbs.pages import (
    Neighbours,
    ShownAttempt,
    case_over_runs,
    known_run,
    neighbours_of,
    row_of,
    same_failures,
    shown_attempt,
    signal_owners,
)

LONG_DIFF = 400
"""Lines of an answer up to which it is compared word by word."""
KEYS = (
    ("n N", "Next or previous evidence"),
    ("j k", "Next or previous step"),
    ("d", "The decisive step"),
    ("1 2 3", "Verifier, task, last message"),
    ("e E", "Unfold or fold everything"),
    ("[ ]", "Previous or next failure of the list"),
    ("M", "Render messages as Markdown, or show them as they are"),
    ("V", "Give a verdict"),
)
_STEP = lazy_regex(r"step-(\d+)")


class AttemptPageQuery(RunQuery, frozen=True, kw_only=True):
    """The list that one came from, and how much of a long transcript is shown."""

    steps: str = ""
    """`all` shows every step."""
    log: str = ""
    """The name of a log that is shown whole."""
    verdict: str = ""


class StepRange(msgspec.Struct, frozen=True, kw_only=True):
    """Steps of a transcript by their numbers."""

    start: int = msgspec.field(name="from", default=1)
    to: int = 1_000_000


def found_attempt(exchange: Exchange) -> ShownAttempt:
    stored = known_run(exchange.values["run"], exchange.store)
    case, number = exchange.values["case"], exchange.values["attempt"]
    whole = f"{stored.run.suite}/{case}" if stored.run.suite else case
    for key in dict.fromkeys((whole, case)):
        try:
            return shown_attempt(stored, key, number, exchange.store)
        except NotFoundError as error:
            missing = error
    raise NotFoundError(
        f"This run has no attempt {number} at the case `{case}`", hint=f"its failures: {run_page(stored.run.id)}"
    ) from missing


def attempt(exchange: Exchange) -> Answer:
    shown = found_attempt(exchange)
    query = exchange.arguments(AttemptPageQuery)
    stored, store, tried = shown.stored, exchange.store, shown.attempt
    texts = AttemptTexts(tried, shown.case)
    readings = readings_of(shown.review)
    marks = list(marks_of(shown, readings))
    texts.put(marks)
    marked = frozenset(int(found[1]) for place in texts.places.values() if (found := _STEP.match(place)))
    row = row_of(tried, stored, store)
    around = neighbours_of(row, stored, store, query.filters) if row is not None else None
    everywhere = case_over_runs(stored.run.suite, tried.case, store) if stored.run.suite else []
    side = (
        checks_card(tried, texts)
        + signals_card(shown, texts, signal_owners(shown.attribution))
        + same_card(same_failures(row, stored, store) if row is not None else None, shown)
        + others_card(shown, everywhere)
        + kin_card(shown)
        + source_card(shown)
    )
    path = attempt_address(tried.id)
    body = (
        _head(shown, around, query)
        + verdict_columns(shown, readings, marks, texts)
        + f'<div class="columns-3">{outline(texts, marked)}<div class="transcript card">'
        + _transcript(shown, texts, readings, marked, path, query)
        + f'</div><div class="side">{side}</div></div>'
    )
    is_waiting = tried.is_failure and shown.attribution is None
    if is_waiting and exchange.large_runs is not None:
        exchange.large_runs.derive_soon(stored.run.id)
        body = waiting_notice(stored.run.id, str(exchange.large_runs.progress_of(stored.run.id) or "")) + body
    title = f"{shown.case_name} · {subject_label(stored.run) or stored.run.native_id}"
    command = f"errata show {shell_quoted(tried.id)}"
    scripts = ("attempt.js", "markdown.js", *(["waiting.js"] if is_waiting else []))
    return Page(title=title, section="runs", body=body, command=command, keys=KEYS, scripts=scripts)


def steps(exchange: Exchange) -> Bytes:
    """Steps of a long transcript without the frame."""
    shown = found_attempt(exchange)
    wanted = exchange.arguments(StepRange)
    texts = AttemptTexts(shown.attempt, shown.case)
    readings = readings_of(shown.review)
    texts.put(marks_of(shown, readings))
    parts = (
        step_article(step, texts, frozenset(), _decisive(readings))
        for step in shown.attempt.steps
        if wanted.start <= step.index <= wanted.to
    )
    return Bytes(content="".join(parts).encode("utf-8"), media_type="text/html; charset=utf-8")


# the head


def _head(shown: ShownAttempt, around: Neighbours | None, query: AttemptPageQuery) -> str:
    run, tried = shown.stored.run, shown.attempt
    name = subject_label(run) or run.native_id
    crumbs = (
        f'<nav class="crumbs" aria-label="You are here">{link("/", "Runs")} / '
        f'<a href="{page_text(query.address(run.id, at=tried.id))}">'
        f"{page_text(f'{name} on {run.suite}' if run.suite else name)}</a> / "
        f"{page_text(shown.case_name)}</nav>"
    )
    number = f' <span class="with">{shown.place}</span>' if shown.of > 1 else ""
    native = (
        f" <code>{page_text(tried.native_id)}</code>" if tried.native_id and tried.native_id != shown.case_name else ""
    )
    case = link(case_page(run.suite or "-", shown.case_name), shown.case_name, kind="plain")
    return (
        f'{crumbs}<div class="head"><div><h1>{case}{number}{native}</h1>{_facts(tried)}</div>'
        f'<div class="actions">{_neighbours(around, query)}</div></div>'
    )


def _neighbours(around: Neighbours | None, query: AttemptPageQuery) -> str:
    if around is None:
        return ""
    links = "".join(
        f'<a class="button" rel="{rel}" data-key="{key}" aria-label="{word} failure"'
        f' href="{page_text(attempt_address(row.attempt, **query.chosen))}"><span>{word}</span><kbd>{key}</kbd></a>'
        for rel, key, word, row in (
            ("prev", "[", "Previous", around.previous),
            ("next", "]", "Next", around.following),
        )
        if row is not None
    )
    return (
        f'<span class="position">{around.at:,} of {around.of:,}</span>{links}'
        '<button type="button" data-does="next-evidence" hidden><kbd>n</kbd> next evidence</button>'
    )


def _facts(tried: Attempt) -> str:
    own = (
        [tried.native_status]
        if tried.native_status and tried.native_status not in (tried.execution, tried.outcome)
        else []
    )
    if tried.reported is not None and tried.value is None:
        own.append(f"reported {tried.reported:g}")
    harness = f' <span class="note">harness: {page_text(", ".join(own))}</span>' if own else ""
    usage = tried.usage.subject
    tokens = (
        f"{usage.input:,} in, {usage.output or 0:,} out"
        if usage.input is not None
        else f"{usage.tokens:,}"
        if usage.tokens is not None
        else NONE
    )
    facts = [
        ("execution", page_text(tried.execution)),
        ("measurement", page_text(tried.measurement)),
        ("outcome", (page_text(tried.outcome) if tried.value is None else decimal(tried.value)) + harness),
        *([("origin", page_text(NO_TRIAL[tried.origin]))] if tried.origin in NO_TRIAL else ()),
        ("time", f"{tried.duration:,.0f} s" if tried.duration is not None else NONE),
        ("tokens", tokens),
    ]
    if tried.stop_reason:
        facts.append(("stopped by", page_text(tried.stop_reason)))
    if tried.limit is not None:
        value = f" {tried.limit.value:g}" if tried.limit.value is not None else ""
        facts.append(("limit", page_text(f"{tried.limit.type}{value} {tried.limit.reason}")))
    if tried.native_reason:
        facts.append(("reason", page_text(tried.native_reason, 300)))
    listed = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts)
    return f'<dl class="three" id="facts">{listed}</dl>'


# the transcript


def _decisive(readings: list[ShownVerdict]) -> dict[int, list[str]]:
    decisive: dict[int, list[str]] = {}
    for reading in readings:
        if reading.verdict.decisive_step is not None:
            decisive.setdefault(reading.verdict.decisive_step, []).append(reading.letter)
    return decisive


def _transcript(
    shown: ShownAttempt,
    texts: AttemptTexts,
    readings: list[ShownVerdict],
    marked: frozenset[int],
    path: str,
    query: AttemptPageQuery,
) -> str:
    tried = shown.attempt
    parts = [_task(texts)]
    if tried.thinned:
        parts.append(f'<p class="none">Thinned on {tried.thinned[:10]}: only the steps that are cited are kept.</p>')
    if tried.steps:
        parts.append(transcript(texts, marked, _decisive(readings), path=path, whole=query.steps == "all"))
    else:
        parts.append('<p class="none">This log holds no transcript. Below is everything that it has.</p>')
    parts.append(_answer(shown, texts))
    for at, passage in enumerate(texts.errors, 1):
        error = tried.errors[at - 1]
        recovered = ' <span class="badge">recovered</span>' if error.recovered else ""
        parts.append(
            f'<article class="event{" evidence" if passage.spans else ""}" id="error-{at}"><h3><span>Error</span>'
            f'<code>{page_text(error.type)}</code>{recovered}<span class="numbers">{page_text(error.phase)}</span></h3>'
            f'<div class="error" dir="auto">{folded(passage)}</div></article>'
        )
    for judgement, passage in texts.judges:
        name = judgement.judge or judgement.model
        parts.append(
            f'<article class="event{" evidence" if passage.spans else ""}" id="{page_text(passage.anchor)}"><h3>'
            f"<span>Judge {page_text(name)}</span></h3>"
            f'<div class="text" dir="auto">{folded(passage)}</div></article>'
        )
    for artefact in tried.artefacts:
        log = texts.files.get(artefact.path) if artefact.role == "log" else None
        if log is not None:
            whole = "" if query.log == log.anchor else f"{path}?log={log.anchor}"
            parts.append(log_section(artefact.path, log, size=artefact.size, whole=whole))
        elif artefact.role == "log":
            missing = "is not text" if artefact.binary else "was not imported"
            parts.append(f'<p class="none">The log names <code>{page_text(artefact.path)}</code>, which {missing}.</p>')
    return "".join(parts)


def _task(texts: AttemptTexts) -> str:
    first = texts.attempt.steps[0] if texts.attempt.steps else None
    if texts.task is None or (first is not None and page_lines(first.text).strip() == texts.task.text.strip()):
        return ""
    kind = "text" if texts.case is not None and isinstance(texts.case.input, str) else "data"
    return (
        f'<article class="event{" evidence" if texts.task.spans else ""}" id="task"><h3><span>Task</span></h3>'
        f'<div class="{kind}" dir="auto">{folded(texts.task)}</div></article>'
    )


def _answer(shown: ShownAttempt, texts: AttemptTexts) -> str:
    """Beside the expected one, word by word; alone where the log has none, and not again after the last step."""
    wanted = shown.case.expected if shown.case is not None else None
    expected = as_text(wanted)
    answer = shown.attempt.output.text or shown.attempt.output.answer or ""
    is_short = max(answer.count("\n"), expected.count("\n")) <= LONG_DIFF
    if expected and answer and is_short and isinstance(wanted, str | int | float):
        inner = diff_html(answer, expected, captions=("answer", "expected"), clean=page_lines)
        marked = folded(texts.output) if texts.output is not None and texts.output.spans else ""
        whole = f'<div class="text" dir="auto">{marked}</div>' if marked else ""
        return (
            f'<article class="event" id="output"><h3><span>Answer and expectation</span></h3>{whole}{inner}</article>'
        )
    return _output(shown, texts, answer) + _expected(expected)


def _output(shown: ShownAttempt, texts: AttemptTexts, answer: str) -> str:
    last = next((step for step in reversed(shown.attempt.steps) if step.text), None)
    is_shown = last is not None and last.text.strip() == answer.strip()
    if texts.output is None or (is_shown and not texts.output.spans):
        return ""
    inner = folded(texts.output) if texts.output.text else '<p class="note">The answer is empty.</p>'
    return (
        f'<article class="event{" evidence" if texts.output.spans else ""}" id="output"><h3><span>Answer</span></h3>'
        f'<div class="text" dir="auto">{inner}</div></article>'
    )


def _expected(expected: str) -> str:
    if not expected:
        return ""
    inner = folded(LinedText("expected", expected))
    head = "<h3><span>Expected</span></h3>"
    return f'<article class="event" id="expected">{head}<div class="data" dir="auto">{inner}</div></article>'


ENDPOINTS = (
    Endpoint(
        path="/runs/{run}/cases/{case:name}/{attempt}/steps",
        handler=steps,
        query=StepRange,
        summary="Some steps of a transcript.",
    ),
    Endpoint(
        path="/runs/{run}/cases/{case:name}/{attempt}",
        handler=attempt,
        query=AttemptPageQuery,
        summary="An attempt with its transcript, checks and verdicts.",
    ),
)
