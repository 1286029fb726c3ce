"""What triage saw, as a packet tells it.

Triage cuts what it quotes without regard to secrets: it tells nobody. So a long quote is looked up where it was taken
from, and cut anew there.
"""

import re
from collections.abc import Sequence

from errata.model import FailureKey, Signal
from errata.model.identity import fingerprint
from errata.review.material import Material
from errata.review.seams import Seams, Tell, in_short
from errata.text.clean import clean, one_line

SIGNALS = 12
GAP = "known_gap"
QUOTE = 500
NAME = 160
WHOLE = 55
"""Characters of a quote that is not cut for sure."""
PIECE = 6
"""Characters that tell nothing of a secret."""
_OPAQUE = re.compile(r"\d|.{20}")
HASH = 6
MESSAGE = 4_000
"""Characters of a message that a key may be made of."""


def signals_of(signals: Sequence[Signal], texts: Sequence[str], tell: Tell) -> tuple[Signal, ...]:
    """Without the version of the rules: a packet changes only with what it says."""
    return tuple(
        Signal(
            name=one.name,
            where=in_short(one.where, NAME, tell),
            quote=_quote(one.quote, texts, tell),
            strength=one.strength,
        )
        for one in _first(signals)
    )


def _first(signals: Sequence[Signal]) -> Sequence[Signal]:
    """Those that weigh most, and a gap that is on record: without it no reviewer may name one."""
    gaps = [one for one in signals[SIGNALS:] if one.name == GAP][:1]
    return (*signals[: SIGNALS - len(gaps)], *gaps)


def _quote(quote: str, texts: Sequence[str], tell: Tell) -> str:
    if len(quote) <= WHOLE:
        return one_line(quote)
    words = quote.removesuffix("…").split()
    pattern = re.compile(r"\s+".join(map(re.escape, words)))
    for text in texts:
        if found := pattern.search(text):
            seams = Seams(text, tell)
            start = seams.after(found.start(), found.end())
            return in_short(text[start : seams.before(found.end(), start)], QUOTE, tell)
    if _is_half(words[0], texts, rf"\S{re.escape(words[0])}(?!\S)"):
        words[0] = "…"
    if _is_half(words[-1], texts, rf"(?<!\S){re.escape(words[-1])}\S"):
        words[-1] = "…"
    return in_short(" ".join(words), QUOTE, tell)


def _is_half(word: str, texts: Sequence[str], longer: str) -> bool:
    """Whether a word at the end of a cut quote may be the rest of a secret, by its look or by what it is a part of."""
    if len(word) <= PIECE:
        return False
    return _OPAQUE.search(word) is not None or any(re.search(longer, text) for text in texts)


def key_of(material: Material, tell: Tell) -> FailureKey | None:
    """Readable, unless something has to be redacted in what it is made of: a mask may have left half of that."""
    said = material.attribution
    if said is None:
        return None
    key = said.failure_key
    if all(tell(text) == clean(text) for text in _made_of(material)):
        return FailureKey(exact=clean(key.exact), coarse=clean(key.coarse))
    return FailureKey(exact=fingerprint(key.exact, size=HASH), coarse=fingerprint(key.coarse, size=HASH))


def _made_of(material: Material) -> list[str]:
    attempt = material.attempt
    texts = [attempt.native_status, attempt.native_reason, *(one.reasoning for one in attempt.judgements)]
    texts += [text for one in attempt.errors for text in (one.type, one.template, one.message, one.frame)]
    texts += [text for one in attempt.checks if one.status != "pass" for text in (one.name, one.explanation)]
    return [text[:MESSAGE] for text in dict.fromkeys(texts)]
