"""Names of cases in what people write: paths, identifiers, `turn 24`; in front of a line, in a cell, in a sentence."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from errata.memory.reading.labels import LabelWords
from errata.memory.reading.markdown import MarkdownPiece, Words
from errata.memory.reading.steps import STEP, canonical_step, step_in
from errata.memory.reading.vocabulary import Vocabulary, is_numbered
from errata.memory.spelling import same_part, segments
from errata.text.lazy_regex import lazy_regex

LONGEST = 300
RANGE = 100
_TOKEN = lazy_regex(r"(?<![\w/.@-])[A-Za-z0-9_][\w./@+-]*")
_FILE = lazy_regex(
    r"(?i)\.(?:[cm]?[jt]sx?|json[lc]?|py|md|toml|ya?ml|txt|log|sh|css|html?|csv|tsv|lock|rs|go|java|rb|sql|xml|zip|db|env)$"
)
_TURNS = lazy_regex(r"(?i)\bturns?[\s#]+(\d{1,6}(?:\s*(?:,|&|and|[-–—]|to)\s*#?\d{1,6})*)")
_NUMBER = lazy_regex(r"(\d{1,6})(?:\s*(?:[-–—]|to)\s*(\d{1,6}))?")
_NUMBERS = lazy_regex(r"(?:\d|[\s,&–—-]|and)+")
_FRONT = lazy_regex(
    r"^(?:[\s>]|\[[ xX]\]|[#№]?\d{1,4}[.):]\s|#\d{1,4}\b|[^\w\s`\"'(\[/.-]"
    r"|(?:eval|case|task|test|failure|scenario)\s*(?:\d{1,4})?\s*[:–—-]\s)*",
    re.IGNORECASE,
)
_INTRODUCTION = lazy_regex(
    r"(?i)(?:(?:in|for|with|on|and|then|next|also|last(?:ly)?|finally|another|first|second),?\s+){1,2}"
)
"""In front of a marked name: `In **002-queries/007-index** the tests …`."""
_REMARK = lazy_regex(r"\([^()]*\)")
_IN_BRACKETS = lazy_regex(r"[\s`*_]*[(\[]\s*[`*]?([\w./-]+)[`*]?\s*[)\]]")
_NAME_AND_CATEGORY = lazy_regex(r"([A-Za-z][\w-]*)[`*]*\s*[(\[]\s*`?(\d{2,4}-[a-z][a-z_-]*)(?:/(\d{2,4}))?`?\s*[)\]]")
"""`crons (000-fundamentals)`, `crons (000-fundamentals/003)`"""
_WORD_AND_STEP = lazy_regex(rf"([a-z][a-z0-9]{{2,30}}):\s+(?:{STEP})\s*[.,;:]")
"""`upsert: tests. …`: any word may be the name of a case."""
_FAILS_AT_STEP = lazy_regex(
    rf"([a-z][\w-]{{2,40}})[`*]*\s+(?:fail(?:s|ed)|stop(?:s|ped)|breaks|broke)\s+(?:in|at|on|during)\s+(?:the\s+)?`?(?:{STEP})\b"
)
"""`presence fails in tests`"""
_NEXT_NAME = lazy_regex(
    r"(?:\s*[(\[][^()\[\]\n]{0,60}[)\]])?(?:\s*[,;&+]\s*(?:and\s+)?|\s+and\s+)([A-Za-z0-9_][\w./-]*)"
)
"""A remark may stand between them: `a (503) and b (429)`."""
_CATEGORY_FIRST = lazy_regex(r"\[?([\w-]+)(?:\]\s*|\s+/\s+|\s*[›»>:→]\s*|\s+[-–—]\s+)([A-Za-z0-9][\w-]*)")
_LINT_RULE = lazy_regex(
    r"@|(?:typescript-eslint|eslint|react|react-hooks|import|unused-imports|jsx-a11y|unicorn|promise|sonarjs|prettier)/"
    r"|(?:[\w-]+/)?(?:no|prefer|require|consistent|ban|explicit|restrict|exhaustive|naming|strict|await|array|only)"
    r"(?:-[a-z]+)+$"
)


class Lead(NamedTuple):
    """A name at the start of a line, and the text after it."""

    name: str
    sure: bool
    """Whether it is like no other word; if not, something else has to show that it is a case."""
    rest: Words


def lead_of(words: Words, known: Vocabulary) -> Lead | None:
    start = _FRONT.match(words.text)
    at = start.end() if start else 0
    intro = _INTRODUCTION.match(words.text, at)
    if intro and any(begin == intro.end() for begin, _ in (*words.bold, *words.codes)):
        at = intro.end()
    category = _CATEGORY_FIRST.match(words.text, at)
    if category and known.is_category(category[1]) and re.search(r"[_-]", category[2]):
        return Lead(f"{category[1]}/{category[2]}", True, words.cut(category.end()))
    bare = _NAME_AND_CATEGORY.match(words.text, at)
    if bare and known.may_be_category(bare[2]):
        known.add_category(bare[2])
        number = f"{bare[3]}-" if bare[3] else ""
        return Lead(f"{bare[2]}/{number}{bare[1]}", True, words.cut(bare.end()))
    for begin, end in words.codes:
        if begin == at:
            name = words.text[begin:end].strip()
            is_name = _may_be_name(name) and not (is_lint_rule(name) and not known.has(name))
            return _with_brackets(Lead(name, likeness(name) > 1, words.cut(end)), known) if is_name else None
    turn = _TURNS.match(words.text, at)
    if turn and turn[1].isdigit():
        return Lead(f"turn {turn[1]}", True, words.cut(turn.end()))
    token = _TOKEN.match(words.text, at)
    name = _trimmed(token[0]) if token else ""
    if token and likeness(name) and (known.has(name) or not is_lint_rule(name)):
        return _with_brackets(Lead(name, likeness(name) > 1, words.cut(at + len(name))), known)
    word = _WORD_AND_STEP.match(words.text, at) or _FAILS_AT_STEP.match(words.text, at)
    return Lead(word[1], False, words.cut(word.end(1))) if word else None


def _with_brackets(lead: Lead, known: Vocabulary) -> Lead:
    """`text_search (002-queries)` and `text_search (002-queries/009-text_search)` name the case completely."""
    name = known.trimmed(lead.name)
    match = _IN_BRACKETS.match(lead.rest.text)
    within = match[1] if match else ""
    if match and "/" not in name and likeness(within) > 1:
        parts, last = segments(within), segments(name)[-1:]
        if "/" in within and last and same_part(parts[-1], last[0]):
            return Lead(within, True, lead.rest.cut(match.end()))
        if "/" not in within and is_numbered(within) and known.may_be_category(within):
            known.add_category(within)
            return Lead(f"{within}/{name}", True, lead.rest.cut(match.end()))
    return Lead(name, lead.sure, lead.rest)


def is_ticket(name: str) -> bool:
    """`EVAL-318`: the key of an issue in a tracker."""
    return re.fullmatch(r"[A-Z]{2,10}-\d+", name) is not None


def is_lint_rule(name: str) -> bool:
    """`no-unused-vars`, `@typescript-eslint/no-explicit-any`: rules that failures are explained with."""
    return _LINT_RULE.match(name) is not None


def names_in_cell(words: Words, column: str) -> list[str]:
    """Every case that a cell or field for cases holds. `column` names it: numbers below `turn` are turns."""
    marked = [name for name in map(str.strip, words.code_texts) if _may_be_name(name)]
    if marked:
        return marked
    text, kind = _without_remarks(words.text).strip(), column.strip().lower().removesuffix("s")
    if kind == "turn" or _NUMBERS.fullmatch(text):
        return _numbered(text, kind)
    parts = [part.strip(" .*`\"'") for part in re.split(r"[,;\n]|\s(?:and|&)\s", text)]
    several = [part for part in parts if part]
    if len(several) > 1 and all(" " not in part or _TURNS.fullmatch(part) for part in several):
        return several
    bare = _FRONT.sub("", text, count=1).strip(" .*`\"'")
    return [bare[:LONGEST]] if re.search(r"\w", bare) else []


def names_that_follow(rest: Words) -> list[str]:
    """`…, b and c all fail`: the other cases of a list that a line begins with."""
    names: list[str] = []
    at = 0
    while (match := _NEXT_NAME.match(rest.text, at)) and likeness(match[1]) > 1:
        names.append(_trimmed(match[1]))
        at = match.start(1) + len(names[-1])
    return names


def names_in(words: Words, known: Vocabulary) -> Iterator[tuple[int, str]]:
    """Where cases stand in a sentence: those that are known, and those that are like no other word."""
    codes = set(words.codes)
    for turns in _TURNS.finditer(words.text):
        for number in _numbers(turns[1]):
            yield turns.start(), f"turn {number}"
    for begin, end in words.codes:
        name = known.trimmed(words.text[begin:end].strip())
        bracket = _IN_BRACKETS.match(words.text, end)
        is_category = bracket and is_numbered(bracket[1]) and known.may_be_category(bracket[1])
        if bracket and is_category and likeness(name) and "/" not in name:
            yield begin, f"{bracket[1]}/{name}"
        elif known.has(name, is_code=True) or (likeness(name) > 1 and known.is_like_others(name)):
            yield begin, name
    for bracket in _REMARK.finditer(words.text):
        for part in re.finditer(r"[^,;()]+", bracket[0]):
            name = part[0].strip(" `*")
            if re.fullmatch(r"\w+", name) and known.has(name, is_code=True):
                yield bracket.start() + part.start(), name
    for token in _TOKEN.finditer(words.text):
        if any(begin <= token.start() < end for begin, end in codes):
            continue
        name = known.trimmed(_trimmed(token[0]))
        is_path = "/" in name or name[:1].isdigit()
        if known.has(name) or (likeness(name) > 1 and is_path and known.is_like_others(name)):
            yield token.start(), name


@lru_cache(maxsize=20_000)
def likeness(token: str) -> int:
    """How much a word is like the name of a case: 2 like nothing else, 1 perhaps, 0 not."""
    if not _may_be_name(token) or not _TOKEN.fullmatch(token) or not re.search(r"[A-Za-z]", token) or is_ticket(token):
        return 0
    parts = token.split("/")
    digit, joined = any(letter.isdigit() for letter in token), re.search(r"[_-]", token) is not None
    if len(parts) > 1:
        return 0 if not all(parts) else 2 if digit or joined else 1
    inner = re.search(r"\w[._-]\w", token) is not None
    return 2 if inner and digit else 1 if inner else 0


def _may_be_name(text: str) -> bool:
    bare = text.partition(":")[0]
    return (
        0 < len(text) <= LONGEST
        and "://" not in text
        and not _FILE.search(bare)
        and not text.startswith(("/", ".", "_"))
        and not re.search(r"[(){}<>=;$\[\]\"]", text)
    )


def _trimmed(token: str) -> str:
    return token.rstrip(".,:;-/+@")


def _numbered(name: str, column: str) -> list[str]:
    """Below `turn` they are turns, below `id` and the like they are names, elsewhere they count something."""
    if column == "turn":
        return [f"turn {number}" for number in _numbers(name)]
    return list(_numbers(name)) if column in ("id", "eval", "case", "task", "item", "question", "sample") else []


def _numbers(name: str) -> Iterator[str]:
    """`11, 22` and `25–29`, with the zeros that stand in front of them."""
    for match in _NUMBER.finditer(name):
        first, last = int(match[1]), int(match[2] or match[1])
        for number in range(first, min(max(last, first), first + RANGE) + 1):
            yield f"{number:0{len(match[1])}d}"


def _without_remarks(text: str) -> str:
    for _ in range(3):
        text = _REMARK.sub("", text)
    return text


def is_sentence(text: str, names: Iterable[str]) -> bool:
    """Whether names are only mentioned: `say in 010-upsert what becomes of createdAt`."""
    for name in names:
        text = text.replace(name, "", 1)
    return len(re.findall(r"[^\W\d]{2,}", re.sub(r"\([^()]*\)", "", text))) > 3


def is_record(lead: Lead) -> bool:
    """A case and a sign behind it, not a word of a sentence."""
    return lead.sure and re.match(r"[\s`*]*(?:[,:;|·(\[→>–—-]|\n|$)", lead.rest.text) is not None


def is_at_step(lead: Lead) -> bool:
    """A sign and a step behind a case: `crons [deploy]`, `crons: tests. …`."""
    match = re.match(r"[\s`*]*[:,(\[–—-][\s`*\[(]*(\w[\w -]{1,20}?)[\s`*]*(?:[.,;:)\]–—]|$)", lead.rest.text)
    return match is not None and bool(canonical_step(match[1]))


ENOUGH = 2
"""Lines of a section that have to be failures by a label or a step."""


def sibling_names(pieces: Sequence[MarkdownPiece], labels: LabelWords) -> Iterator[str]:
    """Cases that only their place makes known: lines begin with a marked name, and several are failures."""
    section: list[tuple[str, bool]] = []
    for piece in pieces:
        if piece.kind == "heading":
            yield from _cases_among(section)
            section = []
        elif piece.kind in ("item", "text"):
            section += _marked_names(piece.words, labels)
    yield from _cases_among(section)


def _cases_among(section: Sequence[tuple[str, bool]]) -> list[str]:
    return [name for name, _ in section] if sum(is_failure for _, is_failure in section) >= ENOUGH else []


def _marked_names(words: Words, labels: LabelWords) -> Iterator[tuple[str, bool]]:
    """A bold name or one in code at the beginning of each line, and whether the line is about a failure."""
    starts = [0, *(match.end() for match in re.finditer(r"\n", words.text))]
    for start, end in sorted({*words.bold, *words.codes}):
        name = words.text[start:end].strip(" .:`")
        begins = max(at for at in starts if at <= start)
        is_name = "_" in name and likeness(name) == 1 and not is_lint_rule(name)
        if not is_name or re.search(r"[\w`]", words.text[begins:start]):
            continue
        rest = words.text[end : min((at for at in starts if at > start), default=len(words.text))]
        yield name, bool(labels.find(words.text[begins:start]) or labels.find(rest) or step_in(rest))
