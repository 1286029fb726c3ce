"""Verdicts that clear the subject: whether one reviewer is enough for them.

A failure is the subject's unless evidence shows otherwise. What the subject, or a page it has read, could have written
into its log is not such evidence: it may be there to get this very verdict. The words of an injection can't be listed,
so it is decided by where the evidence is from, and by whether such a text names the label or gives the cause.
"""

import re
from codecs import encode
from collections.abc import Iterator, Sequence
from functools import lru_cache

from errata.model import Packet, Quote
from errata.model.words import Owner
from errata.review.instructions import views
from errata.review.passages import fold
from errata.review.places import Kind, kind_of

AGAINST_THE_SUBJECT: frozenset[Owner] = frozenset(("model", "unknown"))
"""Owners that leave the failure with the subject, or with nobody."""
BY_THE_SUBJECT: frozenset[Kind] = frozenset(("output", "log", "neighbour"))
"""Kinds of places that hold what the subject or its tools write."""
PHRASE = 5
"""Words in a row that two texts do not share by chance."""
_WORD = re.compile(r"[^\W_]+")
LARGEST = 400_000
"""Characters of a place that are searched for the label."""


def needs_a_second(
    packet: Packet, owner: Owner, label: str, quotes: Sequence[Quote], *, words: str, triaged: str = ""
) -> bool:
    """Of a verdict by a model or a program; `words` are its cause and reasoning, `triaged` is the owner by rules.

    It is enough that triage found the same evidence or named the same owner: rules obey no text.
    """
    if owner in AGAINST_THE_SUBJECT or owner == triaged or _is_seen_by_triage(packet, quotes):
        return False
    if all(kind_of(quote.place) in BY_THE_SUBJECT for quote in quotes):
        return True
    own, others = _texts(packet, own=True), _texts(packet, own=False)
    return any(_names(text, (label,)) for text in own) or _repeats(words, own, others)


def _is_seen_by_triage(packet: Packet, quotes: Sequence[Quote]) -> bool:
    lines = [fold(signal.quote) for signal in packet.signals if signal.quote]
    return any(line in fold(quote.quote) or fold(quote.quote) in line for quote in quotes for line in lines)


def _texts(packet: Packet, *, own: bool) -> list[str]:
    """What the subject could have written, or all that it could not."""
    return [one.text[:LARGEST] for one in packet.places if (kind_of(one.place) in BY_THE_SUBJECT) == own]


@lru_cache(maxsize=256)
def _names(text: str, labels: tuple[str, ...]) -> bool:
    """Whether the text has one of the labels as a word, also in disguise, spelled out or in rot13."""
    plain = [re.sub(r"[\W_]+", "", label.lower()) for label in labels]
    forms = dict.fromkeys((*plain, *(encode(label, "rot13") for label in plain)))
    words = "|".join(r"[\W_]?".join(map(re.escape, form)) for form in forms if form)
    pattern = re.compile(rf"(?<![^\W\d_])(?:{words})(?![^\W\d_])")
    return any(pattern.search(view.text) for view in views(text))


def _repeats(words: str, own: Sequence[str], others: Sequence[str]) -> bool:
    """Whether the verdict gives as its reason what only the subject's texts state."""
    stated, elsewhere = ({phrase for text in texts for phrase in _phrases(text)} for texts in (own, others))
    return any(phrase in stated and phrase not in elsewhere for phrase in _phrases(words))


def _phrases(text: str) -> Iterator[tuple[str, ...]]:
    words = _WORD.findall(text.lower())
    return zip(*(words[at:] for at in range(PHRASE)), strict=False)
