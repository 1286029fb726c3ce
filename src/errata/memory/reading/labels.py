"""Labels in sentences, fields and headings: `MODEL_FAULT`, "Model fault", "two known gaps"."""

import re
from collections.abc import Iterable

from errata.memory.spelling import folded

LONGEST = 60
_FORMER = re.compile(r"(?i)\((?:was|were|previously|formerly|before|earlier|not)\b[^()]*\)")
_DENIED = re.compile(
    r"(?i)(?:\bnot|\bno|\bnever|n['’]t(?: be)?|\bneither|\bnor|\bwithout|\brather than|\binstead of|\bno longer|\bthan)"
    r"\s+(?:an?\s+|the\s+|any\s+)?(?:(?:genuine|real|clear|pure|simple)\s+)?[\"'“”`*(]*$"
)


class LabelWords:
    """The labels of the taxonomies in use, known in any spelling."""

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
        """Where labels stand, without those that are denied or former."""
        if not self._pattern.search(text):
            return []
        current = _FORMER.sub(lambda found: " " * len(found[0]), text)
        matches = [
            (match.start(), match.end(), self._labels[self._several[(match.lastindex or 1) - 1]])
            for match in self._pattern.finditer(current)
        ]
        return [one for one in matches if not _DENIED.search(current[max(0, one[0] - 60) : one[0]])]

    def exact(self, text: str) -> str:
        """The label that a text is and nothing else, if only a single word."""
        return self._labels.get(folded(text), "")

    def in_field(self, value: str) -> str:
        """The label in a field or column for labels; the words unchanged if they are no label."""
        known = self.find(value)
        if known:
            return known
        bare = _FORMER.sub("", value).strip().strip("`*\"'“”").strip()
        short = re.split(r"\s*[(;,–—]|\s-\s|\.\s|\n", bare, maxsplit=1)[0].strip()
        return self.exact(short) or short[:LONGEST]


def _form(name: str) -> str:
    """`model-fault` as people write it: with blanks, in one word, of a model's."""
    return r"(?:['’]?s)?[\s_\-–]*".join(map(re.escape, name.split("-")))
