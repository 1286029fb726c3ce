"""Take parts of secrets out of what was made from whole texts: on its own, half a secret looks like none.

A rule that quotes a value, a sentence or the beginning of a line does not know where a secret begins. So the secrets of
the whole texts are looked for in its words, part by part.
"""

from collections.abc import Iterable

from errata.text.named_secrets import SHORTEST, lower
from errata.text.redact import Secret, found_secrets, secret_values, without

PIECE = 8
"""Characters in a row that give a secret away."""


class CutSecrets:
    """The secrets of some texts, to be taken out of what quotes those texts."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._kinds: dict[str, str] = {}
        shown = []
        for text in texts:
            values = secret_values(text)
            for value, kind in values:
                self._learn(lower(value), kind)
            shown.append(without(text, found_secrets(text)) if values else text)
        self._shown = lower("\n".join(shown)) if self._kinds else ""
        self._sizes = sorted({len(piece) for piece in self._kinds})

    def _learn(self, value: str, kind: str) -> None:
        size = min(PIECE, len(value))
        if size >= SHORTEST:
            for at in range(len(value) - size + 1):
                self._kinds.setdefault(value[at : at + size], kind)

    def taken_out(self, text: str) -> str:
        """The text without parts of secrets. Words that the texts also have elsewhere stay: they are shown anyway."""
        if not self._kinds:
            return text
        lowered = lower(text)
        return without(text, (one for one in self._parts(lowered) if lowered[one.start : one.end] not in self._shown))

    def _parts(self, lowered: str) -> list[Secret]:
        """In order; parts that overlap are one."""
        parts: list[Secret] = []
        for at in range(len(lowered)):
            for size in self._sizes:
                kind = self._kinds.get(lowered[at : at + size])
                if kind is None:
                    continue
                if parts and at <= parts[-1].end:
                    parts[-1] = parts[-1]._replace(end=max(parts[-1].end, at + size))
                else:
                    parts.append(Secret(at, at + size, kind))
        return parts
