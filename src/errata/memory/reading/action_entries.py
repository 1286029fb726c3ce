"""What in a report may be an action: entries below headings for actions, and what headings and titles say of them."""

import re
from collections.abc import Iterator, Sequence

import msgspec

from errata.memory.reading.action_words import State, is_change, state_of, without_marks
from errata.memory.reading.cases import names_in
from errata.memory.reading.dates import date_in, without_date
from errata.memory.reading.markdown import MarkdownPiece, Words
from errata.memory.reading.sections import OF_LIST, topic_of
from errata.memory.reading.vocabulary import Vocabulary
from errata.memory.spelling import folded
from errata.text.lazy_regex import lazy_regex

_NOT_DONE = lazy_regex(
    r"(?i)\b(?:rejected|considered|planned|deferred|not (?:yet )?(?:done|made)|recommended|proposed|pending|left"
    r"|skipped|declined)\b"
)
OF_A_LINE = 90
"""The level of a line such as `Applied:`, below every heading."""


class Context(msgspec.Struct, kw_only=True):
    """What the headings and titles around an entry say of it."""

    level: int
    is_actions: bool
    is_log: bool = False
    """The heading promises that what follows was done."""
    is_advice: bool = False
    """A section of recommendations: some note there what became of each."""
    state: State = "unknown"
    date: str = ""
    cases: tuple[str, ...] = ()
    is_partial: bool = False
    """Not the section for actions, so others may stand elsewhere: carried over from an earlier report, or a list."""


class Entry(msgspec.Struct):
    piece: MarkdownPiece
    context: Context
    below: list[MarkdownPiece] = []


def entries_in(pieces: Sequence[MarkdownPiece], known: Vocabulary) -> Iterator[Entry]:
    """What may be an action: entries below headings for actions, each with its text below, and all else."""
    contexts: list[Context] = []
    held: Entry | None = None
    for piece in pieces:
        current = contexts[-1] if contexts else Context(level=0, is_actions=False)
        if held is not None and _belongs_to(piece, held):
            held.below.append(piece)
            continue
        if held is not None:
            yield held
            held = None
        if piece.kind == "heading":
            contexts = [one for one in contexts if one.level < piece.level]
            context = _of_section(piece, contexts[-1] if contexts else None, known)
            contexts.append(context)
            if context.is_actions and len(contexts) > 1 and contexts[-2].is_actions and _is_action_heading(piece):
                held = Entry(piece, msgspec.structs.replace(contexts[-2], date=context.date), [])
        elif piece.kind in ("comment", "code"):
            continue
        elif current.is_actions and is_frame(piece, known) and piece.kind == "text":
            contexts.append(within(piece, current, known, OF_A_LINE))  # until the next heading or the next such line
            contexts = [one for at, one in enumerate(contexts) if one.level < OF_A_LINE or at == len(contexts) - 1]
        else:
            held = Entry(piece, current, [])
    if held is not None:
        yield held


def _belongs_to(piece: MarkdownPiece, held: Entry) -> bool:
    if held.piece.kind == "heading":
        return piece.kind in ("item", "text", "code")
    return (
        held.piece.kind == "item"
        and held.context.is_actions
        and piece.kind in ("item", "text")
        and (piece.level > held.piece.level or (piece.kind == "text" and piece.level == held.piece.level > 0))
    )


def _of_section(piece: MarkdownPiece, outer: Context | None, known: Vocabulary) -> Context:
    kind, inside = topic_of(piece), outer is not None and outer.is_actions
    is_actions = kind == "actions" or (inside and kind != "recommendations" and not piece.topic)
    if not piece.text and not piece.topic:
        is_actions = inside
    name = folded(piece.text)
    is_log = kind == "actions" and name not in ("action", "actions") and not name.startswith("actions-and")
    state = state_of(piece.text)
    bare = re.sub(r"\([^()]*\)", "", piece.text)
    return Context(
        level=piece.level,
        is_actions=is_actions,
        is_advice=kind == "recommendations" or (kind is None and outer is not None and outer.is_advice),
        is_log=is_log or (inside and outer is not None and outer.is_log),
        state=state if state != "unknown" or not inside or outer is None else outer.state,
        date=date_in(piece.text) or (outer.date if outer and (inside or piece.header == OF_LIST) else ""),
        cases=tuple(name for _, name in names_in(Words(bare), known))
        or (outer.cases if inside and outer is not None else ()),
        is_partial="carried-over" in name or piece.header == OF_LIST or (outer is not None and outer.is_partial),
    )


def _is_action_heading(piece: MarkdownPiece) -> bool:
    """Not a group of them such as `Lint changes (done)`."""
    bare = re.sub(r"^\W*(?:\d+[.):]\s*)?|\([^()]*\)", "", piece.text).strip()
    is_of_list = piece.header == OF_LIST  # a sentence over the list of them
    return not is_of_list and state_of(piece.text) != "open" and len(bare.split()) > 2 and is_change(bare)


def is_frame(piece: MarkdownPiece, known: Vocabulary) -> bool:
    """A line that only names a day, a case, a file or a state: its entries stand below it."""
    text = piece.text.strip()
    if "\n" in text:
        return False
    rest = without_date(without_marks(text))
    for _, name in names_in(Words(rest, piece.words.codes if rest == piece.text else ()), known):
        rest = rest.replace(name, "")
    rest = re.sub(r"\([^()]*\)|`|\*", "", rest)
    words = re.findall(r"\w+", rest)
    return (text.endswith(":") and len(words) <= 8) or not words or (state_of(rest) != "unknown" and len(words) <= 3)


def within(piece: MarkdownPiece, outer: Context, known: Vocabulary, level: int) -> Context:
    title = piece.text.strip().rstrip(":")
    state = state_of(title)
    if state == "unknown" and _NOT_DONE.search(title):
        state = "open"
    return Context(
        level=level or outer.level,
        is_actions=True,
        is_log=outer.is_log,
        state=outer.state if state == "unknown" else state,
        date=date_in(piece.text) or outer.date,
        cases=tuple(name for _, name in names_in(piece.words, known)) or outer.cases,
    )
