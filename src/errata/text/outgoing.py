"""The one way out: every text that leaves errata goes through `outgoing`, then is escaped for its target.

`outgoing` cleans a text of what a terminal would act on and takes out secrets, also encoded ones. Texts that stay with
the user (terminal, `--json`, tables) keep the names of people; texts for others (reports, issues, packets, prompts) do
not. A test makes sure that no module writes without it.

Texts are redacted whole, before they are cut or folded: half a secret has lost the shape it is known by.
"""

from functools import lru_cache
from typing import Any

from errata.text.clean import clean, one_kind_of_line_end, one_line, quoted, visible
from errata.text.private import without_people
from errata.text.redact import REDACTED_VALUE, given_secrets, redact, redact_fields, redact_key, redact_tree

REMEMBERED = 65_536
"""Texts in the cache: many texts appear in a report more than once."""


def outgoing(text: str, *, people: bool, raw: bool = False) -> str:
    """A text as it may leave. `people`: their names stay; `raw`: secrets stay, because the user asked for them."""
    text = clean(text)
    if raw:
        return text
    text = redact(text)
    return text if people else without_people(text)


def name_without_secrets(name: str) -> str:
    """A name for an id, an address, a file or a key, or to be cut. It is escaped where it is written."""
    return redact_key(name)


# --- for the user: terminal, JSON, tables


def for_user(text: str, *, raw: bool = False) -> str:
    return outgoing(text, people=True, raw=raw)


def line_for_user(text: str, width: int = 0) -> str:
    return one_line(for_user(text), width)


def cell_for_user(text: str) -> str:
    """A cell of a table that a spreadsheet may open."""
    return quoted(one_kind_of_line_end(for_user(text)))


def tree_for_user(value: Any) -> Any:
    """Every text inside dicts and lists, and their keys. JSON escapes what is not printable."""
    return redact_tree(value)


# --- for others: reports, issues, packets, prompts


def for_others(text: str) -> str:
    """Without secrets and without people."""
    return outgoing(text, people=False)


def cell_for_others(text: str) -> str:
    """A cell of a table that a spreadsheet may open."""
    return quoted(one_kind_of_line_end(for_others(text)))


def tree_for_others(value: Any) -> Any:
    """The same for every text inside dicts and lists, and for their keys."""
    if isinstance(value, str):
        return for_others(value)
    if isinstance(value, dict):
        return redact_fields(value, lambda key: without_people(redact_key(key)), tree_for_others)
    if isinstance(value, list | tuple):
        named = given_secrets(value)
        return [REDACTED_VALUE if at in named else tree_for_others(item) for at, item in enumerate(value)]
    return value


_for_others = lru_cache(REMEMBERED)(for_others)


@lru_cache(REMEMBERED)
def outgoing_line(text: str) -> str:
    """On one line."""
    return " ".join(_for_others(text).split())


def outgoing_lines(text: str) -> str:
    """With its lines, for a snippet."""
    return for_others(text).strip("\n")


def page_lines(text: str) -> str:
    """For a transcript: its lines as they are numbered, characters that hide something as marks, without secrets.

    A hidden character inside a secret must not save it: where the cleaned text has one, that is what is shown.
    """
    shown = visible(text)
    cleaned = clean(text)
    if shown != cleaned and redact(cleaned) != cleaned and redact(shown) == shown:
        shown = cleaned
    return without_people(redact(shown))


def outgoing_tree(value: Any) -> Any:
    """The same for every text inside dicts and lists; keys are errata's own."""
    if isinstance(value, str):
        return _for_others(value)
    if isinstance(value, dict):
        return {key: outgoing_tree(item) for key, item in value.items()}
    return [outgoing_tree(item) for item in value] if isinstance(value, list | tuple) else value


def short_line(text: str, width: int) -> str:
    return one_line(_for_others(text), width)
