"""Beside a transcript: outline, checks, signals, the same failure and the same case elsewhere, and the source."""

from collections.abc import Iterable, Sequence
from shlex import quote as shell_quoted

from errata.model import Attempt, Check, Step
from errata.model.places import anchor_of, slug
from errata.model.run import case_name, subject_label
from errata.render.blocks_html import page_text
from errata.render.charts import chip
from errata.render.figures import NONE
from errata.server.layout import link
from errata.server.pages.addresses import attempt_address, case_page, run_page
from errata.server.pages.attempt_steps import folded, has_evidence, title_of
from errata.server.pages.attempt_texts import AttemptTexts
from errata.server.pages.case import shown_result
from errata.verbs.pages import CaseInRun, SameFailures, ShownAttempt

MOST = 60
"""Entries of the outline."""
OTHERS = 8
"""Other runs with the same case."""
_SIGNS = {"pass": ("✓", "passed"), "fail": ("✕", "failed"), "error": ("!", "error")}


def outline(texts: AttemptTexts, marked: frozenset[int]) -> str:
    """Steps with evidence, and as many of the others as fit."""
    steps = texts.attempt.steps
    every = max(1, len(steps) // MOST)
    chosen = [
        step
        for at, step in enumerate(steps)
        if at % every == 0 or step.index in marked or has_evidence(texts.steps[step.index])
    ]
    items = "".join(_entry(step, texts, marked) for step in chosen)
    logs = "".join(
        f'<li><a href="#{page_text(passage.anchor)}"><span></span><span>{page_text(passage.anchor)}</span>'
        f"{_SQUARE if passage.spans else ''}</a></li>"
        for passage in texts.files.values()
    )
    heads = f"<h3>{len(steps):,} steps</h3><ul>{items}</ul>" if steps else ""
    files = f"<h3>Logs</h3><ul>{logs}</ul>" if logs else ""
    return f'<nav class="outline card" aria-label="Outline">{heads}{files}</nav>' if heads or files else ""


_SQUARE = '<i class="square" title="evidence"></i>'


def _entry(step: Step, texts: AttemptTexts, marked: frozenset[int]) -> str:
    square = _SQUARE if step.index in marked or has_evidence(texts.steps[step.index]) else ""
    title = page_text(title_of(step, texts))
    return f'<li><a href="#step-{step.index}"><span class="no">{step.index}</span><span>{title}</span>{square}</a></li>'


def checks_card(attempt: Attempt, texts: AttemptTexts) -> str:
    if not attempt.checks:
        return _card("Checks", "<p>The log has no checks of this attempt.</p>")
    rows = "".join(_check(check, texts) for check in sorted(attempt.checks, key=lambda entry: entry.order))
    return _card("Checks", f'<ul class="checks">{rows}</ul>')


def _check(check: Check, texts: AttemptTexts) -> str:
    sign, word = _SIGNS.get(check.status, (NONE, check.status))
    value = "" if check.value is None or isinstance(check.value, bool) else page_text(str(check.value), 40)
    lasted = f"{check.duration:,.0f} s" if check.duration is not None else ""
    counts = "" if check.counts else ' <span class="note">does not count</span>'
    passage = texts.checks.get(check.name)
    words = f'<div class="explained" dir="auto">{folded(passage)}</div>' if passage is not None else ""
    kind = "failed" if check.failed else ""
    return (
        f'<li id="check-{slug(check.name)}" class="{kind}"><span class="sign" title="{page_text(word)}">{sign}</span>'
        f'<span>{page_text(check.name)}{counts}<span class="hidden"> {page_text(word)}</span></span>'
        f'<span class="note">{value or lasted}</span>{words}</li>'
    )


def signals_card(shown: ShownAttempt, texts: AttemptTexts, owners: dict[str, str]) -> str:
    attribution = shown.attribution
    if attribution is None or not attribution.signals:
        return ""
    rows = "".join(
        f"<li>{chip(owners[entry.name], page_text) if entry.name in owners else _NO_CHIP}"
        f" <code>{page_text(entry.name)}</code>"
        f' <a class="note" href="#{page_text(anchor_of(entry.where, texts.logs))}">{page_text(entry.where)}</a></li>'
        for entry in attribution.signals
    )
    return _card("Signals", f'<ul class="signals">{rows}</ul>')


_NO_CHIP = '<b class="k plain"></b>'


def same_card(same: SameFailures | None, shown: ShownAttempt) -> str:
    if same is None:
        return ""
    run = shown.stored.run
    named = ", ".join(link(attempt_address(row.attempt), case_name(run, row.case_key)) for row in same.first)
    more = same.count - len(same.first) - 1
    chosen = {"key": same.key} if same.key else {"bucket": same.bucket}
    rest = f" and {link(run_page(run.id, group='none', **chosen), f'{more:,} more')}" if more > 0 else ""
    words = f"<p>{named}{rest}.</p>"
    return _card("Same failure key" if same.key else "Same cause", words, note=f"{same.count:,} in this run")


def others_card(shown: ShownAttempt, everywhere: Sequence[CaseInRun]) -> str:
    run = shown.stored.run
    others = [entry for entry in everywhere if entry.stored.run.id != run.id]
    page = link(case_page(run.suite or "-", shown.case_name), "All runs of this case")
    if not others:
        return _card("Same case, other runs", f"<p>No other run of {page_text(run.suite or 'this suite')} has it.</p>")
    rows = "".join(_other(entry) for entry in others[:OTHERS])
    return _card("Same case, other runs", f'<ul class="signals">{rows}</ul><p>{page}</p>', note=f"{len(others)}")


def _other(entry: CaseInRun) -> str:
    attempt = entry.attempts[0]
    run = entry.stored.run
    page = link(attempt_address(attempt.id), subject_label(run) or run.native_id)
    return f"<li>{shown_result(attempt, entry)} {page}</li>"


def source_card(shown: ShownAttempt) -> str:
    attempt, run = shown.attempt, shown.stored.run
    places = [str(attempt.ref)] if attempt.ref is not None else []
    places += [str(entry.ref) for entry in attempt.artefacts[:4] if entry.ref is not None]
    command = f"errata show {shell_quoted(attempt.id)}"
    rows = "".join(
        f'<li><code>{page_text(place)}</code><button type="button" data-does="copy-beside" hidden>Copy</button></li>'
        for place in (*dict.fromkeys(places), command)
    )
    below = f'<p class="note">below <code>{page_text(run.origin)}</code></p>' if run.origin else ""
    return _card("Source", f'<ul class="source">{rows}</ul>{below}')


def kin_card(shown: ShownAttempt) -> str:
    kin: Iterable[tuple[str, Sequence[Attempt]]] = (("Parts", shown.children), ("Earlier sessions", shown.earlier))
    parts = []
    for title, some in kin:
        if some:
            listed = "".join(
                f"<li>{link(attempt_address(entry.id), entry.path or f'session {entry.session}')} "
                f'<span class="note">{entry.outcome}</span></li>'
                for entry in some[:40]
            )
            parts.append(_card(title, f'<ul class="signals">{listed}</ul>'))
    return "".join(parts)


def _card(title: str, inner: str, *, note: str = "") -> str:
    small = f' <span class="note">{page_text(note)}</span>' if note else ""
    return f'<section class="card"><h2>{title}{small}</h2>{inner}</section>'
