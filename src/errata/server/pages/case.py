"""`/cases/{suite}/{case}`: one case over all runs: who passes it, who owns its failures, and what was answered."""

from collections import Counter
from shlex import quote as shell_quoted
from statistics import fmean

from errata.errors import NotFoundError
from errata.model import Attempt
from errata.model.run import subject_label
from errata.model.times import spelled_span
from errata.render.blocks_html import page_text
from errata.render.charts import chip, owner_list, owner_strip
from errata.render.document import OwnerCount, OwnerStrip
from errata.render.figures import NONE, decimal, plural
from errata.server.exchange import Endpoint, Exchange, Page
from errata.server.layout import link, table
from errata.server.pages.addresses import attempt_address, run_page
from errata.server.pages.attempt_steps import folded
from errata.server.pages.attempt_texts import LinedText
from errata.verbs.pages import CaseInRun, case_over_runs, case_text

ANSWERS = 6
"""Answers that are shown side by side."""
NONE_NAMED = "-"
"""In the address: the suite of runs without one."""


def case(exchange: Exchange) -> Page:
    suite, name = exchange.values["suite"], exchange.values["case"]
    suite = "" if suite == NONE_NAMED else suite
    key = f"{suite}/{name}" if suite else name
    with_case = case_over_runs(suite, key, exchange.store) or case_over_runs(suite, name, exchange.store)
    if not with_case:
        raise NotFoundError(f"No run of `{suite or 'any suite'}` has the case `{name}`", hint="`/search` finds cases")
    task, expected = case_text(with_case, exchange.store)
    body = (
        f'<nav class="crumbs" aria-label="You are here">{link("/", "Runs")} / {page_text(suite or "no suite")}</nav>'
        f'<div class="head"><div><h1>{page_text(name)}</h1><p class="facts">{_facts(with_case)}</p></div></div>'
        f'<div class="cards">{_owners(with_case)}{_task(task, expected)}</div>'
        f'<section class="card"><h2>Runs</h2>{_runs(with_case)}</section>{_answers(with_case, expected)}'
    )
    command = f"errata show {shell_quoted(f'{with_case[0].stored.run.id}/{name}')}"
    return Page(title=f"{name} · {suite}", section="runs", body=body, command=command)


def _tries(with_case: list[CaseInRun]) -> list[Attempt]:
    return [entry for some in with_case for entry in some.attempts]


def _facts(with_case: list[CaseInRun]) -> str:
    tries = _tries(with_case)
    passed = sum(entry.outcome == "pass" for entry in tries)
    values = [entry.value for entry in tries if entry.value is not None]
    models = {subject_label(entry.stored.run) or entry.stored.run.native_id for entry in with_case}
    word = "models" if all(entry.stored.run.subject.model for entry in with_case) else "subjects"
    facts = (
        f"<b>{len(with_case):,}</b> runs",
        f"<b>{len(models):,}</b> {word}",
        f"mean <b>{decimal(fmean(values))}</b> of <b>{len(values):,}</b> results"
        if values
        else f"<b>{passed:,}</b> of <b>{len(tries):,}</b> attempts passed",
    )
    return "".join(f"<span>{fact}</span>" for fact in facts)


def _owners(with_case: list[CaseInRun]) -> str:
    counts = Counter(row.owner for entry in with_case for row in entry.rows)
    waiting = [entry for entry in with_case if not entry.is_ready]
    if waiting:
        words = f"Owners of {plural(len(waiting), 'run')} are being worked out."
        return f'<section class="card"><h2>Who has to act</h2><p>{words}</p></section>'
    if not counts:
        if any(attempt.value is not None for attempt in _tries(with_case)):
            return ""
        return '<section class="card"><h2>Who has to act</h2><p>No attempt at this case failed.</p></section>'
    strip = OwnerStrip(counts=tuple(OwnerCount(owner, count) for owner, count in counts.most_common()))
    return (
        f'<section class="card"><h2>Who has to act <span class="note">{plural(strip.total, "failure")}</span></h2>'
        f"{owner_strip(strip, page_text)}{owner_list(strip, page_text)}</section>"
    )


def _task(task: str, expected: str) -> str:
    if not task and not expected:
        return ""
    parts = ""
    if task:
        parts += f'<div class="step-text" dir="auto">{folded(LinedText("task", task))}</div>'
    if expected:
        parts += f'<h3>Expected</h3><div dir="auto">{folded(LinedText("expected", expected))}</div>'
    return f'<section class="card texts"><h2>Task</h2>{parts}</section>'


def _runs(with_case: list[CaseInRun]) -> str:
    return table(
        ("Model", "Attempts", "Started", "Tokens#", "Time#"),
        (
            (
                link(run_page(entry.stored.run.id), subject_label(entry.stored.run) or entry.stored.run.native_id),
                " ".join(
                    f'<a class="plain" href="{page_text(attempt_address(tried.id))}">{shown_result(tried, entry)}</a>'
                    for tried in entry.attempts[:20]
                ),
                page_text(spelled_span(entry.stored.run.started_at, None) or NONE),
                _sum([attempt.usage.subject.tokens for attempt in entry.attempts]),
                _sum([attempt.duration for attempt in entry.attempts], " s"),
            )
            for entry in with_case
        ),
        label="Runs of this case",
        kind="case-runs",
    )


def shown_result(attempt: Attempt, entry: CaseInRun) -> str:
    """The owner of the failure, else its number, else a sign."""
    row = next((row for row in entry.rows if row.attempt == attempt.id), None)
    if row is not None:
        return chip(row.owner, page_text)
    if attempt.value is not None:
        return f"<b>{decimal(attempt.value)}</b>"
    unknown = "waiting" if not entry.is_ready and attempt.is_failure else "none"
    return _OTHER.get(attempt.outcome, _OTHER[unknown])


_OTHER = {
    "pass": '<b class="k plain" title="passed">✓</b>',
    "partial": '<b class="k plain" title="passed in part">◐</b>',
    "none": '<b class="k plain" title="no result">–</b>',
    "waiting": '<b class="k plain" title="failed; its owner is being worked out">✕</b>',
}


def _sum(values: list[int | None] | list[float | None], unit: str = "") -> str:
    known = [value for value in values if value is not None]
    return f"{sum(known):,.0f}{unit}" if known else NONE


def _answers(with_case: list[CaseInRun], expected: str) -> str:
    """One of each run, side by side; equal ones once."""
    columns: dict[str, list[tuple[CaseInRun, Attempt]]] = {}
    for entry in with_case:
        attempt = entry.attempts[0]
        text = attempt.output.text if attempt.output.text is not None else attempt.output.answer
        if text is not None:
            columns.setdefault(text.strip(), []).append((entry, attempt))
    if not columns:
        return ""
    parts = []
    for at, (text, given) in enumerate(list(columns.items())[:ANSWERS]):
        names = ", ".join(
            link(attempt_address(attempt.id, "output"), subject_label(entry.stored.run) or entry.stored.run.native_id)
            for entry, attempt in given[:6]
        )
        more = f" and {len(given) - 6} more" if len(given) > 6 else ""
        first = given[0][1]
        sign = decimal(first.value) if first.value is not None else "✓" if first.outcome == "pass" else "✕"
        is_expected = ' <span class="badge">as expected</span>' if expected and text == expected.strip() else ""
        inner = folded(LinedText(f"answer-{at + 1}", text)) if text else '<p class="note">The answer is empty.</p>'
        parts.append(f'<section><p><b>{sign}</b> {names}{more}{is_expected}</p><div dir="auto">{inner}</div></section>')
    left = len(columns) - ANSWERS
    rest = f'<p class="more">{left:,} more answers are on the pages of the attempts.</p>' if left > 0 else ""
    return f'<section class="card texts"><h2>Answers</h2><div class="answers">{"".join(parts)}</div>{rest}</section>'


ENDPOINTS = (Endpoint(path="/cases/{suite}/{case:name}", handler=case, summary="One case over all runs."),)
