"""Text that a harness keeps inside of its own document, as an artefact."""

from errata.model import Artefact, SourceRef
from errata.model.words import ArtefactRole
from errata.sources.shared.documents import TEXT_CAP


def captured(role: ArtefactRole, path: str, text: str, ref: SourceRef) -> tuple[Artefact, ...]:
    """None where there is no text; of a long one the end, where tests and crashes tell."""
    if not text.strip():
        return ()
    data = text.encode("utf-8", "replace")
    shown = data[-TEXT_CAP:].decode("utf-8", "ignore") if len(data) > TEXT_CAP else text
    return (Artefact(role=role, path=path, size=len(data), text=shown, truncated=len(data) > TEXT_CAP, ref=ref),)
