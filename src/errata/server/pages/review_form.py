"""The form of the review page. It is sent as it is without script; `desk.js` drives the same fields by keyboard."""

from collections.abc import Mapping, Sequence
from html import escape
from secrets import token_hex

from errata.model.record import Struct
from errata.model.verdict import LabelChoice
from errata.model.words import Confidence, RecommendationGroup
from errata.render.blocks_html import page_text
from errata.render.palette import OWNERS
from errata.server.api.review import QueueQuery
from errata.server.pages.addresses import review_page
from errata.server.pages.review_packet import LETTERS, reading_card
from errata.verbs.review_drafts import NO_CAUSE, NO_CORE, NO_OWNER, NO_QUOTE, AlikeFailure, DraftProblem, VerdictDraft
from errata.verbs.review_worklist import ReviewItem, ShownReading, has_own_labels
from errata.verbs.shown_ids import shown_id

CONFIDENCES: tuple[Confidence, ...] = ("weak", "likely", "certain")
GROUPS: dict[RecommendationGroup | str, str] = {
    "": "none",
    "eval": "change the eval",
    "config": "change its configuration",
    "guidelines": "change the guidelines",
    "model": "a note on the model",
}


class FormState(Struct):
    """What the form shows besides the item: what was sent, and why it was not saved."""

    draft: VerdictDraft
    problems: tuple[DraftProblem, ...] = ()
    others: tuple[ShownReading, ...] = ()
    """Verdicts that somebody saved meanwhile."""
    seen: tuple[str, ...] = ()
    alike: tuple[AlikeFailure, ...] = ()
    """Listed before they are saved."""


def verdict_form(item: ReviewItem, query: QueueQuery, state: FormState, position: str) -> str:
    target = escape(review_page(item.packet.attempt_id, **query.chosen))
    draft = state.draft
    return (
        f'<form class="verdict" id="verdict" method="post" action="{target}" aria-label="Verdict"'
        f' data-view="{query.view}" data-seen="{escape(" ".join(state.seen or item.seen))}"'
        f' data-same-key="{len(item.same_key)}" data-same-bucket="{len(item.same_bucket)}"'
        f' data-position="{page_text(position)}" data-no-owner="{NO_OWNER}" data-no-quote="{NO_QUOTE}"'
        f' data-no-cause="{NO_CAUSE}" data-no-core="{NO_CORE}">'
        f'<input type="hidden" name="seen" value="{escape(" ".join(state.seen or item.seen))}">'
        f'<input type="hidden" name="request" value="{token_hex(12)}">'
        f'<div class="fields">{_problem(state, "")}{_conflict(state)}{_alike(state)}'
        f"{_owners(draft, state)}{_labels(item, draft, state)}{_cause(item, draft, state)}"
        f"{_evidence(draft, state)}{_words(draft)}{_confidence(draft)}</div>{_buttons(item, state)}</form>"
    )


def _problem(state: FormState, field: str) -> str:
    """In place; the whole form has a field without a name."""
    messages = [one.message for one in state.problems if one.field == field]
    shown = "".join(f"<span>{page_text(one)}</span>" for one in messages)
    return f'<p class="problem" id="problem-{field or "form"}" data-for="{field}"{" hidden" * (not shown)}>{shown}</p>'


def _field(name: str, title: str, key: str, body: str, *, note: str = "") -> str:
    """A row that can be closed; on a phone all but the owners begin closed."""
    cap = f"<kbd>{key}</kbd>" if key else ""
    hint = f' <span class="note">{note}</span>' if note else ""
    return (
        f'<details class="field" id="field-{name}" open><summary><b>{title}</b>{hint}'
        f'<span class="value note" id="value-{name}"></span>{cap}</summary>{body}</details>'
    )


def _owners(draft: VerdictDraft, state: FormState) -> str:
    radios = "".join(
        f'<label class="o"><input type="radio" name="owner" value="{owner}"{" checked" * (draft.owner == owner)}>'
        f'<b class="k {look.letter}" aria-hidden="true">{look.letter}</b><span>{owner}</span></label>'
        for owner, look in OWNERS.items()
    )
    return (
        '<fieldset class="owners-form" id="field-owner"><legend><b>Owner</b> <span class="note">press its letter</span>'
        f'</legend><div class="og">{radios}</div>{_problem(state, "owner")}</fieldset>'
    )


def _labels(item: ReviewItem, draft: VerdictDraft, state: FormState) -> str:
    """Those of all owners; `desk.js` shows those of the chosen one."""
    if not has_own_labels(item.packet):
        return _problem(state, "label")
    here: Mapping[str, int] = item.labels_here
    rows = "".join(_label(choice, here.get(choice.label, 0), draft) for choice in item.packet.question.labels)
    body = (
        f'<div role="radiogroup" aria-label="Label" class="opts">{rows}</div>'
        '<p class="note" id="no-label" hidden></p>'
        f"{_problem(state, 'label')}"
    )
    return _field("label", "Label", "l", body)


def _label(choice: LabelChoice, often: int, draft: VerdictDraft) -> str:
    checked = " checked" * (draft.label == choice.label)
    note = f"{often} here" if often else choice.owner
    return (
        f'<label class="opt" data-owner="{choice.owner}" title="{page_text(choice.meaning)}">'
        f'<input type="radio" name="label" value="{page_text(choice.label)}"{checked}>'
        f'<kbd></kbd><code>{page_text(choice.label)}</code><small class="note">{note}</small></label>'
    )


def _cause(item: ReviewItem, draft: VerdictDraft, state: FormState) -> str:
    known = "".join(f'<option value="{page_text(bucket.title)}"></option>' for bucket in item.causes)
    body = (
        f'<input name="cause" id="cause" list="causes" maxlength="200" autocomplete="off" aria-label="Cause"'
        f' value="{page_text(draft.cause)}" data-suggested="{page_text(item.cause)}"'
        f' placeholder="A known cause, or a new one in one sentence"><datalist id="causes">{known}</datalist>'
        f"{_problem(state, 'cause')}"
    )
    return _field("cause", "Cause", "r", body)


def _evidence(draft: VerdictDraft, state: FormState) -> str:
    typed = "\n".join(" ".join(one.quote.split()) for one in draft.evidence)
    given = "".join(
        f'<li data-place="{page_text(quote.place)}" data-first="{quote.lines[0] if quote.lines else ""}"'
        f' data-last="{quote.lines[1] if quote.lines else ""}"><code dir="auto">{escape(quote.quote)}</code></li>'
        for quote in draft.evidence
    )
    step = "" if draft.decisive_step is None else str(draft.decisive_step)
    body = (
        f'<ul id="quotes" class="quotes-form" hidden>{given}</ul>'
        '<p class="note" id="no-quotes" hidden>Put the cursor on a line and press q.</p>'
        '<div class="plain"><label>Tick lines of the packet, or type quotes, one per line'
        f'<textarea name="quotes" rows="3">{escape(typed)}</textarea></label></div>'
        f'<label class="step">Decisive step <input name="decisive_step" id="decisive" inputmode="numeric"'
        f' pattern="[0-9]*" size="4" value="{escape(step)}"></label>{_problem(state, "evidence")}'
        f"{_problem(state, 'decisive_step')}"
    )
    return _field("evidence", "Evidence", "q", body, note="each found word for word")


def _words(draft: VerdictDraft) -> str:
    groups = "".join(
        f'<option value="{value}"{" selected" * (draft.recommendation_group == value)}>{name}</option>'
        for value, name in GROUPS.items()
    )
    note = _field(
        "note",
        "Note",
        "n",
        f'<textarea name="note" id="note" rows="2" maxlength="2000" aria-label="Note">{escape(draft.note)}</textarea>',
    )
    advice = _field(
        "recommendation",
        "Recommendation",
        "w",
        f'<select name="recommendation_group" aria-label="What to change">{groups}</select>'
        f'<input name="recommendation" id="recommendation" maxlength="400" aria-label="Recommendation"'
        f' value="{escape(draft.recommendation)}">',
    )
    return note + advice


def _confidence(draft: VerdictDraft) -> str:
    radios = "".join(
        f'<label><input type="radio" name="confidence" value="{word}"{" checked" * (draft.confidence == word)}>'
        f"<span>{word}</span></label>"
        for word in CONFIDENCES
    )
    return (
        '<fieldset class="sure"><legend><b>Confidence</b> <kbd>-</kbd> <kbd>=</kbd></legend>'
        f"<div>{radios}</div></fieldset>"
    )


def _buttons(item: ReviewItem, state: FormState) -> str:
    save = "Keep both as two verdicts" if state.others else "Save and next"
    by, others = ("key", len(item.same_key)) if item.same_key else ("bucket", len(item.same_bucket))
    what = "with this failure key" if by == "key" else "in this bucket"
    alike = (
        f'<button name="do" value="alike-{by}" data-act="alike">Save for all {others + 1} {what} <kbd>⇧↵</kbd></button>'
        if others
        else ""
    )
    return (
        f'<div class="save"><button class="pri" name="do" value="save" data-act="save">{save} <kbd>↵</kbd></button>'
        f"{alike}"
        '<div class="pair"><button type="button" data-act="undo" hidden>Undo</button>'
        '<button name="do" value="later" data-act="later">Later</button></div></div>'
    )


def _conflict(state: FormState) -> str:
    if not state.others:
        return '<div class="conflict" id="conflict" hidden></div>'
    cards = "".join(reading_card(one, LETTERS[at]) for at, one in enumerate(state.others))
    return f'<div class="conflict" id="conflict">{conflict_text(state.others)}{cards}{_DISCARD}</div>'


def conflict_text(others: Sequence[ShownReading]) -> str:
    names = " and ".join(dict.fromkeys(one.by for one in others))
    return f"<p><b>{page_text(names)} saved a verdict meanwhile.</b> Yours is not saved yet.</p>"


_DISCARD = '<button name="do" value="discard" data-act="discard">Discard mine</button>'


def _alike(state: FormState) -> str:
    if not state.alike:
        return '<div class="alike" id="alike" hidden></div>'
    fitting = [one for one in state.alike if one.fits]
    rows = "".join(
        f"<li>{page_text(other.case)}{'' if other.fits else ' <span class=note>no quote of yours is in it</span>'}</li>"
        for other in state.alike
    )
    ids = "".join(f'<input type="hidden" name="attempt" value="{escape(shown_id(one.attempt))}">' for one in fitting)
    return (
        f'<div class="alike" id="alike"><p><b>{len(fitting) + 1} verdicts will be saved:</b> this one and</p>'
        f"<ul>{rows}</ul>{ids}"
        f'<button name="do" value="alike-save" data-act="alike">Save {len(fitting) + 1} verdicts</button></div>'
    )
