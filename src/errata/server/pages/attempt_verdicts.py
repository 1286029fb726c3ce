"""Opinions on an attempt side by side: triage, each reviewer, and the reader's own place."""

from collections.abc import Iterator, Sequence
from string import ascii_uppercase
from typing import NamedTuple

from errata.model import Verdict
from errata.model.standing import AttemptReview
from errata.model.verdict import short_word_for
from errata.render.blocks_html import page_text
from errata.render.charts import named_chip
from errata.server.pages.addresses import bucket_page, review_page
from errata.server.pages.attempt_texts import AttemptTexts, Mark
from errata.verbs.pages import ShownAttempt

QUOTES = 4
"""Quotes of triage that are shown."""
_LETTERS = [letter for letter in ascii_uppercase if letter != "T"]
"""Of reviewers; T is triage."""


class ShownVerdict(NamedTuple):
    letter: str
    verdict: Verdict


def readings_of(review: AttemptReview | None) -> list[ShownVerdict]:
    """The verdicts that were not superseded; the standing one first."""
    if review is None:
        return []
    gone = {verdict.supersedes for verdict in review.verdicts}
    live = [verdict for verdict in review.verdicts if verdict.id not in gone]
    live.sort(key=lambda verdict: verdict.id != review.standing.verdict.id)
    return [ShownVerdict(letter, verdict) for letter, verdict in zip(_LETTERS, live, strict=False)]


def marks_of(shown: ShownAttempt, readings: Sequence[ShownVerdict]) -> Iterator[Mark]:
    """Every quote with its name; those of triage that decided come first."""
    if shown.attribution is not None:
        quoting = [one for one in shown.attribution.signals if one.words]
        quoting.sort(key=lambda one: one.name != shown.attribution.decided_by)  # type: ignore[union-attr]
        signs = [(one.where, one.quote or one.stated) for one in quoting]
        because = shown.explanation.because if shown.explanation is not None else None
        first = (because.quote or because.text) if because is not None else ""
        if because is not None and first and first not in [text for _, text in signs]:
            signs.insert(0, (because.where, first))
        once = {text: (where, text) for where, text in reversed(signs)}
        for at, (where, text) in enumerate(list(once.values())[::-1][:QUOTES], 1):
            yield Mark(f"T{at}", where, text)
    for reading in readings:
        for at, quote in enumerate(reading.verdict.evidence, 1):
            lines = f":{quote.lines[0]}" if quote.lines and quote.place.startswith("log/") else ""
            yield Mark(f"{reading.letter}{at}", f"{quote.place}{lines}", quote.quote)


def verdict_columns(
    shown: ShownAttempt, readings: Sequence[ShownVerdict], marks: Sequence[Mark], texts: AttemptTexts
) -> str:
    """Same slots in the same order in every column, so that eyes move sideways."""
    if not readings and not shown.attempt.is_failure and shown.attempt.value is not None:
        return ""
    columns = [_triage(shown, marks, texts)] if shown.attribution is not None else []
    columns += [_reviewer(reading, marks, texts) for reading in readings]
    columns.append(_own(shown))
    return (
        f'<section class="verdicts card" aria-label="Verdicts">{_strip(shown, readings)}'
        f'<div class="columns" tabindex="0" role="group" aria-label="Readings side by side">{"".join(columns)}</div>'
        "</section>"
    )


def _strip(shown: ShownAttempt, readings: Sequence[ShownVerdict]) -> str:
    own = [reading.verdict for reading in readings if reading.verdict.inherited_from is None]
    address = f'<a href="{page_text(review_page(shown.attempt.id))}">Settle it</a>'
    if shown.stale:
        return '<p class="strip-line warn"><b>The log has changed since the review.</b> The quoted text is gone.</p>'
    if shown.attribution is None and shown.attempt.is_failure:
        return '<p class="strip-line">Its owner is being worked out, with those of all failures of this run.</p>'
    if not readings:
        return '<p class="strip-line">Only triage so far; nobody has reviewed this failure.</p>'
    if not own:
        return '<p class="strip-line">The verdict comes from an identical failure; nobody has reviewed this one.</p>'
    differing = [
        word
        for word, values in (
            ("owner", {one.owner for one in own}),
            ("label", {one.label for one in own}),
            ("decisive step", {one.decisive_step for one in own}),
        )
        if len(values) > 1
    ]
    if differing:
        return f'<p class="strip-line warn"><b>The reviewers disagree on the {differing[0]}.</b> {address}</p>'
    triage = shown.attribution.owner if shown.attribution is not None else own[0].owner
    relation = (
        "agrees with triage" if own[0].owner == triage else f"names another owner than triage ({page_text(triage)})"
    )
    many = "The reviewer" if len(own) == 1 else f"{len(own)} reviewers agree; the standing verdict"
    return f'<p class="strip-line">{many} {relation}.</p>'


def _quotes(letter: str, marks: Sequence[Mark], texts: AttemptTexts) -> str:
    own = [mark for mark in marks if mark.name[0] == letter]
    listed = "".join(
        f'<a id="quote-{mark.name}" href="#{page_text(texts.places.get(mark.name, "facts"))}" data-mark="{mark.name}">'
        f'<span class="ref">{mark.name}</span><mark>{page_text(mark.quote)}</mark></a>'
        for mark in own
    )
    return f'<div class="quoted">{listed}</div>' if listed else ""


def _column(name: str, note: str, owner: str, sure: str, rest: str) -> str:
    return (
        f'<section aria-label="{page_text(name)}"><p class="who"><b>{page_text(name)}</b> {page_text(note)}</p>'
        f'<p class="owner">{named_chip(owner, page_text)} <span class="sure">{page_text(sure)}</span></p>'
        f"{rest}</section>"
    )


def _triage(shown: ShownAttempt, marks: Sequence[Mark], texts: AttemptTexts) -> str:
    attribution, explained = shown.attribution, shown.explanation
    assert attribution is not None
    meaning = explained.meaning if explained is not None else ""
    effect = f'<p class="note">Counts {page_text(explained.effect.text)}.</p>' if explained is not None else ""
    against = "".join(f"<li>{page_text(one.text)}</li>" for one in explained.against) if explained is not None else ""
    doubts = f'<p class="note">Against it:</p><ul class="against">{against}</ul>' if against else ""
    words = f"<p>{page_text(meaning[:1].upper() + meaning[1:])}.</p>" if meaning else ""
    label = f'<p class="label"><code>{page_text(attribution.decided_by)}</code></p>'
    return _column(
        "Triage",
        "rules",
        attribution.owner,
        attribution.confidence,
        label + words + effect + doubts + _quotes("T", marks, texts),
    )


def _reviewer(reading: ShownVerdict, marks: Sequence[Mark], texts: AttemptTexts) -> str:
    verdict = reading.verdict
    at = f"{verdict.at[:10]} {verdict.at[11:16]}" if verdict.at else ""
    inherited = "inherited, " if verdict.inherited_from else ""
    cause = f"<p><b>{page_text(verdict.cause)}</b></p>" if verdict.cause else ""
    reasoning = f'<p dir="auto">{page_text(verdict.reasoning)}</p>' if verdict.reasoning else ""
    step = (
        f'<p class="note">Decisive step: <a href="#step-{verdict.decisive_step}">{verdict.decisive_step}</a></p>'
        if verdict.decisive_step is not None
        else ""
    )
    label = f'<p class="label"><code>{page_text(verdict.label)}</code></p>'
    rest = label + cause + reasoning + step + _quotes(reading.letter, marks, texts)
    name = f"{reading.letter}: {short_word_for(verdict.reviewer)}"
    return _column(name, f"{inherited}{at}", verdict.owner, verdict.confidence, rest)


def _own(shown: ShownAttempt) -> str:
    address = page_text(review_page(shown.attempt.id))
    bucket = ""
    if shown.bucket is not None:
        target = page_text(bucket_page(shown.bucket.slug))
        bucket = f'<p>Cause: <a href="{target}">{page_text(shown.bucket.title)}</a></p>'
    if not shown.attempt.is_failure:
        word = "Passed" if shown.attempt.outcome == "pass" else "Not failed"
        return f'<section class="mine" aria-label="Your verdict"><p class="who"><b>{word}</b></p>{bucket}</section>'
    return (
        f'<section class="mine" aria-label="Your verdict"><p class="who"><b>You</b></p>{bucket}'
        f'<p><a class="button" data-key="V" href="{address}">Give a verdict<kbd>V</kbd></a></p></section>'
    )
