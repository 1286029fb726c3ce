"""Make log text safe to show: no control, escape or bidi characters, and no formulas in spreadsheets."""

from errata.text.lazy_regex import lazy_regex
from errata.text.redact import beginning

# whole sequences first, so that no part of them remains; of an OSC without an end, only the head is removed
_ESCAPES = lazy_regex(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b\]|\x9d)[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)"
    r"|(?:\x1b\]|\x9d)\d*;?"
    r"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x9c\n]*(?:\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]"
)
_CONTROLS = lazy_regex(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069\ufeff]")
_SUSPECT = lazy_regex(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_LINE_ENDS = lazy_regex(r"\r\n?|[\u0085\u2028\u2029]")


def clean(text: str) -> str:
    """The text without escapes and controls; tabs and line feeds stay, other line ends become line feeds."""
    if (text.isascii() and text.isprintable()) or not _SUSPECT.search(text):
        return text
    text = _LINE_ENDS.sub("\n", _ESCAPES.sub("", text))
    return _CONTROLS.sub("", text).encode("utf-8", "replace").decode("utf-8")


_HIDDEN = lazy_regex(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
)
RETURN = "␍"


def visible(text: str) -> str:
    """The text with a mark for each character that hides or reorders others. Lines stay as editors count them.

    Escapes for terminals are removed; a carriage return in the middle of a line is shown.
    """
    text = _ESCAPES.sub("", text).replace("\r\n", "\n").replace("\r", RETURN)
    text = _HIDDEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)
    return text.encode("utf-8", "replace").decode("utf-8")


def one_line(text: str, width: int = 0) -> str:
    """Cleaned, on one line, cut to `width` with an ellipsis."""
    folded = " ".join(clean(text).split())
    return f"{beginning(folded, width - 1)}…" if width and len(folded) > width else folded


_RETURNS = lazy_regex(r"\r\n?")
# a spreadsheet would treat this as a formula, also in full-width characters
_FORMULA = lazy_regex(r"^\s*[=+\-@＝＋－＠]|^[\t\r\n]")


def one_kind_of_line_end(text: str) -> str:
    return _RETURNS.sub("\n", text)


def quoted(text: str) -> str:
    """With an apostrophe before a formula, so that spreadsheets treat it as text."""
    return f"'{text}" if _FORMULA.match(text) else text
