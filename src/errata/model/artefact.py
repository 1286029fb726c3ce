"""A file that belongs to a run, a case or an attempt."""

from errata.model.record import Record
from errata.model.words import ArtefactRole


class Artefact(Record):
    role: ArtefactRole
    path: str
    size: int | None = None
    """In bytes, of the whole file, also where `text` was cut."""
    text: str | None = None
    """None for a binary file, or where the store holds the text apart, under `blob`."""
    blob: str = ""
    truncated: bool = False
    binary: bool = False
