"""The words of a report: labels, names of cases, pass rates, models and ids of runs, as people write them.

Every pattern takes time linear in the text: no repetition inside a repetition, and every length has a limit.
"""

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from errata.memory.spelling import LONGEST, CaseSpellings, date_in, folded, without_host
from errata.text.lazy_regex import lazy_regex

# --- pass rates, runs and models


class PassRate(NamedTuple):
    passed: int
    total: int


_RATE = lazy_regex(r"(?<![\w./-])(\d{1,6})[`*]{0,2} ?(?:/|of|out of) ?(?:the |all )?[`*]{0,2}(\d{1,6})(?![\w/]|\.\d)")
_PASSED_AND_FAILED = lazy_regex(r"(?i)(?<![\w./-])(\d{1,6}) pass\w{0,3}[,;:/| ]{0,3}(?:and |but )?(\d{1,6}) fail")
_COUNTS_PASSES = lazy_regex(r"(?i)\b(?:pass|score|result|overall|solved|evals?\b|run\b)|\d ?%")


def rates_in(text: str) -> list[PassRate]:
    """Every `55/59`, `21 out of 24` of a field or a cell; `56 passed, 3 failed`."""
    rates = [PassRate(int(match[1]), int(match[2])) for match in _RATE.finditer(text)]
    both = _PASSED_AND_FAILED.search(text)
    if both and not rates:
        rates = [PassRate(int(both[1]), int(both[1]) + int(both[2]))]
    return [rate for rate in rates if rate.passed <= rate.total]


def rate_in_sentence(text: str) -> PassRate | None:
    return next(iter(rates_in(text)), None) if _COUNTS_PASSES.search(text) else None


_TOKEN = lazy_regex(r"(?<![\w/.@:-])[A-Za-z0-9][\w-]{3,79}(?![\w@/]|\.\w)")
_STAMP = lazy_regex(r"run_\d{8}\w{0,60}|\d{4}-\d\d-\d\d__[\d-]{4,20}|\d{8}T\d{6}[\w-]{0,60}")
_MODEL = lazy_regex(r"(?<![\w/.@-])[A-Za-z][\w.-]{0,60}/[A-Za-z][\w.-]{0,80}\w(?::[a-z]{2,20})?(?![\w/])")
_PLAIN_MODEL = lazy_regex(r"(?<![\w/.@-])[A-Za-z][\w.]{0,40}-[\w.-]{0,80}\w(?![\w/])")
_NO_MODEL = lazy_regex(
    r"(?i)(?:post|re|follow|per|deep|write|cross|one)-\w+|lint/config|pass/fail|\S*\.(?:[cm]?[jt]sx?|json|md|toml|txt|py)"
)
NAME = 120
REMARK_WORDS = 3
"""A longer text in brackets is a comment on the model, not a part of its name."""


def is_id(text: str) -> bool:
    """Letters and digits mixed, as no word and no model has them: `jn7mm13i`, `run_20260122_0007`."""
    changes = sum(left.isdigit() != right.isdigit() for left, right in pairwise(text))
    mixed = len(text) >= 6 and text.isalnum() and text.isascii() and changes >= 2 and not text[0].isupper()
    return mixed or _STAMP.fullmatch(text) is not None


def ids_in(text: str) -> list[str]:
    return list(dict.fromkeys(match[0] for match in _TOKEN.finditer(text) if is_id(match[0])))


def ids_in_field(text: str) -> list[str]:
    """Those of a field for runs; its first word is one if it has a digit, whatever it is like."""
    word = text.split()[0].strip("`,") if text.strip() else ""
    return ids_in(text) or ([word] if re.search(r"\d", word) else [])


def model_in(text: str, provider: str = "") -> tuple[str, str]:
    written = re.split(r"[,;]|\.\s|\s[|·•]\s", text[:LONGEST].strip("`* "), maxsplit=1)[0]
    bare, remarks = without_host(written, providers=[provider] if provider else [])
    name = bare.strip("`* ")
    if not re.search(r"\w", name) or len(name.split()) > 6 or re.match(r"\d+\s", name):
        return "", ""
    own = set(folded(name.replace("/", " ")).split("-"))
    apart = [f"({remark})" for remark in remarks if 0 < len(remark.split()) <= REMARK_WORDS]
    hosts = re.findall(r"\((?:via )?([\w.-]{2,40})\)", written)
    host = next((host for host in hosts if host not in remarks and not own.issuperset(folded(host).split("-"))), "")
    return " ".join([name, *apart])[:NAME], host


def model_like_in(text: str, *, vendor: bool = False) -> str:
    """The first word that is made like the name of a model, with its vendor if possible."""
    for form in (_MODEL,) if vendor else (_MODEL, _PLAIN_MODEL):
        for match in form.finditer(text[:LONGEST]):
            name = match[0].rstrip(".:")
            is_word = not re.search(r"[-\d]", name)
            if not (is_word or any(map(is_numbered, name.split("/"))) or _NO_MODEL.fullmatch(name) or date_in(name)):
                return name
    return ""


# --- names of cases


_NUMBERED = lazy_regex(r"\d{2,4}-[A-Za-z][\w.-]{0,200}")
_NAME = lazy_regex(r"(?<![\w/.@-])[A-Za-z0-9_][\w./@+-]{0,298}")
_FRONT = lazy_regex(
    r"(?i)\s{1,20}|\[[ x]\]|[#№]?\d{1,4}[.):](?=\s)|#\d{1,4}(?=\s)|(?:eval|case|task|failure)\s?\d{0,4}\s?[:–—-](?=\s)"
    r"|[^\w\s\"'(\[/.`-]"
)
_BRACKETS = lazy_regex(r"[\s`*_]{0,4}[(\[]`?([\w./-]{1,80})`?[)\]]")
_TURN = lazy_regex(r"(?i)turns?\s{1,4}#?(\d{1,6})\b")
_NO_NAME = lazy_regex(
    r"(?i)\.(?:[cm]?[jt]sx?|json[lc]?|py|md|toml|ya?ml|txt|log|sh|css|html?|csv|lock)$|^[A-Z]{2,10}-\d+$"
)
_PATH = lazy_regex(r"(?<![\w@/-])(\d{2,4}-[A-Za-z]\w{0,60})/(?=[\w-])")


def is_numbered(name: str) -> bool:
    """`009-text_search`: a name that is like no word."""
    return _NUMBERED.fullmatch(name) is not None


class Lead(NamedTuple):
    name: str
    sure: bool
    """Whether it is like no other word; if not, something else has to show that it is a case."""
    rest: str


class Vocabulary:
    def __init__(self, cases: CaseSpellings | None = None) -> None:
        self._cases = cases or CaseSpellings(())
        self.categories: set[str] = set()
        self.named = CaseSpellings(())
        """The cases whose failures the report lists: elsewhere, it may leave out a number."""

    def learn(self, text: str) -> None:
        self.categories.update(match[1] for match in _PATH.finditer(text))

    def is_sure(self, name: str, *, marked: bool = False) -> bool:
        """Whether it is a case in any place: it has a number in front, or is known. A single word has to be marked."""
        if name in self.categories or "://" in name or _NO_NAME.search(name):
            return False
        first, *_, last = (*name.split("/"), name.rpartition("/")[2])
        may_be = marked or re.search(r"[/_-]", name) is not None
        is_known = may_be and bool(self._cases.find(name) or self.named.find(name))
        return is_numbered(first) or is_numbered(last) or is_known

    def trimmed(self, name: str) -> str:
        """`evals/003-mutations/004-upsert/answer` without the folders around the case."""
        parts = name.rstrip(".,:;-/+@").split("/")
        numbered = [at for at, part in enumerate(parts) if is_numbered(part)]
        return "/".join(parts[numbered[0] : numbered[-1] + 1]) if len(numbered) > 1 else "/".join(parts)

    def lead_of(self, text: str, category: str = "") -> Lead | None:
        """The case that a line or a heading begins with. A category in brackets behind it is part of its name."""
        at = 0
        while match := _FRONT.match(text, at):
            at = match.end()
        if turn := _TURN.match(text, at):
            return Lead(f"turn {turn[1]}", True, text[turn.end() :])
        marked = text.startswith("`", at)
        token = _NAME.match(text, at + marked)
        name = self.trimmed(token[0]) if token else ""
        if not token or not re.search(r"[A-Za-z]", name) or _NO_NAME.search(name) or name in self.categories:
            return None
        rest = text[token.start() + len(token[0].rstrip(".,:;-/+@")) :].removeprefix("`")
        sure = self.is_sure(name, marked=marked)
        brackets = _BRACKETS.match(rest)
        if brackets and "/" not in name and is_numbered(brackets[1].split("/")[0]):
            within, rest = brackets[1], rest[brackets.end() :]
            self.categories.add(within.split("/")[0])
            return Lead(within if "/" in within else f"{within}/{name}", True, rest)
        if category and "/" not in name and sure:
            name = f"{category}/{name}"
        return Lead(name, sure, rest)

    def names_in(self, text: str, *, marked: bool = False) -> list[tuple[int, str]]:
        """The cases of a sentence and their places, in order. `marked`: a single word may be one, too."""
        turns = [(match.start(), f"turn {match[1]}") for match in _TURN.finditer(text)]
        tokens = ((match.start(), self.trimmed(match[0])) for match in _NAME.finditer(text))
        sure = ((at, name) for at, name in tokens if self.is_sure(name, marked=marked or text[max(0, at - 1)] == "`"))
        return sorted([*turns, *sure])

    def names_in_cell(self, text: str, column: str = "") -> list[str]:
        """Every case that a cell or field for cases holds. Numbers below `turn` are turns."""
        parts = [part.strip(" .*`\"'") for part in re.split(r"[,;\n]|\sand\s", re.sub(r"\([^()]{0,200}\)", "", text))]
        several = [part[:LONGEST] for part in parts if re.search(r"\w", part)]
        if column.lower().startswith("turn"):
            return [f"turn {part}" for part in several if part.isdigit()]
        lead = self.lead_of(several[0]) if len(several) == 1 else None
        name = lead.name if lead and not lead.rest.strip() else several[0] if several else ""
        return several if len(several) > 1 else [name] if name else []


# --- labels


_FORMER = lazy_regex(r"(?i)\((?:was|were|previously|formerly|before|earlier|not)\b[^()]{0,120}\)")
_DENIED = lazy_regex(
    r"(?i)(?:\bnot|\bno|\bnever|n['’]t(?: be)?|\bneither|\bnor|\bwithout|\brather than|\binstead of|\bno longer)"
    r"\s(?:an? |the |any )?(?:genuine |real |clear |pure )?[\"'“”`*(]{0,3}$"
)
_DOUBT = lazy_regex(r"[`*_\"'”)]{0,3}\?")
_NO_LABEL = lazy_regex(
    r"(?i)\W{0,3}(?:not (?:yet )?\w{0,12}|un(?:classified|labelled|known|clear)|none|n/?a|tb[dc]|pending)\W{0,3}$"
)
LABEL = 60


class LabelWords:
    def __init__(self, labels: Iterable[str]) -> None:
        self._labels = {folded(label): label for label in labels}
        # a word such as `model` or `other` is a label only where a label is asked for
        self._several = sorted((name for name in self._labels if "-" in name), key=len, reverse=True)
        forms = "|".join(f"({_form(name)})" for name in self._several) or r"(?!)"
        self._pattern = re.compile(rf"(?<![^\W_])(?:{forms})(?:e?s)?(?![^\W_])", re.IGNORECASE)

    def find(self, text: str) -> str:
        """The first label that a text gives, in its own spelling; empty where it gives none, or only denies one."""
        return next((label for _, _, label in self.places(text)), "")

    def places(self, text: str) -> list[tuple[int, int, str]]:
        """The places of labels, without those that are denied, former or in doubt."""
        if not self._pattern.search(text):
            return []
        current = _FORMER.sub(lambda match: " " * len(match[0]), text)
        return [
            (match.start(), match.end(), self._labels[self._several[(match.lastindex or 1) - 1]])
            for match in self._pattern.finditer(current)
            if not _DENIED.search(current[max(0, match.start() - 40) : match.start()])
            and not _DOUBT.match(current, match.end())
        ]

    def in_title(self, title: str) -> str:
        """The label of a group in the title over it: `Genuine model faults (3)`, `Framework`."""
        bare = re.sub(r"\([^()]{0,200}\)|[\d:#*`]", " ", title)
        labels = {label for _, _, label in self.places(bare)}
        return labels.pop() if len(labels) == 1 else self._labels.get(folded(bare), "")

    def in_field(self, value: str) -> str:
        """The label in a field or column for labels; the words unchanged if they are not a label."""
        known = self.find(value)
        if known or _NO_LABEL.match(value):
            return known
        bare = _FORMER.sub("", value[:LONGEST]).strip(" `*\"'“”\n")
        short = re.split(r"[(;,–—\n]|\s-\s|\.\s", bare, maxsplit=1)[0].strip()
        word = folded(short)
        # `MF`, `Ambiguous`, `strict`: of one label alone
        names = [name for name in self._several if word in (name[0] + name[name.index("-") + 1], *name.split("-"))]
        return self._labels.get(word) or (self._labels[names[0]] if len(names) == 1 else short[:LABEL])


def _form(name: str) -> str:
    """`model-fault` as people write it: with blanks, in one word, of a model's."""
    return r"(?:['’]?s)?[\s_\-–]{0,3}".join(map(re.escape, name.split("-")))
