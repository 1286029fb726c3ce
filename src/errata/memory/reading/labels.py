"""Labels in sentences, fields and headings: `MODEL_FAULT`, "Model fault", "two known gaps"."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from errata.memory.spelling import folded
from errata.text.lazy_regex import lazy_regex

LONGEST = 60
_FORMER = lazy_regex(r"(?i)\((?:was|were|previously|formerly|before|earlier|not)\b[^()]*\)")
_DENIED = lazy_regex(
    r"(?i)(?:\bnot|\bno|\bnever|n['’]t(?: be)?|\bneither|\bnor|\bwithout|\brather than|\binstead of|\bno longer|\bthan"
    r"|\bused to be|\bformerly|\bpreviously|\bonce|\b(?:last|first) time:?"
    r"|\b(?:might|could|may)\s+(?:\w+\s+){0,2}(?:call|be|count|label|read|see|file)\b[^.;]{0,30}?"
    r")\s+(?:an?\s+|the\s+|any\s+)?(?:(?:genuine|real|clear|pure|simple)\s+)?[\"'“”`*(]*$"
)


_OLDER = lazy_regex(r"(?i)\b(?:old(?:er)?|earlier|former|previous|prior|first|initial)\b[^.;]*$")
_DECIDED = lazy_regex(
    r"(?i)(?:\b(?:decision|verdict|conclusion|consensus|final(?:\s+\w+)?|in the end)\s*[:=,→–—]"
    r"|\b(?:decided|settled|agreed)\s+(?:on|that it is|to call (?:it|this)))[\s`*\"'“(]*(?:an?\s+)?$"
)
"""In front of the label that holds, where several were discussed."""
BEFORE = 100
"""Characters in front of a label that are searched for it."""
_IN_WORDS = {
    "model-fault": r"model(?:-s)?-(?:got-it-wrong|own|mistakes?|errors?|bugs?)"
    r"|(?:fault|mistake|error)s?-(?:of|by)-the-model"
    r"|genuine-(?:model-)?(?:mistake|failure|error)s?",
    "overly-strict": r"(?:too|over|overly|unreasonably|needlessly)-(?:strict|harsh|picky|narrow|rigid)",
    "ambiguous-task": r"(?:unclear|vague|underspecified|ambiguous)-(?:tasks?|prompts?|specs?|wording|instructions?)"
    r"|(?:tasks?|prompts?)-(?:is|are|was|were)-(?:too-)?(?:unclear|vague|ambiguous|underspecified)"
    r"|(?:read|understood|interpreted)-in-(?:two|several|different|more-than-one)-ways?",
    "known-gap": r"known-(?:limitation|limit|issue|problem)s?|(?:all|every)-models?-fails?",
}
"""What people write over a group in place of a label; a sentence may mean something else by it."""
_NO_LABEL = lazy_regex(
    r"(?i)\W*(?:(?:not|un)[\s-]*(?:yet\s+)?(?:classified|labell?ed|clear|known)|none|n/?a|tb[dc]|pending)\b"
)
_DOUBT = lazy_regex(r"[`*_\"'”)]*\?")
_SHORT = lazy_regex(r"(?<![\w-])([A-Z]{1,4})[`*]*\s*(?:=|:|→|–|—|\bmeans\b|\bstands for\b)\s*[`*\"“]*$")
_SYMBOL = lazy_regex(r"([\u2600-\u27bf\u2b00-\u2bff\U0001f300-\U0001faff])\ufe0f?[`*]*\s*[=:]?\s*[`*]*$")
_SHORT_BEHIND = lazy_regex(r"^[`*\"”]*\s*\(([A-Z]{1,4})\)")


_WORD_OF_LEGEND = lazy_regex(r"([A-Za-z][\w -]{1,24}?)[`*\"”]*\s*(?:=|→|\bmeans\b|\bstands for\b)\s*[`*\"“]*$")
_TOO_COMMON = frozenset(("model", "task", "test", "harness", "known"))
_FILLERS = frozenset(
    """
    a all and are as attributed both by cases classified clear error errors eval evals failed failure failures fault
    faults genuine issue issues just label labelled mistakes of on one ones only our plain problems pure real remaining
    rest s task tasks the these this those three to true two we
    """.split()  # noqa: SIM905
)
"""Words around a label in a title that do not change it."""


def _only_fillers(text: str) -> bool:
    return all(word in _FILLERS or word.isdigit() for word in folded(text).split("-") if word)


class LabelWords:
    """The labels of the taxonomies in use, known in any spelling."""

    def __init__(
        self,
        labels: Iterable[str],
        short: Mapping[str, str] | None = None,
        single: Mapping[str, str] | None = None,
    ) -> None:
        self._all, self._short = tuple(labels), dict(short or {})
        """And abbreviations that a report explains."""
        self._labels = {folded(label): label for label in self._all}
        words = "|".join(map(re.escape, self._short))
        self._abbreviation = re.compile(rf"(?<![\w-])(?:{words})(?![\w-])") if words else None
        # a word such as `model` or `other` is a label only where a label is asked for
        self._several = sorted((name for name in self._labels if "-" in name), key=len, reverse=True)
        short_ones = _own_words(self._labels[name] for name in self._several if name.count("-") == 1)
        self._single = {word: label for word, label in short_ones.items() if word not in self._labels} | dict(
            single or {}
        )
        """Single words that mean a label where one is asked for: `strict`, `gap`."""
        forms = "|".join(f"({_form(name)})" for name in self._several) or r"(?!)"
        self._pattern = re.compile(rf"(?<![^\W_])(?:{forms})(?:e?s)?(?![^\W_])", re.IGNORECASE)

    def find(self, text: str) -> str:
        """The first label that a text gives, in its own spelling; empty where it gives none, or only denies one."""
        return next((label for _, _, label in self.places(text)), "")

    def explained_in(self, text: str, *, other: Collection[str] = ()) -> "LabelWords":
        """With the abbreviations of a legend: `MF = model fault`. `other` ones, in lower case, mean something else."""
        if not self._pattern.search(text):
            return self
        short: dict[str, str] = {}
        for line in text.split("\n"):
            symbols: dict[str, str] = {}
            for start, end, label in self.places(line):
                before = line[max(0, start - 24) : start]
                matches = (_SHORT.search(before), _SHORT_BEHIND.match(line[end : end + 12]))
                short |= {match[1]: label for match in matches if match and match[1].casefold() not in other}
                if symbol := _SYMBOL.search(before):
                    symbols.setdefault(symbol[1], label)
            if len(symbols) > 1 and len(set(symbols.values())) > 1:  # a legend; a mark before one label is none
                short |= symbols
        several = len(set(short.values())) > 1  # one alone may be anything
        return LabelWords(self._all, short if several else {}, self._single_words(text))

    def _single_words(self, text: str) -> dict[str, str]:
        """Words that only one of the labels in a text has, and the words of its legend: `model = MODEL_FAULT`."""
        single = _own_words(label for _, _, label in self.places(text))
        for line in text.split("\n"):
            legend = {
                folded(match[1]): label
                for start, _, label in self.places(line)
                if (match := _WORD_OF_LEGEND.search(line[max(0, start - 40) : start]))
            }
            if len(set(legend.values())) > 1:
                single |= legend
        return single

    def places(self, text: str) -> list[tuple[int, int, str]]:
        """Where labels stand, without those that are denied or former."""
        if self._abbreviation and (match := self._abbreviation.search(text)) and not self._pattern.search(text):
            return [(match.start(), match.end(), self._short[match[0]])]
        if not self._pattern.search(text):
            return []
        current = _FORMER.sub(lambda found: " " * len(found[0]), text)
        matches = [
            (match.start(), match.end(), self._labels[self._several[(match.lastindex or 1) - 1]])
            for match in self._pattern.finditer(current)
        ]
        given = [one for one in matches if not _is_denied(current, one[0]) and not _DOUBT.match(current, one[1])]
        exact = [one for one in given if current[one[0] : one[1]] == one[2]]  # `MODEL_FAULT` counts more than words
        given = [one for one in exact if not _OLDER.search(current, max(0, one[0] - 30), one[0])] or given
        return [one for one in given if _DECIDED.search(current, max(0, one[0] - BEFORE), one[0])] or given

    def denied_in(self, text: str) -> list[str]:
        """`… is not a model fault`"""
        matches = [(match.start(), match.lastindex or 1) for match in self._pattern.finditer(text)]
        return [self._labels[self._several[index - 1]] for start, index in matches if _is_denied(text, start)]

    def exact(self, text: str) -> str:
        """The label that a text is and nothing else, if only a single word."""
        return self._labels.get(folded(text), "")

    def in_title(self, title: str) -> str:
        """The label of a group in the title over it, without counts: `Genuine model faults (3)`, `Strict`."""
        bare = re.sub(r"\([^()]*\)|\[[^\[\]]*\]", " ", title)
        places = self.places(bare)
        if len({label for _, _, label in places}) > 1:
            return ""
        if places:
            start, end, label = places[0]
            return label if _only_fillers(f"{bare[:start]} {bare[end:]}") else ""
        words = [word for word in folded(bare).split("-") if word and word not in _FILLERS and not word.isdigit()]
        label = self._of_word(words[0]) if len(words) == 1 else ""
        # `Model` alone may be the title over its name
        return label if label and (words[0] not in _TOO_COMMON or len(folded(bare).split("-")) > 1) else ""

    def _of_word(self, word: str) -> str:
        return self._single.get(word) or self._single.get(word.removesuffix("s"), "")

    def in_words(self, title: str) -> str:
        """The label that a title or a field means: `The model got it wrong (3)`."""
        name = folded(re.sub(r"['’]", "-", title))
        meant = [key for key, form in _IN_WORDS.items() if re.search(rf"(?<!\w)(?:{form})(?!\w)", name)]
        return self._labels.get(meant[0], "") if len(meant) == 1 else ""

    def alone(self, text: str) -> str:
        """The label that a text is and nothing else but marks and a remark in brackets."""
        places = self.places(text)
        if not places:
            return ""
        start, end, label = places[0]
        rest = f"{text[:start]}{re.sub(r'[(].*', '', text[end:])}"
        return "" if re.search(r"\w", rest) else label

    def in_field(self, value: str) -> str:
        """The label in a field or column for labels; the words unchanged if they are not a label."""
        known = self.find(value)
        if known:
            return known
        if _NO_LABEL.match(value):
            return ""
        bare = _FORMER.sub("", value).strip().strip("`*\"'“”").strip()
        short = re.split(r"\s*[(;,–—]|\s-\s|\.\s|\n", bare, maxsplit=1)[0].strip()
        return self.in_cell(short) or self._by_first_word(short) or self.in_words(short) or short[:LONGEST]

    def in_cell(self, text: str) -> str:
        """The label that a short text is where a label is asked for, if only by one word of it: `strict`."""
        words = [word for word in folded(text).split("-") if word not in _FILLERS]
        return (self._of_word(words[0]) if len(words) == 1 else "") or self.exact(text)

    def _by_first_word(self, text: str) -> str:
        """`Ambiguous` where only one label begins so."""
        name = folded(text)
        fitting = [label for key, label in self._labels.items() if name and key.startswith(f"{name}-")]
        return fitting[0] if len(fitting) == 1 else ""


def _own_words(labels: Iterable[str]) -> dict[str, str]:
    """The words that only one of several labels has."""
    names = {label: folded(label).split("-") for label in labels}
    words = Counter(word for name in names.values() for word in name)
    return {word: label for label, name in names.items() for word in name if words[word] == 1}


def _is_denied(text: str, at: int) -> bool:
    return _DENIED.search(text[max(0, at - 60) : at]) is not None


def _form(name: str) -> str:
    """`model-fault` as people write it: with blanks, in one word, of a model's."""
    return r"(?:['’]?s)?[\s_\-–]*".join(map(re.escape, name.split("-")))
