"""Sentences that name cases: which failed, with which label and at which step."""

import re
from collections.abc import Iterator, Sequence

from errata.memory.reading.cases import names_in
from errata.memory.reading.drafts import GUESS, PROSE, CaseNaming
from errata.memory.reading.groups import GroupLabel, SentenceWord, group_label, group_step, labels_of_names
from errata.memory.reading.markdown import MarkdownPiece, Words
from errata.memory.reading.rates import NUMBER
from errata.memory.reading.steps import only_step_in, steps_in_order
from errata.text.lazy_regex import lazy_regex

_FAILS = lazy_regex(r"(?i)\b(?:fail(?:ed|s|ing|ure)?|broke|crashed|not deploy|stops? at)\b")
_PASSES = lazy_regex(r"(?i)\bpass(?:ed|es|ing)?\b|\bfixed\b|\bresolved\b|\bno longer\b|(?:\bnot|n['’]t|\bnever)\s+fail")
_AFTER_NAME = lazy_regex(
    r"(?i)[`*)\"']*\s*(?:,\s*)?(?:which\s+|that\s+)?(?:now\s+|also\s+|again\s+|still\s+|has\s+|have\s+|is\s+|are\s+|was\s+|been\s+)*"
    r"(?:pass(?:es|ed|ing)?\b|fixed\b|resolved\b|no longer fail|green\b|gone\b)"
)
_BEFORE = lazy_regex(
    r"(?i)\b(?:last|previous|prior|earlier|first|old(?:er)?)\s+(?:\w+\s+)?(?:reports?|runs?|weeks?|months?|times?|analys\w+|round)\b"
    r"|\bin\s+(?:january|february|march|april|may|june|july|august|september|october|november|december)\b"
    r"|\bpreviously\b|\b(?:weeks?|days?|months?|runs?)\s+ago\b|\bused to\b|\bin the past\b|\bbefore the fix\b"
)
_NOT_RUN = lazy_regex(r"(?i)\b(?:pending|running|missing|skipped|not run|never ran)\b(?:, not counted)?[^,;.]*$")
"""In front of a name: `1 was still pending (002-queries/009-text_search`."""
_AGAIN = lazy_regex(
    r"(?i)\b(?:again|still|also|too|as (?:before|in|it did)|same as|repeat\w*|like (?:in|last)|keeps?)\b"
)
_REPORT_FILE = lazy_regex(r"[a-z0-9]_\d{4}-\d\d-\d\d\.md\b")
_NO_LABEL = lazy_regex(r"(?i)\b(?:infrastructure|not classified|unclassified|no label|without a label)\b")
_COUNTS_SOME = lazy_regex(
    rf"(?i)\W*(?:the\s+)?(?:(?:last|next|first|other|remaining)\s+)?(?:{NUMBER}|both|all|several|these)\b"
)
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
_ORDINAL = lazy_regex(
    rf"(?i)\b(?:the\s+)({'|'.join(_ORDINALS)})(?:\s+(?:one|failure|eval))?\s+(?:is|was|as|counts|we)\b"
)
_NUMBERED = lazy_regex(
    r"(?i)(?:\b(?:failures?|items?|evals?|nos?\.|numbers?)\s+|#)\d+(?:\s*(?:,|and|&)\s*#?\d+)*(?![\w/%-])"
)
_END = lazy_regex(
    r"(?<=[a-z]{4}\.)\s+(?=[a-z])|(?<=[.!?;])\s+(?=[\"'`(*A-Z0-9])|(?<=;)\s+|\n(?=\s*[-*•])|(?<=[.!?)])\n(?=[\w-]+_\w)"
)


class SentenceMention:
    """A case in a sentence."""

    def __init__(self, name: str, label: str, text: str) -> None:
        self.name, self.label, self.text = name, label, text


def read_sentences(
    piece: MarkdownPiece, naming: CaseNaming, *, may_add: bool = True, step: str = ""
) -> list[GroupLabel]:
    """Note the failures of a paragraph, and return its labels for groups. `may_add`: also cases not named elsewhere.

    `step`: of the heading above, so that every case below it failed there.
    """
    groups: list[GroupLabel] = []
    mentioned: list[SentenceMention] = []
    before: list[str] = []
    unlabelled: list[str] = []
    heading = ""
    """The label that a sentence without a case gives to the cases of the next ones: `Two are overly strict. …`."""
    for sentence in sentences(piece.words):
        labels = _labels(sentence.text, naming)
        names = _names(sentence, naming) or (_by_number(sentence.text, naming) if labels else [])
        if len({name.text for name in names}) == 1 and (draft := naming.drafts.find(names[0].text, naming.run)):
            for label in naming.labels.denied_in(sentence.text):
                draft.deny(label)
        group, excepted = group_label(
            sentence.text, names, labels, categories=naming.vocabulary.categories, section=naming.section
        )
        if not names and not labels and (at_step := group_step(sentence.text, naming.section)):
            groups.append(at_step)
        elif group is not None:
            groups.append(group)
            rest = [label for label in labels if excepted and label.at > excepted[0].at]
            mentioned += [
                SentenceMention(name, label, sentence.text) for name, label in labels_of_names(excepted, rest).items()
            ]
        else:
            known = (
                len({name.text for name in names}) == 1 and naming.drafts.find(names[0].text, naming.run) is not None
            )
            explains = known and bool(only_step_in(sentence.text))
            if names and heading and not labels and not _PASSES.search(sentence.text):
                mentioned += [SentenceMention(name.text, heading, sentence.text) for name in names]
            mentioned += _mentions(sentence.text, names, labels, before, is_listed=bool(step) or explains)
        if not labels and _NO_LABEL.search(sentence.text):
            unlabelled += [name.text for name in names] or before[:1]
        heading = _label_of_next(sentence.text, labels, naming) if not names else "" if labels else heading
        before = list(dict.fromkeys(name.text for name in names)) or before
    _note(mentioned, piece, naming, may_add=may_add, step=step)
    for name in unlabelled:
        if (draft := naming.drafts.find(name, naming.run)) is not None:
            draft.is_unlabelled = True
    if may_add and any(group.label for group in groups):  # "All 70 failed evals are …; three were checked: a, b and c"
        listed = (one for one in sentences(piece.words) if not _PASSES.search(one.text))
        mentioned = [
            SentenceMention(name.text, "", sentence.text) for sentence in listed for name in _names(sentence, naming)
        ]
        _note(mentioned, piece, naming, may_add=True)
    return groups


def _label_of_next(text: str, labels: Sequence[SentenceWord], naming: CaseNaming) -> str:
    given = {label.text for label in labels} or {naming.labels.in_words(text)}
    return given.pop() if len(given) == 1 and _COUNTS_SOME.match(text) else ""


def speaks_of_the_past(text: str) -> bool:
    """Of an earlier report or run."""
    return _BEFORE.search(text) is not None or _REPORT_FILE.search(text) is not None


def sentences(words: Words) -> Iterator[Words]:
    start = 0
    for end in [*(found.end() for found in _END.finditer(words.text)), len(words.text)]:
        yield words.cut(start, end)
        start = end


def _names(sentence: Words, naming: CaseNaming) -> list[SentenceWord]:
    """Without those that pass, or failed only in the past."""
    text = sentence.text
    names = [
        SentenceWord(at, name) for at, name in sorted(names_in(sentence, naming.vocabulary)) if naming.is_case(name)
    ]
    if _BEFORE.search(text) and not _AGAIN.search(text):
        names = [one for one in names if naming.drafts.find(one.text, naming.run)] if naming.labels.find(text) else []
    ran = [name for name in names if not _NOT_RUN.search(text, 0, name.at)]
    return [one for one in ran if not _AFTER_NAME.match(text, one.at + len(_name_at(text, one)))]


def _by_number(text: str, naming: CaseNaming) -> list[SentenceWord]:
    """`The first is …`, `failures 1 and 2 are …`: those that were listed before, by their place."""
    listed = [draft.case for draft in naming.drafts.all() if draft.run == naming.run]
    places = [(match.start(), _ORDINALS.index(match[1].lower())) for match in _ORDINAL.finditer(text)]
    for match in _NUMBERED.finditer(text):
        places += [(match.start() + found.start(), int(found[0]) - 1) for found in re.finditer(r"\d+", match[0])]
    return [SentenceWord(at, listed[number]) for at, number in sorted(places) if 0 <= number < len(listed)]


def _name_at(text: str, name: SentenceWord) -> str:
    """The name as the text has it, which may be a longer path."""
    match = re.compile(r"[\w./-]*\w").match(text, name.at)
    return match[0] if match else name.text


def _labels(text: str, naming: CaseNaming) -> list[SentenceWord]:
    return [SentenceWord(start, label) for start, _, label in naming.labels.places(text)]


def _mentions(
    text: str,
    names: Sequence[SentenceWord],
    labels: Sequence[SentenceWord],
    before: Sequence[str],
    *,
    is_listed: bool,
) -> list[SentenceMention]:
    if labels and names:
        return [SentenceMention(name, label, text) for name, label in labels_of_names(names, labels).items()]
    if labels and len(before) == 1:
        return [SentenceMention(before[0], labels[0].text, text)]
    if names and (is_listed or _FAILS.search(text)) and not _PASSES.search(text):
        return [SentenceMention(name.text, "", text) for name in names]
    return []


def _note(
    mentioned: Sequence[SentenceMention], piece: MarkdownPiece, naming: CaseNaming, *, may_add: bool, step: str = ""
) -> None:
    alone = len({mention.name for mention in mentioned}) == 1
    names = list(dict.fromkeys(mention.name for mention in mentioned))
    steps = steps_in_order(names, mentioned[0].text) if len({mention.text for mention in mentioned}) == 1 else {}
    for mention in mentioned:
        if not may_add and naming.drafts.find(mention.name, naming.run) is None:
            continue
        reason = piece.text if alone else mention.text
        line = piece.line + piece.text.count("\n", 0, max(piece.text.find(mention.name), 0))
        draft = naming.draft_of(mention.name, line)
        draft.call(mention.label, line, PROSE)
        draft.failed_at(steps.get(mention.name) or naming.step_in(mention.text), PROSE)
        draft.failed_at(step, PROSE)
        draft.failed_at(only_step_in(mention.text), GUESS)
        draft.failed_at(naming.step_in(reason), GUESS)
        draft.explain(reason)
