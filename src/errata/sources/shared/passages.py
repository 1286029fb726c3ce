"""Passages that were retrieved for an answer, as texts beside the attempt: who reads a failure must see them."""

from collections.abc import Iterator
from typing import Any

from errata.model import Artefact, SourceRef
from errata.sources.shared.documents import TEXT_CAP
from errata.sources.shared.values import as_text, sequence


def retrieved(told: Any, ref: SourceRef, name: str) -> Iterator[Artefact]:
    for at, passage in enumerate(sequence(told)):
        said = as_text(passage)
        yield Artefact(
            role="context",
            path=f"{name}/{at}.md",
            size=len(said.encode("utf-8", "replace")),
            text=said[:TEXT_CAP],
            truncated=len(said) > TEXT_CAP,
            ref=ref.below(name, at),
        )
