"""The keys of the review page, in one place: the page binds them, shows them, and the documents list them."""

from typing import NamedTuple

from errata.render.blocks_html import page_text
from errata.render.palette import OWNERS
from errata.server.layout import KEY_SETTINGS


class Key(NamedTuple):
    keys: tuple[str, ...]
    """As the browser names them, `Shift+` in front where it matters."""
    act: str
    """What `desk.js` calls for it; with several keys, each of them in turn."""
    does: str
    short: str = ""
    """In the foot of the page."""


LETTERS = tuple(look.letter.lower() for look in OWNERS.values())
KEYS: tuple[Key, ...] = (
    Key(LETTERS, "owner", "Choose the owner; the labels change with it"),
    Key(tuple("123456789"), "label", "Choose a label", "label"),
    Key(("l",), "labels", "Go to the labels"),
    Key(
        ("ArrowLeft", "ArrowRight"),
        "reading",
        "Copy the left or the right verdict into the form",
        "copy a verdict",
    ),
    Key(("j", "k"), "line", "Next or previous line", "line"),
    Key(("J", "K"), "mark", "Next or previous marked line"),
    Key(("q",), "quote", "Quote the line or the selection in it; press again to remove the quote"),
    Key(("d",), "decisive", "Mark this line's step as decisive and quote the line"),
    Key(("r",), "cause", "Write the cause; known causes are suggested"),
    Key(("n",), "note", "Write a note"),
    Key(("w",), "recommendation", "Write a recommendation"),
    Key(("-", "="), "confidence", "Less or more confident: weak, likely, certain"),
    Key(("Enter",), "save", "Save and go to the next failure"),
    Key(("Shift+Enter",), "alike", "Save for all similar failures: the first press lists them, the second saves"),
    Key(("x",), "later", "Later: move to the end of the queue", "later"),
    Key(("z",), "undo", "Undo, without limit, even after saving; nothing is deleted", "undo"),
    Key(("Z",), "redo", "Redo"),
    Key(("[", "]"), "item", "Previous or next failure; the draft is kept", "item"),
    Key(("o",), "open", "Open the whole attempt in a new tab", "open"),
    Key(("f",), "filter", "Filter the queue"),
    Key(("Escape",), "leave", "Leave a field, or close a dialog"),
    Key(("?",), "keys", "Show the keys", "all keys"),
)
_SHOWN = {
    "ArrowLeft": "←",
    "ArrowRight": "→",
    "Enter": "↵",
    "Shift+Enter": "⇧↵",
    "Escape": "Esc",
    "Z": "⇧z",
    "J": "⇧j",
    "K": "⇧k",
}


def cap_of(key: str) -> str:
    return _SHOWN.get(key, key)


def _caps(key: Key) -> str:
    return " ".join(f"<kbd>{page_text(cap_of(each))}</kbd>" for each in key.keys)


def foot_keys() -> str:
    return "".join(
        f"<span>{_caps(key) if len(key.keys) < 4 else _first_and_last(key)} {page_text(key.short)}</span>"
        for key in KEYS
        if key.short
    )


def _first_and_last(key: Key) -> str:
    return f"<kbd>{cap_of(key.keys[0])}</kbd>…<kbd>{cap_of(key.keys[-1])}</kbd>"


def keys_dialog() -> str:
    """`desk.js` reads its bindings from these rows."""
    rows = "".join(
        f'<tr data-act="{key.act}" data-keys="{page_text(" ".join(key.keys))}"><th scope="row">{_caps(key)}</th>'
        f"<td>{page_text(key.does)}</td></tr>"
        for key in KEYS
    )
    return (
        '<dialog id="keys" aria-labelledby="keys-title"><h2 id="keys-title">Keys of this page</h2>'
        f'<table><caption class="hidden">Keys and what they do</caption><tbody>{rows}</tbody></table>'
        f"{KEY_SETTINGS}"
        '<form method="dialog"><button>Close</button></form></dialog>'
    )
