"""What a section of a report is about, by its heading or the words in front of a paragraph."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice, takewhile, tee, zip_longest
from typing import Literal

import msgspec

from errata.memory.reading.fields import RUN, role_of
from errata.memory.reading.markdown import INNER, MarkdownPiece, Words
from errata.memory.reading.rates import rate_in
from errata.memory.reading.steps import canonical_step
from errata.memory.spelling import folded
from errata.text.lazy_regex import lazy_regex

About = Literal["failures", "actions", "recommendations", "patterns", "other"]

ASIDE = ("aside",)
"""Marks a heading in front of one paragraph: the text before it goes on behind it."""
MESSAGE = ("message",)
"""Marks the line above a message that names its author and time."""
RESULT = ("result",)
"""Marks the sentence that names a new run and its pass rate: what follows is about that run."""
OF_LIST = ("list",)
"""Marks a sentence in front of a list that states what the list holds."""
_DONE = r"(?:taken|done|made|applied|performed|completed|implemented|executed|carried-out|so-far|log|to-date)"
_KINDS: tuple[tuple[About, re.Pattern[str]], ...] = (
    (
        "other",
        lazy_regex(
            r"no-longer-|stopped-fail|recovered|not-failing|fail\w*-anymore|did-we-see|seen-(?:it-|this-)?before"
        ),
    ),
    (
        "recommendations",
        lazy_regex(
            r"recommend|suggest|next-steps?|action-items?|\bto-?dos?\b|propos|what-to-do|^follow-ups?$|next-actions"
            r"|(?:planned|open|pending|future|deferred|further|possible|outstanding)-(?:actions?|changes|fixes|work|items)"
            r"|(?:actions?|changes|fixes)-(?:planned|pending|open|needed|required|deferred|not-taken|to-take)"
            r"|\bno-actions?\b|not-(?:yet-)?(?:done|applied|implemented|taken|acted)|\bbacklog\b|\bideas?\b|^planned|^deferred"
            r"|^open-(?:points|questions|items)|^later$|won-?t-(?:fix|do)|should-(?:we|be|do)|what-(?:i|we)-(?:would|should|could|might|d)-(?!have)|what-is-left|left-to-do|what-s-next|what-next|not-to-change"
        ),
    ),
    (
        "actions",
        lazy_regex(
            rf"^actions?$|\bactions?-{_DONE}|(?:changes|fixes|edits|updates|adjustments|measures|steps|corrections|work)-{_DONE}"
            r"|what-(?:we|i)-(?:have-|ve-)?(?:changed|did|done|fixed)|what-(?:was|has-been|were|got|has)-(?:done|changed|fixed)"
            r"|(?:applied|completed|implemented)-(?:changes|fixes|actions)|^(?:all-)?done(?:-(?:so-far|since.*|after.*|in-response"
            r"|today|yesterday|this-.*|on-.*))?$|carried-over|^(?:fixed|changed|applied|merged|implemented)-on-\d|^implemented$|^applied$|^(?:we-|i-)?did$|^commits?$"
            r"|^changes$|^change-?log$|^fixes$|^remediations?(?:-log)?$|^interventions?$|^resolutions?$|^what-changed$"
            r"|changes-since|what-did-(?:we|i)-(?:do|change|fix)|^follow-up-(?:done|taken)|^actions?-and-|^acted-on|^log-of-(?:actions|changes)|^changes-by-"
        ),
    ),
    (
        "recommendations",  # German, Spanish, French, Portuguese, Italian
        lazy_regex(
            r"empfehl|recomenda|recommand|raccomanda|vorschl|sugerencia|sugest|keine-massnahm|ninguna-acci|aucune-action"
            r"|(?:nächste|offene)-|próxim|prochain|(?:geplant|pendiente|prévu)"
        ),
    ),
    (
        "actions",
        lazy_regex(
            r"massnahmen|änderungen$|umgesetzt|erledigt|(?:acciones|cambios|medidas|ações|azioni|actions|modifi\w+)-"
            r"(?:realizad|tomad|hech|efectuad|réalis|prises|effectu|fatt|eseguit|intrapres)"
        ),
    ),
    (
        "patterns",
        lazy_regex(r"muster|übergreifend|patron(?:es)?\b|padr(?:ão|ões)|motifs?\b|tendenc"),
    ),
    (
        "failures",
        lazy_regex(
            r"\b(?:new|still|again|repeat\w*|recurring|regress\w*)\b.*fail|regression|fail\w*-analys|fail\w*-by|^fail|by-fail"
        ),
    ),
    (
        "other",
        lazy_regex(
            r"net-impact|^impact|bottom-line|conclusion|takeaway|\bpass(?:ed|es|ing)?\b(?!.*fail)|\bfixed\b|\bresolved\b"
            r"|\bprevious(?:ly)?\b|\bprior\b|\bearlier\b|\bhistory\b|appendix|glossary|legend|method|excluded"
            r"|not-(?:included|counted|measured)|^compar|^since-|changes-from|already-documented"
        ),
    ),
    (
        "patterns",
        lazy_regex(
            r"pattern|cross-cutting|\bthemes?\b|common-(?:cause|issue|problem|mistake)|observations|trends|root-causes"
            r"|hard(?:er|est)-categor|categor\w*-that|^categories$|by-category$|lessons"
        ),
    ),
)
_FAILURES = lazy_regex(r"fail|classif|per-eval|per-case|triage|errors?$|verdicts|what-went-wrong|what-broke")
_INLINE = lazy_regex(
    r"(?i)(?:[^\w\s]{1,3}\s*)?(?:actions?(?:\s+(?:taken|done|so far))?|(?:fix|fixes|changes?)\s+(?:applied|made|done)"
    r"|done|applied|to-?do|planned|recommendations?|recommended(?:\s+actions?)?|next\s+steps?|deferred"
    r"|what\s+(?:i|we)\s+did|(?:cross-cutting\s+)?patterns?|net\s+impact|not\s+(?:yet\s+)?done|fix)"
    r"(?:\s*\([^()\n]{0,40}\))?\s*(?:[:：]|\s[–—-]\s|\s*$)"
)
"""Words that say what a paragraph is about, in front of it."""


_TIME = lazy_regex(r"\b\d{1,2}:\d\d\b")
_MAY_BE_CATEGORY = lazy_regex(r"actions?(?:-and-.*)?$")
TITLE = "title"
"""The topic of the only heading of the first level: it names the report, not a section."""
LONGEST_TITLE = 10
"""Words of a sentence in front of a list."""
_IN_CAPITALS = lazy_regex(r"[A-Z][A-Z ,/&'-]{3,50}:?")
"""A line in capital letters is a heading in a plain text."""


@lru_cache(maxsize=4_096)
def about(heading: str) -> About | None:
    """The topic of a section; none if the heading does not show it, and the topic of the section around it applies."""
    name = folded(heading)
    topic = next((kind for kind, form in _KINDS if form.search(name)), None)
    if topic == "other" and rate_in(heading):  # `63 of 76 evals passed` is about the run
        return None
    return topic or ("failures" if _FAILURES.search(name) else None)


def topic_of(heading: MarkdownPiece) -> About | None:
    match heading.topic:
        case "failures" | "actions":
            return heading.topic
        case _:
            return None if heading.topic == TITLE else about(heading.text)


def with_topics(
    pieces: Sequence[MarkdownPiece],
    is_failure: Callable[[MarkdownPiece], bool],
    is_log: Callable[[str, Sequence[MarkdownPiece]], bool],
) -> Iterator[MarkdownPiece]:
    """`Actions` may also be a category of cases: if the entries below are failures, it is. A title is about all.

    A heading that no word explains is explained by its entries: dated changes are actions.
    """
    levels = [piece.level for piece in pieces if piece.kind == "heading"]
    has_title = levels.count(1) == 1 and len([level for level in levels if level < INNER]) > 1
    for at, piece in enumerate(pieces):
        if has_title and piece.kind == "heading" and piece.level == 1:
            yield msgspec.structs.replace(piece, topic=TITLE)
            continue
        is_open = piece.kind == "heading" and piece.level > 1 and piece.text and about(piece.text) is None
        if is_open and is_log(piece.text, _section(pieces, at)):
            yield msgspec.structs.replace(piece, topic="actions")
            continue
        if piece.kind == "heading" and _MAY_BE_CATEGORY.match(folded(piece.text)):
            below = list(takewhile(lambda one: one.kind != "heading", pieces[at + 1 :]))
            entries = [one for one in below if one.kind in ("item", "row") and one.level < 2]
            entries = entries or [one for one in below if one.kind == "text"]
            if entries and sum(map(is_failure, entries)) * 2 > len(entries):
                yield msgspec.structs.replace(piece, topic="failures")
                continue
        yield piece


def _section(pieces: Sequence[MarkdownPiece], at: int) -> list[MarkdownPiece]:
    """Without sections below it that have a topic of their own: then it has none."""
    level = pieces[at].level
    below = list(takewhile(lambda one: one.kind != "heading" or one.level > level, pieces[at + 1 :]))
    return [] if any(one.kind == "heading" and about(one.text) for one in below) else below


def in_sections(pieces: Iterable[MarkdownPiece], wanted: About) -> Iterator[MarkdownPiece]:
    """The text of the sections on one topic, with the headings inside them but not their own."""
    inside: list[tuple[int, bool]] = []
    for piece in pieces:
        if piece.kind == "heading":
            inside = [one for one in inside if one[0] < piece.level]
            kind = topic_of(piece)
            within = bool(inside) and inside[-1][1]
            inside.append((piece.level, within if kind is None else kind == wanted))
            if within and inside[-1][1]:
                yield piece
        elif piece.kind not in ("comment", "code") and inside and inside[-1][1]:
            yield piece


def is_title(piece: MarkdownPiece) -> bool:
    """A paragraph of nothing but bold words, or a short line with a colon at its end."""
    bare = piece.text.strip().rstrip(":")
    if piece.kind != "text" or not bare:
        return False
    is_bold = any(piece.text[start:end].strip().rstrip(":") == bare for start, end in piece.words.bold)
    return is_bold or (piece.text.rstrip().endswith(":") and len(bare.split()) <= 6 and "\n" not in bare)


def with_titles(pieces: Iterable[MarkdownPiece]) -> Iterator[MarkdownPiece]:
    """Words in front of a paragraph that say what comes now are a heading, too: `**Actions taken**: None`.

    If the paragraph goes on behind them, they are about it alone: a heading without words ends its section.
    """
    closes = False
    for piece, following in _pairs(_messages(pieces)):
        if closes and not (piece.kind == "item" or piece.level):
            yield MarkdownPiece(kind="heading", line=piece.line, level=INNER, header=ASIDE)
            closes = False
        if following is not None and following.kind == "item" and (at := _title_of_list(piece)) is not None:
            if at:
                yield _part(piece, 0, at)
            title = _part(piece, at, len(piece.text))
            yield msgspec.structs.replace(title, kind="heading", level=INNER, header=OF_LIST)
            closes = True
            continue
        if following is not None and _is_numbered_title(piece, following):
            yield msgspec.structs.replace(piece, kind="heading", level=INNER)
            closes = False
            continue
        parts = list(_titled(piece))
        is_split = piece.kind == "text" and any(part.kind == "heading" for part in parts)
        closes = closes or (is_split and parts[-1].kind != "heading")
        if piece.kind == "heading" and piece.text:
            closes = False
        yield from parts


def _messages(pieces: Iterable[MarkdownPiece]) -> Iterator[MarkdownPiece]:
    """In a chat or among comments, a line with a bold name and a time begins a message."""
    for piece in pieces:
        end = piece.text.find("\n")
        bold = piece.words.bold[0] if piece.words.bold else (1, 1)
        first = piece.text[: max(end, 0)]
        is_message = piece.kind == "text" and bold[0] == 0 and bold[1] <= end
        if is_message and _TIME.search(first) and not re.search(r"[^\W\d]{3}", first[bold[1] :]):
            yield msgspec.structs.replace(_part(piece, 0, end), kind="heading", level=INNER, header=MESSAGE)
            yield _part(piece, end + 1, len(piece.text))
        else:
            yield piece


def _pairs(pieces: Iterable[MarkdownPiece]) -> Iterator[tuple[MarkdownPiece, MarkdownPiece | None]]:
    here, ahead = tee(pieces)
    return zip_longest(here, islice(ahead, 1, None))


def _title_of_list(piece: MarkdownPiece) -> int | None:
    """Where a sentence begins that states what the list below it holds: `Got the go from Helen. Done today:`."""
    if piece.kind != "text" or piece.level or not piece.text.rstrip().endswith(":"):
        return None
    start = max((found.end() for found in re.finditer(r"[.!?]\s+|\n", piece.text.rstrip())), default=0)
    title = piece.text[start:]
    is_short = len(title.split()) <= LONGEST_TITLE
    return start if is_short and about(title) in ("actions", "recommendations") else None


def _is_numbered_title(piece: MarkdownPiece, below: MarkdownPiece) -> bool:
    """`6. Actions taken` with its text indented below: an outline whose sections are numbered items."""
    is_short = piece.kind == "item" and piece.level == 1 and len(piece.text.split()) <= 4
    is_inside = below.kind in ("text", "row", "code") and below.level >= 1
    return is_short and is_inside and about(piece.text) is not None


def _titled(piece: MarkdownPiece) -> Iterator[MarkdownPiece]:
    """A paragraph, or its lines where they begin with such words."""
    if piece.kind != "text" or piece.level:
        yield piece
        return
    for part in _lines(piece):
        end = _title_end(part)
        if not end:
            yield part
            continue
        rest = part.words.cut(end)
        left = len(rest.text) - len(rest.text.lstrip(" :–—-\n"))
        is_aside = bool(rest.text[left:]) or re.match(r"(?i)\W*(?:action|fix|change)\b", part.text) is not None
        yield MarkdownPiece(
            kind="heading", line=part.line, level=INNER, words=part.words.cut(0, end), header=ASIDE if is_aside else ()
        )
        if rest.text[left:]:
            yield msgspec.structs.replace(part, words=rest.cut(left))


def _lines(piece: MarkdownPiece) -> Iterator[MarkdownPiece]:
    """Split before each line that begins with a title."""
    starts = [0, *(at + 1 for at, letter in enumerate(piece.text) if letter == "\n")]
    cuts = [at for at in starts if at and _title_end(_part(piece, at, len(piece.text)))]
    for begin, end in zip([0, *cuts], [*cuts, len(piece.text)], strict=True):
        yield _part(piece, begin, end)


def _part(piece: MarkdownPiece, begin: int, end: int) -> MarkdownPiece:
    text = piece.text[begin:end].rstrip("\n")
    words: Words = piece.words.cut(begin, begin + len(text))
    return msgspec.structs.replace(piece, words=words, line=piece.line + piece.text.count("\n", 0, begin))


def _title_end(piece: MarkdownPiece) -> int:
    """Where the words end that say what the paragraph is about; 0 where there are none."""
    bold = piece.words.bold[0] if piece.words.bold else None
    if bold is not None and not re.search(r"\w", piece.text[: bold[0]]):
        title = piece.text[: bold[1]]
        # `**Pass rate**: 55/59` is a field, `**Passed**` a title
        is_field = bool(role_of(title, RUN)) and bool(piece.text[bold[1] :].strip(" :"))
        if about(title) not in (None, "failures") and not is_field:
            return bold[1]
    line = piece.text.partition("\n")[0]
    if _IN_CAPITALS.fullmatch(line) and (about(line) is not None or canonical_step(line)):
        return len(line)
    match = _INLINE.match(piece.text)
    if match and about(re.sub(r"\([^()]*\)", "", match[0])) not in (None, "failures"):
        return match.end()
    return 0
