"""What a report is wanted for, and how it is told."""

from pathlib import Path

import msgspec

from errata.cli.paths import place_of
from errata.render.files import Written


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    day: str
    output: Path | None = None
    html: bool = False
    common: bool = False
    in_words: bool = True
    """Whether its words in short go to stdout; not where JSON or a step summary goes there."""


def names_of(written: tuple[Written, ...] | list[Written]) -> list[str]:
    """As people know the files from where they stand."""
    return [place_of(str(one.path.absolute())) for one in written]
