"""Plain text → markdown without any markup of the text. The only place where markdown is escaped.

A text can't start a heading, a list, a link, a table cell or markup of its own; addresses in it are shown as code, so
that nobody follows one that a log has planted, and nobody is called by a mention in it.
"""

import re
from functools import lru_cache

from errata.text.lazy_regex import lazy_regex
from errata.text.outgoing import REMEMBERED, outgoing_line

_ADDRESS = lazy_regex(r"(?:[a-zA-Z][a-zA-Z0-9+.-]{1,20}://|www\.|mailto:)[^\s<>`|]+")
_SPECIAL = lazy_regex(r"[\\`*\[\]<|~]|\$(?!\d)|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|&(?=#?\w+;)")
_SUSPECT = lazy_regex(r"[\\`*\[\]<|~$_&@#]|://|www\.|mailto:|GH-")
"""A text without any of these needs no escaping."""
_STARTS = lazy_regex(r"^(\s*)([#>+=-]|\d{1,9}[.)](?=\s|$))")
_CALLS = lazy_regex(r"(?<![\w`])@(?=\w)|(?<!\w)#(?=\d)|(?<=\w)#(?=\d)|\bGH-(?=\d)")
GAP = "\u200b"
"""Breaks a mention or a reference where nobody sees it."""
_ACTS = lazy_regex(r"<(?=[A-Za-z/!?])|\](?=[(\[])|:(?=//)|www(?=\.)|mailto(?=:)")
_TICKS = lazy_regex(r"`+")


def inline_text(text: str, *, edges: bool = False) -> str:
    """Plain text on one line, without anything that markdown would act on; with its blanks at both ends if `edges`."""
    made = _plain(text)
    return with_edges(made, text) if edges else made


@lru_cache(REMEMBERED)
def _plain(text: str) -> str:
    clean = outgoing_line(text)
    if not _SUSPECT.search(clean):  # as most texts are
        return clean
    pieces, at = [], 0
    for match in _ADDRESS.finditer(clean):
        pieces += [_escaped(clean[at : match.start()]), code(match[0])]
        at = match.end()
    pieces.append(_escaped(clean[at:]))
    return "".join(pieces)


def with_edges(made: str, text: str) -> str:
    """What was made of a text, with a blank where the text begins or ends with one."""
    if not text:
        return made
    return f"{' ' if text[:1].isspace() else ''}{made}{' ' if text[-1:].isspace() and made else ''}"


def code(text: str) -> str:
    """Letter for letter, on one line; a bar is escaped, since a table would take it for the end of a cell."""
    clean = outgoing_line(text)
    if not clean:
        return ""
    ticks = ticks_around(clean)
    pad = " " if clean.startswith("`") or clean.endswith("`") else ""
    return f"{ticks}{pad}{clean.replace('|', chr(92) + '|')}{pad}{ticks}"


def ticks_around(text: str, least: int = 1) -> str:
    """More backticks than stand together anywhere in the text."""
    return "`" * max(least, 1 + max((len(run) for run in _TICKS.findall(text)), default=0))


def neutral(text: str) -> str:
    """Without mentions and references: the text of a log notifies nobody and links or closes no issue."""
    return _CALLS.sub(lambda found: f"{found[0]}{GAP}", text)


def plain_title(title: str) -> str:
    """A title that is not markdown but may be read as such: as it is, with gaps where it would be more than text."""
    return _ACTS.sub(lambda found: f"{found[0]}{GAP}", neutral(outgoing_line(title)))


def not_a_start(text: str) -> str:
    """A line whose first letters would start a heading, a list or a quote does not."""
    return _STARTS.sub(_shielded, text)


def _shielded(match: re.Match[str]) -> str:
    blank, mark = match.groups()
    return f"{blank}{mark[:-1]}\\{mark[-1]}" if mark[0].isdigit() else f"{blank}\\{mark}"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda found: "&lt;" if found[0] == "<" else f"\\{found[0]}", neutral(text))
